"""Calls of /v1 as a client makes them."""

import uuid


def bearer(token, key=None):
    """The headers of a call; a write also needs a key."""
    headers = {"Authorization": f"Bearer {token}"}
    return headers if key is None else {**headers, "Idempotency-Key": key}


def a_key():
    """A key that was never used."""
    return uuid.uuid4().hex


class Desk:
    """Somebody with every token of a queue, at a running web process."""

    def __init__(self, client, seat):
        self.client = client
        self.seat = seat

    def write(self, who, path, body, key=None):
        """The response to a POST."""
        token = self.seat["tokens"][who]
        return self.client.post(path, json=body, headers=bearer(token, key or a_key()))

    def read(self, who, path):
        """The response to a GET."""
        return self.client.get(path, headers=bearer(self.seat["tokens"][who]))

    def submit(self, payload=None, *, key=None, **changes):
        """The response to a submission, valid but for what the test changes."""
        retry = {"attempt_timeout_ms": 60_000, **changes.pop("retry", {})}
        body = {
            "queue_id": self.seat["queue_id"],
            "handler": "ledger.transfer",
            "handler_version": "1",
            "payload_version": "1",
            "payload": payload or {},
            "retry": retry,
            "task_timeout_ms": 60_000,
            **changes,
        }
        return self.write("submitter", "/v1/tasks", body, key)

    def submitted(self, payload=None, **changes):
        """The id of a new task."""
        response = self.submit(payload, **changes)
        assert response.status_code == 201, response.text
        return response.json()["data"]["task"]["id"]

    def task(self, task_id):
        """The task as it is now."""
        return self.read("submitter", f"/v1/tasks/{task_id}").json()["data"]

    def attempts(self, task_id):
        """Its attempts with their evidence."""
        answer = self.read("submitter", f"/v1/tasks/{task_id}/attempts").json()
        return answer["data"]["items"]

    def claim(self, *, lease_ms=30_000, max_tasks=1):
        """Assignments."""
        worker = {"name": "test", "instance_id": uuid.uuid4().hex}
        body = {"worker": worker, "lease_ms": lease_ms, "max_tasks": max_tasks}
        path = f"/v1/queues/{self.seat['queue_id']}:claim"
        return self.write("worker", path, body).json()["data"]["assignments"]

    def claimed(self, task_id):
        """The assignment of this task; whatever else waits is leased with it."""
        found = {it["task"]["id"]: it for it in self.claim(max_tasks=100)}
        return found[task_id]

    def report(self, assignment, kind, **content):
        """The response to a report."""
        body = {"lease_token": assignment["lease_token"], **content}
        return self.write(
            "worker", f"/v1/attempts/{assignment['attempt_id']}:{kind}", body
        )

    def in_review(self):
        """The id of a task that needs review."""
        task_id = self.submitted()
        assignment = self.claimed(task_id)
        assert self.report(assignment, "unknown").status_code == 200
        return task_id

    def failed(self):
        """The id of a task that failed."""
        task_id = self.submitted()
        assignment = self.claimed(task_id)
        error = {"code": "NO_FUNDS", "message": "The account is empty."}
        response = self.report(assignment, "fail", error=error, retryable=False)
        assert response.status_code == 200
        return task_id

    def review(self, task_id, *, key=None, revision="3", outcome="SUCCEEDED"):
        """The response to a review."""
        body = {
            "expected_revision": revision,
            "reason": "The ledger shows both halves.",
            "evidence_ref": "evidence:ledger-1",
            "execution_settled": True,
            "outcome": outcome,
            "result": {"amount": 1.5},
        }
        return self.write("operator", f"/v1/tasks/{task_id}:review", body, key)

    def retry(self, task_id, *, key=None, revision="3"):
        """The response to a retry."""
        body = {
            "expected_revision": revision,
            "reason": "The bank is back.",
            "evidence_ref": "evidence:bank-1",
            "safe_to_retry": True,
            "task_timeout_ms": 60_000,
        }
        return self.write("operator", f"/v1/tasks/{task_id}:retry", body, key)
