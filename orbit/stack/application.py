"""Orbit's own processes: their command lines and the environment they share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from orbit.stack.processes import CHECKOUT, Command, python

MANAGE = str(CHECKOUT / "manage.py")
LEDGER_WORKER = CHECKOUT / "sdk" / "examples" / "ledger_worker.py"


@dataclass(frozen=True, kw_only=True)
class Demo:
    """The demo data of this stack as `init_dev --json` tells it."""

    namespace_id: str
    application_id: str
    queue_id: str
    tokens: Mapping[str, str]
    jobs: Mapping[str, str] = field(default_factory=dict)


def web(*, listener: int) -> Command:
    """Two processes of eight threads on a socket that is listened to already."""
    # The socket outlives a restart: callers wait instead of being refused.
    return Command(
        name="web",
        argv=python(
            *("-m", "gunicorn", "orbit.wsgi:application", "--preload"),
            *("--bind", f"fd://{listener}", "--chdir", str(CHECKOUT)),
            *("--worker-class", "gthread", "--workers", "2", "--threads", "8"),
            *("--timeout", "60", "--graceful-timeout", "5", "--keep-alive", "5"),
            *("--limit-request-line", "4094", "--limit-request-fields", "64"),
            *("--limit-request-field_size", "8190"),
            *("--no-control-socket", "--log-level", "warning"),
        ),
        inherited=(listener,),
    )


def maintenance() -> Command:
    """The process that ends expired leases and overdue waits."""
    return Command(name="maintenance", argv=python(MANAGE, "maintain"))


def worker(*, number: int, ledger: Path) -> Command:
    """A process that runs executions, one at a time."""
    # One process a worker: the pool of one would only add a second to feed it.
    return Command(
        name=f"worker-{number}",
        argv=python(
            # Of its own state directory root is no danger to itself.
            *("-W", "ignore:You're running the worker"),
            *("-m", "celery", "--quiet", "-A", "orbit", "worker", "--pool", "solo"),
            *("--hostname", f"worker-{number}@orbit", "--without-gossip"),
            *("--without-mingle", "--without-heartbeat"),
        ),
        environment={"ORBIT_LEDGER": str(ledger)},
    )


def beat() -> Command:
    """The scheduler; its times are rows of the database."""
    return Command(
        name="beat",
        argv=python("-m", "celery", "--quiet", "-A", "orbit", "beat", "--pidfile="),
    )


def ledger_worker(demo: Demo, *, base_url: str, ledger: Path) -> Command:
    """The demo's worker of /v1: moves money between accounts in a file."""
    return Command(
        name="ledger",
        argv=python(str(LEDGER_WORKER)),
        environment={
            "ORBIT_BASE_URL": base_url,
            "ORBIT_TOKEN": demo.tokens["worker"],
            "ORBIT_QUEUE_ID": demo.queue_id,
            "ORBIT_LEDGER": str(ledger),
        },
    )


def prepare(*, demo_file: Path | None, admin_password: str) -> Command:
    """Migrations, the administrator and, with a file to put it in, the demo data."""
    demo = ("--demo-file", str(demo_file)) if demo_file else ()
    return Command(
        name="prepare",
        argv=python(MANAGE, "preparestack", *demo),
        environment={"ORBIT_ADMIN_PASSWORD": admin_password},
    )
