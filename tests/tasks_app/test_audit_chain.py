"""Audit chains: written with every act, and verified whatever was done to them."""

import csv
import hashlib
import io
import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from tasks_app.domain.audit_chain import GENESIS, AuditEntry, canonical_text, entry_hash
from tasks_app.models import OperationAudit, Task
from tests.builders import (
    a_lease,
    a_queue,
    a_task,
    cancelled,
    reported,
    retried,
    reviewed,
)
from tests.tasks_app.contested.arena import Arena
from tests.tasks_app.contested.builders import a_place, success

pytestmark = pytest.mark.django_db(transaction=True)

EXACT = '{"a":9007199254740993,"b":1.10,"c":1E400,"d":-0,"e":"\\u00e9\\/\u2028é\x7f"}'
COLUMNS = {
    "id": "gen_random_uuid()",
    "namespace_id": "gen_random_uuid()",
    "task_id": "gen_random_uuid()",
    "operation_id": "gen_random_uuid()",
    "actor_id": "gen_random_uuid()",
    "actor_kind": "'USER'",
    "action": "action || 's'",
    "revision": "revision + 1",
    "reason": "coalesce(reason, '') || '.'",
    "evidence_ref": "coalesce(evidence_ref, '') || '.'",
    "before": "coalesce(before, '') || ' '",
    "after": "after || ' '",
    "created_at": "created_at + interval '1 microsecond'",
    "approver_id": "gen_random_uuid()",
    "approver_kind": "'TOKEN'",
    "sequence": "sequence + 40",
    "previous_hash": "set_byte(previous_hash, 7, get_byte(previous_hash, 7) # 1)",
    "entry_hash": "set_byte(entry_hash, 31, get_byte(entry_hash, 31) # 1)",
}


def a_story():
    """A task of four acts: accepted, started, lost sight of, reviewed."""
    task = a_task(state="NEEDS_REVIEW")
    reviewed(task, reason="=1+1 é\n'", evidence_ref="@evidence:1")
    return Task.objects.get(id=task.id)


def verified(**options):
    """Whether it is OK, and everything that was said."""
    out = io.StringIO()
    try:
        call_command("verify_audit", stdout=out, **options)
    except CommandError as error:
        return error.returncode != 1, f"{out.getvalue()}{error}"
    return True, out.getvalue()


def exported(path, form="jsonl", **options):
    """The path of a new export."""
    call_command(
        "export_audit", format=form, output=path, stderr=io.StringIO(), **options
    )
    return path


def tamper(*statements):
    """What the owner of the whole server may do."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        for statement in statements:
            cursor.execute(statement)
        cursor.execute("SET session_replication_role = origin")


def audit_at(task, sequence):
    return OperationAudit.objects.get(task_id=task.id, sequence=sequence)


def test_every_act_is_a_link_and_the_task_knows_the_last():
    queue = a_queue()
    story = a_story()
    asked = a_lease(queue=queue)
    cancelled(asked.task.id, reason="enough")
    reported(asked, "cancelled")
    child = retried(a_task(state="FAILED", queue=queue)).task
    retried(a_task(state="CANCELLED", queue=queue))

    said_ok, said = verified()

    assert said_ok, said
    assert said.startswith("OK: 6 tasks, ")
    for task in Task.objects.all():
        chain = OperationAudit.objects.filter(task_id=task.id).order_by("sequence")
        assert [it.sequence for it in chain] == list(range(1, task.audit_length + 1))
        hashes = [GENESIS, *(bytes(it.entry_hash) for it in chain)]
        assert [bytes(it.previous_hash) for it in chain] == hashes[:-1]
        assert bytes(task.audit_head) == hashes[-1]
        assert sorted(it.created_at for it in chain) == [it.created_at for it in chain]
    assert Task.objects.get(id=story.id).audit_length == 4
    assert Task.objects.get(id=child.retry_of).audit_length == 4


def test_the_hashed_text_is_plain_json_that_any_program_can_make_again():
    entry = AuditEntry(
        task_id=UUID(int=1),
        sequence=3,
        id=UUID(int=2),
        namespace_id=UUID(int=3),
        operation_id=UUID(int=4),
        actor_id=UUID(int=5),
        actor_kind="USER",
        action="task.review",
        revision=9007199254740993,
        reason='"\\\b\f\n\r\t\x01\x1f\x7f/ é 中 \u2028 😀',
        evidence_ref=None,
        before=EXACT,
        after=EXACT,
        created_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        approver_id=None,
        approver_kind=None,
        previous_hash=GENESIS,
    )
    text = canonical_text(entry).decode()

    again = json.dumps(
        json.loads(text), ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )

    assert text == again
    assert json.loads(text)["after"] == EXACT
    assert '"created_at":"2026-01-02T03:04:05.000000Z"' in text
    assert '"revision":"9007199254740993"' in text
    assert entry_hash(entry) == hashlib.sha256(again.encode()).digest()


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("place", [1, 3, 4])
def test_one_changed_value_is_named(column, place):
    story = a_story()
    a_task()
    audit = audit_at(story, place)
    assert verified()[0]

    tamper(
        f"UPDATE tasks_operation_audit SET {column} = {COLUMNS[column]}"
        f" WHERE id = '{audit.id}'"
    )
    is_ok, said = verified()

    assert not is_ok
    named = audit.sequence + 40 if column == "sequence" else audit.sequence
    if column not in {"id", "task_id"}:
        assert f"task {story.id.hex} sequence {named} audit {audit.id.hex}" in said
    if column == "task_id":
        assert f"MISSING: task {story.id.hex} sequence {place}" in said
    elif column == "sequence":
        assert "OUT OF ORDER" in said
    else:
        assert said.count("ALTERED") == 1


@pytest.mark.parametrize("place", [1, 2, 4])
def test_a_removed_record_is_named(place):
    story = a_story()

    tamper(
        f"DELETE FROM tasks_operation_audit WHERE id = '{audit_at(story, place).id}'"
    )
    is_ok, said = verified()

    assert not is_ok
    assert f"MISSING: task {story.id.hex} sequence {place}: No record" in said
    assert said.count("\n") == 1


def test_a_chain_without_any_record_or_without_its_task_is_named():
    gone, emptied = a_story(), a_task()

    tamper(
        f"DELETE FROM tasks_operation_audit WHERE task_id = '{emptied.id}'",
        f"DELETE FROM tasks_task WHERE id = '{gone.id}'",
    )
    is_ok, said = verified()

    assert not is_ok
    assert f"MISSING: task {emptied.id.hex} sequence 1:" in said
    assert f"HEAD MISMATCH: task {gone.id.hex}: These records" in said


def test_two_swapped_records_are_both_named():
    story = a_story()
    two, three = audit_at(story, 2), audit_at(story, 3)

    tamper(
        *(
            f"UPDATE tasks_operation_audit SET sequence = {sequence} WHERE id = '{it}'"
            for it, sequence in ((two.id, 100), (three.id, 2), (two.id, 3))
        )
    )
    is_ok, said = verified()

    assert not is_ok
    assert f"OUT OF ORDER: task {story.id.hex} sequence 2 audit {three.id.hex}" in said
    assert f"OUT OF ORDER: task {story.id.hex} sequence 3 audit {two.id.hex}" in said


def test_the_head_alone_cannot_be_set_back():
    story = a_story()
    before = audit_at(story, 3)

    tamper(
        f"UPDATE tasks_task SET audit_length = 3, audit_head = '\\x"
        f"{bytes(before.entry_hash).hex()}' WHERE id = '{story.id}'"
    )
    is_ok, said = verified()

    assert not is_ok
    assert f"HEAD MISMATCH: task {story.id.hex} sequence 3" in said


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_whoever_rewrites_a_chain_with_its_head_is_caught_by_an_export(tmp_path, form):
    story = a_story()
    path = exported(tmp_path / "kept", form)
    last, third = audit_at(story, 4), audit_at(story, 3)
    a_task()
    assert verified(export=path, against_database=True)[0]

    tamper(
        f"DELETE FROM tasks_operation_audit WHERE id = '{last.id}'",
        f"UPDATE tasks_task SET audit_length = 3, audit_head = '\\x"
        f"{bytes(third.entry_hash).hex()}' WHERE id = '{story.id}'",
    )

    assert verified()[0], "inside, it is whole"
    is_ok, said = verified(export=path, against_database=True)
    assert not is_ok
    assert f"task {story.id.hex} sequence 4 audit {last.id.hex}" in said
    assert "The database knows 3 of its records." in said


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_export_says_the_same_as_the_database_and_can_be_verified_alone(
    tmp_path, form, django_db_blocker
):
    a_story()
    retried(a_task(state="FAILED"))
    path = exported(tmp_path / "kept", form)
    of_database = verified()

    with django_db_blocker.block():
        of_export = verified(export=path)

    assert of_export == of_database
    assert of_export[0]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_whatever_is_changed_in_an_export_is_seen(tmp_path, form):
    a_story()
    path = exported(tmp_path / "kept", form)
    whole = path.read_bytes()
    separators = {i for i, byte in enumerate(whole) if byte in b'\r\n"{}:,'}

    for place in range(0, len(whole), 37):
        if place in separators:
            continue
        changed = bytearray(whole)
        changed[place] ^= 1
        path.write_bytes(changed)
        assert not verified(export=path)[0], whole[place - 40 : place + 1]
    lines = whole.splitlines(keepends=True)
    for number in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:number] + lines[number + 1 :]))
        assert not verified(export=path)[0], lines[number]


def test_csv_is_never_run_as_a_formula_and_keeps_the_exact_text(tmp_path):
    story = a_story()
    path = exported(tmp_path / "audit.csv", "csv")

    with path.open(newline="") as file:
        cells = list(csv.DictReader(file))

    said = next(it for it in cells if it["sequence"] == "4" and it["kind"] == "entry")
    assert said["reason"] == "'=1+1 é\n'"
    assert said["evidence_ref"] == "'@evidence:1"
    assert said["after"] == audit_at(story, 4).after
    dangerous = tuple("=+-@\t\r")
    assert not any(c.startswith(dangerous) for row in cells for c in row.values())


def test_an_export_from_a_time_on_begins_in_the_middle_of_a_chain(tmp_path):
    story, other = a_story(), a_task()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT max(created_at) FROM tasks_operation_audit"
            " WHERE task_id = %s AND sequence = 3",
            [story.id],
        )
        moment = cursor.fetchone()[0]
    later = (moment + timedelta(microseconds=1)).isoformat().replace("+00:00", "Z")

    path = exported(tmp_path / "late", since=later)

    kinds = [json.loads(line)["kind"] for line in path.read_text().splitlines()]
    assert kinds == ["begin", "entry", "head", "entry", "head", "end"]
    assert verified(export=path, against_database=True)[0]
    assert other.id.hex in path.read_text()


def test_an_export_of_one_namespace_has_no_word_of_another(tmp_path):
    mine, other = a_story(), a_story()
    path = exported(tmp_path / "mine", namespace=mine.namespace.name)

    assert mine.id.hex in path.read_text()
    assert other.id.hex not in path.read_text()
    assert verified(export=path)[0]


@pytest.mark.parametrize("text", [b"", b"{}", b"nonsense\n", b'"format"\r\n', b"\xff"])
def test_what_is_no_export_is_refused_in_words(tmp_path, text):
    path = tmp_path / "file"
    path.write_bytes(text)

    is_ok, said = verified(export=path)

    assert not is_ok
    assert said.startswith(str(path))


def test_one_task_can_be_verified_alone():
    story, other = a_story(), a_story()
    tamper(f"DELETE FROM tasks_operation_audit WHERE task_id = '{other.id}'")

    assert verified(task=story.id.hex)[0]
    assert not verified(task=other.id.hex)[0]
    assert not verified(task="0" * 32)[0]


def test_the_database_itself_refuses_a_second_record_at_one_place():
    story = a_story()
    names = ", ".join(f.column for f in OperationAudit._meta.fields)

    with (
        pytest.raises(IntegrityError, match="tasks_audit_one_successor"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(
            f"INSERT INTO tasks_operation_audit ({names}) SELECT"
            f" {names.replace('id,', 'gen_random_uuid(),', 1)}"
            " FROM tasks_operation_audit WHERE task_id = %s AND sequence = 4",
            [story.id],
        )


def test_chains_never_fork_whoever_acts_at_once():
    place = a_place()
    with Arena(4) as arena:
        for entry in place.running(40):
            task_id = entry.task.id
            arena.race(
                lambda i=task_id: place.cancel(i),
                lambda i=task_id: place.cancel(i),
                lambda e=entry: place.report(success(e)),
                lambda: place.waiting(3),
            )
        for task_id in place.failed(40):
            arena.race(*[lambda i=task_id: place.retry(i)] * 4)

    is_ok, said = verified()

    assert is_ok, said
