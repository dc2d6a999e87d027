"""The admin shows the engine, changes nothing by hand, and stays cheap on its lists."""

import json
import re

import msgspec
import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from orbit.ids import new_id
from orbit.outbox.models import ResultEvent
from orbit.read_only_admin import LISTED, SHOWN_CHARACTERS, BoundedPaginator
from tasks_app.actions.claim_tasks import claim_tasks
from tasks_app.actions.create_application import create_application
from tasks_app.actions.create_namespace import create_namespace
from tasks_app.actions.create_queue import create_queue
from tasks_app.actions.report_attempts import report_attempts
from tasks_app.actions.submit_tasks import Submission, submit_tasks
from tasks_app.domain.access import ENGINE, Reach
from tasks_app.domain.commands import ClaimTasks, RetryPolicyIn, SubmitTask, WorkerIn
from tasks_app.domain.idempotency import identify
from tasks_app.domain.limits import QueueLimits
from tasks_app.domain.reports import Report, ReportKind
from tasks_app.models import Attempt, Evidence, OperationAudit, Permit, Queue, Task
from tasks_app.models.replay import Answered

pytestmark = pytest.mark.django_db(transaction=True)

BACKEND = "django.contrib.auth.backends.ModelBackend"
PAYLOAD = '{"sequence": 9007199254740993, "amount": 1.10, "note": "<script>"}'
LISTS = {
    "tasks_app": [
        "namespace",
        "application",
        "queue",
        "task",
        "attempt",
        "permit",
        "evidence",
        "operationaudit",
    ],
    "outbox": ["resultevent"],
}
PAGES = [f"{app}_{model}" for app, models in LISTS.items() for model in models]
KEPT_BACK = re.compile(
    r'"(payload|result|content|before|after|lease_token_hash|report_digest|digest)"'
)


@pytest.fixture
def queue():
    """A queue with a limit, so that a running task holds a permit."""
    namespace = create_namespace(name="default", number=1)
    application = create_application(
        namespace_id=namespace, name="demo", max_outstanding=1_000
    )
    queue_id = create_queue(
        application_id=application,
        name="transfers",
        limits=QueueLimits(max_concurrency=50),
        reach=Reach(namespace_id=namespace, queue_ids=None),
    )
    return Queue.objects.get(id=queue_id)


def submit(queue, *, key, payload=PAYLOAD):
    command = SubmitTask(
        queue_id=queue.id.hex,
        handler="ledger.transfer",
        handler_version="v1",
        payload_version="v1",
        payload=msgspec.Raw(payload.encode()),
        retry=RetryPolicyIn(attempt_timeout_ms=10_000),
        task_timeout_ms=60_000,
        business_key=f"transfer:{key}",
    )
    submission = Submission(
        command=command, identity=identify(key=key, content=payload.encode())
    )
    reach = Reach(namespace_id=queue.namespace_id, queue_ids=None)
    (answered,) = submit_tasks([submission], actor=ENGINE, reach=reach)
    assert isinstance(answered, Answered)
    return answered.task


def claim(queue, *, count=1):
    worker = WorkerIn(name="ledger", instance_id=new_id().hex)
    return claim_tasks(
        ClaimTasks(worker=worker, max_tasks=count),
        queue_id=queue.id,
        actor=ENGINE,
        reach=Reach(namespace_id=queue.namespace_id, queue_ids=None),
    )


def report(queue, assignment, result):
    return report_attempts(
        [
            Report(
                attempt_id=assignment.attempt_id,
                lease_token=assignment.lease_token,
                kind=ReportKind.SUCCEED,
                result=result,
            )
        ],
        actor=ENGINE,
        reach=Reach(namespace_id=queue.namespace_id, queue_ids=None),
    )


@pytest.fixture
def rows(queue):
    """One row of every kind: a task that ended, late evidence, and one that runs."""
    submit(queue, key="one")
    (first,) = claim(queue)
    report(queue, first, '{"entries": 2}')
    report(queue, first, '{"entries": 3}')  # another content: late evidence
    submit(queue, key="two")
    claim(queue)
    return {
        "tasks_app_namespace": queue.namespace_id,
        "tasks_app_application": queue.application_id,
        "tasks_app_queue": queue.id,
        "tasks_app_task": first.task.id,
        "tasks_app_attempt": first.attempt_id,
        "tasks_app_permit": Permit.objects.get().pk,
        "tasks_app_evidence": Evidence.objects.get().id,
        "tasks_app_operationaudit": OperationAudit.objects.latest("id").id,
        "outbox_resultevent": ResultEvent.objects.latest("id").id,
    }


@pytest.fixture
def admin(client):
    """A browser in which an administrator is signed in."""
    client.force_login(get_user_model().objects.create_superuser("ada"), BACKEND)
    return client


def a_clerk(client, *permissions):
    """A browser of a member of staff who has these permissions alone."""
    clerk = get_user_model().objects.create_user("eve", is_staff=True)
    clerk.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(clerk, BACKEND)
    return client


def a_list(page):
    return reverse(f"admin:{page}_changelist")


def a_row(page, row_id):
    return reverse(f"admin:{page}_change", args=[row_id])


@pytest.mark.parametrize("page", PAGES)
def test_an_administrator_sees_list_and_row(admin, rows, page):
    assert admin.get(a_list(page)).status_code == 200
    assert admin.get(a_row(page, rows[page])).status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_nobody_else_does(client, rows, page):
    paths = [a_list(page), a_row(page, rows[page])]
    for path in paths:
        assert client.get(path).status_code == 302, "a stranger signs in first"
    clerk = a_clerk(client, "view_session")
    for path in paths:
        assert clerk.get(path).status_code == 403


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_added_changed_or_deleted(admin, rows, page):
    before = admin.get(a_row(page, rows[page])).content

    answers = [
        admin.post(reverse(f"admin:{page}_add"), {}),
        admin.post(a_row(page, rows[page]), {"state": "FAILED"}),
        admin.post(reverse(f"admin:{page}_delete", args=[rows[page]]), {"post": "yes"}),
    ]

    assert [answer.status_code for answer in answers] == [403, 403, 403]
    posted = {"action": "delete_selected", "_selected_action": [rows[page]]}
    admin.post(a_list(page), posted)
    after = admin.get(a_row(page, rows[page])).content
    assert _without_tokens(after) == _without_tokens(before)


def _without_tokens(page):
    return re.sub(rb'csrfmiddlewaretoken" value="[^"]+"', b"", page)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("rows")
def test_a_list_reads_no_content_and_counts_no_table(admin, page):
    with CaptureQueriesContext(
        connection,
    ) as seen:
        admin.get(a_list(page))

    for query in (entry["sql"] for entry in seen):
        if f'FROM "{_table(page)}"' in query:
            assert not KEPT_BACK.search(query), query
            assert "DISTINCT" not in query, query
            assert "COUNT(*) AS" not in query or "LIMIT" in query, query


def _table(page):
    return (
        page.replace("operationaudit", "operation_audit")
        .replace("resultevent", "result_event")
        .replace("tasks_app_", "tasks_")
    )


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("rows")
def test_a_list_costs_the_same_however_long_it_is(admin, queue, page):
    admin.get(a_list(page))
    with CaptureQueriesContext(connection) as few:
        admin.get(a_list(page))
    for number in range(10):
        submit(queue, key=f"more:{number}")
    for assignment in claim(queue, count=5):
        report(queue, assignment, "1")
        report(queue, assignment, "2")
    claim(queue, count=5)
    with CaptureQueriesContext(connection) as many:
        admin.get(a_list(page))

    assert len(many) == len(few)
    assert len(many) <= 8


def test_payload_and_result_are_shown_exactly_and_escaped(admin, rows):
    page = admin.get(a_row("tasks_app_task", rows["tasks_app_task"])).content.decode()

    escaped = PAYLOAD.replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    assert f'<pre class="stored">{escaped}</pre>' in page
    assert '<pre class="stored">{&quot;entries&quot;: 2}</pre>' in page
    assert f"{len(PAYLOAD)} bytes" in page


def test_a_large_payload_is_shown_in_part_and_never_read_whole(admin, queue):
    payload = json.dumps({"text": "x" * 200_000})
    task = submit(queue, key="large", payload=payload)

    with CaptureQueriesContext(connection) as seen:
        page = admin.get(a_row("tasks_app_task", task.id)).content.decode()

    assert "x" * 16_000 in page
    assert "x" * SHOWN_CHARACTERS not in page
    assert f"{len(payload):,} bytes, the first 16,384 characters are shown" in page
    whole = re.compile(r'SELECT [^(]*"tasks_task"\."payload"')
    assert not [entry["sql"] for entry in seen if whole.search(entry["sql"])]


def test_one_page_leads_to_the_next(admin, rows):
    task = Task.objects.get(id=rows["tasks_app_task"])
    page = admin.get(a_row("tasks_app_task", task.id)).content.decode()

    for kind, expected in [
        ("tasks_app_attempt", rows["tasks_app_attempt"].hex),
        ("tasks_app_evidence", rows["tasks_app_evidence"].hex),
        ("tasks_app_operationaudit", "task.accept"),
        ("outbox_resultevent", "task.succeeded"),
    ]:
        path = f"{a_list(kind)}?q={task.id.hex}"
        assert f'href="{path}"' in page
        assert expected in admin.get(path).content.decode()

    attempt = admin.get(a_row("tasks_app_attempt", rows["tasks_app_attempt"]))
    assert a_row("tasks_app_task", task.id) in attempt.content.decode()


@pytest.mark.parametrize("term", ["id", "dashes", "key"])
def test_a_search_finds_exactly_what_is_named(admin, rows, term):
    task = Task.objects.get(id=rows["tasks_app_task"])
    typed = {"id": task.id.hex, "dashes": str(task.id), "key": "transfer:one"}[term]

    found = admin.get(a_list("tasks_app_task"), {"q": typed}).context["cl"]

    assert [row.id for row in found.result_list] == [task.id]


@pytest.mark.parametrize("typed", ["transfer", "%", "0" * 32, "nothing at all", "\t"])
@pytest.mark.usefixtures("rows")
def test_a_search_for_something_else_finds_nothing_by_chance(admin, typed):
    found = admin.get(a_list("tasks_app_task"), {"q": typed}).context["cl"]
    assert len(found.result_list) == (2 if not typed.strip() else 0)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"state": "SUCCEEDED"}, 1),
        ({"state": "RUNNING"}, 1),
        ({"state": "nonsense"}, 0),
        ({"queue": "nonsense"}, 0),
        ({"queue": "0" * 32}, 0),
    ],
)
@pytest.mark.usefixtures("rows")
def test_filters_narrow_the_list(admin, query, count):
    found = admin.get(a_list("tasks_app_task"), query).context["cl"]
    assert len(found.result_list) == count


def test_the_paginator_looks_no_further_than_a_thousand_rows(queue):
    batch = [queue] * 3
    for number, _ in enumerate(batch):
        submit(queue, key=f"page:{number}")
    with CaptureQueriesContext(connection) as seen:
        paginator = BoundedPaginator(Task.objects.order_by("-id"), 2)
        assert paginator.count == 3
        assert paginator.num_pages == 2
    assert f"LIMIT {LISTED}" in seen[0]["sql"]


def test_digests_of_leases_are_nowhere(admin, rows):
    attempt = Attempt.objects.get(id=rows["tasks_app_attempt"])
    page = admin.get(a_row("tasks_app_attempt", attempt.id)).content.decode()

    assert bytes(attempt.lease_token_hash).hex() not in page
    assert "lease_token_hash" not in page.lower()


LIMITS = {
    "is_paused": "on",
    "max_outstanding": "7",
    "lease_ms": "5000",
    "second_approver": "on",
    "approval_seconds": "600",
}


def a_limits_page(queue):
    return reverse("admin:tasks_app_queue_limits", args=[queue.id])


def test_limits_are_set_by_who_may_change_queues(client, queue):
    clerk = a_clerk(client, "change_queue", "view_queue")
    assert (
        a_limits_page(queue)
        in clerk.get(a_row("tasks_app_queue", queue.id)).content.decode()
    )
    assert clerk.get(a_limits_page(queue)).status_code == 200

    answer = clerk.post(a_limits_page(queue), LIMITS)

    assert answer.status_code == 302
    queue.refresh_from_db()
    assert (queue.is_paused, queue.max_outstanding, queue.lease_ms) == (True, 7, 5_000)
    assert (queue.max_concurrency, queue.rate_per_second) == (None, None)
    assert (queue.second_approver, queue.approval_seconds) == (True, 600)
    assert queue.reviewer_may_be_submitter is False
    for name in ("max_outstanding", "second_approver", "reviewer_may_be_submitter"):
        assert name in LogEntry.objects.get().change_message


def test_limits_are_not_set_by_anybody_else(client, queue):
    assert client.post(a_limits_page(queue), LIMITS).status_code == 302
    clerk = a_clerk(client, "view_queue")
    assert clerk.get(a_limits_page(queue)).status_code == 403
    assert clerk.post(a_limits_page(queue), LIMITS).status_code == 403
    page = clerk.get(a_row("tasks_app_queue", queue.id)).content.decode()
    assert a_limits_page(queue) not in page

    queue.refresh_from_db()
    assert queue.is_paused is False


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_outstanding", "-1"),
        ("max_outstanding", ""),
        ("lease_ms", "999"),
        ("approval_seconds", "0"),
        ("rate_per_second", "nan"),
        ("max_concurrency", "one"),
    ],
)
def test_impossible_limits_change_nothing(admin, queue, field, value):
    answer = admin.post(a_limits_page(queue), {**LIMITS, field: value})

    assert answer.status_code == 200
    assert "Nothing was changed" in answer.content.decode()
    queue.refresh_from_db()
    assert queue.is_paused is False


def test_limits_of_no_queue_are_not_found(admin):
    path = reverse("admin:tasks_app_queue_limits", args=[new_id()])
    assert admin.get(path).status_code == 404


@pytest.mark.parametrize("page", ["tasks_app_task", "tasks_app_queue"])
def test_pages_carry_no_inline_style_or_script(admin, rows, queue, page):
    for path in (a_list(page), a_row(page, rows[page]), a_limits_page(queue)):
        answer = admin.get(path)
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        text = answer.content.decode()
        assert "<style" not in text
        assert " style=" not in text
        assert re.findall(r"<script(?![^>]* src=)(?![^>]*json)", text) == []
        assert re.findall(r"<[^>]* on[a-z]+=", text) == []
