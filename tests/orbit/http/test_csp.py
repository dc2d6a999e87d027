import pytest
from django.test import Client

pytestmark = pytest.mark.urls("tests.orbit.http.urls")


def policy_of(path):
    return Client(raise_request_exception=False).get(path)["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/page", "/none", "/broken-page", "/denied-page"])
def test_a_page_may_load_only_what_is_ours(path):
    policy = policy_of(path)
    assert "script-src 'self'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", ["/v1/echo", "/v1/none", "/v1/raise/broken", "/livez"])
def test_json_may_load_nothing(path):
    assert policy_of(path) == "default-src 'none'; frame-ancestors 'none'"
