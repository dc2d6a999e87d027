"""The chain of retries, from whichever task it is asked for."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tasks_app.domain.lineage import MAX_PATHS, changed_paths
from tasks_app.models import Task
from tasks_app.queries import lineage
from tasks_app.queries.lineage import lineage_of
from tests.builders import a_task, a_token, cancelled, reach_of, retried
from tests.tasks_app.api.calls import Caller

pytestmark = pytest.mark.django_db


def a_chain(length, **changes):
    """A task and its retries, each after the one before was cancelled."""
    chain = [a_task(state="CANCELLED", **changes)]
    while len(chain) < length:
        child = retried(chain[-1]).task
        cancelled(child.id)
        chain.append(Task.objects.get(id=child.id))
    return chain


def test_it_goes_from_root_to_tip_whoever_is_asked_for():
    chain = a_chain(4)
    caller = Caller(a_token(chain[0].queue))

    for place, task in enumerate(chain):
        found = caller.get(f"tasks/{task.id.hex}/lineage").data
        assert [it["id"] for it in found["items"]] == [it.id.hex for it in chain]
        assert [it["step"] for it in found["items"]] == [n - place for n in range(4)]
        assert (found["has_earlier"], found["has_later"]) == (False, False)
        assert {it["payload_digest"] for it in found["items"]} == {
            found["items"][0]["payload_digest"]
        }


def test_it_tells_what_each_generation_changed():
    root, child = a_chain(2, payload='{"a":{"b":1},"c":[1,2]}')
    Task.objects.filter(id=child.id).update(
        payload='{"c":[1,3],"a":{"b":1.0},"new":null}', handler="other", max_attempts=4
    )

    items = (
        Caller(a_token(root.queue)).get(f"tasks/{root.id.hex}/lineage").data["items"]
    )

    assert items[0]["changes"] == items[0]["payload_paths"] == []
    assert items[1]["payload_paths"] == ["/a/b", "/c/1", "/new"]
    assert items[1]["changes"] == [
        {"field": "handler", "before": root.handler, "after": "other"},
        {"field": "max_attempts", "before": 1, "after": 4},
    ]
    assert items[0]["payload_digest"] != items[1]["payload_digest"]


def test_a_budget_that_a_person_chose_is_told():
    root = a_task(state="CANCELLED")
    retried(root, task_timeout_ms=90_000)

    _, child = (
        Caller(a_token(root.queue)).get(f"tasks/{root.id.hex}/lineage").data["items"]
    )

    assert child["changes"] == [
        {"field": "task_timeout_ms", "before": 60_000, "after": 90_000}
    ]


def test_a_long_chain_is_bounded_on_both_sides(monkeypatch):
    monkeypatch.setattr(lineage, "MAX_GENERATIONS", 2)
    chain = a_chain(8)
    reach = reach_of(chain[0].queue)

    middle = lineage_of(reach, chain[4].id)
    beginning = lineage_of(reach, chain[0].id)

    assert [it.id for it in middle.generations] == [it.id for it in chain[2:7]]
    assert (middle.has_earlier, middle.has_later) == (True, True)
    assert [it.id for it in beginning.generations] == [it.id for it in chain[:3]]
    assert (beginning.has_earlier, beginning.has_later) == (False, True)


@pytest.mark.parametrize("length", [1, 12])
def test_it_is_one_statement(length):
    chain = a_chain(length)
    reach = reach_of(chain[0].queue)

    with CaptureQueriesContext(connection) as captured:
        lineage_of(reach, chain[-1].id)

    assert len(captured) == 1


@pytest.mark.parametrize(
    ("before", "after", "paths"),
    [
        ('{"a":1}', '{ "a" : 1 }', []),
        ('{"a":1,"b":2}', '{"b":2,"a":1}', []),
        ("1.10", "1.1", [""]),
        ("true", "1", [""]),
        ('{"a/b":{"~":1}}', '{"a/b":{"~":2}}', ["/a~1b/~0"]),
        ("[1]", "[1,2]", ["/1"]),
        ("[]", "{}", [""]),
        ("9007199254740993", "9007199254740992", [""]),
        ('{"a":null}', "{}", ["/a"]),
    ],
)
def test_paths_name_what_differs_to_the_digit(before, after, paths):
    assert changed_paths(before, after) == paths


def test_paths_are_bounded():
    wide = str(list(range(1_000)))

    assert len(changed_paths("[]", wide)) == MAX_PATHS
