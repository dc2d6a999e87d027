"""What the forms of Orbit's own pages have in common."""

from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django import forms


class TypedForm(forms.Form):
    """A form whose labels are written by the templates' own grid."""

    required_css_class = "required"

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **{"label_suffix": "", **kwargs})


class MomentField(forms.DateTimeField):
    """A moment as the browser's own control writes it, without a zone."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(
            **{
                "required": False,
                "input_formats": [
                    "%Y-%m-%dT%H:%M",
                    "%Y-%m-%dT%H:%M:%S",
                    "%Y-%m-%d %H:%M",
                ],
                "widget": forms.DateTimeInput(
                    attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"
                ),
                **kwargs,
            }
        )


def zone_named(name: str) -> ZoneInfo:
    """The viewer's zone; UTC when there is none of that name."""
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
