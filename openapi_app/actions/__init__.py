"""What can be done with jobs: one file, one function, one transaction each."""
