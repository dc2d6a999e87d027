"""Ready-made calls of the APIs, for exactly the scopes that a token has."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One call to copy: `text` is complete, `purpose` says what it does."""

    title: str
    purpose: str
    text: str


def samples(
    *,
    base_url: str,
    audience: str,
    scopes: Iterable[str],
    token: str | None,
    shell: str,
) -> list[Sample]:
    """The calls that the scopes allow, in the given shell.

    `shell` is curl (for sh, bash and zsh), powershell or python. Without a token the
    text reads it from the environment variable TOKEN.
    """
    del base_url, audience, scopes, token, shell
    return []
