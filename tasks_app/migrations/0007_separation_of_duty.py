"""Separation of duty: a queue's demands, proposed reviews and what became of them."""

import django.db.models.deletion
from django.db import migrations, models


FROZEN = """
CREATE TRIGGER tasks_review_proposal_is_frozen
    BEFORE UPDATE OR DELETE OR TRUNCATE ON tasks_review_proposal
    FOR EACH STATEMENT EXECUTE FUNCTION tasks_refuse_change();
CREATE TRIGGER tasks_review_decision_is_frozen
    BEFORE UPDATE OR DELETE OR TRUNCATE ON tasks_review_decision
    FOR EACH STATEMENT EXECUTE FUNCTION tasks_refuse_change();
"""
THAWED = """
DROP TRIGGER tasks_review_decision_is_frozen ON tasks_review_decision;
DROP TRIGGER tasks_review_proposal_is_frozen ON tasks_review_proposal;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0006_audit_chain'),
    ]

    operations = [
        migrations.CreateModel(
            name='ReviewProposal',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('queue_id', models.UUIDField()),
                ('task_id', models.UUIDField()),
                ('revision', models.BigIntegerField()),
                ('outcome', models.CharField(max_length=9)),
                ('result', models.TextField()),
                ('reason', models.TextField()),
                ('evidence_ref', models.TextField()),
                ('dossier_digest', models.CharField(max_length=64, null=True)),
                ('proposer_id', models.UUIDField()),
                ('proposer_kind', models.CharField(max_length=6)),
                ('audit_id', models.UUIDField(unique=True)),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
            ],
            options={
                'db_table': 'tasks_review_proposal',
            },
        ),
        migrations.AddField(
            model_name='queue',
            name='approval_seconds',
            field=models.PositiveIntegerField(db_default=86400, default=86400),
        ),
        migrations.AddField(
            model_name='queue',
            name='reviewer_may_be_submitter',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name='queue',
            name='second_approver',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name='receipt',
            name='operation',
            field=models.CharField(max_length=16),
        ),
        migrations.AddConstraint(
            model_name='queue',
            constraint=models.CheckConstraint(condition=models.Q(('approval_seconds__gte', 1), ('approval_seconds__lte', 2592000)), name='tasks_queue_approval_seconds_range'),
        ),
        migrations.AddField(
            model_name='reviewproposal',
            name='namespace',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, to='tasks_app.namespace'),
        ),
        migrations.CreateModel(
            name='ReviewDecision',
            fields=[
                ('proposal', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, serialize=False, to='tasks_app.reviewproposal')),
                ('decision', models.CharField(max_length=9)),
                ('actor_id', models.UUIDField()),
                ('actor_kind', models.CharField(max_length=6)),
                ('audit_id', models.UUIDField(unique=True)),
                ('decided_at', models.DateTimeField()),
            ],
            options={
                'db_table': 'tasks_review_decision',
                'constraints': [models.CheckConstraint(condition=models.Q(('decision__in', ['APPROVED', 'WITHDRAWN'])), name='tasks_review_decision_known')],
            },
        ),
        migrations.AddIndex(
            model_name='reviewproposal',
            index=models.Index(fields=['task_id', 'created_at', 'id'], name='tasks_proposal_of_task'),
        ),
        migrations.AddIndex(
            model_name='reviewproposal',
            index=models.Index(fields=['namespace', 'expires_at'], name='tasks_proposal_unexpired'),
        ),
        migrations.RunSQL(FROZEN, THAWED),
    ]
