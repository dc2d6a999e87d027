"""What the engine can do: one file, one function, one transaction each."""
