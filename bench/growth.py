"""`python -m bench growth [--scale 1.0]`: the same calls, empty and full.

At scale 1: 10 million tasks, 50 million audit records, 1 million waiting tasks. Rows
of the past are copies of a real task that was settled through the engine, so they have
its shape; they are written by SQL, since only their number matters.
"""

import json
import random
import sys
import uuid
from collections.abc import Iterator

from bench import load
from bench.contest import Line, Round
from bench.orbit.project import PREPARED, environment
from bench.orbit.requests import retry_body, review_body
from bench.processes import Children
from bench.servers import Servers
from bench.web import Web

TASKS = 10_000_000
WAITING = 1_000_000
AUDITS_PER_TASK = 5
CLIENTS = 8
REVISION = 3
CALLS_PER_SECOND = 400
STEP = 100_000
ALLOWED = 1.3

# Copies of one finished task and its audit; ids stay time-ordered. The member n is no
# column: it makes each row evaluated anew. The hashes of their chains are copies too.
COPY_FINISHED = """
WITH made AS (
    INSERT INTO tasks_task SELECT r.*
    FROM (SELECT * FROM tasks_task
          WHERE state = 'FAILED' AND retry_of IS NULL LIMIT 1) t,
         generate_series(1, {count}) n,
         LATERAL jsonb_populate_record(
             NULL::tasks_task,
             to_jsonb(t) || jsonb_build_object(
                 'id', uuidv7(), 'audit_length', {audits}::bigint, 'n', n)) r
    RETURNING id
)
INSERT INTO tasks_operation_audit SELECT r.*
FROM made, (SELECT * FROM tasks_operation_audit LIMIT 1) o,
     generate_series(1, {audits}) n,
     LATERAL jsonb_populate_record(
         NULL::tasks_operation_audit,
         to_jsonb(o) || jsonb_build_object(
             'id', uuidv7(), 'task_id', made.id, 'sequence', n)) r
"""
COPY_WAITING = """
INSERT INTO tasks_task SELECT r.*
FROM (SELECT * FROM tasks_task WHERE state = 'WAITING' AND retry_of IS NULL LIMIT 1) t,
     generate_series(1, {count}) n,
     LATERAL jsonb_populate_record(
         NULL::tasks_task, to_jsonb(t) || jsonb_build_object('id', uuidv7(), 'n', n)) r
"""


class Grown:
    """One database that is measured, filled, and measured again."""

    def __init__(self, servers: Servers) -> None:
        self.database, self.place = PREPARED.database(servers, name="growth")
        variables = environment(self.database, servers)
        self.children = Children({**variables, "BENCH_PLACE": self.place.dump()})
        self.web = Web(application="orbit.wsgi:application", children=self.children)
        self.web.wait(path="/livez")

    def measure(self, *, seconds: float) -> dict[str, Round]:
        """Each call for so long by eight clients."""
        sys.stderr.write("  preparing\n")
        count = int(CALLS_PER_SECOND * seconds)
        self.settled("fill", count)
        uncertain = self.settled("uncertain", count)
        failed = self.settled("failed", count)
        self.database.execute("vacuum analyze")
        self.database.execute("checkpoint")
        acts: dict[str, Iterator[bytes]] = {
            "operations page": self.operations(failed, count),
            "inbox": self.inbox(count),
            "claim": self.claims(count),
            "review": self.recoveries("review", uncertain),
            "retry": self.recoveries("retry", failed),
        }
        sys.stderr.write("  measuring\n")
        return {
            name: self.timed(requests, seconds=seconds)
            for name, requests in acts.items()
        }

    def grow(self, *, scale: float) -> None:
        """Fill the database to `scale` of the full size."""
        for total, sql in (
            (int(TASKS * scale), COPY_FINISHED),
            (int(WAITING * scale), COPY_WAITING),
        ):
            for start in range(0, total, STEP):
                count = min(STEP, total - start)
                self.database.execute(sql.format(count=count, audits=AUDITS_PER_TASK))
                sys.stderr.write(f"\r  {start + count} of {total} rows ")

    def settled(self, verb: str, count: int) -> list[str]:
        """So many new tasks in the state that the worker's verb leaves them in."""
        printed = self.children.run(
            sys.executable, "-m", "bench.orbit.worker", verb, str(count)
        )
        return printed.decode().split()

    def timed(self, requests: Iterator[bytes], *, seconds: float) -> Round:
        """Every call must succeed."""
        outcome = load.run(
            port=self.web.port, requests=requests, clients=CLIENTS, seconds=seconds
        )
        outcome.require(200, 201)
        return Round(rate=outcome.rate, latencies_ms=outcome.latencies_ms)

    def operations(self, task_ids: list[str], count: int) -> Iterator[bytes]:
        """The first page of a task's audit."""
        for _ in range(count):
            task_id = random.choice(task_ids)
            yield self.request("GET", f"/v1/tasks/{task_id}/operations")

    def inbox(self, count: int) -> Iterator[bytes]:
        """The first page of what needs review."""
        for _ in range(count):
            yield self.request("GET", "/v1/tasks?state=NEEDS_REVIEW&limit=20")

    def claims(self, count: int) -> Iterator[bytes]:
        """One task each, never reported: leases last longer than the run."""
        worker = {"name": "bench", "instance_id": uuid.uuid4().hex}
        body = {"worker": worker, "max_tasks": 1, "lease_ms": 300_000}
        for _ in range(count):
            path = f"/v1/queues/{self.place.queue_ids[0]}:claim"
            yield self.request("POST", path, body)

    def recoveries(self, act: str, task_ids: list[str]) -> Iterator[bytes]:
        """Each task once."""
        make = review_body if act == "review" else retry_body
        for task_id in task_ids:
            yield self.request(
                "POST", f"/v1/tasks/{task_id}:{act}", make(revision=REVISION)
            )

    def request(
        self, method: str, path: str, body: dict[str, object] | None = None
    ) -> bytes:
        """With the token and, for a write, a new key."""
        headers = {"Authorization": f"Bearer {self.place.token}"}
        if body is not None:
            headers["Idempotency-Key"] = uuid.uuid4().hex
        content = json.dumps(body).encode() if body is not None else b""
        return load.request(method, path, body=content, headers=headers)


def run(*, servers: Servers, scale: float, seconds: float) -> dict[str, list[Line]]:
    """For each call the line before and the line after growth."""
    grown = Grown(servers)
    try:
        before = grown.measure(seconds=seconds)
        grown.grow(scale=scale)
        after = grown.measure(seconds=seconds)
    finally:
        grown.children.stop()
    lines: dict[str, list[Line]] = {}
    for act, measured in before.items():
        empty = Line(name="empty", kind="orbit", config="")
        full = Line(name=f"scale {scale}", kind="orbit", config="")
        empty.add(measured)
        full.add(after[act])
        lines[act] = [empty, full]
    return lines


def table(lines: dict[str, list[Line]]) -> str:
    """Rates and p99 before and after, and whether growth stayed within bounds."""
    rows = [
        "\n### Growth\n",
        "| call | calls/s empty | full | p99 ms empty | full | ratio | at most |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for act, (empty, full) in lines.items():
        first, last = empty.percentile(99) or 0.0, full.percentile(99) or 0.0
        ratio = last / first if first else 0.0
        rows.append(
            f"| {act} | {empty.median:.0f} | {full.median:.0f} | {first:.1f} |"
            f" {last:.1f} | {ratio:.2f} | {ALLOWED} |"
        )
    return "\n".join(rows)
