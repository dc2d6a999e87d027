"""The database itself refuses changes to audit and evidence, and unaudited moves."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION tasks_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: its rows are frozen once written',
        TG_OP, TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER tasks_operation_audit_is_frozen
    BEFORE UPDATE OR DELETE OR TRUNCATE ON tasks_operation_audit
    FOR EACH STATEMENT EXECUTE FUNCTION tasks_refuse_change();
CREATE TRIGGER tasks_evidence_is_frozen
    BEFORE UPDATE OR DELETE OR TRUNCATE ON tasks_evidence
    FOR EACH STATEMENT EXECUTE FUNCTION tasks_refuse_change();

CREATE FUNCTION tasks_refuse_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'task %: a change of state raises the revision by one', NEW.id
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER tasks_task_moves_raise_revision
    BEFORE UPDATE ON tasks_task FOR EACH ROW
    WHEN (NEW.revision <> OLD.revision
              + CASE WHEN NEW.state = OLD.state THEN 0 ELSE 1 END)
    EXECUTE FUNCTION tasks_refuse_move();

CREATE FUNCTION tasks_require_audit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    offender uuid;
BEGIN
    SELECT n.id INTO offender FROM new_tasks n
    WHERE NOT EXISTS (SELECT FROM tasks_operation_audit a
                      WHERE a.task_id = n.id AND a.revision = n.revision)
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'task %: a change of state needs its operation audit', offender
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER tasks_task_moves_are_audited
    AFTER UPDATE ON tasks_task REFERENCING NEW TABLE AS new_tasks
    FOR EACH STATEMENT EXECUTE FUNCTION tasks_require_audit();
"""

BACKWARD = """
DROP TRIGGER tasks_task_moves_are_audited ON tasks_task;
DROP FUNCTION tasks_require_audit();
DROP TRIGGER tasks_task_moves_raise_revision ON tasks_task;
DROP FUNCTION tasks_refuse_move();
DROP TRIGGER tasks_evidence_is_frozen ON tasks_evidence;
DROP TRIGGER tasks_operation_audit_is_frozen ON tasks_operation_audit;
DROP FUNCTION tasks_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
