"""Everything that the pages say is said in Chinese too."""

import ast
import re
from datetime import UTC, datetime, timedelta
from gettext import GNUTranslations
from pathlib import Path

import pytest
from django.utils import translation

from orbit import clock
from orbit.words import remaining
from tokens_app.domain import grant, rotation, scope
from tokens_app.domain.errors import TokenInvalid
from tokens_app.domain.sample_calls import CALLS
from tokens_app.domain.scope import AUDIENCES, SCOPES
from tokens_app.pages import words

LOCALE = Path("locale/zh_Hans/LC_MESSAGES")
QUOTED = re.compile(r'^(msgid|msgid_plural|msgstr(?:\[0\])?) ("(?:.*)")$')


def entries():
    """The catalogue's source: message to translation."""
    found, current = {}, {}
    for line in [*(LOCALE / "django.po").read_text().splitlines(), ""]:
        if not line and current:
            found[current["msgid"]] = current.get("msgstr", current.get("msgstr[0]"))
            current = {}
        elif quoted := QUOTED.match(line):
            last, text = quoted.groups()
            current[last] = ast.literal_eval(text)
        elif line.startswith('"'):
            current[last] += ast.literal_eval(line)
    return {message: told for message, told in found.items() if message}


def test_every_message_is_translated():
    assert [message for message, told in entries().items() if not told] == []
    assert "#, fuzzy" not in (LOCALE / "django.po").read_text()


def test_the_compiled_catalogue_is_that_of_the_source():
    with (LOCALE / "django.mo").open("rb") as file:
        compiled = GNUTranslations(file)._catalog

    told = {it: compiled.get(it) or compiled.get((it, 0)) for it in entries()}

    assert told == entries()


def test_values_in_a_message_are_in_its_translation():
    def values(text):
        return sorted(set(re.findall(r"%\(\w+\)[sd]|\{\w+\}", text)))

    assert {m: values(m) for m in entries()} == {
        m: values(told) for m, told in entries().items()
    }


def test_every_text_of_the_templates_and_pages_is_in_the_catalogue():
    marked = re.compile(r"""{%\s*translate\s+"([^"]+)"|_\("([^"]+)"\)""")
    files = [
        *Path("templates/tokens_app").glob("*.html"),
        Path("templates/admin/base_site.html"),
    ]
    used = {a or b for it in files for a, b in marked.findall(it.read_text())}

    assert used - entries().keys() == set()
    assert len(used) > 80


def test_every_scope_is_explained():
    assert set(words.SCOPES) == {
        name for audience in AUDIENCES for name in SCOPES[audience]
    }


def test_every_sample_is_told_in_chinese():
    texts = {
        text
        for calls in CALLS.values()
        for it in calls
        for text in (it.title, it.purpose)
    }

    assert texts - entries().keys() == set()


def refusals():
    """Refusals of the domain, one of each kind that a form can meet."""
    now = clock.now()
    day = timedelta(days=1)
    acts = {
        "nameless": lambda: grant.check_texts(name=" "),
        "long": lambda: grant.check_texts(name="x" * 200),
        "reasonless": lambda: grant.check_reason(" "),
        "past": lambda: grant.settle_expiry(now, now=now, max_days=9),
        "late": lambda: grant.settle_expiry(now + 99 * day, now=now, max_days=9),
        "limit": lambda: grant.check_limits(reads_per_minute=0),
        "scopeless": lambda: scope.write_scopes([], audience="OPEN_JOBS"),
        "scope": lambda: scope.write_scopes(["no"], audience="OPEN_JOBS"),
        "overlap": lambda: rotation.check_rotation(
            rotation.Rotation(
                expected_rotation_count=0,
                reason=rotation.RotationReason.ROUTINE,
                overlap=3 * day,
            )
        ),
        "leaked": lambda: rotation.check_rotation(
            rotation.Rotation(
                expected_rotation_count=0,
                reason=rotation.RotationReason.LEAKED,
                overlap=day,
            )
        ),
    }
    for name, act in acts.items():
        with pytest.raises(TokenInvalid) as refused:
            act()
        yield name, refused.value


@pytest.mark.django_db
def test_refusals_are_told_in_chinese():
    with translation.override("zh-hans"):
        told = {name: words.refusal_in_words(it) for name, it in refusals()}

    named = r"[a-z]+:[a-z]+|NUL|\bno\b"
    left = [re.sub(named, "", text) for text in told.values()]
    assert [text for text in left if re.search("[A-Za-z]{2}", text)] == []


def test_how_far_away_a_moment_is():
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    with translation.override("en"):
        told = [
            remaining(moment + distance, now=moment)
            for distance in (
                timedelta(0),
                timedelta(minutes=1),
                timedelta(hours=-5),
                timedelta(days=1, hours=3),
                timedelta(days=90),
            )
        ]
    assert told == ["now", "in 1 minute", "5 hours ago", "in 27 hours", "in 90 days"]
