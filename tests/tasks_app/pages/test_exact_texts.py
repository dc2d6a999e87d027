"""Digits and white space come out of the pages as they went in."""

import html
import re

import pytest

from tasks_app.models import Task
from tasks_app.queries.inbox import InboxFilter, inbox
from tests.builders import a_lease, claimed, reported, retried, reviewed
from tests.tasks_app.actions.test_start_probe import probed
from tests.tasks_app.pages.builders import Browser, failed, path_of, unsure

pytestmark = pytest.mark.django_db(transaction=True)

EXACT = (
    '{"id":9007199254740993,"price":1.10,"limit":1E400,"none":-0,'
    '"serial":123456789012345678901234567890,\r\n"text":"<b>&amp;\\u00e9</b>"}'
)


def text_of(page, name):
    """The text that a browser reads between the tags."""
    found = re.search(f'<code id="{name}">(.*?)</code>', page, re.DOTALL)
    # A browser reads CR LF as LF, but keeps what is written as a reference.
    return html.unescape(found[1].replace("\r\n", "\n"))


def test_payload_and_result_are_shown_as_they_are_stored():
    lease = a_lease(payload=EXACT)
    reported(lease, "succeed", result=EXACT)
    task = Task.objects.get(id=lease.task.id)
    browser = Browser()

    page = browser.text(path_of(task))

    assert task.payload == EXACT
    assert text_of(page, "payload") == text_of(page, "result") == EXACT
    whole = browser.get(path_of(task, "/payload"))
    assert whole.content.decode() == EXACT
    assert whole["Content-Type"] == "text/plain; charset=utf-8"
    assert browser.get(path_of(task, "/result")).content.decode() == EXACT


def test_laid_out_the_digits_are_the_same():
    task = failed(payload='{"a":1E400,"b":[1.10,9007199254740993]}')

    told = html.unescape(Browser().text(path_of(task)))

    assert '"a": 1E400,' in told
    assert re.search(r"1\.10,\s+9007199254740993\s", told)


def test_a_long_payload_is_shown_in_part_and_answered_whole():
    payload = "[" + ",".join(str(9007199254740993 + n) for n in range(5_000)) + "]"
    task, _ = unsure(payload=payload)
    browser = Browser()

    page = browser.text(path_of(task))

    assert text_of(page, "payload") == payload[:4_096]
    assert "only the beginning is shown" in page
    assert browser.get(path_of(task, "/payload")).content.decode() == payload


def test_a_late_report_is_told_word_for_word():
    task, lease = unsure()
    reported(lease, "succeed", result='{"id": 9007199254740993}')
    browser = Browser()

    response = browser.get(path_of(task))

    [report] = response.context["story"].late_reports
    assert '{"id": 9007199254740993}' in report.content.text
    whole = browser.get(path_of(task, f"/evidence/{report.id.hex}"))
    assert whole.content.decode() == report.content.text
    assert report.what == "Late report: succeeded"
    assert report.attempt_number == 1


def test_what_a_probe_found_is_told():
    task, _ = unsure()
    probe = probed(task).task
    [lease] = claimed(task.queue, task_id=probe.id)
    reported(lease, "succeed", result='{"effect":"APPLIED","details":1.10}')

    response = Browser().get(path_of(task))

    [finding] = response.context["story"].late_reports
    assert finding.what == "Probe: it took effect"
    assert '"details":1.10' in finding.content.text
    assert "Probe started" in response.content.decode()
    assert inbox(InboxFilter(), after=None, limit=9)[0].late_reports == 0


def test_there_is_no_text_of_what_is_not_there():
    task, _ = unsure()
    browser = Browser()

    assert browser.get(path_of(task, "/result")).status_code == 404
    assert browser.get(path_of(task, f"/evidence/{'7' * 32}")).status_code == 404


def test_the_lineage_is_linked_and_the_contradiction_told():
    task, lease = unsure()
    reviewed(task)
    reported(lease, "succeed")
    task = Task.objects.get(id=task.id)
    child = retried(task).task

    told = Browser().text(path_of(task))

    assert f'href="/admin/recovery/{path_of(child)}"' in told
    assert "A late report disagrees with the outcome." in told
    assert "Settled: Failed. The worker says: Succeeded." in told
