"""How recovery stands: counts along partial indexes, however large the tables."""

# Queue by queue, so that each count reads one short stretch of an index.
_REACHED = """
SELECT q.id, q.name, q.max_outstanding FROM tasks_queue q
WHERE q.namespace_id = %(namespace)s
  AND (%(queues)s::uuid[] IS NULL OR q.id = ANY(%(queues)s))
"""

QUEUES = f"""
SELECT q.id, q.name, q.max_outstanding, held.tasks, oldest.id, oldest.updated_at,
       inflow.hour, inflow.day, settled.hour, settled.day, %(now)s
FROM ({_REACHED}) q
CROSS JOIN LATERAL (
    SELECT count(*) AS tasks FROM tasks_task t
    WHERE t.queue_id = q.id AND t.state = 'NEEDS_REVIEW') held
LEFT JOIN LATERAL (
    SELECT t.id, t.updated_at FROM tasks_task t
    WHERE t.queue_id = q.id AND t.state = 'NEEDS_REVIEW'
    ORDER BY t.updated_at, t.id LIMIT 1) oldest ON true
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (
               WHERE e.created_at > %(now)s - interval '1 hour') AS hour,
           count(*) AS day
    FROM outbox_result_event e
    WHERE e.queue_id = q.id AND e.kind = 'task.needs_review'
      AND e.created_at > %(now)s - interval '1 day') inflow
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (
               WHERE t.completed_at > %(now)s - interval '1 hour') AS hour,
           count(*) AS day
    FROM tasks_task t
    WHERE t.queue_id = q.id AND t.last_outcome = 'UNKNOWN'
      AND t.completed_at > %(now)s - interval '1 day') settled
ORDER BY held.tasks DESC, q.name, q.id
"""

# The event of the revision before says since when the task had needed review.
TIME_TO_SETTLE = f"""
SELECT count(*), percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY took.ms)
FROM (
    SELECT extract(epoch FROM s.completed_at - e.created_at) * 1000 AS ms
    FROM (
        SELECT t.* FROM ({_REACHED}) q CROSS JOIN LATERAL (
            SELECT t.id, t.revision, t.completed_at FROM tasks_task t
            WHERE t.queue_id = q.id AND t.last_outcome = 'UNKNOWN'
              AND t.completed_at > %(now)s - %(window)s::interval
            ORDER BY t.completed_at DESC LIMIT %(sample)s) t
        ORDER BY t.completed_at DESC LIMIT %(sample)s) s
    JOIN outbox_result_event e ON e.task_id = s.id AND e.revision = s.revision - 1
                              AND e.kind = 'task.needs_review'
) took
"""

# Along the index of each list that shows them, newest first.
CONTRADICTIONS = """
SELECT count(*) FILTER (WHERE c.created_at > %(now)s - interval '1 hour'), count(*)
FROM tasks_contradiction c
WHERE c.namespace_id = %(namespace)s
  AND c.created_at > %(now)s - interval '1 day'
  AND (%(queues)s::uuid[] IS NULL OR c.queue_id = ANY(%(queues)s))
"""

# How many full hours ago: 0 is the hour that ends now.
HOURS = f"""
SELECT 'came',
       greatest(0, floor(extract(epoch FROM %(now)s - e.created_at) / 3600))::int,
       count(*)
FROM ({_REACHED}) q JOIN outbox_result_event e ON e.queue_id = q.id
WHERE e.kind = 'task.needs_review' AND e.created_at > %(now)s - interval '1 day'
GROUP BY 2
UNION ALL
SELECT 'settled',
       greatest(0, floor(extract(epoch FROM %(now)s - t.completed_at) / 3600))::int,
       count(*)
FROM ({_REACHED}) q JOIN tasks_task t ON t.queue_id = q.id
WHERE t.last_outcome = 'UNKNOWN' AND t.completed_at > %(now)s - interval '1 day'
GROUP BY 2
"""

OWNERS_IN_REVIEW = f"""
SELECT t.owner_kind, t.owner_id
FROM ({_REACHED}) q
JOIN tasks_task t ON t.queue_id = q.id AND t.state = 'NEEDS_REVIEW'
                 AND t.owner_id IS NOT NULL
"""
