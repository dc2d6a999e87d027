"""Contradictions: late reports that disagree with an outcome, frozen once written."""

import django.db.models.deletion
import orbit.ids
from django.db import migrations, models


FORWARD = """
CREATE TRIGGER tasks_contradiction_is_frozen
    BEFORE UPDATE OR DELETE OR TRUNCATE ON tasks_contradiction
    FOR EACH STATEMENT EXECUTE FUNCTION tasks_refuse_change();
"""
BACKWARD = "DROP TRIGGER tasks_contradiction_is_frozen ON tasks_contradiction;"


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0004_scheduled_tasks_unclaimed'),
        # Only then may a contradiction's event stand beside the final one.
        ('outbox', '0003_contradictions_beside_moves'),
    ]

    operations = [
        migrations.CreateModel(
            name='Contradiction',
            fields=[
                ('id', models.UUIDField(default=orbit.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('queue_id', models.UUIDField()),
                ('task_id', models.UUIDField()),
                ('attempt_id', models.UUIDField()),
                ('evidence_id', models.UUIDField()),
                ('audit_id', models.UUIDField()),
                ('revision', models.BigIntegerField()),
                ('kind', models.CharField(max_length=7)),
                ('declared', models.CharField(max_length=12)),
                ('claimed', models.CharField(max_length=12)),
                ('declared_digest', models.BinaryField(null=True)),
                ('claimed_digest', models.BinaryField(null=True)),
                ('created_at', models.DateTimeField()),
                ('namespace', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to='tasks_app.namespace')),
            ],
            options={
                'db_table': 'tasks_contradiction',
                'indexes': [models.Index(fields=['namespace', '-created_at', '-id'], name='tasks_contradiction_newest'), models.Index(fields=['task_id', '-created_at', '-id'], name='tasks_contradiction_task')],
                'constraints': [models.UniqueConstraint(fields=('evidence_id',), name='tasks_contradiction_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['OUTCOME', 'RESULT'])), name='tasks_contradiction_kind_known'), models.CheckConstraint(condition=models.Q(('declared__in', ['SUCCEEDED', 'FAILED', 'CANCELLED']), ('claimed__in', ['SUCCEEDED', 'FAILED', 'CANCELLED'])), name='tasks_contradiction_of_outcomes'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'OUTCOME'), models.Q(('declared', models.F('claimed')), _negated=True)), models.Q(('claimed', 'SUCCEEDED'), ('claimed_digest__isnull', False), ('declared', 'SUCCEEDED'), ('declared_digest__isnull', False), ('kind', 'RESULT')), _connector='OR'), name='tasks_contradiction_contradicts')],
            },
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
