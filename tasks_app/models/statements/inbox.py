"""What needs review, oldest first: each queue's part by its own partial index."""

# The members of a batch are chosen by the same words.
WANTED = """
      t.state = 'NEEDS_REVIEW'
      AND (%(handler)s::text IS NULL OR t.handler = %(handler)s)
      AND (%(cause)s::text IS NULL OR %(cause)s = coalesce(
          %(causes)s::jsonb ->> coalesce(t.error_code, ''), 'WORKER_UNSURE'))
      AND (%(error_code)s::text IS NULL OR t.error_code = %(error_code)s)
      AND (%(min_age_ms)s::bigint IS NULL OR t.updated_at <= statement_timestamp()
           - make_interval(secs => %(min_age_ms)s / 1000.0))
      AND (%(max_age_ms)s::bigint IS NULL OR t.updated_at >= statement_timestamp()
           - make_interval(secs => %(max_age_ms)s / 1000.0))
"""

_OF_QUEUE = "(%(queue)s::uuid IS NULL OR q.id = %(queue)s)"

# Neither payload nor result is read; late reports are counted up to a bound.
INBOX = f"""
WITH page AS MATERIALIZED (
    SELECT n.* FROM tasks_queue q CROSS JOIN LATERAL (
        SELECT t.id, t.queue_id, t.application_id, t.handler, t.business_key,
               t.error_code, t.owner_kind, t.owner_id, t.attempt_count, t.updated_at
        FROM tasks_task t
        WHERE t.queue_id = q.id AND {WANTED} AND (t.updated_at, t.id) > (
            coalesce(%(after_at)s::timestamptz, '-infinity'),
            coalesce(%(after_id)s::uuid, '00000000-0000-0000-0000-000000000000'))
        ORDER BY t.updated_at, t.id LIMIT %(limit)s) n
    WHERE {_OF_QUEUE}
    ORDER BY n.updated_at, n.id LIMIT %(limit)s
)
SELECT p.id, p.queue_id, q.name, a.name, p.handler, p.business_key, p.error_code,
       p.owner_kind, p.owner_id, p.attempt_count, p.updated_at,
       (SELECT count(*) FROM (SELECT FROM tasks_evidence e
                              WHERE e.task_id = p.id AND e.kind <> 'probe'
                              LIMIT %(most)s) l)
FROM page p JOIN tasks_queue q ON q.id = p.queue_id
JOIN tasks_application a ON a.id = p.application_id
ORDER BY p.updated_at, p.id
"""

# How many there are, up to a bound, and since when the oldest waits; and how many late
# reports of the last day disagree, namespace by namespace along their list's index.
COUNT = f"""
SELECT count(*), min(w.updated_at), clock_timestamp(), (
    SELECT count(*) FROM tasks_namespace n CROSS JOIN LATERAL (
        SELECT FROM tasks_contradiction c
        WHERE c.namespace_id = n.id
          AND c.created_at > statement_timestamp() - interval '1 day'
        LIMIT %(most)s) d)
FROM (
    SELECT n.updated_at FROM tasks_queue q CROSS JOIN LATERAL (
        SELECT t.updated_at FROM tasks_task t WHERE t.queue_id = q.id AND {WANTED}
        ORDER BY t.updated_at, t.id LIMIT %(most)s) n
    WHERE {_OF_QUEUE}
    ORDER BY n.updated_at LIMIT %(most)s) w
"""

ROOMS = """
SELECT s.scope_id, greatest(0, sum(s.available))::bigint FROM tasks_quota_share s
WHERE s.scope_id = ANY(%(scopes)s) GROUP BY s.scope_id
"""
