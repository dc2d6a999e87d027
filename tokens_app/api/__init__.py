"""The REST edge of the token workbench."""
