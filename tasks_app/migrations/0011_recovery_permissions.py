"""Permissions of their own for what people decide about a task."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('tasks_app', '0010_review_batches'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='task',
            options={'permissions': [('review_task', 'Can settle a task whose outcome is unknown'), ('retry_task', 'Can run a failed or cancelled task again')]},
        ),
    ]
