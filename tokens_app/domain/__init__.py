"""The rules of tokens, in plain Python."""
