"""Who is at work: along the indexes of what is leased and of what is due."""

# What is leased is never more than what runs at this moment.
WORKERS = """
SELECT a.worker_name, a.worker_instance_id, count(*),
       max(coalesce(a.heartbeat_at, a.started_at)), min(a.lease_expires_at),
       bool_or(coalesce(a.heartbeat_at, a.started_at)
               < %(now)s - a.lease_ms * interval '0.5 ms'),
       count(*) OVER ()
FROM tasks_attempt a
WHERE a.outcome = 'ACTIVE' AND a.namespace_id = %(namespace)s
  AND (%(queues)s::uuid[] IS NULL OR a.queue_id = ANY(%(queues)s))
GROUP BY a.worker_name, a.worker_instance_id
ORDER BY min(a.lease_expires_at), a.worker_name
LIMIT %(limit)s
"""

QUEUES = """
SELECT q.id, q.name, q.is_paused, due.tasks, due.oldest, leased.tasks
FROM tasks_queue q
CROSS JOIN LATERAL (
    SELECT count(*) AS tasks, min(first.due_at) AS oldest
    FROM (SELECT t.due_at FROM tasks_task t
          WHERE t.queue_id = q.id AND t.state = 'WAITING' AND t.is_due
            AND NOT t.is_gated
          ORDER BY t.priority DESC, t.due_at, t.id LIMIT %(most)s) first) due
CROSS JOIN LATERAL (
    SELECT count(*) AS tasks FROM tasks_attempt a
    WHERE a.outcome = 'ACTIVE' AND a.queue_id = q.id) leased
WHERE q.namespace_id = %(namespace)s
  AND (%(queues)s::uuid[] IS NULL OR q.id = ANY(%(queues)s))
  AND due.tasks > 0
ORDER BY due.oldest, q.name
LIMIT %(limit)s
"""

# Half a second is maintenance's usual pause; what is late by ten times that is left.
OVERDUE = """
SELECT count(*), min(late.at) FROM (
    (SELECT a.lease_expires_at AS at FROM tasks_attempt a
     WHERE a.outcome = 'ACTIVE' AND a.lease_expires_at < %(now)s - interval '5 s'
     ORDER BY a.lease_expires_at LIMIT %(most)s)
    UNION ALL
    (SELECT t.due_at FROM tasks_task t
     WHERE t.state = 'WAITING' AND NOT t.is_due
       AND t.due_at < %(now)s - interval '5 s'
     ORDER BY t.due_at LIMIT %(most)s)) late
"""
