"""One direct successor for each source: guarded by a look at the data that is there."""

from django.db import migrations, models

OFFENDERS = """
SELECT t.namespace_id, t.id, t.retry_of
FROM tasks_task t
WHERE t.retry_of = t.id
   OR (t.namespace_id, t.retry_of) IN (
        SELECT d.namespace_id, d.retry_of FROM tasks_task d
        WHERE d.retry_of IS NOT NULL
        GROUP BY d.namespace_id, d.retry_of HAVING count(*) > 1)
ORDER BY t.namespace_id, t.retry_of, t.id
"""
SHOWN = 100


def refuse_offending_rows(apps, schema_editor):
    """Fail with a list of the rows that break the rule; delete and change nothing."""
    with schema_editor.connection.cursor() as cursor:
        # Nobody may add an offender between this look and the constraints.
        cursor.execute("LOCK TABLE tasks_task IN SHARE ROW EXCLUSIVE MODE")
        cursor.execute(OFFENDERS)
        offenders = cursor.fetchall()
    if not offenders:
        return
    listed = "\n".join(
        f"  namespace {namespace.hex}  task {task.hex}  retry_of {source.hex}"
        for namespace, task, source in offenders[:SHOWN]
    )
    more = f"\n  and {len(offenders) - SHOWN} more" if len(offenders) > SHOWN else ""
    raise RuntimeError(
        f"{len(offenders)} tasks share a source with another task or name themselves "
        f"as their source. Nothing was changed. Decide about each, then migrate "
        f"again:\n{listed}{more}"
    )


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0002_records_are_frozen")]
    operations = [
        migrations.RunPython(
            refuse_offending_rows, migrations.RunPython.noop, elidable=False
        ),
        migrations.RemoveIndex(
            model_name='task',
            name='tasks_task_retry_of',
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.UniqueConstraint(condition=models.Q(('retry_of__isnull', False)), fields=('namespace', 'retry_of'), name='tasks_task_one_successor'),
        ),
        migrations.AddConstraint(
            model_name='task',
            constraint=models.CheckConstraint(condition=models.Q(('retry_of__isnull', True), models.Q(('retry_of', models.F('id')), _negated=True), _connector='OR'), name='tasks_task_not_its_own_retry'),
        ),
    ]
