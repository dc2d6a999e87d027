import pytest

from orbit.checks import base_url_is_sane, debug_is_off


def ids(check):
    return [message.id for message in check(app_configs=None)]


def test_debug_is_an_error(settings):
    settings.DEBUG = False
    assert ids(debug_is_off) == []
    settings.DEBUG = True
    assert ids(debug_is_off) == ["orbit.E001"]


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("http://127.0.0.1:8000", []),
        ("http://[::1]:8000", []),
        ("https://orbit.example", []),
        ("https://eu.orbit.example/", []),
        ("http://orbit.example", ["orbit.W001"]),
        ("https://other.example", ["orbit.E004"]),
        ("http://other.example", ["orbit.W001", "orbit.E004"]),
        ("orbit.example", ["orbit.E002"]),
        ("ftp://orbit.example", ["orbit.E002"]),
        ("https://", ["orbit.E002"]),
        ("https://orbit.example/path", ["orbit.E003"]),
        ("https://me@orbit.example", ["orbit.E003"]),
        ("https://orbit.example?x=1", ["orbit.E003"]),
    ],
)
def test_the_base_url_begins_every_link(settings, url, found):
    settings.ALLOWED_HOSTS = ["127.0.0.1", "[::1]", ".orbit.example"]
    settings.BASE_URL = url
    assert ids(base_url_is_sane) == found
