"""Late reports: kept as evidence, and beside it what they contradict."""

from tasks_app.models.statements.run import compact

ADD_EVIDENCE = """
INSERT INTO tasks_evidence (id, namespace_id, task_id, attempt_id, kind, content,
                            digest, actor_id, received_at)
SELECT i.id, i.namespace_id, i.task_id, i.attempt_id, i.kind, i.content,
       decode(i.digest, 'hex'), %(actor)s, %(now)s
FROM json_to_recordset(%(evidence)s::json) AS i(
    id uuid, namespace_id uuid, task_id uuid, attempt_id uuid, kind text,
    content text, digest text)
ORDER BY i.attempt_id
ON CONFLICT (attempt_id, digest) DO NOTHING
RETURNING id
"""

# The tasks are locked and final, so the act that declared the outcome is the one
# audited at their revision; a retry is recorded there too, and declares nothing.
ADD_CONTRADICTIONS = compact("""
WITH input AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(contradictions)s::json) AS i(
        id uuid, namespace_id uuid, queue_id uuid, task_id uuid, attempt_id uuid,
        evidence_id uuid, revision bigint, kind text, declared text, claimed text,
        declared_digest text, claimed_digest text, event text)
),
declared AS MATERIALIZED (
    SELECT i.*, (SELECT o.id FROM tasks_operation_audit o
                 WHERE o.task_id = i.task_id AND o.revision = i.revision
                   AND o.action <> 'task.retry'
                 ORDER BY o.created_at, o.id LIMIT 1) AS audit_id
    FROM input i
),
opened AS (
    INSERT INTO tasks_contradiction (
        id, namespace_id, queue_id, task_id, attempt_id, evidence_id, audit_id,
        revision, kind, declared, claimed, declared_digest, claimed_digest,
        created_at)
    SELECT d.id, d.namespace_id, d.queue_id, d.task_id, d.attempt_id, d.evidence_id,
           d.audit_id, d.revision, d.kind, d.declared, d.claimed,
           decode(d.declared_digest, 'hex'), decode(d.claimed_digest, 'hex'),
           %(now)s
    FROM declared d
)
INSERT INTO outbox_result_event (
    namespace_id, queue_id, task_id, revision, kind, payload, transaction_id,
    created_at)
SELECT d.namespace_id, d.queue_id, d.task_id, d.revision, 'task.contradicted',
       (d.event::jsonb || jsonb_build_object(
           'audit_id', replace(d.audit_id::text, '-', '')))::text,
       pg_current_xact_id()::text::bigint, %(now)s
FROM declared d
RETURNING id
""")
