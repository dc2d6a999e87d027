"""Reads that decide nothing and lock nothing; each sees one moment."""

from tasks_app.models.record import TASK_COLUMNS

# The task with all that its locked reads would tell, and no key to look for.
LOOK = f"""
SELECT {TASK_COLUMNS}, clock_timestamp(),
       EXISTS (SELECT FROM tasks_attempt a
               WHERE a.task_id = t.id AND a.outcome = 'ACTIVE'),
       EXISTS (SELECT FROM tasks_permit p WHERE p.task_id = t.id),
       (SELECT s.id FROM tasks_task s
        WHERE s.namespace_id = t.namespace_id AND s.retry_of = t.id),
       q.reviewer_may_be_submitter, q.second_approver, q.approval_seconds
FROM tasks_task t JOIN tasks_queue q ON q.id = t.queue_id WHERE t.id = %(task)s
"""

ROOM = """
SELECT (SELECT sum(s.available)::bigint FROM tasks_quota_share s
        WHERE s.scope_id = %(application)s),
       (SELECT sum(s.available)::bigint FROM tasks_quota_share s
        WHERE s.scope_id = %(queue)s)
"""

GROUNDS = f"""
SELECT {TASK_COLUMNS}, a.ids, a.fences, a.outcomes,
       ARRAY(SELECT e.id FROM tasks_evidence e
             WHERE e.task_id = t.id ORDER BY e.received_at, e.id),
       ARRAY(SELECT c.id FROM tasks_contradiction c
             WHERE c.task_id = t.id ORDER BY c.created_at, c.id)
FROM tasks_task t CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(a.id ORDER BY a.number), '{{}}') AS ids,
           coalesce(array_agg(a.lease_seq ORDER BY a.number), '{{}}') AS fences,
           coalesce(array_agg(a.outcome::text ORDER BY a.number), '{{}}') AS outcomes
    FROM tasks_attempt a WHERE a.task_id = t.id) a
WHERE t.id = %(task)s
"""

EVIDENCE_AMONG = """
SELECT e.id, e.attempt_id, e.kind, e.received_at FROM tasks_evidence e
WHERE e.id = ANY(%(evidence)s) ORDER BY e.received_at, e.id
"""

# Each part by its own partial index, which a parameter for the kind would rule out.
EVENTS = """
SELECT e.id, e.created_at, e.payload FROM (
    (SELECT m.id, m.created_at, m.payload FROM outbox_result_event m
     WHERE m.task_id = %(task)s AND NOT (m.kind = 'task.contradicted'))
    UNION ALL
    (SELECT c.id, c.created_at, c.payload FROM outbox_result_event c
     WHERE c.task_id = %(task)s AND c.kind = 'task.contradicted'
     ORDER BY c.id DESC LIMIT %(limit)s)
) e ORDER BY e.id DESC LIMIT %(limit)s
"""

# Up to the root and down to the tip, each bounded; a payload only where it changed.
# Up by the id alone: with the namespace, an index that fits neither might be kept.
LINEAGE = """
WITH RECURSIVE up AS (
    SELECT t.id, t.retry_of, 0 AS step
    FROM tasks_task t WHERE t.id = %(task)s
    UNION ALL
    SELECT p.id, p.retry_of, u.step - 1
    FROM up u JOIN tasks_task p ON p.id = u.retry_of
    WHERE u.step > -%(limit)s
),
down AS (
    SELECT t.id, t.namespace_id, 0 AS step
    FROM tasks_task t WHERE t.id = %(task)s
    UNION ALL
    SELECT c.id, c.namespace_id, d.step + 1
    FROM down d JOIN tasks_task c
      ON c.namespace_id = d.namespace_id AND c.retry_of = d.id
    WHERE d.step < %(limit)s
),
line AS (
    SELECT u.id, u.step FROM up u
    UNION ALL SELECT d.id, d.step FROM down d WHERE d.step > 0
),
told AS (
    SELECT l.step, t.*, lag(t.payload) OVER (ORDER BY l.step) AS payload_before
    FROM line l JOIN tasks_task t ON t.id = l.id
)
SELECT t.step, t.id, t.namespace_id, t.queue_id, t.state, t.revision, t.attempt_count,
       t.created_at, t.completed_at, t.error_code, t.handler, t.handler_version,
       t.payload_version, t.business_key, t.concurrency_key, t.priority,
       t.recovery_safety, t.max_attempts, t.initial_delay_ms, t.max_delay_ms,
       t.attempt_timeout_ms,
       (extract(epoch FROM t.deadline_at - t.created_at) * 1000)::bigint,
       CASE WHEN t.payload IS DISTINCT FROM t.payload_before THEN t.payload END,
       octet_length(t.payload),
       CASE WHEN t.payload IS DISTINCT FROM t.payload_before
            THEN t.payload_before END
FROM told t ORDER BY t.step
"""

# A receipt, if the operation that it names was this very actor's.
OWN_RECEIPT = """
SELECT r.content_digest, r.task_id, r.audit_id, r.state, r.revision, r.created_at
FROM tasks_receipt r JOIN tasks_operation_audit o ON o.id = r.audit_id
WHERE r.namespace_id = %(namespace)s AND r.operation = %(operation)s
  AND r.subject_id = %(subject)s AND r.key_digest = %(key_digest)s
  AND o.actor_id = %(actor)s AND o.actor_kind = %(actor_kind)s
"""
