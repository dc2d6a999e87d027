"""A token's plain text and its secret are in no table and in no log."""

import logging

import pytest
from django.db import connection

from tests.tokens_app.builders import SOMEBODY, a_token, call, row_of
from tokens_app.models import TokenAudit
from tokens_app.public import (
    Rotation,
    RotationReason,
    TokenRejected,
    revoke_token,
    rotate_token,
)


def everything_stored():
    """The text of every row of every table."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            name = connection.ops.quote_name(table)
            cursor.execute(f"SELECT t::text FROM {name} t")
            yield from (text for (text,) in cursor.fetchall())


@pytest.mark.django_db(transaction=True)
def test_no_secret_is_stored_or_logged_in_a_whole_life(caplog):
    caplog.set_level(logging.DEBUG)
    connection.force_debug_cursor = True
    try:
        first = a_token()
        call(first.plaintext)
        second = rotate_token(
            token_id=first.token_id,
            rotation=Rotation(expected_rotation_count=0, reason=RotationReason.LEAKED),
            by=SOMEBODY,
        )
        with pytest.raises(TokenRejected):
            call(first.plaintext)
        revoke_token(token_id=first.token_id, by=SOMEBODY, reason="left")
        with pytest.raises(TokenRejected):
            call(second.plaintext)
    finally:
        connection.force_debug_cursor = False

    stored = "\n".join(everything_stored())
    assert first.key_id in stored
    for issued in (first, second):
        secret = issued.plaintext[21:]
        assert secret not in stored
        assert secret not in caplog.text
    audit = str(list(TokenAudit.objects.values()))
    assert bytes(row_of(first).digest).hex() not in audit
