"""Strict readers of the process environment; a bad value stops the start."""

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}


def text(name: str, default: str | None = None) -> str:
    """The variable as written; without a default it must be set and not empty."""
    value = os.environ.get(name, "")
    if value:
        return value
    if default is None:
        raise ImproperlyConfigured(f"Set the environment variable {name}.")
    return default


def sealed(name: str, default: str | None = None) -> str:
    """The variable as written, or the text of the file that NAME_FILE points to."""
    path = os.environ.get(f"{name}_FILE", "")
    return Path(path).read_text().strip() if path else text(name, default)


def integer(name: str, default: int, *, low: int = 0, high: int = 2**31 - 1) -> int:
    """A whole number within low..high, both included."""
    raw = os.environ.get(name, "")
    if not raw:
        return default
    if not raw.removeprefix("-").isdecimal() or not low <= int(raw) <= high:
        raise ImproperlyConfigured(f"{name} must be a whole number, {low} to {high}.")
    return int(raw)


def boolean(name: str, *, default: bool) -> bool:
    """One of 1/true/yes/on or 0/false/no/off, in any case."""
    raw = os.environ.get(name, "").lower()
    if not raw:
        return default
    if raw not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name} must be true or false.")
    return raw in TRUE


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list, without empty members."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def secret(name: str, *, min_bytes: int = 32) -> str:
    """A secret from NAME, or from the file that NAME_FILE points to.

    There is no default: an unset or short secret stops the start.
    """
    path = os.environ.get(f"{name}_FILE", "")
    value = Path(path).read_text().strip() if path else os.environ.get(name, "")
    if len(value.encode()) < min_bytes:
        raise ImproperlyConfigured(
            f"Set {name} (or {name}_FILE) to a secret of at least {min_bytes} bytes."
        )
    return value


def database(name: str) -> dict[str, object]:
    """A postgresql:// URL, or NAME_FILE's, as Django's DATABASES entry.

    The host may be a percent-encoded socket directory, or ?host=/directory.
    """
    parts = urlsplit(sealed(name))
    query = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
    if parts.scheme not in {"postgresql", "postgres"} or not parts.path.strip("/"):
        raise ImproperlyConfigured(f"{name} must be postgresql://user@host/database.")
    host = unquote(query.pop("host", "") or parts.hostname or "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or ""),
        "OPTIONS": {key: unquote(value) for key, value in query.items()},
    }
