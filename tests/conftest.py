"""What the whole suite shares."""

import pytest
from django.conf import settings
from django.db import connection
from django.test import TransactionTestCase

from tests import chromium

pytest_plugins = ["tests.live", "tests.profiles"]

# Made by migrations and looked up by everybody: they outlive a test.
KEPT = {"django_content_type", "auth_permission"}


def empty_every_table():
    """Delete all rows, those too that triggers and foreign keys protect."""
    tables = set(connection.introspection.django_table_names(only_existing=True))
    deletions = [
        f"DELETE FROM {connection.ops.quote_name(table)};"
        for table in sorted(tables - KEPT)
    ]
    with connection.cursor() as cursor:
        # Triggers of the origin role stay silent for a replica, in one round trip.
        cursor.execute(
            "SET session_replication_role = replica;"
            + "".join(deletions)
            + "SET session_replication_role = origin"
        )


@pytest.fixture(autouse=True, scope="session")
def _transactional_tests_may_clean_up():
    """Django's own flush is refused by append-only tables, and slow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            TransactionTestCase,
            "_fixture_teardown",
            lambda _case: empty_every_table(),
        )
        yield


@pytest.fixture(autouse=True, scope="session")
def _static_files_are_looked_for_when_asked_for():
    """Each test client makes the middleware anew: it would read every file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "WHITENOISE_AUTOREFRESH", True)
        yield


@pytest.fixture(scope="session")
def chromium_path():
    """The browser for Playwright's executable_path; a test without one fails."""
    path = chromium.find()
    assert path, "No Chromium: run `make chromium`, or set ORBIT_CHROMIUM to its path."
    return path
