"""Records that the database itself keeps as they are, whoever asks."""

import secrets
from contextlib import contextmanager

import pytest
from django.db import IntegrityError, connection, transaction

from tasks_app.models import Task
from tests.builders import (
    a_lease,
    a_task,
    every_row,
    proposed,
    reported,
    reviewed,
    withdrawn,
)

pytestmark = pytest.mark.django_db

FROZEN = (
    "tasks_operation_audit",
    "tasks_evidence",
    "tasks_review_proposal",
    "tasks_review_decision",
    "tasks_contradiction",
    "outbox_result_event",
)


@contextmanager
def an_ordinary_owner():
    """An ordinary role that owns the tables, as an application's role does."""
    role = f"owner_{secrets.token_hex(4)}"
    tables = [
        name
        for name in connection.introspection.table_names()
        if name.startswith(("tasks_", "outbox_"))
    ]
    with connection.cursor() as cursor:
        # What waits for the end of the transaction would be in the way.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"CREATE ROLE {role} NOLOGIN")
        cursor.execute(f"GRANT CREATE ON SCHEMA public TO {role}")
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} OWNER TO {role}")
        cursor.execute(f"SET LOCAL ROLE {role}")
        yield
        cursor.execute("RESET ROLE")


def refused(statement, *parameters):
    """What the database says; the statement must have no effect."""
    with (
        pytest.raises(IntegrityError) as error,
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, parameters)
    return str(error.value)


@pytest.mark.parametrize("table", FROZEN)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET created_at = now()",
        "UPDATE {table} SET created_at = created_at WHERE false",
        "DELETE FROM {table}",
        "TRUNCATE {table}",
        "TRUNCATE {table} CASCADE",
    ],
)
def test_a_record_cannot_be_changed_or_removed(table, statement):
    lease = a_lease()
    reported(lease, "unknown")
    reviewed(Task.objects.get(id=lease.task.id), outcome="FAILED")
    reported(lease, "succeed")
    withdrawn(proposed(a_task(state="NEEDS_REVIEW")).proposal)
    before = every_row()
    assert table in {name for name, _ in before}
    times = {"tasks_evidence": "received_at", "tasks_review_decision": "decided_at"}
    column = times.get(table, "created_at")

    with an_ordinary_owner():
        said = refused(statement.format(table=table).replace("created_at", column))

    assert "is refused: its rows are frozen" in said
    assert every_row() == before


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("state = 'CANCELLED', completed_at = now()", "raises the revision by one"),
        (
            "state = 'CANCELLED', completed_at = now(), revision = revision + 1",
            "needs its operation audit",
        ),
        (
            "state = 'CANCELLED', completed_at = now(), revision = revision + 2",
            "raises the revision by one",
        ),
        ("revision = revision + 1", "raises the revision by one"),
        ("revision = revision - 1", "raises the revision by one"),
    ],
)
def test_a_task_cannot_move_without_revision_and_audit(change, says):
    task = a_task()
    before = every_row()

    with an_ordinary_owner():
        said = refused(f"UPDATE tasks_task SET {change} WHERE id = %s", task.id)

    assert says in said
    assert every_row() == before


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ("completed_at = now()", "completed_iff_final"),
        ("effect_uncertain = true", "uncertain_needs_review"),
        ("lease_attempt_id = id", "running_iff_leased"),
        ("attempt_count = max_attempts + 1", "attempts_bounded"),
        ("owner_kind = 'SCHEDULE'", "owner_named"),
        ("retry_of = id", "not_its_own_retry"),
        ("state = 'ASLEEP', revision = revision + 1", "state_known"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(change, constraint):
    task = a_task()

    said = refused(f"UPDATE tasks_task SET {change} WHERE id = %s", task.id)

    assert f"tasks_task_{constraint}" in said
