"""Looking at tokens over the management API, and changing them."""

from datetime import timedelta

import pytest

from openapi_app.models import JobGroup
from tests.openapi_app.api.builders import Caller
from tests.tokens_app.api.builders import OWN_RIGHTS, a_person, an_administrator
from tests.tokens_app.builders import acts_on, age, row_of
from tokens_app.actions.record_calls import write_calls
from tokens_app.models import TokenAudit, TokenCall, TokenUsageDay

pytestmark = pytest.mark.django_db


def at(issued, rest=""):
    return f"/tokens/{issued.token_id.hex}{rest}"


def names(answer):
    return [it["name"] for it in answer.data["items"]]


def test_a_list_goes_on_where_it_stopped(place):
    for number in range(5):
        place.token(name=f"caller {number}")
    person = an_administrator()

    first = person.get("/tokens?limit=2")
    second = person.get(f"/tokens?limit=2&cursor={first.data['next_cursor']}")
    third = person.get(f"/tokens?limit=2&cursor={second.data['next_cursor']}")

    assert names(first) + names(second) + names(third) == [
        f"caller {number}" for number in (4, 3, 2, 1, 0)
    ]
    assert "next_cursor" not in third.data
    assert (
        an_administrator().get(f"/tokens?cursor={first.data['next_cursor']}").field
        == "cursor"
    )


def test_filters_and_search_find_what_they_say(place):
    job = place.job(name="nightly invoices")
    long = {"expires": timedelta(days=60)}
    made = {
        "fresh": place.token(job, name="fresh", **long),
        "ending": place.token(name="ending", expires=timedelta(days=3)),
        "over": place.token(name="over"),
        "asleep": place.token(name="asleep", **long),
        "gone": place.token(name="gone", job_groups=("billing",), **long),
        "idle": place.token(name="idle", **long),
    }
    person = an_administrator()
    age(made["over"].token_id, by=timedelta(days=1))
    row = row_of(made["idle"])
    row.last_used_at = row.issued_at - timedelta(days=91)
    row.save(update_fields=["last_used_at"])
    person.post(at(made["asleep"], ":suspend"), {"reason": "odd"})
    person.post(at(made["gone"], ":revoke"), {"reason": "left"})

    found = {
        name: set(names(person.get(f"/tokens?filter={name}")))
        for name in ("active", "expiring", "never_used", "unused", "suspended",
                     "expired", "revoked", "all")
    }  # fmt: skip

    assert found == {
        "active": {"fresh", "ending", "idle"},
        "expiring": {"ending"},
        "never_used": {"fresh", "ending"},
        "unused": {"idle"},
        "suspended": {"asleep"},
        "expired": {"over"},
        "revoked": {"gone"},
        "all": set(made),
    }
    prefix = row_of(made["over"]).display_prefix
    assert names(person.get(f"/tokens?search={prefix}")) == ["over"]
    assert set(names(person.get("/tokens?search=INVOICES"))) == {"fresh", "gone"}
    assert names(person.get("/tokens?search=FRES")) == ["fresh"]
    assert person.get("/tokens?filter=odd").field == "filter"


def test_an_edit_changes_what_it_names_and_is_audited(place):
    job, other = place.job(), place.job()
    issued = place.token(job)
    seen = an_administrator().get(at(issued)).data

    answer = an_administrator().patch(
        at(issued),
        {
            "name": "another name",
            "job_ids": [other.id.hex],
            "expires_in_days": 20,
            "reads_per_minute": None,
            "seen_updated_at": seen["updated_at"],
            "reason": "they moved",
        },
    )

    assert answer.status == 200, answer.text
    assert answer.data["name"] == "another name"
    assert answer.data["job_ids"] == [other.id.hex]
    assert answer.data["reads_per_minute"] is None
    assert answer.data["triggers_per_minute"] == 10_000
    caller = Caller(issued.plaintext)
    assert caller.get(f"/jobs/{other.id.hex}").status == 200
    assert caller.get(f"/jobs/{job.id.hex}").status == 403
    record = TokenAudit.objects.get(action="token.edit")
    assert record.reason == "they moved"
    assert record.changes["name"] == {"from": "partner", "to": "another name"}
    assert set(record.changes) == {"name", "job_ids", "expires_at", "reads_per_minute"}


def test_of_two_editors_one_wins(place):
    issued = place.token(place.job())
    seen = an_administrator().get(at(issued)).data["updated_at"]
    body = {"description": "mine", "seen_updated_at": seen}

    first = an_administrator().patch(at(issued), body)
    second = an_administrator().patch(at(issued), {**body, "description": "yours"})

    assert (first.status, second.status) == (200, 409)
    assert row_of(issued).description == "mine"


def test_an_editor_adds_only_what_they_may_run(place):
    job, other = place.job(), place.job()
    issued = place.token(job)
    wanted = {"job_ids": [job.id.hex, other.id.hex]}

    refused = a_person("tokens_app.edit_token").patch(at(issued), wanted)
    kept = a_person("tokens_app.edit_token").patch(
        at(issued), {"job_ids": [job.id.hex]}
    )
    granted = a_person("tokens_app.edit_token", *OWN_RIGHTS).patch(at(issued), wanted)

    assert (refused.status, refused.field) == (403, "job_ids")
    assert kept.status == 200
    assert granted.data["job_ids"] == wanted["job_ids"]


def test_an_edit_that_changes_nothing_leaves_no_trace(place):
    issued = place.token(place.job())

    answer = an_administrator().patch(at(issued), {"name": "partner"})

    assert answer.status == 200
    assert acts_on(issued) == ["token.issue"]


def test_the_dead_are_not_edited(place):
    revoked, expired = place.token(place.job()), place.token(place.job())
    an_administrator().post(at(revoked, ":revoke"), {"reason": "left"})
    age(expired.token_id, by=timedelta(days=1))

    for issued in (revoked, expired):
        answer = an_administrator().patch(at(issued), {"expires_in_days": 9})
        assert (answer.status, answer.code) == (409, "STATE_CONFLICT")


def test_suspend_resume_and_revoke_hold_from_the_next_call(place):
    issued, person = place.token(place.job()), an_administrator()
    caller = Caller(issued.plaintext)
    statuses = []
    for act in (":suspend", ":resume", ":revoke"):
        answer = person.post(at(issued, act), {"reason": "as the partner asked"})
        statuses.append((answer.data["status"], caller.get("/token").message))

    assert statuses == [
        ("SUSPENDED", "token_suspended"),
        ("ACTIVE", "ok"),
        ("REVOKED", "token_revoked"),
    ]
    assert person.post(at(issued, ":resume"), {"reason": "sorry"}).status == 409
    assert person.post(at(issued, ":suspend"), {"reason": " "}).status in {400, 409}
    audit = person.get(at(issued, "/audit")).data["items"]
    assert [it["action"] for it in audit] == [
        "token.revoke",
        "token.resume",
        "token.suspend",
        "token.issue",
    ]
    assert audit[0]["actor"] == f"user:{person.user.username}"
    assert audit[0]["address"] == "127.0.0.1"


def test_a_job_that_joins_a_granted_group_is_told(place):
    place.job(name="first")
    person = an_administrator()
    place.job(name="elsewhere", group=JobGroup.objects.create(
        namespace_id=place.namespace_id, name="other"
    ))  # fmt: skip
    issued = place.token(job_groups=("billing",))
    before = person.get(at(issued, "/reach")).data
    place.job(name="second")

    after = person.get(at(issued, "/reach")).data
    person.patch(at(issued), {"job_groups": ["billing"]})
    accepted = person.get(at(issued, "/reach")).data

    assert [it["name"] for it in before["reached"]] == ["first"]
    assert before["gained"] == []
    assert [it["name"] for it in after["gained"]] == ["second"]
    assert accepted["gained"] == []
    assert len(accepted["reached"]) == 2


def test_calls_are_counted_and_the_last_hundred_are_kept(place, redis):  # noqa: ARG001
    write_calls()
    TokenCall.objects.all().delete()
    TokenUsageDay.objects.all().delete()
    job = place.job()
    issued = place.token(job)
    caller = Caller(issued.plaintext)
    caller.get("/jobs")
    caller.get(f"/jobs/{'0' * 32}")
    caller.trigger(job, "a-key-of-mine", body=b"{}")
    caller.trigger(job, "a-key-of-mine", body=b"{}")
    assert not TokenCall.objects.exists()

    assert write_calls() == 4

    person = an_administrator()
    calls = person.get(at(issued, "/calls")).data["items"]
    assert [
        (it["route"], it["status"], it["result"], it["is_replay"]) for it in calls
    ] == [
        ("POST /openapi/v1/jobs/{job_id}/executions", 202, "ok", True),
        ("POST /openapi/v1/jobs/{job_id}/executions", 202, "ok", False),
        ("GET /openapi/v1/jobs/{job_id}", 403, "resource_not_permitted", False),
        ("GET /openapi/v1/jobs", 200, "ok", False),
    ]
    assert calls[0]["job_id"] == job.id.hex
    assert len(calls[0]["request_id"]) == 32
    assert calls[0]["latency_ms"] > 0
    usage = person.get(at(issued, "/usage")).data
    assert (usage["calls"], usage["refused"], len(usage["days"])) == (4, 1, 30)
    assert usage["days"][-1]["calls"] == 4
    for _ in range(101):
        caller.get("/token")
    write_calls()
    assert TokenCall.objects.filter(token_id=issued.token_id).count() == 100
    assert TokenUsageDay.objects.get().calls == 105
    [execution] = person.get(at(issued, "/executions")).data["items"]
    assert execution["state"] == "ACCEPTED"
    assert execution["job_name"] == job.name


def test_samples_are_those_of_the_scopes(place):
    issued = place.token(place.job(), scopes=["jobs:read"])
    person = an_administrator()

    answer = person.get(at(issued, "/samples?shell=powershell"))

    assert [it["title"] for it in answer.data["items"]] == [
        "Try the token",
        "List the jobs",
        "Look at a job",
    ]
    assert "$env:TOKEN" in answer.data["items"][0]["text"]
    assert person.get(at(issued, "/samples?shell=fish")).field == "shell"
