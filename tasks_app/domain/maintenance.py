"""What other apps have done at each pass of the maintenance process."""

from typing import Protocol


class Pass(Protocol):
    """One kind of maintenance; it must not wait long, nor rely on being alone."""

    def __call__(self, *, limit: int) -> int:
        """Do up to `limit` of it; answers how many were done."""


_passes: dict[str, Pass] = {}


def register_maintenance_pass(name: str, act: Pass) -> None:
    """Let the maintenance process run `act` too; `name` says in its log what was done.

    The app that registers runs after the engine's own passes.
    """
    _passes[name] = act


def registered_passes() -> dict[str, Pass]:
    """What was registered, in that order."""
    return dict(_passes)
