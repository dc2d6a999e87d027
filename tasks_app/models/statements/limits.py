"""The change of a queue's limits."""

LOCK_CLAIMS = """
SELECT pg_advisory_xact_lock(hashtextextended(%(queue)s::uuid::text, 0))
"""

# What runs already takes its permits when a limit appears.
BACKFILL_PERMITS = """
INSERT INTO tasks_permit (
    namespace_id, attempt_id, task_id, queue_id, kind, concurrency_key, acquired_at)
SELECT a.namespace_id, a.id, a.task_id, a.queue_id, k.kind,
       CASE WHEN k.kind = 'KEY' THEN t.concurrency_key END, clock_timestamp()
FROM (SELECT * FROM tasks_attempt WHERE queue_id = %(queue)s AND outcome = 'ACTIVE'
      ORDER BY id FOR UPDATE) a
JOIN tasks_task t ON t.id = a.task_id
JOIN (VALUES ('QUEUE'), ('KEY')) AS k(kind)
  ON (k.kind = 'QUEUE' AND %(slots)s)
  OR (k.kind = 'KEY' AND %(keys)s AND t.concurrency_key IS NOT NULL)
ON CONFLICT (attempt_id, kind) DO NOTHING
RETURNING id
"""

# The owner holds its own locks: it may not wait for who waits for them with this task.
OPEN_GATE = """
UPDATE tasks_task SET is_gated = false, updated_at = %(now)s
WHERE id = (SELECT t.id FROM tasks_task t
            WHERE t.id = %(task)s AND t.is_gated AND t.state = 'WAITING'
            FOR UPDATE SKIP LOCKED)
RETURNING id
"""
