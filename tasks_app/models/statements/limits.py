"""The change of a queue's limits."""

LOCK_CLAIMS = """
SELECT pg_advisory_xact_lock(hashtextextended(%(queue)s::uuid::text, 0))
"""

# What runs already takes its permits when a limit appears. Tasks before attempts, in
# the order of the tasks, as every report locks them.
BACKFILL_PERMITS = """
INSERT INTO tasks_permit (
    namespace_id, attempt_id, task_id, queue_id, kind, concurrency_key, acquired_at)
SELECT a.namespace_id, a.id, a.task_id, a.queue_id, k.kind,
       CASE WHEN k.kind = 'KEY' THEN a.concurrency_key END, clock_timestamp()
FROM (SELECT r.*, t.concurrency_key
      FROM tasks_attempt r JOIN tasks_task t ON t.id = r.task_id
      WHERE r.queue_id = %(queue)s AND r.outcome = 'ACTIVE'
      ORDER BY t.id, r.id FOR UPDATE OF t, r) a
JOIN (VALUES ('QUEUE'), ('KEY')) AS k(kind)
  ON (k.kind = 'QUEUE' AND %(slots)s)
  OR (k.kind = 'KEY' AND %(keys)s AND a.concurrency_key IS NOT NULL)
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
