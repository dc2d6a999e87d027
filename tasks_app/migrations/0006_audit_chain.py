"""The audit records of a task become a hash chain; those that are there are hashed."""

from django.db import migrations, models

# orbit-audit-1, as tasks_app writes it: JSON text with sorted keys, all values strings.
HASH_WHAT_IS_THERE = """
SET LOCAL statement_timeout = 0;
ALTER TABLE tasks_operation_audit DISABLE TRIGGER tasks_operation_audit_is_frozen;
ALTER TABLE tasks_task DISABLE TRIGGER tasks_task_moves_are_audited;
DO $$
DECLARE
    entry record;
    task uuid;
    place bigint := 0;
    head bytea;
    sealed bytea;
BEGIN
    FOR entry IN
        SELECT * FROM tasks_operation_audit
        ORDER BY task_id, revision, created_at, id
    LOOP
        IF task IS DISTINCT FROM entry.task_id THEN
            UPDATE tasks_task SET audit_length = place, audit_head = head
            WHERE id = task;
            task := entry.task_id;
            place := 0;
            head := decode(repeat('00', 32), 'hex');
        END IF;
        place := place + 1;
        sealed := sha256(convert_to(
            '{"action":' || to_json(entry.action::text)
            || ',"actor_id":"' || replace(entry.actor_id::text, '-', '')
            || '","actor_kind":' || to_json(entry.actor_kind::text)
            || ',"after":' || to_json(entry.after)
            || ',"approver_id":null,"approver_kind":null,"before":'
            || coalesce(to_json(entry.before)::text, 'null')
            || ',"created_at":"' || to_char(entry.created_at AT TIME ZONE 'UTC',
                                            'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
            || '","evidence_ref":'
            || coalesce(to_json(entry.evidence_ref)::text, 'null')
            || ',"format":"orbit-audit-1","id":"' || replace(entry.id::text, '-', '')
            || '","namespace_id":"' || replace(entry.namespace_id::text, '-', '')
            || '","operation_id":"' || replace(entry.operation_id::text, '-', '')
            || '","previous_hash":"' || encode(head, 'hex')
            || '","reason":' || coalesce(to_json(entry.reason)::text, 'null')
            || ',"revision":"' || entry.revision
            || '","sequence":"' || place
            || '","task_id":"' || replace(entry.task_id::text, '-', '') || '"}',
            'UTF8'));
        UPDATE tasks_operation_audit
        SET sequence = place, previous_hash = head, entry_hash = sealed
        WHERE id = entry.id;
        head := sealed;
    END LOOP;
    UPDATE tasks_task SET audit_length = place, audit_head = head WHERE id = task;
END $$;
ALTER TABLE tasks_task ENABLE TRIGGER tasks_task_moves_are_audited;
ALTER TABLE tasks_operation_audit ENABLE TRIGGER tasks_operation_audit_is_frozen;
"""
NOTHING = bytes(32)


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0005_contradictions")]
    operations = [
        migrations.AddField(
            model_name="task",
            name="audit_length",
            field=models.BigIntegerField(default=0),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="task",
            name="audit_head",
            field=models.BinaryField(default=NOTHING),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="operationaudit",
            name="approver_id",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="operationaudit",
            name="approver_kind",
            field=models.CharField(max_length=6, null=True),
        ),
        migrations.AddField(
            model_name="operationaudit",
            name="sequence",
            field=models.BigIntegerField(default=0),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="operationaudit",
            name="previous_hash",
            field=models.BinaryField(default=NOTHING),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="operationaudit",
            name="entry_hash",
            field=models.BinaryField(default=NOTHING),
            preserve_default=False,
        ),
        migrations.RunSQL(HASH_WHAT_IS_THERE, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="operationaudit",
            constraint=models.UniqueConstraint(
                fields=("task_id", "sequence"), name="tasks_audit_one_successor"
            ),
        ),
    ]
