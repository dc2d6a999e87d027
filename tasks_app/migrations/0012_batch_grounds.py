"""What a batch's key stands for and what was known of each item, frozen like the rest."""

from django.db import migrations, models


FORWARD = """
UPDATE tasks_review_batch_item i SET evidence_count =
    (SELECT count(*) FROM tasks_evidence e WHERE e.task_id = i.task_id);
DROP TRIGGER tasks_review_batch_decision_is_frozen ON tasks_review_batch;
DROP TRIGGER tasks_review_batch_membership_is_frozen ON tasks_review_batch_item;
CREATE TRIGGER tasks_review_batch_decision_is_frozen
    BEFORE UPDATE ON tasks_review_batch FOR EACH ROW
    WHEN ((OLD.id, OLD.namespace_id, OLD.queue_id, OLD.outcome, OLD.result, OLD.reason,
           OLD.evidence_ref, OLD.cause, OLD.canary, OLD.total, OLD.actor_id,
           OLD.actor_kind, OLD.form_key, OLD.content_digest, OLD.created_at)
          IS DISTINCT FROM
          (NEW.id, NEW.namespace_id, NEW.queue_id, NEW.outcome, NEW.result, NEW.reason,
           NEW.evidence_ref, NEW.cause, NEW.canary, NEW.total, NEW.actor_id,
           NEW.actor_kind, NEW.form_key, NEW.content_digest, NEW.created_at))
    EXECUTE FUNCTION tasks_refuse_change();
CREATE TRIGGER tasks_review_batch_membership_is_frozen
    BEFORE UPDATE ON tasks_review_batch_item FOR EACH ROW
    WHEN ((OLD.batch_id, OLD.position, OLD.task_id, OLD.expected_revision,
           OLD.evidence_ref, OLD.evidence_count)
          IS DISTINCT FROM
          (NEW.batch_id, NEW.position, NEW.task_id, NEW.expected_revision,
           NEW.evidence_ref, NEW.evidence_count))
    EXECUTE FUNCTION tasks_refuse_change();
"""
BACKWARD = """
DROP TRIGGER tasks_review_batch_decision_is_frozen ON tasks_review_batch;
DROP TRIGGER tasks_review_batch_membership_is_frozen ON tasks_review_batch_item;
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
"""


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0011_recovery_permissions'),
    ]

    operations = [
        migrations.AddField(
            model_name='reviewbatch',
            name='content_digest',
            field=models.BinaryField(default=b''),
        ),
        migrations.AddField(
            model_name='reviewbatchitem',
            name='evidence_count',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
