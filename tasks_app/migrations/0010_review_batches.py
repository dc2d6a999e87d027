"""Batches of reviews; what was decided, and who did what, is frozen once written."""

import django.db.models.deletion
import orbit.ids
from django.db import migrations, models


FORWARD = """
CREATE TRIGGER tasks_review_batch_event_is_frozen
    BEFORE UPDATE OR DELETE OR TRUNCATE ON tasks_review_batch_event
    FOR EACH STATEMENT EXECUTE FUNCTION tasks_refuse_change();
CREATE TRIGGER tasks_review_batch_decision_is_frozen
    BEFORE UPDATE ON tasks_review_batch FOR EACH ROW
    WHEN ((OLD.id, OLD.namespace_id, OLD.queue_id, OLD.outcome, OLD.result, OLD.reason,
           OLD.evidence_ref, OLD.cause, OLD.canary, OLD.total, OLD.actor_id,
           OLD.actor_kind, OLD.created_at)
          IS DISTINCT FROM
          (NEW.id, NEW.namespace_id, NEW.queue_id, NEW.outcome, NEW.result, NEW.reason,
           NEW.evidence_ref, NEW.cause, NEW.canary, NEW.total, NEW.actor_id,
           NEW.actor_kind, NEW.created_at))
    EXECUTE FUNCTION tasks_refuse_change();
CREATE TRIGGER tasks_review_batch_membership_is_frozen
    BEFORE UPDATE ON tasks_review_batch_item FOR EACH ROW
    WHEN ((OLD.batch_id, OLD.position, OLD.task_id, OLD.expected_revision,
           OLD.evidence_ref)
          IS DISTINCT FROM
          (NEW.batch_id, NEW.position, NEW.task_id, NEW.expected_revision,
           NEW.evidence_ref))
    EXECUTE FUNCTION tasks_refuse_change();
CREATE TRIGGER tasks_review_batch_items_stay
    BEFORE DELETE OR TRUNCATE ON tasks_review_batch_item
    FOR EACH STATEMENT EXECUTE FUNCTION tasks_refuse_change();
"""
BACKWARD = """
DROP TRIGGER tasks_review_batch_items_stay ON tasks_review_batch_item;
DROP TRIGGER tasks_review_batch_membership_is_frozen ON tasks_review_batch_item;
DROP TRIGGER tasks_review_batch_decision_is_frozen ON tasks_review_batch;
DROP TRIGGER tasks_review_batch_event_is_frozen ON tasks_review_batch_event;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0009_probes'),
    ]

    operations = [
        migrations.CreateModel(
            name='ReviewBatch',
            fields=[
                ('id', models.UUIDField(default=orbit.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('queue_id', models.UUIDField()),
                ('state', models.CharField(max_length=8)),
                ('outcome', models.CharField(max_length=12)),
                ('result', models.TextField()),
                ('reason', models.CharField(max_length=1024)),
                ('evidence_ref', models.CharField(max_length=512)),
                ('cause', models.TextField()),
                ('canary', models.PositiveSmallIntegerField()),
                ('total', models.PositiveIntegerField()),
                ('actor_id', models.UUIDField()),
                ('actor_kind', models.CharField(max_length=6)),
                ('form_key', models.UUIDField()),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField()),
                ('namespace', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to='tasks_app.namespace')),
            ],
            options={
                'verbose_name_plural': 'review batches',
                'db_table': 'tasks_review_batch',
            },
        ),
        migrations.CreateModel(
            name='ReviewBatchEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('verb', models.CharField(max_length=8)),
                ('state', models.CharField(max_length=8)),
                ('actor_id', models.UUIDField()),
                ('actor_kind', models.CharField(max_length=6)),
                ('created_at', models.DateTimeField()),
                ('batch', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to='tasks_app.reviewbatch')),
            ],
            options={
                'db_table': 'tasks_review_batch_event',
            },
        ),
        migrations.CreateModel(
            name='ReviewBatchItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('task_id', models.UUIDField()),
                ('expected_revision', models.BigIntegerField()),
                ('evidence_ref', models.CharField(blank=True, default='', max_length=512)),
                ('state', models.CharField(default='PENDING', max_length=8)),
                ('code', models.CharField(blank=True, db_default='', default='', max_length=32)),
                ('message', models.TextField(blank=True, db_default='', default='')),
                ('audit_id', models.UUIDField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('batch', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to='tasks_app.reviewbatch')),
            ],
            options={
                'db_table': 'tasks_review_batch_item',
            },
        ),
        migrations.AddIndex(
            model_name='reviewbatch',
            index=models.Index(fields=['-created_at', '-id'], name='tasks_review_batch_newest'),
        ),
        migrations.AddIndex(
            model_name='reviewbatch',
            index=models.Index(condition=models.Q(('state__in', ['CANARY', 'RUNNING'])), fields=['created_at'], name='tasks_review_batch_running'),
        ),
        migrations.AddConstraint(
            model_name='reviewbatch',
            constraint=models.UniqueConstraint(fields=('namespace', 'form_key'), name='tasks_review_batch_once'),
        ),
        migrations.AddConstraint(
            model_name='reviewbatch',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['CANARY', 'HELD', 'RUNNING', 'PAUSED', 'DONE', 'ABORTED'])), name='tasks_review_batch_state_known'),
        ),
        migrations.AddIndex(
            model_name='reviewbatchevent',
            index=models.Index(fields=['batch', 'id'], name='tasks_review_batch_event_order'),
        ),
        migrations.AddIndex(
            model_name='reviewbatchitem',
            index=models.Index(fields=['batch', 'state', 'position'], name='tasks_review_batch_item_state'),
        ),
        migrations.AddConstraint(
            model_name='reviewbatchitem',
            constraint=models.UniqueConstraint(fields=('batch', 'position'), name='tasks_review_batch_item_place'),
        ),
        migrations.AddConstraint(
            model_name='reviewbatchitem',
            constraint=models.UniqueConstraint(fields=('batch', 'task_id'), name='tasks_review_batch_item_once'),
        ),
        migrations.AddConstraint(
            model_name='reviewbatchitem',
            constraint=models.CheckConstraint(condition=models.Q(('state__in', ['PENDING', 'SETTLED', 'TAKEN', 'REFUSED', 'ABORTED'])), name='tasks_review_batch_item_state_known'),
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
