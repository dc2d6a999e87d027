"""What stops a stack from starting."""


class StackFailure(Exception):
    """The stack cannot start; the message says why and what to do."""
