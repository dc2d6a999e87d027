"""The tables of tokens and of their audit."""

import django.db.models.lookups
import orbit.ids
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='ServiceAccountToken',
            fields=[
                ('id', models.UUIDField(default=orbit.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.BigIntegerField(default=1)),
                ('audience', models.CharField(max_length=16)),
                ('namespace_id', models.UUIDField()),
                ('application_id', models.UUIDField(blank=True, null=True)),
                ('name', models.CharField(max_length=120)),
                ('description', models.TextField(blank=True, default='')),
                ('owner_contact', models.CharField(blank=True, default='', max_length=254)),
                ('key_id', models.CharField(max_length=16)),
                ('display_prefix', models.CharField(max_length=24)),
                ('digest', models.BinaryField()),
                ('pepper_id', models.CharField(max_length=32)),
                ('previous_digest', models.BinaryField(null=True)),
                ('previous_pepper_id', models.CharField(max_length=32, null=True)),
                ('previous_valid_until', models.DateTimeField(null=True)),
                ('rotation_count', models.IntegerField(default=0)),
                ('rotated_at', models.DateTimeField(null=True)),
                ('scopes', models.CharField(max_length=512)),
                ('queue_ids', models.JSONField(default=list)),
                ('job_ids', models.JSONField(default=list)),
                ('job_groups', models.JSONField(default=list)),
                ('reads_per_minute', models.IntegerField(null=True)),
                ('triggers_per_minute', models.IntegerField(null=True)),
                ('status', models.CharField(default='ACTIVE', max_length=16)),
                ('issued_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('last_used_at', models.DateTimeField(null=True)),
                ('last_used_address', models.GenericIPAddressField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('revoked_by', models.CharField(blank=True, default='', max_length=150)),
                ('revoked_reason', models.TextField(blank=True, default='')),
                ('created_by', models.CharField(max_length=150)),
                ('created_at', models.DateTimeField()),
                ('updated_by', models.CharField(max_length=150)),
                ('updated_at', models.DateTimeField()),
                ('deleted_at', models.DateTimeField(null=True)),
            ],
            options={
                'verbose_name': 'service-account token',
                'ordering': ['-created_at', '-id'],
                'permissions': [('issue_token', 'Can issue service-account tokens'), ('edit_token', 'Can edit service-account tokens'), ('rotate_token', 'Can rotate service-account tokens'), ('suspend_token', 'Can suspend and resume service-account tokens'), ('revoke_token', 'Can revoke service-account tokens')],
                'default_permissions': ('view',),
                'indexes': [models.Index(condition=models.Q(('deleted_at__isnull', True)), fields=['tenant_id', '-created_at', '-id'], name='tokens_list'), models.Index(condition=models.Q(('deleted_at__isnull', True), ('status', 'ACTIVE')), fields=['expires_at'], name='tokens_expiring')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('deleted_at__isnull', True)), fields=('key_id',), name='tokens_one_live_key_id'), models.UniqueConstraint(condition=models.Q(('deleted_at__isnull', True)), fields=('digest',), name='tokens_one_live_digest'), models.CheckConstraint(condition=models.Q(('audience__in', ['TASKS', 'OPEN_JOBS'])), name='tokens_audience_is_known'), models.CheckConstraint(condition=models.Q(('status__in', ['ACTIVE', 'SUSPENDED', 'REVOKED'])), name='tokens_status_is_known'), models.CheckConstraint(condition=models.Q(('key_id__regex', '^[A-Za-z0-9]{16}$')), name='tokens_key_id_is_well_formed'), models.CheckConstraint(condition=models.Q(('scopes__regex', '^[a-z:]+( [a-z:]+)*$')), name='tokens_scopes_are_space_separated'), models.CheckConstraint(condition=django.db.models.lookups.Exact(models.Func(models.F('digest'), function='octet_length', output_field=models.IntegerField()), 32), name='tokens_digest_is_sha256'), models.CheckConstraint(condition=models.Q(models.Q(('previous_digest__isnull', True), ('previous_pepper_id__isnull', True), ('previous_valid_until__isnull', True)), models.Q(django.db.models.lookups.Exact(models.Func(models.F('previous_digest'), function='octet_length', output_field=models.IntegerField()), 32), ('previous_digest__isnull', False), ('previous_pepper_id__isnull', False), ('previous_valid_until__isnull', False)), _connector='OR'), name='tokens_previous_secret_is_whole'), models.CheckConstraint(condition=models.Q(models.Q(('rotated_at__isnull', True), ('rotation_count', 0)), models.Q(('rotated_at__isnull', False), ('rotation_count__gt', 0)), _connector='OR'), name='tokens_rotation_has_its_time'), models.CheckConstraint(condition=models.Q(('expires_at__gt', models.F('issued_at'))), name='tokens_expire_after_issue'), models.CheckConstraint(condition=models.Q(models.Q(('previous_digest__isnull', True), ('revoked_at__isnull', False), ('status', 'REVOKED')), models.Q(models.Q(('status', 'REVOKED'), _negated=True), ('revoked_at__isnull', True)), _connector='OR'), name='tokens_revoked_has_its_time'), models.CheckConstraint(condition=models.Q(django.db.models.lookups.Exact(models.Func(models.F('queue_ids'), function='jsonb_typeof', output_field=models.CharField(max_length=16)), 'array'), django.db.models.lookups.Exact(models.Func(models.F('job_ids'), function='jsonb_typeof', output_field=models.CharField(max_length=16)), 'array'), django.db.models.lookups.Exact(models.Func(models.F('job_groups'), function='jsonb_typeof', output_field=models.CharField(max_length=16)), 'array')), name='tokens_ranges_are_arrays'), models.CheckConstraint(condition=models.Q(models.Q(('audience', 'TASKS'), ('job_groups', []), ('job_ids', [])), models.Q(('audience', 'OPEN_JOBS'), ('queue_ids', [])), _connector='OR'), name='tokens_range_fits_audience'), models.CheckConstraint(condition=models.Q(models.Q(('reads_per_minute__isnull', True), ('reads_per_minute__gt', 0), _connector='OR'), models.Q(('triggers_per_minute__isnull', True), ('triggers_per_minute__gt', 0), _connector='OR')), name='tokens_limits_are_positive')],
            },
        ),
        migrations.CreateModel(
            name='TokenAudit',
            fields=[
                ('id', models.UUIDField(default=orbit.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ('tenant_id', models.BigIntegerField(default=1)),
                ('token_id', models.UUIDField()),
                ('key_id', models.CharField(max_length=16)),
                ('action', models.CharField(max_length=32)),
                ('actor', models.CharField(max_length=150)),
                ('address', models.GenericIPAddressField(null=True)),
                ('reason', models.TextField(blank=True, default='')),
                ('changes', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'verbose_name': 'token audit record',
                'ordering': ['-created_at', '-id'],
                'default_permissions': ('view',),
                'indexes': [models.Index(fields=['token_id', '-created_at', '-id'], name='token_audit_history'), models.Index(fields=['tenant_id', '-created_at', '-id'], name='token_audit_recent')],
                'constraints': [models.CheckConstraint(condition=models.Q(('action__in', ['token.issue', 'token.edit', 'token.rotate', 'token.suspend', 'token.resume', 'token.revoke', 'token.delete'])), name='token_audit_action_is_known')],
            },
        ),
    ]
