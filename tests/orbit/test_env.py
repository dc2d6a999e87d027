import pytest
from django.core.exceptions import ImproperlyConfigured

from orbit import env

NAME = "ORBIT_TEST_VALUE"


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    monkeypatch.delenv(NAME, raising=False)
    monkeypatch.delenv(f"{NAME}_FILE", raising=False)


def test_a_text_without_default_must_be_set(monkeypatch):
    assert env.text(NAME, "default") == "default"
    with pytest.raises(ImproperlyConfigured, match=NAME):
        env.text(NAME)
    monkeypatch.setenv(NAME, "")
    with pytest.raises(ImproperlyConfigured, match=NAME):
        env.text(NAME)


def test_an_integer_is_within_its_bounds(monkeypatch):
    assert env.integer(NAME, 7) == 7
    monkeypatch.setenv(NAME, "50")
    assert env.integer(NAME, 7, low=50, high=50) == 50
    for low, high in ((51, 60), (1, 49)):
        with pytest.raises(ImproperlyConfigured, match=f"{low} to {high}"):
            env.integer(NAME, 7, low=low, high=high)


@pytest.mark.parametrize("raw", ["x", "1.0", "--1", "1e3", " 1", "²"])
def test_anything_else_is_not_an_integer(monkeypatch, raw):
    monkeypatch.setenv(NAME, raw)
    with pytest.raises(ImproperlyConfigured):
        env.integer(NAME, 7, low=-5)


@pytest.mark.parametrize(
    ("raw", "value"), [("1", True), ("Yes", True), ("off", False), ("FALSE", False)]
)
def test_a_boolean_is_said_in_known_words(monkeypatch, raw, value):
    monkeypatch.setenv(NAME, raw)
    assert env.boolean(NAME, default=not value) is value


def test_an_unknown_word_is_no_boolean(monkeypatch):
    assert env.boolean(NAME, default=True)
    monkeypatch.setenv(NAME, "maybe")
    with pytest.raises(ImproperlyConfigured, match="true or false"):
        env.boolean(NAME, default=True)


def test_words_are_trimmed_and_never_empty(monkeypatch):
    monkeypatch.setenv(NAME, " a, b ,,c")
    assert env.words(NAME) == ["a", "b", "c"]


def test_a_secret_is_long_and_comes_from_a_variable_or_a_file(monkeypatch, tmp_path):
    with pytest.raises(ImproperlyConfigured):
        env.secret(NAME)
    monkeypatch.setenv(NAME, "s" * 31)
    with pytest.raises(ImproperlyConfigured, match="32 bytes") as caught:
        env.secret(NAME)
    assert "sss" not in str(caught.value)
    monkeypatch.setenv(NAME, "s" * 32)
    assert env.secret(NAME) == "s" * 32
    file = tmp_path / "secret"
    file.write_text("f" * 32 + "\n")
    monkeypatch.setenv(f"{NAME}_FILE", str(file))
    assert env.secret(NAME) == "f" * 32


def test_a_database_is_read_from_its_url(monkeypatch):
    monkeypatch.setenv(
        NAME, "postgresql://orbit:p%40ss%2Fw@db.example:5433/my%20db?sslmode=require"
    )
    assert env.database(NAME) == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "my db",
        "USER": "orbit",
        "PASSWORD": "p@ss/w",
        "HOST": "db.example",
        "PORT": "5433",
        "OPTIONS": {"sslmode": "require"},
    }


@pytest.mark.parametrize(
    "url", ["postgresql://%2Fvar%2Frun/orbit", "postgresql://u@/orbit?host=/var/run"]
)
def test_a_socket_directory_can_be_the_host(monkeypatch, url):
    monkeypatch.setenv(NAME, url)
    assert env.database(NAME)["HOST"] == "/var/run"


@pytest.mark.parametrize("url", ["mysql://u@h/db", "postgresql://u@h/", "orbit"])
def test_another_database_stops_the_start(monkeypatch, url):
    monkeypatch.setenv(NAME, url)
    with pytest.raises(ImproperlyConfigured, match=NAME):
        env.database(NAME)
