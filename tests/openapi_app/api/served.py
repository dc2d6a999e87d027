"""A real Orbit over HTTP for tests of the open job API, and what it prints."""

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from django.db import connections

from orbit.stack.ports import free_port
from orbit.stack.processes import Command, Process
from orbit.wsgi import application
from tests.live import eventually
from tests.openapi_app.api.builders import HANDLER
from tests.servers import DATABASE, SESSION

__all__ = ["HANDLER", "application", "serving"]


@contextmanager
def serving(output, *, redis_url):
    """The base URL of a gunicorn on this session's test database."""
    database = connections["default"].settings_dict["NAME"]
    url = urlsplit(os.environ[DATABASE])._replace(path=f"/{database}").geturl()
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    command = Command(
        name="web",
        argv=(
            *(sys.executable, "-m", "gunicorn"),
            "tests.openapi_app.api.served:application",
            *("--bind", f"127.0.0.1:{port}", "--worker-class", "gthread"),
            *("--workers", "2", "--threads", "8", "--no-control-socket"),
            *("--graceful-timeout", "1"),
        ),
        environment={
            "DATABASE_URL": url,
            "REDIS_URL": redis_url,
            "CELERY_BROKER_URL": redis_url,
            "PYTHONPATH": str(Path.cwd()),
        },
    )
    process = Process(command, instance=SESSION.guarded(), output=output)
    try:
        eventually(lambda: answers(base_url))
        yield base_url
    finally:
        process.stop()
        assert process.exit_code() is not None


def answers(base_url):
    """Whether a web process listens there."""
    try:
        return httpx.get(f"{base_url}/livez", trust_env=False).status_code == 200
    except httpx.TransportError:
        return False
