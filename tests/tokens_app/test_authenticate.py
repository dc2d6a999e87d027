"""Who is calling: what proves it, and what is said when nothing does."""

import base64
import hmac
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from orbit.errors import Unauthenticated
from orbit.ids import new_id
from tests.tokens_app.builders import (
    SOMEBODY,
    a_token,
    age,
    another_connection,
    bearer,
    call,
    row_of,
)
from tokens_app.domain.range_catalogue import catalogue_of
from tokens_app.domain.secret import new_secret, new_token
from tokens_app.models import ServiceAccountToken
from tokens_app.public import (
    RangeCatalogue,
    authenticate,
    register_range_catalogue,
    revoke_token,
    suspend_token,
)
from tokens_app.queries import find_credential

WELL_FORMED = new_token("TASKS").plaintext
MALFORMED = {
    "none": None,
    "empty": "",
    "scheme alone": "Bearer",
    "scheme and a space": "Bearer ",
    "two spaces": f"Bearer  {WELL_FORMED}",
    "trailing space": f"Bearer {WELL_FORMED} ",
    "trailing line feed": f"Bearer {WELL_FORMED}\n",
    "tab": f"Bearer\t{WELL_FORMED}",
    "no scheme": WELL_FORMED,
    "basic": "Basic " + base64.b64encode(b"user:password").decode(),
    "basic with a token": f"Basic {WELL_FORMED}",
    "two tokens": f"Bearer {WELL_FORMED}, Bearer {WELL_FORMED}",
    "high bytes": "Bearer " + bytes(range(0x80, 0x100)).decode("latin-1"),
    "high bytes of the right length": f"Bearer {WELL_FORMED[:-8]}" + "\xff" * 8,
    "digits of another script": f"Bearer {WELL_FORMED[:-2]}\u0663\u0663",
    "surrogates": f"Bearer {WELL_FORMED[:-1]}\udcff",
    "percent zero": f"Bearer {WELL_FORMED[:-3]}%00",
    "zero byte": f"Bearer {WELL_FORMED[:-1]}\0",
    "ten kilobytes": "Bearer fta_" + "A" * 10_240,
    "one short": f"Bearer {WELL_FORMED[:-1]}",
    "one long": f"Bearer {WELL_FORMED}A",
    "upper-case prefix": f"Bearer FTA{WELL_FORMED[3:]}",
    "dash in the key id": f"Bearer fta_-{WELL_FORMED[5:]}",
    "underscore in the key id": f"Bearer fta__{WELL_FORMED[5:]}",
    "quote": f"Bearer {WELL_FORMED[:-1]}'",
    "other audience": f"Bearer {new_token('OPEN_JOBS').plaintext}",
}


def refusal_of(header, *, audience="TASKS"):
    """What the refused caller is told."""
    with pytest.raises(Unauthenticated) as refused:
        authenticate(authorization=header, audience=audience, address=None)
    error = refused.value
    return error.code, error.message, error.field, error.details


@pytest.fixture
def register():
    """Registers a catalogue for this one test."""
    before = {audience: catalogue_of(audience) for audience in ("TASKS", "OPEN_JOBS")}
    yield register_range_catalogue
    for catalogue in before.values():
        register_range_catalogue(catalogue)


@pytest.mark.django_db
def test_a_token_proves_its_caller_scopes_and_range(register):
    register(RangeCatalogue(audience="TASKS"))
    namespace_id, application_id, queue_id = new_id(), new_id(), new_id()
    issued = a_token(
        name="billing",
        namespace_id=namespace_id,
        application_id=application_id,
        scopes=["tasks:read", "tasks:submit"],
        queue_ids=(queue_id,),
        reads_per_minute=7,
    )

    principal = call(issued.plaintext)

    assert principal.token_id == issued.token_id
    assert principal.key_id == issued.key_id
    assert principal.name == "billing"
    assert principal.audience == "TASKS"
    assert principal.namespace_id == namespace_id
    assert principal.application_id == application_id
    assert principal.scopes == {"tasks:read", "tasks:submit"}
    assert principal.queue_ids == (queue_id,)
    assert principal.expires_at == issued.expires_at
    assert principal.reads_per_minute == 7


@pytest.mark.django_db
def test_an_open_job_token_ranges_over_jobs_and_groups():
    job_id = new_id()
    issued = a_token(
        audience="OPEN_JOBS", job_ids=(job_id,), job_groups=("月末", "nightly")
    )

    principal = call(issued.plaintext, audience="OPEN_JOBS")

    assert principal.job_ids == (job_id,)
    assert principal.job_groups == ("月末", "nightly")
    assert principal.queue_ids == ()


@pytest.mark.django_db
def test_an_empty_range_means_nothing():
    principal = call(a_token().plaintext)

    assert (principal.queue_ids, principal.job_ids, principal.job_groups) == (
        (),
        (),
        (),
    )


@pytest.mark.django_db
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_may_be_written_in_any_case(scheme):
    issued = a_token()

    principal = authenticate(
        authorization=f"{scheme} {issued.plaintext}", audience="TASKS", address=None
    )

    assert principal.token_id == issued.token_id


@pytest.mark.parametrize("header", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_header_is_refused_before_any_hashing_or_sql(header, monkeypatch):
    hashed = []
    monkeypatch.setattr(hmac, "digest", lambda *_: hashed.append(1))

    # No database mark: a statement would fail the test.
    refusal = refusal_of(header)

    assert refusal == refusal_of(None)
    assert refusal[3] == {}
    assert hashed == []


@pytest.mark.django_db
@pytest.mark.parametrize("known", [True, False])
def test_known_and_unknown_key_ids_cost_one_digest_and_one_statement(
    known, monkeypatch, django_assert_num_queries
):
    token = new_token("TASKS")
    if known:
        token = new_secret(audience="TASKS", key_id=a_token().key_id)
    digest, computed = hmac.digest, []

    def count(*given):
        computed.append(1)
        return digest(*given)

    monkeypatch.setattr(hmac, "digest", count)

    with django_assert_num_queries(1):
        refusal = refusal_of(bearer(token.plaintext))

    assert len(computed) == 1
    assert refusal == refusal_of(None)


@pytest.mark.django_db
def test_a_call_costs_one_statement(django_assert_num_queries, register):
    register(RangeCatalogue(audience="TASKS", application_enabled_sql="SELECT TRUE"))
    issued = a_token(application_id=new_id())
    ServiceAccountToken.objects.update(last_used_at=issued.expires_at)

    with django_assert_num_queries(1):
        call(issued.plaintext)


@pytest.mark.django_db
def test_among_many_tokens_the_row_is_found_by_its_key_id():
    issued = a_token()
    with CaptureQueriesContext(connection) as asked:
        find_credential(key_id=issued.key_id, audience="TASKS")
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMPORARY TABLE copies ON COMMIT DROP AS SELECT t.*, n FROM"
            " tokens_app_serviceaccounttoken t, generate_series(1, 3000) n;"
            "UPDATE copies SET id = gen_random_uuid(), digest = sha256(n::text::bytea),"
            " key_id = lpad(n::text, 16, '0');"
            "ALTER TABLE copies DROP COLUMN n;"
            "INSERT INTO tokens_app_serviceaccounttoken SELECT * FROM copies;"
            "ANALYZE tokens_app_serviceaccounttoken"
        )
        cursor.execute(f"EXPLAIN {asked[0]['sql']}")
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "Index Scan using tokens_one_live_key_id" in plan


@pytest.mark.django_db
def test_the_other_audience_refuses_the_token():
    issued = a_token(audience="OPEN_JOBS")
    forged = f"fta{issued.plaintext[3:]}"

    assert refusal_of(bearer(issued.plaintext)) == refusal_of(None)
    assert refusal_of(bearer(forged)) == refusal_of(None)


@pytest.mark.django_db
def test_the_database_clock_decides_when_a_token_is_over():
    issued = a_token(expires=timedelta(days=1))

    with time_machine.travel(timedelta(days=30)):
        call(issued.plaintext)
    age(issued.token_id, by=timedelta(days=1))

    refusal = refusal_of(bearer(issued.plaintext))
    assert refusal[3] == {"reason": "token_expired"}


@pytest.mark.django_db
def test_use_does_not_lengthen_a_life():
    issued = a_token()

    for _ in range(5):
        call(issued.plaintext)

    assert row_of(issued).expires_at == issued.expires_at


@pytest.mark.django_db(transaction=True)
def test_a_revocation_elsewhere_counts_from_the_next_request_on():
    issued = a_token()
    call(issued.plaintext)

    with another_connection() as other, other.cursor() as cursor:
        cursor.execute(
            "UPDATE tokens_app_serviceaccounttoken"
            " SET status = 'REVOKED', revoked_at = now() WHERE id = %s",
            [issued.token_id],
        )

    refusal = refusal_of(bearer(issued.plaintext))
    assert refusal[3] == {"reason": "token_revoked"}


@pytest.mark.django_db
def test_the_reason_is_told_only_to_the_holder_of_the_secret():
    issued = a_token()
    suspend_token(token_id=issued.token_id, by=SOMEBODY, reason="odd traffic")
    guessed = new_secret(audience="TASKS", key_id=issued.key_id)

    assert refusal_of(bearer(issued.plaintext))[3] == {"reason": "token_suspended"}
    assert refusal_of(bearer(guessed.plaintext)) == refusal_of(None)


@pytest.mark.django_db
def test_revoked_outweighs_expired():
    issued = a_token(expires=timedelta(days=1))
    revoke_token(token_id=issued.token_id, by=SOMEBODY, reason="left")
    age(issued.token_id, by=timedelta(days=2))

    assert refusal_of(bearer(issued.plaintext))[3] == {"reason": "token_revoked"}


@pytest.mark.django_db
def test_a_deleted_token_is_as_if_it_had_never_been():
    issued = a_token()
    ServiceAccountToken.objects.update(deleted_at=issued.expires_at)

    assert refusal_of(bearer(issued.plaintext)) == refusal_of(None)


@pytest.mark.django_db
def test_the_registered_sub_select_decides_about_the_application(register):
    enabled, disabled, absent = new_id(), new_id(), new_id()
    register(
        RangeCatalogue(
            audience="TASKS",
            application_enabled_sql=f"SELECT t.application_id = '{enabled}'"
            f" WHERE t.application_id IN ('{enabled}', '{disabled}')",
        )
    )

    assert call(a_token(application_id=enabled).plaintext).scopes
    assert call(a_token(application_id=None).plaintext).scopes
    for application_id in (disabled, absent):
        issued = a_token(application_id=application_id)
        refusal = refusal_of(bearer(issued.plaintext))
        assert refusal[3] == {"reason": "application_disabled"}


@pytest.mark.django_db
def test_an_older_pepper_serves_its_tokens_until_it_is_retired(settings):
    old, new = "p1:" + "o" * 32, "p2:" + "n" * 32
    settings.TOKEN_PEPPERS = old
    issued = a_token()

    settings.TOKEN_PEPPERS = f"{new},{old}"
    assert call(issued.plaintext).scopes
    assert row_of(a_token()).pepper_id == "p2"

    settings.TOKEN_PEPPERS = new
    assert refusal_of(bearer(issued.plaintext)) == refusal_of(None)


@pytest.mark.django_db
def test_neither_the_pepper_nor_the_table_alone_yields_a_token(settings):
    settings.TOKEN_PEPPERS = "p1:" + "o" * 32
    issued = a_token()

    forged = new_secret(audience="TASKS", key_id=issued.key_id)
    assert refusal_of(bearer(forged.plaintext)) == refusal_of(None)

    settings.TOKEN_PEPPERS = "p1:" + "x" * 32
    assert refusal_of(bearer(issued.plaintext)) == refusal_of(None)
