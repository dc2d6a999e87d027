"""The acceptance of new tasks with quota, receipt, audit and event: one statement.

All or nothing: the caller rolls back when a receipt was already there.
"""

from tasks_app.models.statements.quota import PREFERENCE
from tasks_app.models.statements.run import compact

_INPUT = """
WITH input AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(tasks)s::json) AS i(
        id uuid, key_digest text, content_digest text, receipt_audit_id uuid,
        audit_id uuid, operation_id uuid, owner_kind text, owner_id uuid,
        is_gated boolean, handler text, handler_version text, payload_version text,
        payload text, business_key text, concurrency_key text, priority smallint,
        recovery_safety text, max_attempts smallint, initial_delay_ms bigint,
        max_delay_ms bigint, attempt_timeout_ms bigint, available_at timestamptz,
        start_deadline_at timestamptz, deadline_at timestamptz, retry_of uuid,
        after text, entry_hash text, event text)
),
"""


# One share of the application, then one of the queue. A lowered limit leaves share 0 in
# debt: then only the patient path may take. The pick is kept: a share that changed
# meanwhile is matched anew, and a pick made anew might be another one.
_PICK = f"""
picked AS MATERIALIZED (
    SELECT w.scope_id, p.number
    FROM (VALUES (%(application)s::uuid), (%(queue)s::uuid)) AS w(scope_id)
    CROSS JOIN LATERAL (
        SELECT s.number FROM tasks_quota_share s
        WHERE s.scope_id = w.scope_id AND s.available >= %(units)s
          AND NOT EXISTS (SELECT FROM tasks_quota_share d
                          WHERE d.scope_id = w.scope_id
                            AND d.number = 0 AND d.available < 0)
        ORDER BY {PREFERENCE} LIMIT 1 FOR UPDATE SKIP LOCKED) p
),
quota AS MATERIALIZED (SELECT count(*) = 2 AS is_taken FROM picked),
taken AS (
    UPDATE tasks_quota_share s SET available = s.available - %(units)s
    FROM picked p, quota
    WHERE quota.is_taken AND s.scope_id = p.scope_id AND s.number = p.number
    RETURNING 1
),
"""

_TAKEN = """
quota AS MATERIALIZED (SELECT true AS is_taken),
taken AS MATERIALIZED (VALUES (1), (2)),
"""

_WRITE = """
receipt AS (
    INSERT INTO tasks_receipt (
        namespace_id, operation, subject_id, key_digest, content_digest, task_id,
        audit_id, state, revision, attempt_count, updated_at, created_at)
    SELECT %(namespace)s, %(operation)s, %(subject)s, decode(i.key_digest, 'hex'),
           decode(i.content_digest, 'hex'), i.id, i.receipt_audit_id, 'WAITING', 1, 0,
           %(now)s, %(now)s
    FROM input i, quota WHERE quota.is_taken AND i.key_digest IS NOT NULL
    -- One order for all, so that two batches never wait for each other.
    ORDER BY i.key_digest
    ON CONFLICT (namespace_id, operation, subject_id, key_digest) DO NOTHING
    RETURNING 1
),
accepted AS (
    INSERT INTO tasks_task (
        id, namespace_id, application_id, queue_id, owner_kind, owner_id, is_gated,
        state, revision, handler, handler_version, payload_version, payload,
        business_key, concurrency_key, priority, recovery_safety, max_attempts,
        initial_delay_ms, max_delay_ms, attempt_timeout_ms, available_at, due_at,
        is_due, start_deadline_at, deadline_at, attempt_count, lease_seq,
        effect_uncertain, created_at, updated_at, retry_of, submitted_by,
        audit_length, audit_head)
    SELECT i.id, %(namespace)s, %(application)s, %(queue)s, i.owner_kind, i.owner_id,
           i.is_gated, 'WAITING', 1, i.handler, i.handler_version, i.payload_version,
           i.payload, i.business_key, i.concurrency_key, i.priority,
           i.recovery_safety, i.max_attempts, i.initial_delay_ms, i.max_delay_ms,
           i.attempt_timeout_ms, i.available_at, i.available_at,
           i.available_at <= %(now)s, i.start_deadline_at, i.deadline_at, 0, 0,
           false, %(now)s, %(now)s, i.retry_of, %(actor)s, 1,
           decode(i.entry_hash, 'hex')
    FROM input i, quota WHERE quota.is_taken
),
audited AS (
    INSERT INTO tasks_operation_audit (
        id, namespace_id, task_id, operation_id, actor_id, actor_kind, action,
        revision, after, created_at, sequence, previous_hash, entry_hash)
    SELECT i.audit_id, %(namespace)s, i.id, i.operation_id, %(actor)s, %(actor_kind)s,
           'task.accept', 1, i.after, %(now)s, 1, decode(repeat('0', 64), 'hex'),
           decode(i.entry_hash, 'hex')
    FROM input i, quota WHERE quota.is_taken
),
emitted AS (
    INSERT INTO outbox_result_event (
        namespace_id, queue_id, task_id, revision, kind, payload, transaction_id,
        created_at)
    SELECT %(namespace)s, %(queue)s, i.id, 1, 'task.accepted', i.event,
           pg_current_xact_id()::text::bigint, %(now)s
    FROM input i, quota WHERE quota.is_taken
)
SELECT quota.is_taken AND (SELECT count(*) FROM taken) = 2,
       (SELECT count(*) FROM receipt) FROM quota
"""

# Apart, because an update that meets no row costs every acceptance the task's triggers.
_SOURCE = """
source AS (
    UPDATE tasks_task t SET audit_length = a.sequence,
                            audit_head = decode(a.entry_hash, 'hex')
    FROM quota, json_to_record(%(source_audit)s::json) AS a(
        task_id uuid, audit_id uuid, operation_id uuid, action text, revision bigint,
        reason text, evidence_ref text, before text, after text, sequence bigint,
        previous_hash text, entry_hash text)
    WHERE quota.is_taken AND t.id = a.task_id
    RETURNING a.*
),
source_audited AS (
    INSERT INTO tasks_operation_audit (
        id, namespace_id, task_id, operation_id, actor_id, actor_kind, action,
        revision, reason, evidence_ref, before, after, created_at, sequence,
        previous_hash, entry_hash)
    SELECT s.audit_id, %(namespace)s, s.task_id, s.operation_id, %(actor)s,
           %(actor_kind)s, s.action, s.revision, s.reason, s.evidence_ref, s.before,
           s.after, %(now)s, s.sequence, decode(s.previous_hash, 'hex'),
           decode(s.entry_hash, 'hex')
    FROM source s
),
"""

ACCEPT = compact(_INPUT + _PICK + _WRITE)
ACCEPT_TAKEN = compact(_INPUT + _TAKEN + _WRITE)
RETRY = compact(_INPUT + _PICK + _SOURCE + _WRITE)
RETRY_TAKEN = compact(_INPUT + _TAKEN + _SOURCE + _WRITE)
