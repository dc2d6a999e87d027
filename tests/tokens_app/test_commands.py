"""The token commands: what they print, and what they say when they refuse."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from orbit.ids import new_id
from tests.tokens_app.builders import a_token, call
from tokens_app.models import ServiceAccountToken, TokenAudit
from tokens_app.public import TokenRejected

pytestmark = pytest.mark.django_db


def run(*words):
    """What the command prints on standard output."""
    out = StringIO()
    call_command(*words, stdout=out, stderr=StringIO())
    return out.getvalue()


def wanted(**changes):
    """The words of a valid issue_token, but for what the test changes."""
    options = {
        "name": "billing",
        "audience": "TASKS",
        "scopes": "tasks:read",
        "namespace": new_id().hex,
        "days": "30",
        **changes,
    }
    return [f"--{name}={value}" for name, value in options.items()]


def test_issue_token_prints_the_plain_text_alone():
    printed = run("issue_token", *wanted())

    assert call(printed.strip()).name == "billing"
    assert TokenAudit.objects.get().actor == "command:issue_token"


def test_issue_token_grants_scopes_and_range():
    first, second, namespace_id = new_id(), new_id(), new_id()

    printed = run(
        "issue_token",
        *wanted(namespace=str(namespace_id)),
        f"--queue={first.hex}",
        f"--queue={second}",
        "--scopes",
        "tasks:submit",
        "tasks:read",
        "--json",
    )

    answer = json.loads(printed)
    principal = call(answer["token"])
    assert answer["token_id"] == principal.token_id.hex
    assert answer["key_id"] == principal.key_id
    assert answer["expires_at"] == principal.expires_at.isoformat()
    assert principal.namespace_id == namespace_id
    assert principal.queue_ids == (first, second)
    assert principal.scopes == {"tasks:submit", "tasks:read"}


def test_issue_token_grants_jobs_and_groups():
    job_id = new_id()

    printed = run(
        "issue_token",
        *wanted(audience="OPEN_JOBS", scopes="jobs:read jobs:trigger"),
        f"--job={job_id.hex}",
        "--group=nightly",
    )

    principal = call(printed.strip(), audience="OPEN_JOBS")
    assert principal.job_ids == (job_id,)
    assert principal.job_groups == ("nightly",)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"audience": "ADMIN"}, "invalid choice"),
        ({"scopes": "tasks:everything"}, "scopes: .*no scope 'tasks:everything'"),
        ({"namespace": "here"}, "not an identifier"),
        ({"days": "366"}, "expires: .*365 days at most"),
        ({"days": "0"}, "expires: .*future"),
        ({"days": "99999999999"}, "expires: .*365 days at most"),
        ({"days": "soon"}, "invalid int"),
    ],
)
def test_issue_token_says_what_is_wrong(changes, said):
    with pytest.raises(CommandError, match=said):
        run("issue_token", *wanted(**changes))

    assert not ServiceAccountToken.objects.exists()


def test_revoke_token_ends_the_token():
    issued = a_token()

    printed = run("revoke_token", f"--key-id={issued.key_id}", "--reason=leaked")

    assert "is revoked" in printed
    with pytest.raises(TokenRejected):
        call(issued.plaintext)


def test_revoke_token_knows_no_such_key_id():
    with pytest.raises(CommandError, match="No token has this key id"):
        run("revoke_token", "--key-id=nobody", "--reason=leaked")


def test_list_tokens_shows_no_secret():
    issued = a_token(name="billing")

    printed = run("list_tokens")
    listed = json.loads(run("list_tokens", "--json"))

    assert f"fta_{issued.key_id}  ACTIVE" in printed
    assert [token["name"] for token in listed] == ["billing"]
    assert issued.plaintext[21:] not in printed + str(listed)
