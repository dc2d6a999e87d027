"""Samples of calls: exactly the scopes, and every value safe in its language."""

import ast
import json
import shutil
import subprocess

import pytest

from tests.tokens_app.powershell import assignments, tokens_of
from tokens_app.domain.sample_calls import CALLS
from tokens_app.domain.samples import SHELLS, samples
from tokens_app.domain.scope import SCOPES

HOSTILE = [
    "it's",
    'say "so"',
    "$(touch was-run)",
    "`touch was-run`",
    "$HOME ${HOME}",
    "a\\nb\\",
    "two\nlines",
    "; exit 7 #",
    "\u2018curly\u2019 \u201alow\u201b \u201cdouble\u201d",
    "{JOB_ID} %s {0}",
    "$env:PATH",
    "!history !!",
]
EVERYTHING = [(audience, shell) for audience in SCOPES for shell in SHELLS]
BASH = shutil.which("bash") or "bash"
# Answers with what curl was told, each argument on its own line, ended by NUL.
FAKE_CURL = 'curl() { printf "%s\\0" "$@"; }\n'


def every_sample(audience, shell, **changes):
    """All samples of an audience in a shell."""
    wanted = {
        "base_url": "https://orbit.example",
        "audience": audience,
        "scopes": SCOPES[audience],
        "token": "fja_token",
        "shell": shell,
    }
    return samples(**{**wanted, **changes})


@pytest.mark.parametrize(("audience", "shell"), EVERYTHING)
def test_each_scope_brings_its_calls_and_no_others(audience, shell):
    for scope in SCOPES[audience]:
        shown = {it.title for it in every_sample(audience, shell, scopes=[scope])}

        assert shown == {it.title for it in CALLS[audience] if it.scopes <= {scope}}
    assert len(every_sample(audience, shell)) == len(CALLS[audience])


def test_every_scope_has_a_sample():
    for audience, scopes in SCOPES.items():
        shown = set().union(*(it.scopes for it in CALLS[audience]))
        assert shown == set(scopes)


@pytest.mark.parametrize(("audience", "shell"), EVERYTHING)
def test_without_a_token_the_environment_is_read(audience, shell):
    variable = {
        "curl": "${TOKEN}",
        "powershell": "$env:TOKEN",
        "python": 'os.environ["TOKEN"]',
    }[shell]
    for sample in every_sample(audience, shell, token=None):
        assert variable in sample.text
        assert "\nTOKEN=" not in sample.text


@pytest.mark.parametrize("shell", SHELLS)
def test_a_key_is_made_once_and_only_where_one_is_needed(shell):
    made = {"curl": 'KEY="$(od', "powershell": "NewGuid()", "python": "uuid4()"}[shell]
    for audience, calls in CALLS.items():
        for sample, call in zip(every_sample(audience, shell), calls, strict=True):
            assert sample.text.count(made) == (1 if call.has_key else 0)
            assert ("Idempotency-Key" in sample.text) == call.has_key


@pytest.mark.parametrize("hostile", HOSTILE)
def test_bash_takes_every_value_as_it_is(hostile, tmp_path):
    for audience in SCOPES:
        for sample in every_sample(audience, "curl", base_url=hostile, token=hostile):
            ran = subprocess.run(
                [BASH, "-c", FAKE_CURL + sample.text],
                capture_output=True,
                text=True,
                cwd=tmp_path,
                check=True,
            )
            told = ran.stdout.split("\0")
            assert f"Authorization: Bearer {hostile}" in told
            assert [it for it in told if it.startswith(hostile + "/")]
            assert ran.stderr == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("hostile", HOSTILE)
def test_python_takes_every_value_as_it_is(hostile):
    for audience in SCOPES:
        for sample in every_sample(audience, "python", base_url=hostile, token=hostile):
            values = {
                node.targets[0].id: node.value.value
                for node in ast.parse(sample.text).body
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            }
            assert values["BASE_URL"] == values["TOKEN"] == hostile


@pytest.mark.parametrize("hostile", HOSTILE)
def test_powershell_takes_every_value_as_it_is(hostile):
    for audience in SCOPES:
        for sample in every_sample(
            audience, "powershell", base_url=hostile, token=hostile
        ):
            values = assignments(sample.text)
            assert values["BaseUrl"] == values["Token"] == hostile


@pytest.mark.parametrize("audience", SCOPES)
def test_powershell_samples_are_well_formed_and_know_their_variables(audience):
    for sample in every_sample(audience, "powershell"):
        used = {name for kind, name in tokens_of(sample.text) if kind == "variable"}
        assert used <= set(assignments(sample.text)), sample.text


@pytest.mark.parametrize("audience", SCOPES)
def test_bodies_are_json(audience):
    for sample in every_sample(audience, "curl"):
        if "<<JSON" in sample.text:
            body = sample.text.partition("<<JSON\n")[2].rpartition("\nJSON")[0]
            assert json.loads(body)


def test_other_shells_and_audiences_are_refused():
    for changes in ({"shell": "fish"}, {"audience": "EVERYTHING"}):
        asked = {"audience": "TASKS", "shell": "curl", **changes}
        with pytest.raises(ValueError, match="no samples"):
            samples(base_url="", scopes=[], token=None, **asked)
