"""The rules of the engine: plain Python, no Django, no clock."""
