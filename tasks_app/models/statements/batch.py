"""Batches of reviews: their frozen membership, and the way through it."""

# One more than a batch may have, so that too many are known.
CHOSEN_BY_CAUSE = """
SELECT t.id, t.revision, '' FROM tasks_task t
WHERE t.namespace_id = %(namespace)s AND t.queue_id = %(queue)s
  AND t.state = 'NEEDS_REVIEW'
  AND (%(handler)s::text IS NULL OR t.handler = %(handler)s)
  AND (%(cause)s::text IS NULL OR %(cause)s = coalesce(
       %(causes)s::jsonb ->> coalesce(t.error_code, ''), 'WORKER_UNSURE'))
ORDER BY t.updated_at, t.id LIMIT %(limit)s
"""

CHOSEN_BY_HAND = """
SELECT t.id, t.revision, coalesce(c.evidence_ref, '')
FROM json_to_recordset(%(tasks)s::json) AS c(task_id uuid, evidence_ref text)
JOIN tasks_task t ON t.id = c.task_id
WHERE t.namespace_id = %(namespace)s AND t.queue_id = %(queue)s
  AND t.state = 'NEEDS_REVIEW'
ORDER BY t.updated_at, t.id LIMIT %(limit)s
"""

ADD_BATCH = """
INSERT INTO tasks_review_batch (
    id, namespace_id, queue_id, state, outcome, result, reason, evidence_ref, cause,
    canary, total, actor_id, actor_kind, form_key, created_at, updated_at)
VALUES (%(id)s, %(namespace)s, %(queue)s, %(state)s, %(outcome)s, %(result)s,
        %(reason)s, %(evidence_ref)s, %(cause)s, %(canary)s, %(total)s, %(actor)s,
        %(actor_kind)s, %(form_key)s, clock_timestamp(), clock_timestamp())
ON CONFLICT (namespace_id, form_key) DO NOTHING
RETURNING id
"""

ADD_ITEMS = """
INSERT INTO tasks_review_batch_item (
    batch_id, position, task_id, expected_revision, evidence_ref, state)
SELECT %(batch)s, i.position, i.task_id, i.revision, i.evidence_ref, 'PENDING'
FROM json_to_recordset(%(items)s::json) AS i(
    position integer, task_id uuid, revision bigint, evidence_ref text)
RETURNING position
"""

SET_STATE = """
WITH set AS (
    UPDATE tasks_review_batch SET state = %(state)s, updated_at = clock_timestamp()
    WHERE id = %(batch)s RETURNING id
)
INSERT INTO tasks_review_batch_event (
    batch_id, verb, state, actor_id, actor_kind, created_at)
SELECT s.id, %(verb)s, %(state)s, %(actor)s, %(actor_kind)s, clock_timestamp()
FROM set s RETURNING id
"""

ADD_EVENT = """
INSERT INTO tasks_review_batch_event (
    batch_id, verb, state, actor_id, actor_kind, created_at)
VALUES (%(batch)s, %(verb)s, %(state)s, %(actor)s, %(actor_kind)s, clock_timestamp())
RETURNING id
"""

LOCK_BATCH = """
SELECT b.namespace_id, b.state FROM tasks_review_batch b
WHERE b.id = %(batch)s FOR UPDATE
"""

ABORT_ITEMS = """
UPDATE tasks_review_batch_item SET state = 'ABORTED', finished_at = clock_timestamp()
WHERE batch_id = %(batch)s AND state = 'PENDING' RETURNING id
"""

RUNNING = """
SELECT b.id FROM tasks_review_batch b
WHERE b.state IN ('CANARY', 'RUNNING') ORDER BY b.created_at LIMIT %(limit)s
"""

# Session locks: a runner that dies gives its batch away, without a transaction.
TRY_RUN = "SELECT pg_try_advisory_lock(hashtextextended(%(batch)s::text, 731))"
END_RUN = "SELECT pg_advisory_unlock(hashtextextended(%(batch)s::text, 731))"

# Asked before each item, so that a pause or abort holds from the next one on.
NEXT_ITEM = """
SELECT b.namespace_id, b.queue_id, b.state, b.outcome, b.result, b.reason,
       b.evidence_ref, b.canary, b.actor_id, b.actor_kind,
       i.id, i.position, i.task_id, i.expected_revision, i.evidence_ref
FROM tasks_review_batch b LEFT JOIN LATERAL (
    SELECT * FROM tasks_review_batch_item i
    WHERE i.batch_id = b.id AND i.state = 'PENDING'
    ORDER BY i.position LIMIT 1) i ON true
WHERE b.id = %(batch)s
"""

# What was aborted while its review was under way has been reviewed all the same.
FINISH_ITEM = """
UPDATE tasks_review_batch_item SET
    state = %(state)s, code = %(code)s, message = %(message)s, audit_id = %(audit)s,
    finished_at = clock_timestamp()
WHERE id = %(item)s AND (state = 'PENDING'
   OR (state = 'ABORTED' AND %(state)s = 'SETTLED'))
RETURNING id
"""

COUNTS = """
SELECT i.state, count(*) FROM tasks_review_batch_item i
WHERE i.batch_id = %(batch)s GROUP BY i.state
"""
