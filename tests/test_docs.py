"""What the documents say about the code is what the code says."""

import importlib
import pkgutil
import re
from pathlib import Path
from typing import get_args

import pytest

import openapi_app
import orbit
import tasks_app
import tokens_app
from openapi_app.api.envelope import MESSAGES
from orbit.errors import Refusal
from tasks_app.api.schemas import StateConflict
from tasks_app.domain.lifecycle import FINAL, MOVES, State

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [
    *sorted(DOCS.rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
]
ARROW = re.compile(r"^    (\w+) --> (\w+)", re.MULTILINE)
ROW = re.compile(r"^\|([^|]*)\|([^|]*)\|", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#([^)]*))?\)")
READ = re.compile(
    r"\benv\.(text|integer|boolean|words|secret|sealed|database)\(\s*\"([A-Z_]+)\""
    r"|\benviron(?:\.get\(|\[)\"((?:ORBIT_|CELERY_|DATABASE|REDIS)[A-Z_]+)\""
)


def modules():
    """Every module of the product, so that every subclass is known."""
    for package in (orbit, tokens_app, tasks_app, openapi_app):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".migrations" not in found.name:
                yield importlib.import_module(found.name)


def below(kind):
    """All subclasses of a class, near and far."""
    for child in kind.__subclasses__():
        yield child
        yield from below(child)


def first_cells(page, column=0):
    """The words of one column of all tables of a page."""
    rows = ROW.findall((DOCS / page).read_text())
    return {word for row in rows for word in re.findall(r"\w+", row[column])}


def test_the_picture_of_a_task_has_exactly_the_moves_of_the_table():
    drawn = (DOCS / "lifecycles.md").read_text()
    picture = set(ARROW.findall(drawn))
    moves = {(start.value, to.value) for start, ends in MOVES.items() for to in ends}

    assert {arrow for arrow in picture if arrow[0] in set(State)} == moves
    for state in FINAL:
        assert f"    {state} --> [*]" in drawn


def test_every_code_and_reason_is_explained():
    list(modules())
    codes = {kind.code for kind in below(Refusal)} | set(MESSAGES.values())
    reasons = get_args(StateConflict.__annotations__["reason"])

    explained = first_cells("errors.md") | first_cells("errors.md", column=1)

    assert codes - {"REFUSED"} <= explained
    assert set(reasons) <= explained


@pytest.mark.parametrize("code", ["LEASE_LOST", "ATTEMPT_TIMEOUT", "OUTCOME_UNKNOWN"])
def test_every_failure_of_the_engine_is_explained_where_people_look(code):
    assert code in first_cells("errors.md")
    assert code in first_cells("recovery.md")


def test_every_environment_variable_is_in_the_table_and_no_other():
    read = set()
    for package in (orbit, tokens_app, tasks_app, openapi_app):
        for file in Path(package.__path__[0]).rglob("*.py"):
            for found in READ.findall(file.read_text()):
                read.add(found[1] or found[2])
                if found[0] in {"secret", "sealed", "database"}:
                    read.add(f"{found[1]}_FILE")

    documented = {
        word
        for word in first_cells("operations.md")
        if re.fullmatch(r"(ORBIT|CELERY|DATABASE|REDIS)_[A-Z_]+", word)
    }

    assert documented == read


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    for target, anchor in LINK.findall(page.read_text()):
        file = (page.parent / target).resolve()
        assert file.exists(), f"{page.name} -> {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
            assert anchor in {_slug(heading) for heading in headings}


def _slug(heading):
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


DJANGO_S_OWN = {"migrate", "createsuperuser", "check", "makemessages"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_is_named_exists(page):
    text = page.read_text()
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    known = {
        file.stem
        for app in ("orbit", "tasks_app", "tokens_app", "openapi_app")
        for file in (ROOT / app).glob("management/commands/*.py")
    }
    for command in re.findall(r"manage\.py ([a-z_]+)", text):
        assert command in known | {
            "migrate",
            "createsuperuser",
            "check",
            "makemessages",
        }, command


def test_every_decision_is_listed_on_both_pages():
    pages = {file.name for file in (DOCS / "decisions").glob("*.md")} - {"README.md"}
    index = (DOCS / "decisions" / "README.md").read_text()
    architecture = (DOCS / "architecture.md").read_text()

    for name in pages:
        assert f"({name})" in index
        assert f"(decisions/{name})" in architecture


def test_the_python_of_the_json_page_is_true():
    blocks = re.findall(
        r"```python\n(.*?)```", (DOCS / "json.md").read_text(), re.DOTALL
    )
    assert blocks
    for block in blocks:
        exec(block, {})  # noqa: S102 - the page's own lines
