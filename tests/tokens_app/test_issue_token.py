"""Issuing a token: what is kept, what is refused."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from orbit import clock
from orbit.ids import new_id
from tests.tokens_app.builders import SOMEBODY, a_grant, a_token, row_of
from tokens_app.models import ServiceAccountToken, TokenAudit
from tokens_app.public import SCOPES, TokenInvalid, issue_token

pytestmark = pytest.mark.django_db

BROKEN = {
    "blank name": ({"name": "  "}, "name"),
    "long name": ({"name": "n" * 121}, "name"),
    "NUL in the name": ({"name": "a\0b"}, "name"),
    "long description": ({"description": "d" * 2001}, "description"),
    "long contact": ({"owner_contact": "c" * 255}, "owner_contact"),
    "unknown audience": ({"audience": "ADMIN"}, "audience"),
    "no scope": ({"scopes": []}, "scopes"),
    "unknown scope": ({"scopes": ["tasks:everything"]}, "scopes"),
    "scope of the other audience": ({"scopes": ["jobs:read"]}, "scopes"),
    "jobs for the task API": ({"job_ids": (new_id(),)}, "job_ids"),
    "groups for the task API": ({"job_groups": ("g",)}, "job_groups"),
    "queues for the job API": (
        {"audience": "OPEN_JOBS", "queue_ids": (new_id(),)},
        "queue_ids",
    ),
    "NUL in a group": ({"audience": "OPEN_JOBS", "job_groups": ("\0",)}, "job_groups"),
    "too wide a range": ({"queue_ids": (new_id(),) * 1001}, "queue_ids"),
    "no call a minute": ({"reads_per_minute": 0}, "reads_per_minute"),
    "already over": ({"expires": timedelta(0)}, "expires"),
    "beyond the maximum": ({"expires": timedelta(days=366)}, "expires"),
    "beyond every calendar": ({"expires": timedelta(days=3_000_000)}, "expires"),
    "without a time zone": ({"expires": datetime(2030, 1, 1)}, "expires"),  # noqa: DTZ001
}


def test_only_a_keyed_digest_of_the_token_is_kept():
    issued = a_token()

    row = row_of(issued)
    assert issued.plaintext.startswith(f"{row.display_prefix}_")
    assert row.display_prefix == f"fta_{issued.key_id}"
    assert len(row.digest) == 32
    assert issued.plaintext[21:] not in repr(issued)
    assert row.status == "ACTIVE"
    assert row.tenant_id == 1
    assert row.last_used_at is None
    assert (row.created_by, row.updated_by) == ("user:ada", "user:ada")


@pytest.mark.parametrize("audience", SCOPES)
def test_every_scope_is_kept_once_in_the_published_order(audience):
    scopes = [*reversed(SCOPES[audience]), *SCOPES[audience]]

    issued = a_token(audience=audience, scopes=scopes)

    assert row_of(issued).scopes == " ".join(SCOPES[audience])


def test_a_range_is_kept_as_a_json_array_without_repeats():
    queue_id = new_id()

    issued = a_token(queue_ids=(queue_id, queue_id))

    assert row_of(issued).queue_ids == [queue_id.hex]


def test_an_expiry_in_any_time_zone_is_kept_as_its_moment():
    moment = (clock.now() + timedelta(days=90)).astimezone(ZoneInfo("Asia/Shanghai"))

    issued = a_token(expires=moment)

    assert row_of(issued).expires_at == moment


def test_the_whole_permitted_lifetime_may_be_used(settings):
    days = timedelta(days=settings.TOKEN_MAX_LIFETIME_DAYS)

    row = row_of(a_token(expires=days))

    assert row.expires_at - row.issued_at == days


@pytest.mark.parametrize(("changes", "field"), BROKEN.values(), ids=BROKEN)
def test_a_broken_rule_is_named_and_leaves_nothing(changes, field):
    with pytest.raises(TokenInvalid) as refusal:
        issue_token(grant=a_grant(**changes), by=SOMEBODY)

    assert refusal.value.field == field
    assert not ServiceAccountToken.objects.exists()
    assert not TokenAudit.objects.exists()


def test_the_audit_says_who_granted_what():
    queue_id = new_id()

    issued = a_token(queue_ids=(queue_id,))

    record = TokenAudit.objects.get()
    assert (record.action, record.token_id) == ("token.issue", issued.token_id)
    assert (record.actor, record.address) == ("user:ada", "192.0.2.7")
    assert record.changes["queue_ids"] == [queue_id.hex]
    assert record.changes["scopes"] == "tasks:read"
