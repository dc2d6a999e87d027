"""What can be done to a token, one verb a file."""
