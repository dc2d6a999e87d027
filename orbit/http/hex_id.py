"""The path converter `hexid`: an identifier as 32 lower-case hex."""

from uuid import UUID

from django.urls import register_converter


class HexId:
    """32 lower-case hex in a path."""

    regex = "[0-9a-f]{32}"

    def to_python(self, value: str) -> UUID:
        """The identifier."""
        return UUID(value)

    def to_url(self, value: UUID) -> str:
        """Its written form."""
        return value.hex


register_converter(HexId, "hexid")
