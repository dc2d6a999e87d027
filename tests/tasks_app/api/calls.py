"""Calls of /v1 as a client makes them, and answers as it sees them."""

import itertools
import json
import re
from decimal import Decimal
from typing import Any

from django.test import Client

from orbit.ids import HEX32

_keys = itertools.count(1)


class Answer:
    """One answer; its envelope is checked at once."""

    def __init__(self, response: Any) -> None:
        self.status: int = response.status_code
        self.headers = response.headers
        self.text: bytes = response.content
        assert response["Content-Type"] == "application/json", self.text
        self.body = json.loads(self.text, parse_float=Decimal)
        assert set(self.body) in ({"request_id", "data"}, {"request_id", "error"})
        assert ("data" in self.body) == (self.status < 300), self.text
        assert HEX32.fullmatch(self.body["request_id"])
        assert self.headers["X-Request-Id"] == self.body["request_id"]

    @property
    def data(self) -> dict[str, Any]:
        """The payload of a success."""
        assert "data" in self.body, self.text
        data: dict[str, Any] = self.body["data"]
        return data

    @property
    def error(self) -> dict[str, Any]:
        """The error object of a refusal."""
        assert "error" in self.body, self.text
        error: dict[str, Any] = self.body["error"]
        assert re.fullmatch(r"[A-Z_]+", error["code"])
        assert error["message"].strip()
        return error

    @property
    def refusal(self) -> tuple[int, str, str | None]:
        """Status, code and field of a refusal."""
        return self.status, self.error["code"], self.error.get("field")

    @property
    def conflict(self) -> tuple[int, str, str | None]:
        """Status, code and reason of a conflict."""
        return self.status, self.error["code"], self.error.get("reason")


class Caller:
    """A client of /v1 with one token, or with the Authorization header given."""

    def __init__(self, token: Any = None, *, authorization: str | None = None) -> None:
        self.headers: dict[str, str] = {}
        if token is not None:
            authorization = f"Bearer {token.plaintext}"
        if authorization is not None:
            self.headers["Authorization"] = authorization
        self.client = Client(raise_request_exception=False)

    def get(self, path: str, query: Any = None) -> Answer:
        """GET below /v1/."""
        return Answer(self.client.get(f"/v1/{path}", query, headers=self.headers))

    def post(
        self,
        path: str,
        body: object = b"{}",
        *,
        key: str | None = "",
        content_type: str = "application/json",
    ) -> Answer:
        """POST below /v1/; a new key unless one is given, none at all for None."""
        headers = dict(self.headers)
        if key is not None:
            headers["Idempotency-Key"] = key or f"call-{next(_keys)}"
        return Answer(
            self.client.post(
                f"/v1/{path}",
                data=body if isinstance(body, bytes) else written(body),
                content_type=content_type,
                headers=headers,
            )
        )


def written(body: object) -> bytes:
    """The body as JSON text; str stands for JSON text already written."""
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    return text.encode()


def with_member(body: dict[str, Any], name: str, raw: str) -> bytes:
    """The body with one member written exactly as `raw`."""
    rest = {key: value for key, value in body.items() if key != name}
    member = f"{json.dumps(name)}:{raw}"
    text = json.dumps(rest, ensure_ascii=False)
    return f"{text[:-1]},{member}}}".encode() if rest else f"{{{member}}}".encode()


def a_review(task: Any, **changes: Any) -> dict[str, Any]:
    """The body of a valid review."""
    wanted = {
        "expected_revision": str(task.revision),
        "reason": "已核实旧执行全部结束",
        "evidence_ref": "evidence:reconciliation-001",
        "execution_settled": True,
        "outcome": "FAILED",
        "result": {"confirmed": True, "sequence": 9007199254740993},
    }
    return {**wanted, **changes}


def a_retry(task: Any, **changes: Any) -> dict[str, Any]:
    """The body of a valid retry."""
    wanted = {
        "expected_revision": str(task.revision),
        "reason": "已核实旧执行不会继续产生效果",
        "evidence_ref": "evidence:safe-retry-001",
        "safe_to_retry": True,
        "task_timeout_ms": 60_000,
    }
    return {**wanted, **changes}


def a_submit(queue: Any, **changes: Any) -> dict[str, Any]:
    """The body of a valid submit."""
    wanted = {
        "queue_id": queue.id.hex,
        "handler": "object.prepare",
        "handler_version": "v1",
        "payload_version": "v1",
        "payload": {"object_ref": "objects/input", "sequence": 9007199254740993},
        "retry": {"max_attempts": 1, "attempt_timeout_ms": 10_000},
        "task_timeout_ms": 60_000,
    }
    return {**wanted, **changes}


def a_claim(**changes: Any) -> dict[str, Any]:
    """The body of a valid claim."""
    worker = {"name": "worker-1", "instance_id": "5" * 32}
    return {"worker": worker, "max_tasks": 100, **changes}
