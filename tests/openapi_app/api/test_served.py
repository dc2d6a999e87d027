"""The open job API through a running server: parallel callers, headers, secrets."""

import json
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from urllib.parse import urlsplit

import httpx
import pytest
from django.conf import settings
from django.db import connection
from redis import Redis

from openapi_app.models import JobExecution
from tests.openapi_app.api.builders import HANDLER, ROOT, rows
from tests.openapi_app.api.served import serving

# One worker pays for what these tests share.
pytestmark = pytest.mark.xdist_group("open_api_served")

KEY = "my-very-own-key-42"


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """What the server prints."""
    return tmp_path_factory.mktemp("web") / "output.log"


@pytest.fixture(scope="module")
def base_url(django_db_setup, output):  # noqa: ARG001 - the database has to be there
    """Where the server answers."""
    with output.open("ab") as file, serving(file, redis_url=settings.REDIS_URL) as url:
        yield url


def send(base_url, token, job, key):
    """One trigger on a connection of its own."""
    return httpx.post(
        f"{base_url}{ROOT}/jobs/{job.id.hex}/executions",
        headers={"Authorization": f"Bearer {token}", "Idempotency-Key": key},
        timeout=30,
        trust_env=False,
    )


def test_100_parallel_triggers_with_one_key_are_one_run(place, base_url):
    job = place.job()
    token = place.token(job).plaintext

    with ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(lambda _: send(base_url, token, job, KEY), range(100)))

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["data"]["id"] for answer in answers}) == 1
    replayed = [answer.headers["Idempotency-Replayed"] for answer in answers]
    assert replayed.count("false") == 1
    assert rows() == (1, 1, 1)


def test_100_parallel_triggers_with_100_keys_are_100_runs(place, base_url):
    job = place.job()
    token = place.token(job).plaintext

    with ThreadPoolExecutor(50) as pool:
        answers = list(
            pool.map(
                lambda it: send(base_url, token, job, f"parallel-{it:03}"), range(100)
            )
        )

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["data"]["id"] for answer in answers}) == 100
    assert rows() == (100, 100, 100)


def raw(base_url, method, path, *headers):
    """Status and body of a request with exactly these headers, repeated ones too."""
    address = urlsplit(base_url)
    request = HTTPConnection(address.hostname, address.port, timeout=10)
    request.putrequest(method, f"{ROOT}{path}")
    for name, value in headers:
        request.putheader(name, value)
    request.endheaders()
    answer = request.getresponse()
    body = json.loads(answer.read())
    request.close()
    return answer.status, body


def test_two_key_headers_are_refused(place, base_url):
    job = place.job()
    token = place.token(job).plaintext

    status, body = raw(
        base_url,
        "POST",
        f"/jobs/{job.id.hex}/executions",
        ("Authorization", f"Bearer {token}"),
        ("Idempotency-Key", "key-number-1"),
        ("Idempotency-Key", "key-number-2"),
        ("Content-Length", "0"),
    )

    assert (status, body["message"]) == (400, "idempotency_key_invalid")
    assert "exactly one" in body["detail"]
    assert rows() == (0, 0, 0)


def test_two_tokens_are_no_token(place, base_url):
    token = place.token().plaintext

    status, body = raw(
        base_url,
        "GET",
        "/token",
        *[("Authorization", f"Bearer {token}")] * 2,
    )

    assert (status, body["message"]) == (401, "invalid_token")


def dump():
    """Every table of the test database as text."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT t::text FROM "{table}" t')
            found += [f"{table}: {row}" for (row,) in cursor.fetchall()]
    return found


def test_secrets_are_nowhere(place, base_url, output):
    """Calls that succeed, fail and break; then everything there is, is searched."""
    job = place.job(description="Shown.")
    token = place.token(job).plaintext
    secret = token[21:]
    wrong = token[:-6] + "ZZZZZZ"
    printed_before = output.stat().st_size
    calls = [
        send(base_url, token, job, KEY),
        send(base_url, token, job, KEY),
        send(base_url, wrong, job, KEY),
        send(base_url, token, job, f'"{KEY}"'),
        send(base_url, token, place.job(), KEY),
    ]
    reads = [
        "/jobs",
        f"/jobs/{job.id.hex}",
        f"/jobs/{job.id.hex}/executions",
        f"/executions/{JobExecution.objects.get().id.hex}",
        "/token",
        f"/nothing/{KEY[:4]}",
        f"/jobs?cursor={'x' * 20}",
    ]
    with httpx.Client(trust_env=False, timeout=30) as client:
        calls += [
            client.get(
                f"{base_url}{ROOT}{path}",
                headers={"Authorization": f"Bearer {token}", "Idempotency-Key": KEY},
            )
            for path in reads
        ]
    answered = "".join(f"{it.headers}{it.text}" for it in calls)
    printed = output.read_bytes()[printed_before:].decode()
    stored = "\n".join(
        line for line in dump() if not line.startswith(("openapi_job:", "tasks_task:"))
    )
    with Redis.from_url(settings.REDIS_URL) as client:
        cached = "".join(f"{key!r}{client.dump(key)!r}" for key in client.scan_iter())

    assert len(calls) == 12
    for where in (answered, printed, stored, cached):
        assert secret not in where
        assert wrong not in where
        assert KEY not in where
        assert "nobody may see" not in where
    for where in (answered, printed, cached):
        assert HANDLER not in where
        assert "traceback" not in where.lower()
