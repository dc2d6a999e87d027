"""The database itself refuses to change or remove a token audit record."""

from django.db import migrations

CREATE = """
CREATE FUNCTION tokens_app_refuse_audit_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'token audit records are append-only: % is refused', TG_OP
        USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER token_audit_is_append_only
    BEFORE UPDATE OR DELETE ON tokens_app_tokenaudit
    FOR EACH ROW EXECUTE FUNCTION tokens_app_refuse_audit_change();
CREATE TRIGGER token_audit_is_not_truncated
    BEFORE TRUNCATE ON tokens_app_tokenaudit
    FOR EACH STATEMENT EXECUTE FUNCTION tokens_app_refuse_audit_change();
"""

DROP = """
DROP TRIGGER token_audit_is_not_truncated ON tokens_app_tokenaudit;
DROP TRIGGER token_audit_is_append_only ON tokens_app_tokenaudit;
DROP FUNCTION tokens_app_refuse_audit_change();
"""


class Migration(migrations.Migration):
    dependencies = [("tokens_app", "0001_initial")]

    operations = [migrations.RunSQL(sql=CREATE, reverse_sql=DROP)]
