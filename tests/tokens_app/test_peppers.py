"""Without fit peppers nothing starts and no token is made or accepted."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from tests.tokens_app.builders import a_token, call
from tokens_app.domain.pepper import PepperError, read_peppers

GOOD = "abcdefghijklmnopqrstuvwxyz-012345"
OLDER = "ZYXWVUTSRQPONMLKJIHGFEDCBA-543210"
UNFIT = {
    "none": "",
    "white space": " , ",
    "no id": GOOD,
    "empty id": f":{GOOD}",
    "bad id": f"a b:{GOOD}",
    "short": "p1:short",
    "short older one": f"p1:{GOOD},p0:short",
    "one id twice": f"p1:{GOOD},p1:{OLDER}",
}


def test_the_first_pepper_is_the_current_one():
    peppers = read_peppers(text=f"p1:{GOOD}, p0:{OLDER}", path="", forbidden="x")

    assert peppers.current_id == "p1"
    assert peppers.current == GOOD.encode()
    assert peppers.by_id == {"p1": GOOD.encode(), "p0": OLDER.encode()}


def test_a_file_holds_one_pepper_a_line(tmp_path):
    file = tmp_path / "peppers"
    file.write_text(f"p2:{GOOD}\np1:{OLDER}\n")

    peppers = read_peppers(text="", path=str(file), forbidden="x")

    assert list(peppers.by_id) == ["p2", "p1"]


def test_peppers_are_not_shown():
    assert GOOD not in repr(read_peppers(text=f"p1:{GOOD}", path="", forbidden="x"))


@pytest.mark.parametrize("text", UNFIT.values(), ids=UNFIT)
def test_unfit_peppers_are_refused_without_repeating_them(text):
    with pytest.raises(PepperError) as refusal:
        read_peppers(text=text, path="", forbidden="x")

    assert GOOD not in str(refusal.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(PepperError, match="ORBIT_TOKEN_PEPPERS_FILE"):
        read_peppers(text="", path=str(tmp_path / "absent"), forbidden="x")


def test_two_sources_of_peppers_are_refused():
    with pytest.raises(PepperError, match="not both"):
        read_peppers(text=f"p1:{GOOD}", path="/somewhere", forbidden="x")


def test_the_secret_key_is_no_pepper():
    with pytest.raises(PepperError, match="SECRET_KEY"):
        read_peppers(text=f"p1:{GOOD}", path="", forbidden=GOOD)


@pytest.mark.parametrize("text", ["", "p1:short"])
def test_the_system_check_refuses_to_start_unpeppered(settings, text):
    settings.TOKEN_PEPPERS = text
    settings.TOKEN_PEPPERS_FILE = ""

    with pytest.raises(SystemCheckError, match=r"tokens_app\.E001"):
        call_command("check")


@pytest.mark.django_db
def test_no_token_is_made_or_accepted_unpeppered(settings):
    issued = a_token()
    settings.TOKEN_PEPPERS = ""
    settings.TOKEN_PEPPERS_FILE = ""

    with pytest.raises(ImproperlyConfigured):
        a_token()
    with pytest.raises(ImproperlyConfigured):
        call(issued.plaintext)
