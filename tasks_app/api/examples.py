"""The examples of the contract, with the members that are always there."""

from typing import Any

SOURCE = "22222222222222222222222222222222"
CHILD = "66666666666666666666666666666666"
REVIEW_AUDIT = "55555555555555555555555555555555"
RETRY_AUDIT = "88888888888888888888888888888888"
PAYLOAD = {"object_ref": "objects/input", "sequence": 9007199254740993}
CONCLUSION = {"confirmed": True, "sequence": 9007199254740993}

REVIEW = {
    "expected_revision": "4",
    "reason": "已核实旧执行全部结束，操作未完成",  # noqa: RUF001
    "evidence_ref": "evidence:reconciliation-001",
    "execution_settled": True,
    "outcome": "FAILED",
    "result": CONCLUSION,
}
RETRY = {
    "expected_revision": "5",
    "reason": "已核实旧执行不会继续产生效果，允许重新执行",  # noqa: RUF001
    "evidence_ref": "evidence:safe-retry-001",
    "safe_to_retry": True,
    "task_timeout_ms": 60000,
}
SUBMIT = {
    "queue_id": "11111111111111111111111111111111",
    "handler": "object.prepare",
    "handler_version": "v1",
    "payload_version": "v1",
    "payload": PAYLOAD,
    "business_key": "object:operation-001",
    "retry": {"max_attempts": 1, "attempt_timeout_ms": 10000},
    "task_timeout_ms": 60000,
}
_TASK = {
    "namespace_id": "33333333333333333333333333333333",
    "queue_id": "11111111111111111111111111111111",
    "handler": "object.prepare",
    "handler_version": "v1",
    "payload_version": "v1",
    "payload": PAYLOAD,
    "business_key": "object:operation-001",
    "priority": 0,
    "recovery_safety": "RECONCILE_ONLY",
    "retry": {
        "max_attempts": 1,
        "initial_delay_ms": 0,
        "max_delay_ms": 0,
        "attempt_timeout_ms": 10000,
    },
    "effect_uncertain": False,
    "owner": {"kind": "STANDALONE"},
}
SETTLED = {
    "id": SOURCE,
    "state": "FAILED",
    "revision": "5",
    **_TASK,
    "available_at": "2026-09-17T00:00:00Z",
    "deadline_at": "2026-09-17T00:01:00Z",
    "attempt_count": 1,
    "result": CONCLUSION,
    "completed_at": "2026-09-17T00:00:20Z",
    "created_at": "2026-09-17T00:00:00Z",
    "updated_at": "2026-09-17T00:00:20Z",
}
RETRIED = {
    "id": CHILD,
    "state": "WAITING",
    "revision": "1",
    **_TASK,
    "available_at": "2026-09-17T00:00:30Z",
    "deadline_at": "2026-09-17T00:01:30Z",
    "attempt_count": 0,
    "created_at": "2026-09-17T00:00:30Z",
    "updated_at": "2026-09-17T00:00:30Z",
    "retry_of": SOURCE,
}
_SUMMARY = {
    "id": RETRY_AUDIT,
    "task_id": SOURCE,
    "operation_id": "99999999999999999999999999999999",
    "actor_id": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "action": "task.retry",
    "created_at": "2026-09-17T00:00:30Z",
}


def enveloped(request_id: str, data: dict[str, Any]) -> dict[str, Any]:
    """A whole answer."""
    return {"request_id": request_id, "data": data}


REVIEWED = enveloped(
    "44444444444444444444444444444444",
    {"task": SETTLED, "audit_id": REVIEW_AUDIT, "deduplicated": False},
)
RETRY_ANSWER = enveloped(
    "77777777777777777777777777777777",
    {
        "source_task_id": SOURCE,
        "task": RETRIED,
        "audit_id": RETRY_AUDIT,
        "deduplicated": False,
    },
)
OPERATIONS = enveloped(
    "44444444444444444444444444444444",
    {"items": [_SUMMARY], "next_cursor": "an-opaque-cursor-from-the-server"},
)
OPERATION = enveloped(
    "44444444444444444444444444444444",
    {
        **_SUMMARY,
        "reason": "已核实旧执行不会继续产生效果，允许重新执行",  # noqa: RUF001
        "evidence_ref": "evidence:safe-retry-001",
        "before": {"state": "FAILED", "revision": "5"},
        "after": {
            "source_task_id": SOURCE,
            "retry_task_id": CHILD,
            "safe_to_retry": True,
            "task_timeout_ms": 60000,
        },
    },
)
