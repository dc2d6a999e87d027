"""The one writer of later states, with all that belongs to a move."""

from tasks_app.models.statements.quota import PREFERENCE
from tasks_app.models.statements.run import compact

MOVE = compact(
    f"""
WITH input AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(moves)s::json) AS i(
        task_id uuid, from_state text, revision bigint, lease_seq bigint, state text,
        is_final boolean, outcome text, attempt_id uuid, report_digest text,
        result text, error_code text, error_message text, due_at timestamptz,
        audit_id uuid, operation_id uuid, action text, reason text,
        evidence_ref text, before text, after text, approver_id uuid,
        approver_kind text, sequence bigint, previous_hash text, entry_hash text,
        event_kind text, event text)
),
moved AS (
    UPDATE tasks_task t SET
        state = i.state,
        revision = t.revision + 1,
        effect_uncertain = i.state = 'NEEDS_REVIEW',
        lease_attempt_id = NULL,
        last_outcome = coalesce(i.outcome, t.last_outcome),
        result = i.result,
        error_code = i.error_code,
        error_message = i.error_message,
        due_at = coalesce(i.due_at, t.due_at),
        is_due = CASE WHEN i.due_at IS NULL THEN t.is_due
                      ELSE i.due_at <= %(now)s END,
        completed_at = CASE WHEN i.is_final THEN %(now)s END,
        updated_at = %(now)s,
        audit_length = i.sequence,
        audit_head = decode(i.entry_hash, 'hex')
    FROM input i
    WHERE t.id = i.task_id AND t.state = i.from_state
      AND t.revision = i.revision AND t.lease_seq = i.lease_seq
      AND t.audit_length = i.sequence - 1
    -- What follows needs no join: each move comes with its task.
    RETURNING t.id, t.namespace_id, t.application_id, t.queue_id,
              t.revision AS new_revision, i.*
),
ended AS (
    UPDATE tasks_attempt a SET
        outcome = m.outcome, ended_at = %(now)s, error_code = m.error_code,
        error_message = m.error_message,
        report_digest = decode(m.report_digest, 'hex')
    -- Not by outcome: an index of all that is active would be scanned for it.
    FROM moved m WHERE a.id = m.attempt_id AND a.ended_at IS NULL
),
freed AS (
    DELETE FROM tasks_permit p USING moved m WHERE p.attempt_id = m.attempt_id
),
owed AS MATERIALIZED (
    SELECT m.application_id AS scope_id, count(*) AS units
    FROM moved m WHERE m.is_final GROUP BY 1
    UNION ALL
    SELECT m.queue_id, count(*) FROM moved m WHERE m.is_final GROUP BY 1
),
pick AS MATERIALIZED (
    SELECT o.scope_id, o.units, share.number
    FROM owed o CROSS JOIN LATERAL (
        SELECT s.number FROM tasks_quota_share s WHERE s.scope_id = o.scope_id
        ORDER BY {PREFERENCE} LIMIT 1 FOR UPDATE SKIP LOCKED) share
),
given AS (
    UPDATE tasks_quota_share s SET available = s.available + p.units
    FROM pick p WHERE s.scope_id = p.scope_id AND s.number = p.number
    RETURNING 1
),
receipt AS (
    INSERT INTO tasks_receipt (
        namespace_id, operation, subject_id, key_digest, content_digest, task_id,
        audit_id, state, revision, attempt_count, updated_at, created_at)
    SELECT m.namespace_id, r.operation, m.id, decode(r.key_digest, 'hex'),
           decode(r.content_digest, 'hex'), m.id, r.audit_id, r.state,
           m.new_revision, r.attempt_count, %(now)s, %(now)s
    FROM json_to_recordset(%(receipts)s::json) AS r(
        task_id uuid, operation text, key_digest text, content_digest text,
        audit_id uuid, state text, attempt_count smallint)
    JOIN moved m ON m.id = r.task_id
),
audited AS (
    INSERT INTO tasks_operation_audit (
        id, namespace_id, task_id, operation_id, actor_id, actor_kind, action,
        revision, reason, evidence_ref, before, after, created_at, approver_id,
        approver_kind, sequence, previous_hash, entry_hash)
    SELECT m.audit_id, m.namespace_id, m.id, m.operation_id, %(actor)s,
           %(actor_kind)s, m.action, m.new_revision, m.reason, m.evidence_ref,
           m.before, m.after, %(now)s, m.approver_id, m.approver_kind, m.sequence,
           decode(m.previous_hash, 'hex'), decode(m.entry_hash, 'hex')
    FROM moved m
),
emitted AS (
    INSERT INTO outbox_result_event (
        namespace_id, queue_id, task_id, revision, kind, payload, transaction_id,
        created_at)
    SELECT m.namespace_id, m.queue_id, m.id, m.new_revision, m.event_kind, m.event,
           pg_current_xact_id()::text::bigint, %(now)s
    FROM moved m WHERE m.event_kind IS NOT NULL
)
SELECT (SELECT count(*) FROM owed) = (SELECT count(*) FROM given),
       (SELECT count(*) FROM moved)
"""
)
