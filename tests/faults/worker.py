"""A worker process over /v1 that does what a task's payload says.

{"log": PATH, "hold": true} writes a line when it starts and works until killed;
{"die": true} kills its own process in the middle; anything else succeeds.
"""

import os
import signal
import threading
import uuid
from pathlib import Path

import httpx


def heartbeats(client, attempt, lease_ms, stopped):
    """Renew the lease until the task is done."""
    while not stopped.wait(lease_ms / 4000):
        body = {"lease_token": attempt["lease_token"]}
        client.post(f"/v1/attempts/{attempt['attempt_id']}:heartbeat", json=body)


def work(client, attempt, lease_ms):
    """Do one task and report."""
    payload = attempt["task"]["payload"]
    stopped = threading.Event()
    beat = threading.Thread(
        target=heartbeats, args=(client, attempt, lease_ms, stopped), daemon=True
    )
    beat.start()
    if "log" in payload:
        with Path(payload["log"]).open("a") as log:
            log.write(f"{attempt['attempt_number']}\n")
    if payload.get("die"):
        os.kill(os.getpid(), signal.SIGKILL)
    if payload.get("hold") and attempt["attempt_number"] == 1:
        threading.Event().wait()
    stopped.set()
    client.post(
        f"/v1/attempts/{attempt['attempt_id']}:succeed",
        json={"lease_token": attempt["lease_token"], "result": {"done": True}},
    )


def main():
    """Claim and work until killed."""
    lease_ms = int(os.environ["LEASE_MS"])
    body = {
        "worker": {"name": "test", "instance_id": uuid.uuid4().hex},
        "lease_ms": lease_ms,
    }
    client = httpx.Client(
        base_url=os.environ["ORBIT_BASE_URL"],
        headers={"Authorization": f"Bearer {os.environ['ORBIT_TOKEN']}"},
        timeout=10,
    )
    idle = threading.Event()
    while True:
        path = f"/v1/queues/{os.environ['ORBIT_QUEUE_ID']}:claim"
        answer = client.post(path, json=body)
        assignments = answer.json().get("data", {}).get("assignments", [])
        for attempt in assignments:
            work(client, attempt, lease_ms)
        if not assignments:
            idle.wait(0.1)


if __name__ == "__main__":
    main()
