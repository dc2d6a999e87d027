"""docker-compose.yml and the Dockerfile, tried without docker.

Each service's own command runs here as a process, with the service's own variables,
on this machine's servers; only paths, hosts and ports are those of this machine.
"""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from orbit.stack.ports import free_port
from orbit.stack.processes import Command, Process
from tests.live import eventually
from tests.openapi_app.celery.builders import database_url, settled, task_of
from tests.servers import SESSION

pytest_plugins = ["tests.openapi_app.celery.fixtures"]

CHECKOUT = Path(__file__).resolve().parent.parent
COMPOSE = yaml.safe_load((CHECKOUT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if service.get("image") == "orbit"]
MOUNT = "/run/secrets"


def default_of(value):
    """What `${NAME:-default}` is when NAME is not set."""
    text = str(value)
    while "${" in text:
        before, rest = text.split("${", 1)
        inside, after = rest.split("}", 1)
        text = before + inside.partition(":-")[2] + after
    return text


class Deployment:
    """The services of the file as processes of this machine."""

    def __init__(self, directory, secrets):
        self.directory = directory
        self.secrets = secrets
        self.port = free_port()
        self.started = {}

    def translated(self, text):
        """The same word with this machine's paths and ports."""
        return (
            default_of(text)
            .replace(MOUNT, str(self.secrets))
            .replace("/var/lib/orbit", str(self.directory))
            .replace("0.0.0.0:8000", f"127.0.0.1:{self.port}")
            .replace("127.0.0.1:8000", f"127.0.0.1:{self.port}")
        )

    def variables(self, name):
        """The service's variables, and nothing of the suite's own."""
        wanted = SERVICES[name]["environment"].items()
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "DJANGO_SETTINGS_MODULE": "orbit.settings",
            "PYTHONUNBUFFERED": "1",
            "HOME": str(self.directory),
            **{key: self.translated(value) for key, value in wanted},
        }

    def run(self, name, words):
        """Run it to its end; what it printed."""
        done = subprocess.run(
            [self.translated(word) for word in words],
            cwd=CHECKOUT,
            env=self.variables(name),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def is_healthy(self, name):
        """Whether the service's own health check finds it well."""
        kind, *words = SERVICES[name]["healthcheck"]["test"]
        assert kind == "CMD"
        done = subprocess.run(
            [self.translated(word) for word in words],
            cwd=CHECKOUT,
            env=self.variables(name),
            capture_output=True,
            timeout=60,
            check=False,
        )
        return done.returncode == 0

    def start(self, name):
        """Start its command."""
        output = (self.directory / f"{name}.log").open("w")
        words = [self.translated(word) for word in SERVICES[name]["command"]]
        # `env -i` leaves nothing of this process's variables but the mark.
        mark = SESSION.guarded()
        pairs = [f"{key}={value}" for key, value in self.variables(name).items()]
        process = Process(
            Command(
                name=name,
                argv=("env", "-i", f"ORBIT_STACK_INSTANCE={mark}", *pairs, *words),
            ),
            instance=mark,
            output=output,
        )
        output.close()
        self.started[name] = process

    def said(self, name):
        """All that the service has printed."""
        return (self.directory / f"{name}.log").read_text()


@pytest.fixture
def deployment(bench, broker, tmp_path):  # noqa: ARG001 - its tables are used
    """The services of the file on the test database and a Valkey of their own."""
    work = tmp_path / "checkout"
    (work / "deploy").mkdir(parents=True)
    shutil.copy(CHECKOUT / "deploy" / "make-secrets", work / "deploy")
    subprocess.run([str(work / "deploy" / "make-secrets")], check=True)
    secrets = work / "secrets"
    for name, text in {
        "database_url": database_url(),
        "redis_url": broker.url(),
    }.items():
        (secrets / name).chmod(0o600)
        (secrets / name).write_text(text)
    deployed = Deployment(tmp_path, secrets)
    yield deployed
    for process in deployed.started.values():
        process.stop()


def test_the_services_run_and_find_themselves_well(deployment, bench):
    deployment.run("migrate", SERVICES["migrate"]["command"])
    services = [name for name in OURS if name != "migrate"]
    assert set(services) == {"web", "worker", "beat", "maintenance"}
    for name in services:
        deployment.start(name)
    for name in services:
        eventually(lambda name=name: deployment.is_healthy(name))

    # Accepted and never sent: maintenance sends it and the worker runs it.
    execution_id = bench.accept(
        bench.job("ledger.transfer", parameters={"from": "a", "to": "b", "amount": 1})
    )
    assert settled(execution_id).state == "SUCCEEDED"
    assert task_of(execution_id).attempt_count == 1
    assert len((deployment.directory / "ledger.jsonl").read_text().splitlines()) == 2
    eventually(lambda: "beat: Starting" in deployment.said("beat"))

    for name in services:
        process = deployment.started[name]
        assert process.exit_code() is None, deployment.said(name)
        process.ask_to_end()
    for name in services:
        code = deployment.started[name].popen.wait(timeout=20)
        assert code == 0, (name, code, deployment.said(name))


def test_secrets_come_from_files_that_the_script_writes(tmp_path):
    (tmp_path / "deploy").mkdir()
    script = shutil.copy(CHECKOUT / "deploy" / "make-secrets", tmp_path / "deploy")
    subprocess.run([script], check=True, capture_output=True)
    made = tmp_path / "secrets"
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert {it["file"] for it in COMPOSE["secrets"].values()} == {
        f"./secrets/{it.name}" for it in made.iterdir()
    }
    again = subprocess.run([script], check=False, capture_output=True)
    assert again.returncode == 1
    for service in SERVICES.values():
        assert set(service.get("secrets", [])) <= set(COMPOSE["secrets"])
        for name, value in service.get("environment", {}).items():
            is_secret = any(
                it in name for it in ("SECRET", "PASSWORD", "PEPPER", "URL")
            )
            assert not is_secret or name.endswith("_FILE") or name == "ORBIT_BASE_URL"
            if str(value).startswith(MOUNT):
                assert Path(value).name in service["secrets"]


def test_every_service_is_watched_and_comes_back():
    assert set(SERVICES) == {"postgres", "valkey", *OURS}
    for name, service in SERVICES.items():
        if name == "migrate":
            assert service["restart"] == "on-failure"
            continue
        assert service["restart"] == "unless-stopped"
        assert service["healthcheck"]["test"]
        for needed, how in service.get("depends_on", {}).items():
            assert needed in SERVICES
            if how["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[needed]


def test_what_must_not_be_lost_is_on_volumes():
    for service, path in {"postgres": "/var/lib/postgresql", "valkey": "/data"}.items():
        volume, _, target = SERVICES[service]["volumes"][0].partition(":")
        assert target == path
        assert volume in COMPOSE["volumes"]


def test_our_services_run_without_privileges():
    dockerfile = (CHECKOUT / "Dockerfile").read_text()
    assert "\nUSER 10001:10001\n" in dockerfile
    for name in OURS:
        service = SERVICES[name]
        assert service["user"] == "10001:10001"
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
    # Only the proxy of this host reaches the one port.
    assert [it for it in SERVICES if "ports" in SERVICES[it]] == ["web"]
    assert SERVICES["web"]["ports"][0].startswith("127.0.0.1:")


def test_the_image_holds_what_the_lock_names_and_no_tools_of_this_house():
    whole = (CHECKOUT / "requirements.lock").read_text()
    lock = (CHECKOUT / "requirements.production.lock").read_text()
    pinned = [line for line in lock.splitlines() if "==" in line]
    assert pinned
    assert all(line in whole for line in pinned)
    assert not any(line.startswith(("pytest", "ruff", "mypy==")) for line in pinned)
