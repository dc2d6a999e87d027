"""System checks of Orbit's own settings."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.checks import Warning as Caution

LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def debug_is_off(
    *,
    app_configs: Sequence[AppConfig] | None,
    **_options: Any,  # noqa: ANN401
) -> list[CheckMessage]:
    """An error while DEBUG is on: its pages show settings and source."""
    del app_configs
    if not settings.DEBUG:
        return []
    return [
        Error("DEBUG is on.", hint="Leave DEBUG off; read the log.", id="orbit.E001")
    ]


def base_url_is_sane(
    *,
    app_configs: Sequence[AppConfig] | None,
    **_options: Any,  # noqa: ANN401
) -> list[CheckMessage]:
    """Whether ORBIT_BASE_URL can be the beginning of every link."""
    del app_configs
    parts = urlsplit(settings.BASE_URL)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        hint = "Set ORBIT_BASE_URL to http(s)://host[:port]."
        return [Error("ORBIT_BASE_URL is not a URL.", hint=hint, id="orbit.E002")]
    if parts.path.strip("/") or parts.query or parts.fragment or parts.username:
        hint = "Set ORBIT_BASE_URL to the scheme, host and port alone."
        return [Error("ORBIT_BASE_URL has too much.", hint=hint, id="orbit.E003")]
    return _reachable(scheme=parts.scheme, host=parts.hostname)


def _reachable(*, scheme: str, host: str) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if scheme == "http" and host not in LOOPBACK:
        hint = "Set ORBIT_BASE_URL to https:// behind a TLS proxy."
        found.append(
            Caution("Tokens would travel in the clear.", hint=hint, id="orbit.W001")
        )
    allowed = settings.ALLOWED_HOSTS
    if not any(_covers(pattern, host) for pattern in allowed):
        hint = f"Add {host} to ORBIT_ALLOWED_HOSTS."
        found.append(
            Error("The host of ORBIT_BASE_URL is refused.", hint=hint, id="orbit.E004")
        )
    return found


def _covers(pattern: str, host: str) -> bool:
    if pattern.startswith("."):
        return f".{host}".endswith(pattern)
    return pattern in {"*", host, f"[{host}]"}
