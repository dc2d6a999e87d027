"""Extend the lease of a running attempt."""

import hashlib
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from tasks_app.domain.access import Reach
from tasks_app.domain.errors import AttemptNotFound, LeaseConflict
from tasks_app.domain.lifecycle import State
from tasks_app.models.statements.run import rows
from tasks_app.models.statements.start import ATTEMPT_STANDING, RENEW


class Renewal(NamedTuple):
    """The lease as extended, and whether the worker should stop."""

    lease_expires_at: datetime
    cancel_requested: bool


def renew_lease(*, attempt_id: UUID, lease_token: str, reach: Reach) -> Renewal:
    """Extend the lease by what was claimed, never past timeout or deadline.

    Raises LeaseConflict, with the task's state, once the attempt has ended or when the
    token is not its own; AttemptNotFound outside the reach.
    """
    where = {
        "attempt": attempt_id,
        "namespace": reach.namespace_id,
        "queues": None if reach.queue_ids is None else list(reach.queue_ids),
    }
    token_hash = hashlib.sha256(lease_token.encode()).digest()
    with transaction.atomic(durable=True):
        renewed = rows(RENEW, {**where, "token_hash": token_hash})
        if renewed:
            return Renewal._make(renewed[0])
        standing = rows(ATTEMPT_STANDING, where)
    if not standing:
        raise AttemptNotFound
    state, revision = standing[0]
    raise LeaseConflict(
        "This lease is not the current one: stop, and report once if there is an "
        "outcome; it will be kept as evidence.",
        state=State(state),
        revision=revision,
    )
