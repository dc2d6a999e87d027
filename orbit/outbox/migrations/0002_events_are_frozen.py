"""The database itself refuses any change to a result event."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION outbox_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on % is refused: its rows are frozen once written',
        TG_OP, TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER outbox_event_is_frozen
    BEFORE UPDATE OR DELETE OR TRUNCATE ON outbox_result_event
    FOR EACH STATEMENT EXECUTE FUNCTION outbox_refuse_change();
"""

BACKWARD = """
DROP TRIGGER outbox_event_is_frozen ON outbox_result_event;
DROP FUNCTION outbox_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("outbox", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
