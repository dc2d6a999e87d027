"""Logs: one JSON line an event on standard output, with every secret taken out."""

import logging
import re
from collections.abc import Mapping, MutableMapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec
import structlog

REDACTED = "[redacted]"
TRACEBACK_LIMIT = 20_000

SENSITIVE = (
    r"api[-_]?key|authorization|csrf(?:middleware)?token|idempotency[-_]key"
    r"|lease[-_]token|passw(?:or)?d|peppers?|secret(?:[-_]key)?|sessionid|set-cookie"
    r"|cookies?"
)
SENSITIVE_FIELD = re.compile(
    rf"(?:.*[-_])?(?:{SENSITIVE}|token|plaintext)", re.IGNORECASE
)

# Each pattern keeps what says which secret was there, and drops the secret.
PATTERNS = (
    re.compile(r"(\b(?:fta|fja)_)[\w.~+/=-]+"),
    re.compile(r"(\bbearer\s+)[^\s\"',;]+", re.IGNORECASE),
    re.compile(r"(://[^\s/:@\"']*:)[^\s/\"']+(?=@)"),
    re.compile(r"(cookies?[\"']?\s*[:=]\s*)[^\r\n]+", re.IGNORECASE),
    re.compile(
        rf"((?:{SENSITIVE})[\"']?\s*[:=]\s*(?:[\"']|b[\"'])?(?:basic\s+|bearer\s+)?)"
        r"[^\s\"',;&})\]\[]+",
        re.IGNORECASE,
    ),
)
# Every pattern needs one of these characters; most ids and words have none.
SECRET_MARK = re.compile(rf"f[tj]a_|bearer|://|{SENSITIVE}", re.IGNORECASE)
SUSPECT = re.compile(r"[_:=\s]")


def redact(text: str) -> str:
    """`text` without tokens, keys, cookies and passwords."""
    if SUSPECT.search(text) and SECRET_MARK.search(text):
        for pattern in PATTERNS:
            text = pattern.sub(rf"\1{REDACTED}", text)
    return text


def redact_value(value: object) -> object:
    """`value` with every string in it redacted, however deep."""
    if isinstance(value, str):
        return redact(value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return redact_fields(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [redact_value(member) for member in value]
    return redact(str(value))


def redact_fields(fields: Mapping[Any, object]) -> dict[str, object]:
    """`fields` redacted; one that is named like a secret loses its whole value."""
    return {
        _clean_name(name): REDACTED if _is_sensitive(name) else redact_value(value)
        for name, value in fields.items()
    }


@lru_cache(maxsize=1024)
def _clean_name(name: object) -> str:
    return redact(str(name))


@lru_cache(maxsize=1024)
def _is_sensitive(name: object) -> bool:
    return SENSITIVE_FIELD.fullmatch(str(name)) is not None


class JSONLine(logging.Formatter):
    """One JSON object a line: time, level, logger, event, fields, exception."""

    def format(self, record: logging.LogRecord) -> str:
        """The redacted line of `record`, from structlog or from any library."""
        fields = getattr(record, "fields", None)
        if fields is None:
            fields = structlog.contextvars.get_contextvars()
        line = {
            "timestamp": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": redact(record.getMessage()),
            **redact_fields(fields),
        }
        if record.exc_info:
            line["exception"] = redact(self._traceback(record))
        return _encoder.encode(line).decode()

    def _traceback(self, record: logging.LogRecord) -> str:
        text = self.formatException(record.exc_info) if record.exc_info else ""
        # The end names the exception and its place, the beginning its cause.
        half = TRACEBACK_LIMIT // 2
        return text if len(text) <= 2 * half else f"{text[:half]}\n…\n{text[-half:]}"


def _to_stdlib(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> tuple[tuple[()], dict[str, Any]]:
    """Hand structlog's event to the standard library's logger, fields apart."""
    arguments = {"msg": event.pop("event"), "exc_info": event.pop("exc_info", None)}
    return (), {**arguments, "extra": {"fields": event}}


def configuration(*, level: str = "INFO") -> dict[str, object]:
    """LOGGING for Django, and for gunicorn's logconfig_dict; configures structlog.

    Everything goes through the root's one handler. `level` is Orbit's; libraries
    speak from WARNING.
    """
    structlog.configure(
        cache_logger_on_first_use=True,
        logger_factory=logging.getLogger,
        processors=[structlog.contextvars.merge_contextvars, _to_stdlib],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
    )
    to_root: dict[str, object] = {"handlers": [], "propagate": True}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "orbit.logs.JSONLine"}},
        "handlers": {
            "stdout": {
                "class": "logging.StreamHandler",
                "formatter": "json",
                "stream": "ext://sys.stdout",
            }
        },
        "root": {"handlers": ["stdout"], "level": "WARNING"},
        "loggers": {
            "axes": {**to_root, "level": "WARNING"},
            "celery": {**to_root, "level": level.upper()},
            # One line a message is Orbit's own; these would be two more.
            "celery.app.trace": {**to_root, "level": "WARNING"},
            "celery.worker.strategy": {**to_root, "level": "WARNING"},
            "django": {**to_root, "level": "WARNING"},
            # orbit.http says the same once, in one line with the request's id.
            "django.request": {**to_root, "level": "CRITICAL"},
            "django.server": {**to_root, "level": "WARNING"},
            "gunicorn.access": {**to_root, "level": "WARNING"},
            "gunicorn.error": {**to_root, "level": level.upper()},
            "openapi_app": {**to_root, "level": level.upper()},
            "orbit": {**to_root, "level": level.upper()},
            "tasks_app": {**to_root, "level": level.upper()},
            "tokens_app": {**to_root, "level": level.upper()},
        },
    }


_encoder = msgspec.json.Encoder(enc_hook=str, uuid_format="hex")
