"""Everything that the console says is said in Chinese too."""

import ast
import re
from pathlib import Path

import pytest
from django.utils import translation

from orbit.errors import Invalid
from orbit.exact_json import check
from tasks_app.domain.batches import BatchCannot, BatchState, Steer
from tasks_app.domain.causes import CAUSES, Cause, cause_of
from tasks_app.domain.lifecycle import State
from tasks_app.domain.probes import Effect
from tasks_app.domain.reports import ReportKind
from tasks_app.models import Task
from tasks_app.pages import words
from tasks_app.pages.offers import offer_retry, offer_review
from tasks_app.queries import task_within
from tests.builders import OPERATOR, a_task, reach_of, retried
from tests.tasks_app.pages.builders import Browser, a_decision, path_of, unsure
from tests.tokens_app.pages.test_words import entries

TRANSLATED = re.compile(r"""{%\s*translate\s+"([^"]+)"|_\("([^"]+)"\)""")
BLOCK = re.compile(
    r"{% blocktranslate[^%]*%}(.*?)(?:{% plural %}(.*?))?{% endblocktranslate %}"
)
MARKS = {"_", "gettext", "gettext_noop", "ngettext"}
LATIN = re.compile(r"[A-Za-z]{3}")


def of_templates():
    """Every text that a template of the console marks."""
    for path in [
        *Path("templates/tasks_app").glob("*.html"),
        *Path("templates/orbit").glob("*.html"),
    ]:
        text = path.read_text()
        for found in TRANSLATED.findall(text):
            yield found[0] or found[1]
        for singular, _plural in BLOCK.findall(text):
            yield re.sub(r"{{ (\w+) }}", r"%(\1)s", singular)


def of_pages():
    """Every text that the code of the console marks."""
    for path in [*Path("tasks_app/pages").glob("*.py"), Path("orbit/words.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            is_mark = isinstance(node, ast.Call) and (
                getattr(node.func, "id", "") in MARKS
            )
            if is_mark and isinstance(node.args[0], ast.Constant):
                yield node.args[0].value


def test_every_text_is_in_the_catalogue():
    used = {*of_templates(), *of_pages()}

    assert used - entries().keys() == set()
    assert len(used) > 200


def test_every_cause_state_and_report_has_words():
    assert set(words.CAUSES) == set(Cause)
    assert set(words.STATES) == set(State)
    assert set(words.REPORTS) == set(ReportKind)
    assert set(words.FINDINGS) == set(Effect)
    assert {cause_of(code or None) for code in CAUSES} | {cause_of("MINE")} == set(
        Cause
    )


def left_in_english(told):
    """Of these texts, those that are not Chinese but for JSON and its like."""
    named = r"JSON|null|NaN|Infinity|evidence:reconciliation-\d+"
    return [text for text in told if LATIN.search(re.sub(named, "", text))]


@pytest.mark.parametrize(
    "text",
    ["", "{", "1 2", "[1,]", "{a:1}", "NaN", '{"a":1,"a":2}', '"\\ud800"', "[" * 200],
)
def test_what_is_wrong_with_json_is_told_in_chinese(text):
    with pytest.raises(Invalid) as refused:
        check(text.encode() or b"?")

    with translation.override("zh-hans"):
        told = words.refusal_in_words(refused.value)

    assert left_in_english([re.sub("“.*”", "", told)]) == []


@pytest.mark.django_db
def test_why_an_act_is_not_open_is_told_in_chinese():
    retried_one = a_task(state="FAILED")
    retried(retried_one)
    tasks = [
        retried_one,
        a_task(state="FAILED"),
        a_task(state="SUCCEEDED"),
        a_task(state="NEEDS_REVIEW"),
        a_task(state="RUNNING"),
        a_task(),
        unsure(owner="WORKFLOW")[0],
        Task.objects.get(id=a_task(state="CANCELLED", owner="WORKFLOW").id),
    ]
    with translation.override("zh-hans"):
        offers = []
        for it in tasks:
            reach = reach_of(it.queue)
            task = task_within(reach, it.id)
            offers.append(offer_review(task, actor=OPERATOR, reach=reach))
            offers.append(offer_retry(task, actor=OPERATOR, reach=reach))
        told = [text for it in offers for text in (it.why_not, str(it.next_step))]

    assert left_in_english(told) == []
    assert sum(not it.is_open for it in offers) == 14


@pytest.mark.parametrize(
    "message",
    [
        "More than 10000 tasks. Narrow the cause, or take several batches.",
        "Choose no more than 10000 tasks.",
        f"The task {'7' * 32} does not await a review in this queue.",
        "No task of that cause awaits a review.",
        "A task is named twice.",
        "The tasks have changed meanwhile. Send it again.",
        "Whoever created the batch may not review any more.",
        "An error of Orbit's own.",
        (
            "Evidence arrived after the batch was created. Read it and decide on this "
            "task alone."
        ),
        BatchCannot(steer=Steer.PAUSE, state=BatchState.ABORTED).message,
        f"The probe {'7' * 32} awaits a review itself. Settle it, then start another.",
    ],
)
def test_what_batches_and_probes_refuse_is_told_in_chinese(message):
    with translation.override("zh-hans"):
        assert left_in_english([words.in_words(message)]) == []


@pytest.mark.django_db(transaction=True)
def test_the_pages_speak_the_browser_s_language():
    task, _ = unsure()
    browser = Browser()
    chinese = browser.get(path_of(task, "/review"), accept_language="zh-CN")
    wrong = browser.form(path_of(task, "/review"), **a_decision(reason=""))
    refused = browser.post(path_of(task, "/review"), wrong, accept_language="zh-CN")

    assert "裁定此任务" in chinese.content.decode()
    assert chinese["Content-Language"] == "zh-hans"
    assert "请用文字说明原因。" in refused.content.decode()
