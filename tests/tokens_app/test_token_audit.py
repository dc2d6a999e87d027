"""The database refuses to change or remove a token audit record."""

import pytest
from django.db import IntegrityError, connection, transaction

from tests.tokens_app.builders import SOMEBODY, a_grant, a_token, row_of
from tokens_app.models import TokenAudit
from tokens_app.public import Actor, issue_token

REFUSED = {
    "UPDATE": "UPDATE tokens_app_tokenaudit SET actor = 'user:nobody'",
    "DELETE": "DELETE FROM tokens_app_tokenaudit",
    "TRUNCATE": "TRUNCATE tokens_app_tokenaudit",
}


@pytest.mark.django_db
@pytest.mark.parametrize("statement", REFUSED.values(), ids=REFUSED)
def test_the_database_refuses(statement):
    a_token()

    with (
        pytest.raises(IntegrityError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)

    assert TokenAudit.objects.get().actor == "user:ada"


@pytest.mark.django_db
def test_an_actor_without_an_address_is_recorded_without_one():
    issue_token(grant=a_grant(), by=Actor(name="user:ada", address="unix:"))

    assert TokenAudit.objects.get().address is None


@pytest.mark.django_db(transaction=True)
def test_a_record_belongs_to_the_transaction_of_its_act():
    token = row_of(a_token())

    with pytest.raises(RuntimeError, match="transaction"):
        TokenAudit.objects.record(token=token, action="token.edit", by=SOMEBODY)


@pytest.mark.django_db(transaction=True)
def test_an_act_that_is_rolled_back_leaves_no_record(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("the lights went out")

    monkeypatch.setattr(TokenAudit.objects, "create", fail)

    with pytest.raises(RuntimeError, match="lights"):
        a_token()

    assert not TokenAudit.objects.exists()
