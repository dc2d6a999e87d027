"""One event for each revision, and beside it those of contradictions."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('outbox', '0002_events_are_frozen'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='resultevent',
            name='outbox_event_once_per_revision',
        ),
        migrations.AddConstraint(
            model_name='resultevent',
            constraint=models.UniqueConstraint(condition=models.Q(('kind', 'task.contradicted'), _negated=True), fields=('task_id', 'revision'), name='outbox_event_once_per_revision'),
        ),
        migrations.AddIndex(
            model_name='resultevent',
            index=models.Index(condition=models.Q(('kind', 'task.contradicted')), fields=['task_id', 'id'], name='outbox_event_contradicted'),
        ),
    ]
