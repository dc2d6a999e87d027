"""The product's own table of paths."""

import json

import pytest
from django.test import Client
from django.urls import reverse


def test_the_ground_s_paths_are_where_operators_look():
    assert reverse("admin:index") == "/admin/"
    assert Client().get("/livez").status_code == 200


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/none"])
def test_an_unknown_path_of_the_api_is_json(path):
    response = Client().get(path)
    assert response.status_code == 404
    assert json.loads(response.content)["error"]["code"] == "NOT_FOUND"


def test_an_unknown_path_elsewhere_is_a_page():
    response = Client().get("/none")
    assert response.status_code == 404
    assert b"<h1>Not found</h1>" in response.content
