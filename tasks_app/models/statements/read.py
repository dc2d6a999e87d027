"""The reads a write decides on, under their locks."""

from tasks_app.models.record import TASK_COLUMNS

# The clock is asked after the lock is held: the outer select runs row by row above it.
LOCK_TASK = f"""
SELECT l.*, clock_timestamp() FROM (
    SELECT {TASK_COLUMNS} FROM tasks_task t WHERE t.id = %(task)s FOR UPDATE OF t
) l
"""

TASK = f"""
SELECT {TASK_COLUMNS} FROM tasks_task t WHERE t.id = %(task)s
"""

TASKS = f"""
SELECT {TASK_COLUMNS} FROM tasks_task t WHERE t.id = ANY(%(tasks)s)
"""

# A statement of its own, after the lock: only then are the winner's rows seen.
FACTS = """
SELECT EXISTS (SELECT FROM tasks_attempt a
               WHERE a.task_id = %(task)s AND a.outcome = 'ACTIVE'),
       EXISTS (SELECT FROM tasks_permit p WHERE p.task_id = %(task)s),
       (SELECT s.id FROM tasks_task s
        WHERE s.namespace_id = %(namespace)s AND s.retry_of = %(task)s),
       q.reviewer_may_be_submitter, q.second_approver, q.approval_seconds,
       r.content_digest, r.task_id, r.audit_id, r.state, r.revision,
       r.attempt_count, r.updated_at
FROM tasks_queue q LEFT JOIN tasks_receipt r
  ON r.namespace_id = %(namespace)s AND r.operation = %(operation)s
 AND r.subject_id = %(task)s AND r.key_digest = %(key_digest)s
WHERE q.id = %(queue)s
"""

LATEST_AUDIT = """
SELECT o.id, o.created_at FROM tasks_operation_audit o
WHERE o.task_id = %(task)s AND (%(action)s::text IS NULL OR o.action = %(action)s)
ORDER BY o.created_at DESC, o.id DESC LIMIT 1
"""

# What a submit needs to know: its queue, and what these keys have done before.
QUEUE = """
SELECT q.application_id, a.is_enabled, clock_timestamp(), r.key_digest,
       r.content_digest, r.task_id, r.audit_id, r.state, r.revision,
       r.attempt_count, r.updated_at
FROM tasks_queue q JOIN tasks_application a ON a.id = q.application_id
LEFT JOIN tasks_receipt r
  ON r.namespace_id = q.namespace_id AND r.operation = 'task.submit'
 AND r.subject_id = q.application_id AND r.key_digest = ANY(%(keys)s)
WHERE q.namespace_id = %(namespace)s AND q.id = %(queue)s
"""

# Attempts with their tasks, locked in one order.
LOCK_REPORTED = f"""
SELECT l.*, clock_timestamp() FROM (
    SELECT a.id AS attempt_id, a.number, a.outcome, a.lease_token_hash,
           a.report_digest, {TASK_COLUMNS}
    FROM tasks_attempt a JOIN tasks_task t ON t.id = a.task_id
    WHERE a.id = ANY(%(attempts)s) AND a.namespace_id = %(namespace)s
      AND (%(queues)s::uuid[] IS NULL OR a.queue_id = ANY(%(queues)s))
    ORDER BY t.id, a.id FOR UPDATE OF t, a
) l
"""

LOCK_LOST = f"""
SELECT l.*, clock_timestamp() FROM (
    SELECT a.id AS attempt_id, a.number, a.lease_expires_at, a.expires_by,
           a.heartbeat_at, {TASK_COLUMNS}
    FROM tasks_attempt a JOIN tasks_task t ON t.id = a.task_id
    WHERE a.outcome = 'ACTIVE' AND a.lease_expires_at < clock_timestamp()
      AND t.state = 'RUNNING' AND t.lease_attempt_id = a.id
    ORDER BY a.lease_expires_at LIMIT %(limit)s FOR UPDATE OF t, a SKIP LOCKED
) l
"""

LOCK_OVERDUE = f"""
SELECT l.*, clock_timestamp() FROM (
    SELECT {TASK_COLUMNS} FROM tasks_task t
    WHERE t.state = 'WAITING' AND (t.deadline_at <= clock_timestamp()
       OR (t.start_deadline_at < clock_timestamp() AND t.attempt_count = 0))
    LIMIT %(limit)s FOR UPDATE OF t SKIP LOCKED
) l
"""

PROMOTE = """
UPDATE tasks_task t SET is_due = true
FROM (SELECT d.id FROM tasks_task d
      WHERE d.state = 'WAITING' AND NOT d.is_due AND d.due_at <= clock_timestamp()
      ORDER BY d.due_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED) due
WHERE t.id = due.id
RETURNING t.id
"""

REQUEST_CANCEL = """
WITH requested AS (
    UPDATE tasks_task t SET cancel_requested_at = %(now)s, updated_at = %(now)s,
        audit_length = %(sequence)s, audit_head = decode(%(entry_hash)s, 'hex')
    WHERE t.id = %(task)s AND t.state = 'RUNNING' AND t.cancel_requested_at IS NULL
    RETURNING t.id, t.namespace_id, t.revision, t.attempt_count
),
receipt AS (
    INSERT INTO tasks_receipt (
        namespace_id, operation, subject_id, key_digest, content_digest, task_id,
        audit_id, state, revision, attempt_count, updated_at, created_at)
    SELECT c.namespace_id, 'task.cancel', c.id, %(key_digest)s, %(content_digest)s,
           c.id, %(audit_id)s, 'RUNNING', c.revision, c.attempt_count, %(now)s, %(now)s
    FROM requested c
),
audited AS (
    INSERT INTO tasks_operation_audit (
        id, namespace_id, task_id, operation_id, actor_id, actor_kind, action,
        revision, reason, before, after, created_at, sequence, previous_hash,
        entry_hash)
    SELECT %(audit_id)s, c.namespace_id, c.id, %(operation_id)s, %(actor)s,
           %(actor_kind)s, %(action)s, c.revision, %(reason)s, %(before)s, %(after)s,
           %(now)s, %(sequence)s, decode(%(previous_hash)s, 'hex'),
           decode(%(entry_hash)s, 'hex')
    FROM requested c
)
SELECT count(*) FROM requested
"""

STANDINGS = """
SELECT t.id, t.state, t.revision, t.attempt_count, t.is_gated, t.created_at,
       (SELECT min(a.started_at) FROM tasks_attempt a WHERE a.task_id = t.id),
       t.completed_at
FROM tasks_task t WHERE t.id = ANY(%(tasks)s)
"""

# A paused queue gives nothing out, so nothing of it is overdue.
UNCLAIMED = """
SELECT t.owner_id FROM tasks_task t JOIN tasks_queue q ON q.id = t.queue_id
WHERE t.state = 'WAITING' AND t.owner_kind = 'SCHEDULE' AND NOT t.is_gated
  AND t.due_at < clock_timestamp() - make_interval(secs => %(overdue_ms)s / 1000.0)
  AND NOT q.is_paused
ORDER BY t.due_at LIMIT %(limit)s
"""
