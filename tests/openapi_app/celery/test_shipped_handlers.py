"""The handlers that Orbit brings along, on real rows."""

import json
from datetime import timedelta

import pytest

from openapi_app.domain.handlers import (
    Context,
    find_handler,
    find_runnable,
    registered_handlers,
)
from openapi_app.models import IdempotencyRecord
from orbit.clock import now
from orbit.errors import Invalid
from orbit.ids import new_id
from tests.openapi_app.builders import a_job, finish, run_now
from tests.tokens_app.builders import a_token

pytestmark = pytest.mark.django_db(transaction=True)


def run(name, parameters="{}"):
    """What the handler answers to these parameters."""
    handler = find_handler(name)
    assert handler is not None
    context = Context(
        execution_id=new_id(), attempt_number=1, raw_parameters=parameters
    )
    return handler.run(context, handler.read(parameters))


def a_record(*, expires_in):
    """An idempotency record that ends in that time."""
    return IdempotencyRecord.objects.create(
        namespace_id=new_id(),
        token_id=new_id(),
        job_id=new_id(),
        key_digest=b"k" * 32,
        content_digest=b"c" * 32,
        execution_id=new_id(),
        created_at=now(),
        expires_at=now() + expires_in,
    )


def test_the_shipped_handlers_are_found():
    shipped = {it.name: it.recovery_safety for it in registered_handlers()}
    assert shipped["ledger.transfer"] == "RECONCILE_ONLY"
    for name in ("orbit.housekeeping", "orbit.daily_summary", "orbit.token_notices"):
        assert shipped[name] == "REPLAY_SAFE"


def test_housekeeping_deletes_what_has_expired_and_nothing_else():
    a_record(expires_in=timedelta(seconds=-1))
    kept = a_record(expires_in=timedelta(hours=1))
    assert run("orbit.housekeeping") == {"idempotency_records": 1, "sessions": 0}
    assert list(IdempotencyRecord.objects.all()) == [kept]


def test_the_summary_counts_executions_by_state_and_source():
    job = a_job()
    finish(run_now(job))
    run_now(job)
    found = run("orbit.daily_summary")
    assert found["executions"] == 2
    assert found["by_source"] == {"ADMIN": 2}
    assert found["by_state"] == {"ACCEPTED": 1, "SUCCEEDED": 1}


def test_notices_name_the_key_of_a_token_that_ends_soon(caplog):
    a_token(expires=timedelta(days=3))
    a_token(expires=timedelta(days=60))
    assert run("orbit.token_notices") == {"tokens": 1}
    assert caplog.text.count("token_expires_soon") == 1
    assert "fta_" not in caplog.text


def test_a_transfer_writes_a_debit_and_a_credit_with_the_digits_it_was_given(
    settings, tmp_path
):
    settings.LEDGER = str(tmp_path / "ledger")
    answer = run("ledger.transfer", '{"from":"a","to":"b","amount":1.10,"sequence":7}')
    assert bytes(answer["amount"]) == b"1.10"
    lines = (tmp_path / "ledger").read_text().splitlines()
    assert [json.loads(line)["side"] for line in lines] == ["debit", "credit"]
    assert all('"amount":1.10' in line and '"sequence":7' in line for line in lines)


def looked(execution_id):
    """What the probe of transfers says about an execution."""
    probe = find_runnable("ledger.transfer.probe")
    assert probe is not None
    suspect = {
        "task_id": new_id().hex,
        "owner_id": execution_id,
        "handler": "ledger.transfer",
        "handler_version": "v1",
        "attempts": [],
        "payload": {"from": "a", "to": "b", "amount": 1},
    }
    return probe.run(None, probe.read(json.dumps(suspect)))


@pytest.mark.parametrize(
    ("lines", "effect"), [(0, "NOT_APPLIED"), (1, "UNKNOWN"), (2, "APPLIED")]
)
def test_the_probe_of_a_transfer_counts_its_lines(settings, tmp_path, lines, effect):
    settings.LEDGER = str(tmp_path / "ledger")
    run("ledger.transfer", '{"from":"a","to":"b","amount":1.10}')
    written = (tmp_path / "ledger").read_text().splitlines(keepends=True)
    (tmp_path / "ledger").write_text("".join(written[:lines]))

    found = looked(json.loads(written[0])["execution_id"])

    assert found.effect == effect
    assert len(found.details["lines"]) == lines
    assert looked(new_id().hex).effect == "NOT_APPLIED"


@pytest.mark.parametrize("amount", ["0", "-1", '"a lot"', "true", "null"])
def test_a_transfer_of_no_amount_writes_nothing(settings, tmp_path, amount):
    settings.LEDGER = str(tmp_path / "ledger")
    with pytest.raises(ValueError, match="amount"):
        run("ledger.transfer", f'{{"from":"a","to":"b","amount":{amount}}}')
    assert not (tmp_path / "ledger").exists()


def test_parameters_that_a_handler_does_not_know_are_refused():
    with pytest.raises(Invalid) as refused:
        run("ledger.transfer", '{"from":"a","to":"b","amount":1,"tenant":2}')
    assert refused.value.field == "tenant"
