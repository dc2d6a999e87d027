"""What a token started is found by the token."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('openapi_app', '0001_initial'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='jobexecution',
            index=models.Index(condition=models.Q(('token_id__isnull', False)), fields=['token_id', 'accepted_at', 'id'], name='openapi_execution_of_token'),
        ),
    ]
