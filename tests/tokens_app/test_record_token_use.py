"""When a token was last used: noted rarely, and never at the caller's expense."""

from datetime import timedelta

import pytest
from django.db import connection, transaction

from tests.tokens_app.builders import (
    a_token,
    age,
    another_connection,
    at_once,
    call,
    row_of,
)
from tokens_app.public import Principal

pytestmark = pytest.mark.django_db(transaction=True)

NO_ADDRESS = [None, "", "unix:", "1.2.3.4, 5.6.7.8", "1.2.3.4\0", "x" * 999]


@pytest.fixture
def writes():
    """Counts the updates of token rows, in the database itself."""
    with connection.cursor() as cursor:
        cursor.execute("""
            CREATE SEQUENCE token_writes;
            CREATE FUNCTION count_token_write() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM nextval('token_writes'); RETURN NEW; END $$;
            CREATE TRIGGER count_token_write
                AFTER UPDATE ON tokens_app_serviceaccounttoken
                FOR EACH ROW EXECUTE FUNCTION count_token_write()
        """)

    def count():
        with connection.cursor() as cursor:
            cursor.execute("SELECT last_value, is_called FROM token_writes")
            last, is_called = cursor.fetchone()
        return last if is_called else 0

    yield count
    with connection.cursor() as cursor:
        cursor.execute("""
            DROP TRIGGER count_token_write ON tokens_app_serviceaccounttoken;
            DROP FUNCTION count_token_write();
            DROP SEQUENCE token_writes
        """)


def test_the_first_call_notes_time_and_address():
    issued = a_token()

    call(issued.plaintext, address="2001:db8::1")

    row = row_of(issued)
    assert row.last_used_at is not None
    assert row.last_used_address == "2001:db8::1"


@pytest.mark.parametrize("address", NO_ADDRESS)
def test_a_call_from_no_known_address_is_noted_without_one(address):
    issued = a_token()

    call(issued.plaintext, address=address)

    row = row_of(issued)
    assert row.last_used_at is not None
    assert row.last_used_address is None


def test_the_zone_of_an_address_is_left_out():
    issued = a_token()

    call(issued.plaintext, address="fe80::1%eth0")

    assert row_of(issued).last_used_address == "fe80::1"


def test_two_hundred_calls_at_once_write_at_most_once(writes):
    issued = a_token()

    def ten_calls():
        return [call(issued.plaintext) for _ in range(10)]

    outcomes = at_once(20, ten_calls)

    principals = [p for ten in outcomes for p in ten]
    assert len(principals) == 200
    assert all(isinstance(principal, Principal) for principal in principals)
    assert writes() == 1


def test_within_a_minute_nothing_is_written_and_after_it_once(writes):
    issued = a_token()
    call(issued.plaintext)
    age(issued.token_id, by=timedelta(seconds=50))
    before = writes()

    call(issued.plaintext)
    within = writes()
    age(issued.token_id, by=timedelta(seconds=11))
    call(issued.plaintext)
    call(issued.plaintext)

    assert within == before
    # One for the ageing, one for the call.
    assert writes() == within + 2


def test_a_row_held_by_somebody_else_holds_up_no_call():
    issued = a_token()

    with another_connection() as other:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM tokens_app_serviceaccounttoken WHERE id = %s FOR UPDATE",
                [issued.token_id],
            )
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = 1")
        principal = call(issued.plaintext)
        other.rollback()

    with connection.cursor() as cursor:
        cursor.execute("RESET lock_timeout")
    assert principal.token_id == issued.token_id
    assert row_of(issued).last_used_at is None


def test_a_note_that_fails_fails_no_call(caplog):
    issued = a_token()

    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    try:
        principal = call(issued.plaintext)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = off")

    assert principal.token_id == issued.token_id
    assert row_of(issued).last_used_at is None
    assert "read-only" in caplog.text
    assert issued.plaintext not in caplog.text


def test_inside_a_transaction_the_note_waits_for_its_commit():
    issued = a_token()

    with transaction.atomic():
        call(issued.plaintext)
        inside = row_of(issued).last_used_at

    assert inside is None
    assert row_of(issued).last_used_at is not None


def test_a_refused_call_is_no_use():
    issued = a_token(expires=timedelta(hours=1))
    age(issued.token_id, by=timedelta(hours=1))

    with pytest.raises(Exception, match="valid access token"):
        call(issued.plaintext)

    assert row_of(issued).last_used_at is None
