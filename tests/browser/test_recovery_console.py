"""The recovery console in a real browser: the way of a decision, and its conflicts."""

import json

import pytest
from msgspec import Raw

from tasks_app.actions.propose_review import propose_review
from tasks_app.actions.start_probe import start_probe
from tasks_app.domain.commands import ReviewTask
from tasks_app.domain.reports import ReportKind
from tasks_app.models import OperationAudit, Task
from tests.browser.test_pages_look import LOOKS, looked_over, photograph
from tests.builders import (
    OPERATOR,
    a_lease,
    a_queue,
    a_submission,
    again,
    an_identity,
    claimed,
    lose,
    reach_of,
    reported,
    retried,
    reviewed,
    submitted,
)
from tests.openapi_app import builders as jobs
from tests.tasks_app.pages.builders import ROOT, failed, path_of, unsure

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

EXACT = (
    '{"id":9007199254740993,"price":1.10,"limit":1E400,'
    '"serial":123456789012345678901234567890}'
)
REASON = "The bank has no such payment."


def fill_in(page, *, outcome="FAILED"):
    """What a person types who has looked at the other side."""
    page.locator(f"[name=outcome][value={outcome}]").check()
    page.get_by_label("Result (JSON)").fill(EXACT)
    page.get_by_label("Reason").fill(REASON)
    page.get_by_label("Evidence reference").fill("bank:statement-0917")
    page.get_by_label("Every attempt has ended").check()


def typed(page):
    """What stands in the form."""
    names = ("result", "reason", "evidence_ref")
    values = [page.locator(f"[name={name}]").input_value() for name in names]
    return [page.locator("[name=outcome]:checked").get_attribute("value"), *values]


def standing(task):
    """State, revision and result as they are now."""
    return Task.objects.values_list("state", "revision", "result").get(id=task.id)


def test_from_the_inbox_to_a_decision_that_keeps_every_digit(visitor):
    task, _ = unsure(business_key="payment-0917", payload=EXACT)
    page = visitor.open(ROOT)

    page.get_by_role("link", name="payment-0917").click()
    shown = page.locator("#payload").text_content()
    page.get_by_role("link", name="Settle").click()
    page.get_by_role("button", name="Settle for good").click()
    page.locator("#id_outcome_error").wait_for()
    is_focused = page.evaluate("document.activeElement.name")
    fill_in(page)
    page.get_by_role("button", name="Check only").click()
    page.get_by_text("Checked: this would be accepted.").wait_for()
    is_answer_focused = page.evaluate("'answer' in document.activeElement.dataset")
    untouched = standing(task)
    page.get_by_role("button", name="Settle for good").dblclick()
    page.get_by_text("The task is settled.").wait_for()

    assert shown == EXACT
    assert is_focused == "outcome"
    assert is_answer_focused
    assert untouched == ("NEEDS_REVIEW", 3, None)
    assert standing(task) == ("FAILED", 4, EXACT)
    assert page.locator("#result").text_content() == EXACT
    assert OperationAudit.objects.filter(task_id=task.id, action="task.review").get()


def test_another_operator_was_faster(visitor):
    task, _ = unsure()
    page = visitor.open(ROOT + path_of(task, "/review"))
    fill_in(page, outcome="SUCCEEDED")
    before = typed(page)
    reviewed(task, reason="Looked at the ledger first.")

    page.get_by_role("button", name="Settle for good").click()
    page.get_by_text("Somebody was faster. Nothing of yours was written.").wait_for()

    assert typed(page) == before
    assert page.get_by_text("Looked at the ledger first.").first.is_visible()
    assert page.evaluate("document.activeElement.className").startswith("refusal")
    assert page.locator("form[data-send] button[type=submit]").count() == 0
    assert standing(task)[:2] == ("FAILED", 4)


def test_late_evidence_came_while_the_form_was_open(visitor):
    task, lease = unsure()
    page = visitor.open(ROOT + path_of(task, "/review"))
    fill_in(page)
    before = typed(page)
    reported(lease, "succeed", result='{"paid":9007199254740993}')

    page.get_by_role("button", name="Settle for good").click()
    page.get_by_text("New evidence came while you were writing.").wait_for()
    kept, untouched = typed(page), standing(task)
    reports = page.get_by_text("9007199254740993},").all_inner_texts()
    faults = visitor.faults()
    photograph(page, "difference-light")
    page.get_by_label("Every attempt has ended").check()
    page.get_by_role("button", name="Send again, knowing this").click()
    page.get_by_text("The task is settled.").wait_for()

    assert kept == before
    assert untouched == ("NEEDS_REVIEW", 3, None)
    assert len(reports) == 2
    assert faults == []
    assert standing(task) == ("FAILED", 4, EXACT)


def test_what_was_typed_outlives_the_session_and_a_lost_answer(visitor):
    task, _ = unsure()
    page = visitor.open(ROOT + path_of(task, "/review"))
    fill_in(page)
    before = typed(page)
    cookies = visitor.context.cookies()

    visitor.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Settle for good").click()
    page.get_by_text("You are signed out.").wait_for()
    visitor.context.add_cookies(cookies)
    page.route("**/review", lambda route: (route.fetch(), route.fulfill(status=200)))
    page.get_by_role("button", name="Settle for good").click()
    page.get_by_text("The answer was lost.").wait_for()
    kept = typed(page)
    page.unroute("**/review")
    page.get_by_role("button", name="Settle for good").click()
    page.get_by_text("the task was settled once").wait_for()

    assert kept == before
    assert standing(task) == ("FAILED", 4, EXACT)


def test_a_retry_is_followed_until_the_new_task_stands_still(visitor):
    task = failed(business_key="order-4711")
    page = visitor.open(ROOT + path_of(task))

    page.get_by_role("link", name="Run again").click()
    page.get_by_label("Reason").fill("The bank is back.")
    page.get_by_label("Evidence reference").fill("bank:status")
    page.get_by_label("The old execution has ended").check()
    page.get_by_role("button", name="Run again").click()
    page.get_by_text("Accepted as a new task.").wait_for()
    child = Task.objects.get(retry_of=task.id)
    page.locator("[data-state=WAITING]").wait_for()
    lease = again(child.id)
    reported(lease, "succeed")
    page.locator("[data-state=SUCCEEDED]").wait_for()
    page.get_by_role("link", name=child.id.hex).click()

    page.get_by_role("heading", name="order-4711").wait_for()
    assert page.get_by_text("Lineage").is_visible()


def test_a_long_text_is_copied_and_loaded_whole(visitor):
    payload = "[" + ",".join(str(9007199254740993 + n) for n in range(3_000)) + "]"
    task, _ = unsure(payload=payload)
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visitor.open(ROOT + path_of(task))

    page.get_by_role("button", name="Copy Payload").click()
    page.get_by_text("Copied.").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    beginning = page.locator("#payload").text_content()
    page.get_by_role("link", name="Show all Payload").click()
    page.get_by_role("link", name="Show all Payload").wait_for(state="detached")

    assert copied == payload
    assert beginning == payload[:4_096]
    assert page.locator("#payload").text_content() == payload


def found_by_the_probe(probe, **finding):
    """What the worker of a probe reports."""
    [lease] = claimed(probe.queue, task_id=probe.id)
    reported(lease, "succeed", result=json.dumps(finding))


def test_a_serial_job_goes_on_after_a_probe_and_a_decision(visitor):
    job = jobs.a_job(
        name="nightly payout",
        handler="ledger.transfer",
        parameters='{"from": "a", "to": "b", "amount": 1.10}',
        concurrency_policy="SERIAL",
    )
    first, second = jobs.run_now(job), jobs.run_now(job)
    jobs.finish(first, ReportKind.UNKNOWN)
    task = jobs.task_of(first)
    assert jobs.again(second).task_id is None or jobs.task_of(second).is_gated
    page = visitor.open(ROOT)

    blocked = page.get_by_role("row", name="nightly payout").inner_text()
    page.get_by_role("link", name=task.id.hex).click()
    page.get_by_text("cannot go on").wait_for()
    page.get_by_role("button", name="Start a probe").click()
    page.get_by_text("It is being looked up.").wait_for()
    found_by_the_probe(
        Task.objects.get(owner_kind="PROBE", owner_id=task.id),
        effect="APPLIED",
        evidence_ref="ledger:execution-1",
        details={"found": 2, "of": 2},
    )
    page.get_by_role("link", name="Look again").click()
    page.get_by_role("link", name="Begin a decision with this").click()
    page.locator("[name=outcome][value=SUCCEEDED]:checked").wait_for()
    page.get_by_text("goes on: its next execution starts").wait_for()
    page.get_by_label("Reason").fill("Both lines are in the ledger.")
    page.get_by_label("Every attempt has ended").check()
    page.get_by_role("button", name="Settle for good").click()
    page.get_by_text("The task is settled.").wait_for()

    assert "1 execution waits" in blocked
    assert standing(task) == ("SUCCEEDED", 4, '{"found": 2, "of": 2}')
    assert jobs.claim(second) is not None


def test_filters_are_kept_under_a_name(visitor):
    unsure(handler="mail.send", business_key="mail-1")
    unsure(business_key="payment-1")
    page = visitor.open(ROOT)

    page.get_by_label("Handler, exactly").fill("mail.send")
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Name of this view").fill("Mail")
    page.get_by_role("button", name="Keep it").click()
    page.get_by_role("button", name="Forget the view “Mail”").wait_for()
    page = visitor.open(ROOT)
    page.get_by_role("link", name="payment-1").wait_for()
    page.get_by_role("link", name="Mail", exact=True).click()
    page.get_by_role("button", name="Forget the view “Mail”").wait_for()

    assert page.get_by_role("link", name="mail-1").is_visible()
    assert not page.get_by_role("link", name="payment-1").is_visible()


@pytest.fixture
def pages(transactional_db):  # noqa: ARG001 - rows come first
    """The pages of the console, with a past to show."""
    queue = a_queue()
    wanted = {"queue": queue, "handler": "ledger.transfer", "payload": EXACT}
    lease = a_lease(business_key="payment-0917", **wanted)
    reported(lease, "unknown")
    reported(lease, "succeed", result=EXACT)
    source = failed(business_key="order-4711", **wanted)
    child = retried(source).task
    lose(again(child.id))
    final = failed(business_key="order-4712", **wanted)
    for number in range(3):
        unsure(business_key=f"mail-{number}", queue=queue, handler="mail.send")
    long, _ = unsure(business_key="<b>" + "k" * 509, queue=queue, handler="h" * 200)
    careful = a_queue(second_approver=True)
    proposed, _ = unsure(queue=careful, business_key="payout-1")
    propose_review(
        ReviewTask(
            expected_revision="3",
            reason=REASON,
            evidence_ref="bank:statement-0917",
            execution_settled=True,
            outcome="FAILED",
            result=Raw(EXACT.encode()),
        ),
        task_id=proposed.id,
        identity=an_identity(),
        actor=OPERATOR,
        reach=reach_of(careful),
    )
    disputed, disputed_lease = unsure(queue=queue, business_key="payment-0918")
    reviewed(disputed)
    reported(disputed_lease, "succeed")
    a_lease(queue=queue)
    submitted(a_submission(queue), queue=queue)
    probed, _ = unsure(queue=queue, business_key="payment-0919")
    start_probe(
        task_id=probed.id,
        identity=an_identity(),
        actor=OPERATOR,
        reach=reach_of(queue),
    )
    found_by_the_probe(
        Task.objects.get(owner_kind="PROBE", owner_id=probed.id), effect="APPLIED"
    )
    here = f"?namespace={queue.namespace_id.hex}"
    return {
        "inbox": "",
        "narrowed": f"?queue={queue.id.hex}&handler=mail.send",
        "overview": f"overview{here}",
        "contradictions": f"contradictions{here}",
        "probed": path_of(probed),
        "proposal": path_of(proposed),
        "propose": path_of(unsure(queue=careful)[0], "/review"),
        "task": path_of(lease.task),
        "review": path_of(lease.task, "/review"),
        "long": path_of(long),
        "source": path_of(source),
        "retry": path_of(final, "/retry"),
        "retried": path_of(source, "/retry"),
    }


# Which pages are looked at how: each of them once with all of axe's rules.
LOOKED_AT = {
    "light": ("inbox", "task", "review"),
    "dark": ("inbox", "task", "review", "overview"),
    "phone": (
        *("inbox", "narrowed", "task", "long", "review", "retry", "overview"),
        *("contradictions", "probed"),
    ),
    "chinese": ("inbox", "task", "review", "retry", "retried", "overview"),
    "phone-dark-chinese": ("inbox", "source", "review", "retried", "contradictions"),
}


@pytest.mark.parametrize("look", LOOKS)
def test_no_page_has_a_serious_fault_or_overflows(visit, admin, pages, look):
    visitor = visit(**LOOKS[look]).sign_in(admin)
    faults = {}
    for name in LOOKED_AT[look]:
        page = visitor.open(ROOT + pages[name])
        photograph(page, f"recovery-{name}-{look}")
        faults[name] = looked_over(visitor, look)

    assert faults == {name: [] for name in faults}


OTHERS = (
    *("source", "retry", "retried", "proposal", "propose"),
    *("narrowed", "overview", "contradictions", "probed"),
)


@pytest.mark.parametrize("name", OTHERS)
def test_the_other_pages_have_no_serious_fault(visitor, pages, name):
    page = visitor.open(ROOT + pages[name])
    photograph(page, f"recovery-{name}-light")

    assert visitor.faults() == []
