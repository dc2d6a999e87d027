"""Migrations on data that is there: forwards, backwards, and refused with a list."""

import io
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor

from tasks_app.models import Task
from tests.builders import (
    a_lease,
    a_queue,
    a_task,
    cancelled,
    every_row,
    retried,
    reviewed,
)

pytestmark = pytest.mark.django_db(transaction=True)

BEFORE = [("tasks_app", "0002_records_are_frozen")]
AFTER = [("tasks_app", "0003_one_successor")]


def migrate(targets):
    """Bring the schema to these migrations, or to the newest ones for None."""
    executor = MigrationExecutor(connection)
    executor.migrate(targets or executor.loader.graph.leaf_nodes())


@pytest.fixture(autouse=True)
def _newest_schema_afterwards():
    yield
    with connection.cursor() as cursor:
        if "tasks_task" in connection.introspection.table_names(cursor):
            cursor.execute("UPDATE tasks_task SET retry_of = NULL")
    migrate(None)


def constraints():
    with connection.cursor() as cursor:
        return set(connection.introspection.get_constraints(cursor, "tasks_task"))


def point_at(source_id, *tasks):
    Task.objects.filter(id__in=[task.id for task in tasks]).update(retry_of=source_id)


def test_offending_rows_are_listed_and_nothing_changes_until_they_are_decided():
    queue = a_queue()
    source, one, two, own, fine = (a_task(queue=queue) for _ in range(5))
    elsewhere = a_task()
    migrate(BEFORE)
    point_at(source.id, one, two, elsewhere)
    point_at(own.id, own)
    point_at(one.id, fine)
    before, there = every_row(), constraints()

    with pytest.raises(RuntimeError) as refused:
        migrate(AFTER)

    message = str(refused.value)
    assert message.startswith("3 tasks ")
    for task in (one, two, own):
        assert f"task {task.id.hex}" in message
    for task in (fine, elsewhere, source):
        assert f"task {task.id.hex}" not in message
    assert every_row() == before
    assert constraints() == there
    assert "tasks_task_retry_of" in there

    point_at(None, two, own)
    migrate(AFTER)

    assert constraints() >= {"tasks_task_one_successor", "tasks_task_not_its_own_retry"}
    assert "tasks_task_retry_of" not in constraints()


def test_afterwards_the_database_itself_refuses_such_rows():
    queue = a_queue()
    source, one, two = (a_task(queue=queue) for _ in range(3))
    point_at(source.id, one)

    for target, task, name in (
        (source.id, two, "tasks_task_one_successor"),
        (two.id, two, "tasks_task_not_its_own_retry"),
    ):
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            point_at(target, task)


def test_it_goes_back_and_forth_with_data_in_place():
    task = a_task(state="NEEDS_REVIEW")
    migrate(AFTER)
    before, there = every_row(), constraints()

    migrate(BEFORE)
    assert every_row() == before
    migrate(AFTER)

    assert every_row() == before
    assert constraints() == there
    migrate(None)
    assert Task.objects.get(id=task.id).created_at - task.created_at == timedelta()


def test_records_that_are_there_become_chains_as_if_written_so():
    reviewed(a_task(state="NEEDS_REVIEW"), reason='"\\\n\t\x01\x7f/ é \u2028 😀')
    retried(a_task(state="FAILED"))
    cancelled(a_lease().task.id, reason="enough")
    before = every_row()

    migrate([("tasks_app", "0004_scheduled_tasks_unclaimed")])
    assert every_row() != before
    migrate(None)

    assert every_row() == before
    call_command("verify_audit", stdout=io.StringIO())


def test_everything_can_be_taken_back_and_made_again():
    migrate([("tasks_app", None), ("outbox", None)])
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        cursor.execute(
            "SELECT proname FROM pg_proc WHERE proname LIKE ANY(%s)",
            [["tasks\\_%", "outbox\\_%"]],
        )
        functions = cursor.fetchall()

    assert not [name for name in tables if name.startswith(("tasks_", "outbox_"))]
    assert functions == []
    migrate(None)
    assert a_task(state="FAILED").state == "FAILED"
