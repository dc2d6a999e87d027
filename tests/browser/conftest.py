"""A real Orbit, a real Chromium, and visitors whose console stays silent."""

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.db import connections
from playwright.sync_api import sync_playwright

from orbit.stack.ports import free_port
from orbit.stack.processes import Command, Process
from tests.live import PATIENCE, eventually
from tests.openapi_app.api.builders import a_place
from tests.openapi_app.api.served import answers
from tests.servers import DATABASE, SESSION
from tests.tokens_app.api.builders import Person, a_user

AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"
VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error("CSP", event.violatedDirective, event.blockedURI, event.sourceFile));
"""


@pytest.fixture(scope="package", autouse=True)
def _rows_beside_playwright():
    """Playwright keeps an event loop in this thread; Django would refuse to query."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield


@contextmanager
def serving(output):
    """The base URL of a gunicorn on this session's test database."""
    database = connections["default"].settings_dict["NAME"]
    port = free_port()
    base_url = f"http://127.0.0.1:{port}"
    url = urlsplit(os.environ[DATABASE])._replace(path=f"/{database}").geturl()
    command = Command(
        name="web",
        argv=(
            *(sys.executable, "-m", "gunicorn"),
            "tests.openapi_app.api.served:application",
            *("--bind", f"127.0.0.1:{port}", "--worker-class", "gthread"),
            *("--threads", "8", "--no-control-socket", "--graceful-timeout", "1"),
        ),
        environment={
            "DATABASE_URL": url,
            "REDIS_URL": settings.REDIS_URL,
            "CELERY_BROKER_URL": settings.REDIS_URL,
            "ORBIT_BASE_URL": base_url,
            "ORBIT_CALL_LOG_INTERVAL_MS": "50",
            "PYTHONPATH": str(Path.cwd()),
        },
    )
    process = Process(command, instance=SESSION.guarded(), output=output)
    try:
        eventually(lambda: answers(base_url))
        yield base_url
    finally:
        process.stop()


@pytest.fixture(scope="package")
def printed():
    """The file with all that the server prints."""
    directory = SESSION.directory()
    yield directory / "output"
    shutil.rmtree(directory)


@pytest.fixture(scope="package")
def base_url(django_db_setup, printed):  # noqa: ARG001 - the database has to be there
    """Where the server answers."""
    with printed.open("ab") as file, serving(file) as url:
        yield url


@pytest.fixture(scope="package")
def chromium(chromium_path):
    """One browser for all tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


class Visitor:
    """Somebody with a browser of their own."""

    def __init__(self, chromium, base_url, **options):
        self.base_url = base_url
        self.context = chromium.new_context(
            base_url=base_url,
            **{
                "viewport": {"width": 1366, "height": 768},
                "reduced_motion": "reduce",
                "timezone_id": "Europe/Berlin",
                "locale": "en-GB",
                **options,
            },
        )
        self.context.add_init_script(VIOLATIONS)
        self.complaints = []
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE * 1_000)
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _hear(self, message):
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{message.text} {message.location}")

    def sign_in(self, user, *, login_age=0):
        """Take over a session that was proved `login_age` seconds ago."""
        person = Person(user, login_age=login_age)
        cookie = person.client.cookies[settings.SESSION_COOKIE_NAME]
        self.context.add_cookies(
            [{"name": cookie.key, "value": cookie.value, "url": self.base_url}]
        )
        return self

    def open(self, path):
        """Go there; answers the page."""
        self.page.goto(path)
        return self.page

    def faults(self, *rules):
        """What axe finds by these rules, or by all, that is serious, in words."""
        self.page.evaluate(AXE.read_text())
        options = {"preload": False, "resultTypes": ["violations"]}
        if rules:
            options["runOnly"] = rules
        found = self.page.evaluate("(it) => axe.run(document, it)", options)
        return [
            f"{it['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
            for it in found["violations"]
            if it["impact"] in {"serious", "critical"}
            for node in it["nodes"]
        ]


@pytest.fixture
def visit(chromium, base_url, transactional_db):  # noqa: ARG001 - rows come first
    """Makes visitors; at the end none of their consoles may have complained."""
    visitors = []

    def arrive(**options):
        visitors.append(Visitor(chromium, base_url, **options))
        return visitors[-1]

    yield arrive
    for visitor in visitors:
        visitor.context.close()
    assert [it.complaints for it in visitors] == [[] for _ in visitors]


@pytest.fixture
def place(transactional_db):  # noqa: ARG001 - it has to be there
    """A namespace with a queue and the group `billing`."""
    return a_place(number=91)


@pytest.fixture
def admin(transactional_db):  # noqa: ARG001 - it has to be there
    """A superuser."""
    return a_user(is_superuser=True)


@pytest.fixture
def visitor(visit, admin):
    """The superuser at a desk."""
    return visit().sign_in(admin)
