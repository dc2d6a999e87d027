"""The log of calls, the days they are counted in, and what an issue leaves behind."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tokens_app', '0002_append_only_audit'),
    ]

    operations = [
        migrations.CreateModel(
            name='TokenCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token_id', models.UUIDField()),
                ('route', models.CharField(max_length=200)),
                ('job_id', models.UUIDField(null=True)),
                ('status', models.SmallIntegerField()),
                ('result', models.CharField(max_length=64)),
                ('is_replay', models.BooleanField(default=False)),
                ('latency_ms', models.FloatField()),
                ('request_id', models.CharField(max_length=32)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'verbose_name': 'call of a token',
                'verbose_name_plural': 'calls of tokens',
                'default_permissions': ('view',),
            },
        ),
        migrations.CreateModel(
            name='TokenUsageDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token_id', models.UUIDField()),
                ('day', models.DateField()),
                ('calls', models.BigIntegerField()),
                ('refused', models.BigIntegerField()),
            ],
            options={
                'verbose_name': 'day of a token',
                'verbose_name_plural': 'days of tokens',
                'default_permissions': ('view',),
            },
        ),
        migrations.AddField(
            model_name='serviceaccounttoken',
            name='form_key',
            field=models.UUIDField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='serviceaccounttoken',
            name='members_at_grant',
            field=models.JSONField(null=True),
        ),
        migrations.AddConstraint(
            model_name='serviceaccounttoken',
            constraint=models.UniqueConstraint(fields=('form_key',), name='tokens_one_form_key'),
        ),
        migrations.AddIndex(
            model_name='tokencall',
            index=models.Index(fields=['token_id', '-id'], name='token_calls_newest'),
        ),
        migrations.AddConstraint(
            model_name='tokenusageday',
            constraint=models.UniqueConstraint(fields=('token_id', 'day'), name='token_usage_one_row_a_day'),
        ),
    ]
