"""Bodies as the server writes them."""

from typing import Any

REQUEST_ID = "4" * 32
TASK_ID = "2" * 32
QUEUE_ID = "1" * 32
AUDIT_ID = "8" * 32
ATTEMPT_ID = "5" * 32

PAYLOAD = '{"amount": 1.10, "sequence": 9007199254740993, "big": 1E400}'


def task_text(*, payload: str = PAYLOAD, result: str | None = None, **more: str) -> str:
    """A task of the source's example; `more` are further members as JSON texts."""
    members = {
        "id": f'"{TASK_ID}"',
        "namespace_id": f'"{"3" * 32}"',
        "queue_id": f'"{QUEUE_ID}"',
        "state": '"WAITING"',
        "revision": '"1"',
        "handler": '"object.prepare"',
        "handler_version": '"v1"',
        "payload_version": '"v1"',
        "payload": payload,
        "business_key": '"object:operation-001"',
        "available_at": '"2026-09-17T00:00:00Z"',
        "deadline_at": '"2026-09-17T00:01:00Z"',
        "recovery_safety": '"RECONCILE_ONLY"',
        "retry": '{"max_attempts": 1, "initial_delay_ms": 0, "max_delay_ms": 0, '
        '"attempt_timeout_ms": 10000}',
        "attempt_count": "1",
        "created_at": '"2026-09-17T00:00:00.000001Z"',
        "updated_at": '"2026-09-17T00:00:20Z"',
        "a_member_of_later_versions": "[1.5]",
        **more,
    }
    if result is not None:
        members["result"] = result
    return "{" + ", ".join(f'"{name}": {text}' for name, text in members.items()) + "}"


def good(data: str) -> str:
    return f'{{"request_id": "{REQUEST_ID}", "data": {data}}}'


def bad(code: str, **more: Any) -> dict[str, Any]:
    return {
        "request_id": REQUEST_ID,
        "error": {"code": code, "message": "No.", **more},
    }
