"""Rows that nobody needs any more: idempotency keys past their day, old sessions."""

import msgspec
from django.contrib.sessions.models import Session
from django.db.models.functions import Now

from openapi_app.actions.purge_idempotency_records import purge_idempotency_records
from openapi_app.domain.handlers import Context, job_handler

BATCH = 1_000


class Housekeeping(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """At most so many batches of each kind in one run."""

    batches: int = 1_000


@job_handler(
    "orbit.housekeeping", parameters=Housekeeping, recovery_safety="REPLAY_SAFE"
)
def keep_house(context: Context, asked: Housekeeping) -> object:
    """Delete what has expired by the database's clock, a batch at a time."""
    purged = 0
    for _ in range(asked.batches):
        context.check()
        count = purge_idempotency_records(limit=BATCH)
        purged += count
        if count < BATCH:
            break
    context.check()
    sessions, _ = Session.objects.filter(expire_date__lt=Now()).delete()
    return {"idempotency_records": purged, "sessions": sessions}
