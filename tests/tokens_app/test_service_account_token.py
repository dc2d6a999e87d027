"""What the database itself holds true of a token's row."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from orbit.ids import new_id
from tests.tokens_app.builders import a_token, row_of
from tokens_app.models import ServiceAccountToken

pytestmark = pytest.mark.django_db

BROKEN = {
    "tokens_audience_is_known": {"audience": "ADMIN"},
    "tokens_status_is_known": {"status": "EXPIRED"},
    "tokens_key_id_is_well_formed": {"key_id": "short"},
    "tokens_scopes_are_space_separated": {"scopes": "tasks:read  tasks:work"},
    "tokens_digest_is_sha256": {"digest": b"short"},
    "tokens_previous_secret_is_whole": {"previous_digest": b"x" * 32},
    "tokens_rotation_has_its_time": {"rotation_count": 1},
    "tokens_revoked_has_its_time": {"status": "REVOKED"},
    "tokens_ranges_are_arrays": {"queue_ids": {}},
    "tokens_range_fits_audience": {"job_groups": ["nightly"]},
    "tokens_limits_are_positive": {"reads_per_minute": 0},
}


@pytest.mark.parametrize(("constraint", "changes"), BROKEN.items(), ids=BROKEN)
def test_the_database_refuses_a_row_that_breaks(constraint, changes):
    a_token()

    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        ServiceAccountToken.objects.update(**changes)


def test_the_database_refuses_an_expiry_before_the_issue():
    row = row_of(a_token())

    with pytest.raises(IntegrityError, match="expire_after"), transaction.atomic():
        ServiceAccountToken.objects.update(expires_at=row.issued_at)


def test_a_key_id_is_unique_among_live_rows_only():
    row = row_of(a_token())
    twin = ServiceAccountToken.objects.get(id=row.id)
    twin.id, twin.digest = new_id(), b"t" * 32

    with pytest.raises(IntegrityError, match="one_live_key"), transaction.atomic():
        twin.save(force_insert=True)
    ServiceAccountToken.objects.filter(id=row.id).update(deleted_at=row.created_at)
    twin.save(force_insert=True)

    assert ServiceAccountToken.objects.live().get() == twin


def test_expired_is_derived():
    row = row_of(a_token())

    assert row.status_at(row.expires_at - timedelta(seconds=1)) == "ACTIVE"
    assert row.status_at(row.expires_at) == "EXPIRED"
