"""The bodies that every benchmark sends."""

DAY_MS = 86_400_000


def submission_body(*, queue_id: str) -> dict[str, object]:
    """The body of POST /v1/tasks that every benchmark sends."""
    return {
        "queue_id": queue_id,
        "handler": "noop",
        "handler_version": "1",
        "payload_version": "1",
        "payload": {"order": 9007199254740993, "amount": "19.90", "lines": [1, 2, 3]},
        "retry": {"max_attempts": 3, "attempt_timeout_ms": DAY_MS},
        "task_timeout_ms": 7 * DAY_MS,
    }


def recovery_body(*, revision: int) -> dict[str, object]:
    """What :review and :retry have in common."""
    return {
        "expected_revision": str(revision),
        "reason": "Checked with the ledger: no transfer was booked.",
        "evidence_ref": "ledger:2026-01-31/4711",
    }


def review_body(*, revision: int, outcome: str = "SUCCEEDED") -> dict[str, object]:
    """The body of :review."""
    return recovery_body(revision=revision) | {
        "execution_settled": True,
        "outcome": outcome,
        "result": {"booked": False},
    }


def retry_body(*, revision: int) -> dict[str, object]:
    """The body of :retry."""
    return recovery_body(revision=revision) | {
        "safe_to_retry": True,
        "task_timeout_ms": 7 * DAY_MS,
    }
