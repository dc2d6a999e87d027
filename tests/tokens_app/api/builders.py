"""People at the management API, signed in as the tests need them."""

import json
import secrets
import time

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.test import Client

from orbit.http.login_age import PROVED_AT
from orbit.ids import new_id

ROOT = "/workbench/api"
PASSWORD = "correct horse battery"
OWN_RIGHTS = ("openapi_app.run_job", "openapi_app.view_job")


def a_user(*permissions, is_staff=True, is_superuser=False):
    """A user with these permissions, written as app.codename."""
    user = get_user_model().objects.create_user(
        username=new_id().hex,
        password=PASSWORD,
        is_staff=is_staff,
        is_superuser=is_superuser,
    )
    for name in permissions:
        app, codename = name.split(".")
        user.user_permissions.add(
            Permission.objects.get(content_type__app_label=app, codename=codename)
        )
    return user


class Answer:
    """An answer whose envelope has been looked at."""

    def __init__(self, response):
        self.response = response
        self.status = response.status_code
        self.headers = response.headers
        self.text = response.content.decode()
        body = json.loads(response.content)
        assert set(body) == {"request_id", "error" if self.status >= 400 else "data"}
        self.data = body.get("data")
        self.error = body.get("error")
        self.code = self.error and self.error["code"]
        self.field = self.error and self.error.get("field")


class Person:
    """A browser; without a user nobody is signed in in it."""

    def __init__(self, user=None, *, login_age=0, has_csrf=True):
        self.user = user
        self.client = Client(enforce_csrf_checks=True, raise_request_exception=False)
        self.csrf = secrets.token_hex(16) if has_csrf else ""
        if has_csrf:
            self.client.cookies["csrftoken"] = self.csrf
        if user is not None:
            self.client.force_login(user)
            session = self.client.session
            if login_age is not None:
                session[PROVED_AT] = time.time() - login_age
            session.save()

    def call(self, method, path, body=None, **headers):
        """One call."""
        if self.csrf:
            headers.setdefault("X-CSRFToken", self.csrf)
        return Answer(
            self.client.generic(
                method,
                f"{ROOT}{path}",
                data=b"" if body is None else json.dumps(body),
                content_type="application/json",
                headers=headers,
            )
        )

    def get(self, path, **headers):
        """One read."""
        return self.call("GET", path, **headers)

    def post(self, path, body=None, **headers):
        """One write."""
        return self.call("POST", path, body, **headers)

    def patch(self, path, body):
        """One change."""
        return self.call("PATCH", path, body)


def a_person(*permissions, login_age=0, **user):
    """Somebody of the staff who is signed in."""
    return Person(a_user(*permissions, **user), login_age=login_age)


def an_administrator(*, login_age=0):
    """A superuser who is signed in."""
    return a_person(is_superuser=True, login_age=login_age)


def issue_body(place, *jobs, **changes):
    """What asks for a token over these jobs, but for what the test changes."""
    wanted = {
        "name": "partner",
        "audience": "OPEN_JOBS",
        "namespace_id": place.namespace_id.hex,
        "scopes": ["jobs:read", "jobs:trigger", "executions:read"],
        "job_ids": [job.id.hex for job in jobs],
        "expires_in_days": 30,
    }
    wanted.update(changes)
    return {name: value for name, value in wanted.items() if value is not None}
