"""The floor: Orbit's own statements, sent by pgbench.

The statements are recorded from the product (bench.orbit.capture), so they are the same
by construction. Ids that a client would make are made in the statement from the
client's number and a counter; rows of a batch repeat the recorded row.
"""

import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.contest import Kind, Round
from bench.orbit.place import Place
from bench.orbit.project import PREPARED, environment
from bench.processes import Children
from bench.servers import PROGRAMS, Database, Servers

PARAMETER = re.compile(r"%\((\w+)\)s")
ID = re.compile(
    r"[0-9a-f]{64}|[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)
MARK = "@@@"
TASK_MARK = "###"
# Client and counter make 14 hex digits, the row 3 more; the field fills up the rest.
PREFIX = "lpad(to_hex(:client_id::int), 2, '0') || lpad(to_hex(:n::bigint), 12, '0')"
ROW = "lpad(to_hex(r.n::int), 3, '0')"
MADE_DIGITS = 17
FIRST_ROW = "'001'"

EXPECTED = {"drain": 4000, "review": 4000, "retry": 4000}
ITEMS = """
create table bench_item as
select row_number() over (order by t.id) as n, t.id as task from tasks_task t
where t.state in ('NEEDS_REVIEW', 'FAILED')
  and not exists (select from tasks_task c where c.retry_of = t.id)
"""

Statement = tuple[str, dict[str, object]]


class Script:
    """Turns recorded statements into a pgbench script for `rows` rows at a time.

    `known` are ids that stay as recorded; `task` is the SQL text of the existing
    task's id in the form that a row of the input needs, or "" when tasks are new. With
    `makes_scalars` ids outside of rows are made too, the same as within them.
    """

    def __init__(
        self, *, known: set[str], rows: int, tasks: str, makes_scalars: bool = False
    ) -> None:
        self.known = {identity.replace("-", "") for identity in known}
        self.rows = rows
        self.tasks = tasks
        self.makes_scalars = makes_scalars
        self.made: dict[str, int] = {}
        self.existing: str = ""
        self.lines = ["\\set n :n + 1"]

    def transaction(self, statements: list[Statement], *, is_atomic: bool) -> None:
        """Append one transaction."""
        if is_atomic:
            self.lines.append("BEGIN;")
        for sql, parameters in statements:
            self.lines.append(self._statement(sql, parameters))
        if is_atomic:
            self.lines.append("COMMIT;")

    def text(self) -> str:
        """The script."""
        return "\n".join(self.lines) + "\n"

    def _statement(self, sql: str, parameters: dict[str, object]) -> str:
        def bind(match: re.Match[str]) -> str:
            return self._expression(match[1], parameters[match[1]])

        bound = PARAMETER.sub(bind, sql).replace("%%", "%").strip()
        if "FOR UPDATE SKIP LOCKED" in sql and "LIMIT %(limit)s" in sql:
            return f"SELECT array_agg(c.id) AS ids FROM ({bound}) c \\gset"
        return bound + ";"

    def _expression(self, name: str, value: object) -> str:
        if name == "now":
            return "now()"
        if name == "limit":
            return str(self.rows)
        if isinstance(value, str) and value.startswith("[{"):
            return self._rows(json.loads(value)[0])
        if name == "source_audit" and isinstance(value, str):
            return self._rows(json.loads(value), is_list=False)
        if name == "attempts" and isinstance(value, list):
            made = self._made(str(value[0]))
            return (
                f"(SELECT array_agg(replace({literal(made)}, '{MARK}', {PREFIX} || "
                f"{ROW})::uuid) FROM generate_series(1, {self.rows}) AS r(n))::uuid[]"
            )
        return self._scalar(name, value)

    def _scalar(self, name: str, value: object) -> str:
        if value is None:
            return "NULL"
        if isinstance(value, int | float):
            return str(value)
        if isinstance(value, list):
            return self._list(name, value)
        if name == "task":
            return f"({self.tasks})"
        text = str(value)
        return self._made_scalar(text) if self.makes_scalars else self._constant(text)

    def _list(self, name: str, value: list[object]) -> str:
        members = value * self.rows if name == "keys" else value
        kind = {"keys": "bytea[]", "groups": "text[]"}.get(name, "uuid[]")
        quoted = ",".join('"' + str(m).replace("\\", "\\\\") + '"' for m in members)
        text = "{" + quoted + "}"
        array = self._made_scalar(text) if self.makes_scalars else literal(text)
        return f"{array}::{kind}"

    def _constant(self, text: str) -> str:
        return literal(text) + ("::bytea" if text.startswith("\\x") else "")

    def _made_scalar(self, text: str) -> str:
        made = ID.sub(
            lambda it: it[0] if self._is_known(it[0]) else self._made(it[0]), text
        )
        if made == text:
            return self._constant(text)
        filled = f"replace({literal(made)}, '{MARK}', {PREFIX} || {FIRST_ROW})"
        if text.startswith("\\x"):
            return f"{filled}::bytea"
        return f"{filled}::uuid" if ID.fullmatch(text) else filled

    def _is_known(self, identity: str) -> bool:
        return identity.replace("-", "") in self.known

    def _rows(self, row: dict[str, object], *, is_list: bool = True) -> str:
        for name in ("task_id", "retry_of"):
            if isinstance(row.get(name), str):
                self.existing = str(row[name]).replace("-", "")
        text = ID.sub(lambda match: self._made(match[0]), json.dumps(row))
        one = f"replace({literal(text)}, '{MARK}', {PREFIX} || {ROW})"
        source = f"generate_series(1, {self.rows}) AS r(n)"
        if self.existing:
            one = f"replace({one}, '{TASK_MARK}', replace(r.task::text, '-', ''))"
            source = self._tasks_source()
        if not is_list:
            return f"(SELECT {one} FROM {source})"
        return f"(SELECT '[' || string_agg({one}, ',') || ']' FROM {source})"

    def _tasks_source(self) -> str:
        if self.tasks:
            return f"(SELECT 1, ({self.tasks})) AS r(n, task)"
        return "unnest(:ids::uuid[]) WITH ORDINALITY AS r(task, n)"

    def _made(self, identity: str) -> str:
        plain = identity.replace("-", "")
        if plain == self.existing:
            return TASK_MARK
        if plain in self.known:
            return plain
        number = self.made.setdefault(plain, len(self.made))
        return MARK + f"{number:x}".zfill(len(plain) - MADE_DIGITS)


def literal(text: str) -> str:
    """An SQL string in which pgbench sees no variable."""
    escaped = text.replace("\\", "\\\\").replace("'", "''").replace(":", "\\x3a")
    return f"E'{escaped}'"


@dataclass(frozen=True)
class Measured:
    """What pgbench reports, and each transaction's latency."""

    rate: float
    latencies_ms: list[float]


def pgbench(
    database: Database, script: str, *, clients: int, seconds: float
) -> Measured:
    """Run a script with prepared statements, as Orbit's connections prepare theirs."""
    with tempfile.TemporaryDirectory(prefix="orbit-bench-floor-") as folder:
        path = Path(folder, "script.sql")
        path.write_text(script)
        done = subprocess.run(
            [
                PROGRAMS / "pgbench",
                "-n",
                "-M",
                "prepared",
                "-c",
                str(clients),
                "-j",
                str(min(2, clients)),
                "-T",
                str(max(1, round(seconds))),
                "-D",
                "n=0",
                "-f",
                path,
                "-l",
                "--log-prefix",
                Path(folder, "log"),
                "-h",
                database.socket_directory,
                "-p",
                str(database.port),
                "-U",
                "postgres",
                database.name,
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )
        found = re.search(r"tps = ([0-9.]+)", done.stdout)
        if done.returncode or not found:
            raise RuntimeError(f"pgbench: {done.stdout[-500:]}{done.stderr[-2500:]}")
        latencies = [
            int(line.split(" ", 3)[2]) / 1000
            for log in Path(folder).glob("log*")
            for line in log.read_text().splitlines()
        ]
    return Measured(rate=float(found[1]), latencies_ms=latencies)


class Floor:
    """One act as plain SQL; `rows` tasks in each transaction."""

    kind: Kind = "floor"

    def __init__(
        self, *, name: str, act: str, rows: int, clients: int, over_http: bool = False
    ) -> None:
        self.name = name
        self.act = act
        self.rows = rows
        self.clients = clients
        self.over_http = over_http
        self.database: Database | None = None
        self.script = ""
        self.prepared = 0
        self.config = f"pgbench -M prepared, {clients} clients, Orbit's statements"

    def setup(self, servers: Servers, *, seconds: float) -> None:
        """Record the statements and put what they need into a fresh database."""
        self.database, place = PREPARED.database(servers, name="floor")
        children = Children(
            {**environment(self.database, servers), "BENCH_PLACE": place.dump()}
        )
        seen = json.loads(children.run(sys.executable, "-m", "bench.orbit.capture"))
        tasks = _items(self.act)
        script = Script(
            known=_known(place),
            rows=self.rows,
            tasks=tasks,
            makes_scalars=self.act == "trigger",
        )
        parts = seen["authenticate"] if self.over_http else []
        for part in [*parts, *seen[self.act]]:
            script.transaction(part["statements"], is_atomic=part["is_atomic"])
        self.script = script.text()
        self._fill(children, seconds=seconds)
        self.database.execute("vacuum analyze")
        servers.checkpoint()

    def run(self, *, seconds: float) -> Round:
        """Tasks, not transactions, per second."""
        assert self.database
        measured = pgbench(
            self.database, self.script, clients=self.clients, seconds=seconds
        )
        left = self.prepared - len(measured.latencies_ms) * self.rows
        if self.prepared and left < self.prepared / 10:
            raise RuntimeError(f"{self.name}: {self.prepared} tasks were too few.")
        return Round(rate=measured.rate * self.rows, latencies_ms=measured.latencies_ms)

    def teardown(self) -> None:
        """Nothing runs on."""

    def _fill(self, children: Children, *, seconds: float) -> None:
        assert self.database
        verb = {"drain": "fill", "review": "uncertain", "retry": "failed"}.get(self.act)
        if verb is None:
            return
        expected = EXPECTED[self.act] * (10 if self.rows > 1 else 1)
        self.prepared = int(expected * (seconds + 1))
        children.run(
            sys.executable, "-m", "bench.orbit.worker", verb, str(self.prepared)
        )
        if self.act != "drain":
            self.database.execute(ITEMS)
            self.database.execute("create unique index on bench_item (n)")


def _items(act: str) -> str:
    if act not in {"review", "retry"}:
        return ""
    return "SELECT i.task FROM bench_item i WHERE i.n = (:n - 1) * 8 + :client_id + 1"


def _known(place: Place) -> set[str]:
    return {
        place.namespace_id,
        place.application_id,
        place.actor_id,
        *place.queue_ids,
        place.job_id,
        *place.job_token_ids,
    }
