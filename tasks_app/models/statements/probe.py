"""What probes need of the database: the one that runs, and what one found."""

OPEN_PROBE = """
SELECT p.id, p.state FROM tasks_task p
WHERE p.owner_id = %(task)s AND p.owner_kind = 'PROBE'
  AND p.state NOT IN ('SUCCEEDED', 'FAILED', 'CANCELLED')
"""

PROBES_OF = """
SELECT p.id, p.state, p.created_at, p.completed_at, p.error_code, p.submitted_by
FROM tasks_task p
WHERE p.owner_id = %(task)s AND p.owner_kind = 'PROBE'
ORDER BY p.created_at DESC, p.id DESC LIMIT %(limit)s
"""

# A review of them waits, so that it knows what was found, or is contradicted by it.
LOCK_PROBED = """
SELECT t.id FROM tasks_task t WHERE t.id = ANY(%(tasks)s) ORDER BY t.id FOR UPDATE
"""

# A probe that people settled found nothing itself.
FOUND = """
SELECT p.id, p.owner_id, p.result, p.submitted_by, clock_timestamp(),
       (SELECT a.id FROM tasks_attempt a WHERE a.task_id = p.id
        ORDER BY a.number DESC LIMIT 1)
FROM tasks_task p
WHERE p.id = ANY(%(tasks)s) AND p.state = 'SUCCEEDED' AND p.last_outcome = 'SUCCEEDED'
ORDER BY p.id
"""

UNCLAIMED_PROBES = """
SELECT p.id FROM tasks_task p JOIN tasks_task t ON t.id = p.owner_id
JOIN tasks_queue q ON q.id = p.queue_id
WHERE p.owner_kind = 'PROBE' AND p.state = 'WAITING' AND t.owner_kind = %(owner)s
  AND p.due_at < clock_timestamp() - make_interval(secs => %(overdue_ms)s / 1000.0)
  AND NOT q.is_paused
ORDER BY p.due_at LIMIT %(limit)s
"""

NAMESPACE_OF = "SELECT t.namespace_id FROM tasks_task t WHERE t.id = %(task)s"
