"""What a failure of the database means to the caller."""

import django.db
import psycopg

from orbit.errors import Invalid, Refusal, Unavailable

# Classes and single codes of SQLSTATE after which the same request may succeed.
PASSING_CLASSES = (
    "08",  # connection exception
    "40",  # transaction rollback: deadlock, serialization
    "53",  # insufficient resources, too many connections
    "57",  # operator intervention: shutdown, cancelled, statement timeout
    "58",  # system error
)
PASSING = {
    "25006",  # read-only transaction: a standby, or a fail-over under way
    "25P03",  # idle in transaction for too long
    "25P04",  # transaction timeout
    "55P03",  # lock not available in time
}
UNWRITABLE = {
    "22021",  # a character that the encoding does not have
    "22P05",  # a character that cannot be translated
}
LOST = (
    django.db.OperationalError,
    django.db.InterfaceError,
    psycopg.OperationalError,
    psycopg.InterfaceError,
)
RETRY_AFTER_MS = 1000

ASK_AGAIN = "The database did not answer in time. Ask again."
KEEP_THE_KEY = (
    "The outcome may be committed: keep the same Idempotency-Key and ask again."
)


def refusal_of_database(exc: BaseException, *, reads_only: bool) -> Refusal | None:
    """The refusal for an error of Django's or the driver's, None for a bug.

    After anything but a read the outcome is unknown to the caller: a commit whose
    answer was lost has happened all the same.
    """
    if not isinstance(exc, django.db.Error | psycopg.Error):
        return None
    state = _sqlstate(exc)
    if isinstance(exc, LOST) or state in PASSING or state[:2] in PASSING_CLASSES:
        return Unavailable(
            ASK_AGAIN if reads_only else KEEP_THE_KEY,
            details={"retry_after_ms": RETRY_AFTER_MS},
        )
    if state in UNWRITABLE or "NUL (0x00)" in str(exc):
        return Invalid("The text contains a character that cannot be stored.")
    return None


def _sqlstate(exc: BaseException) -> str:
    """The code of the driver's error that Django's wraps; "" without one."""
    driver = exc if isinstance(exc, psycopg.Error) else exc.__cause__
    return getattr(driver, "sqlstate", None) or ""
