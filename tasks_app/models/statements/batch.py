"""Batches of reviews: their frozen membership, and the way through it."""

from tasks_app.models.statements.inbox import WANTED

# One more than a batch may have, so that too many are known.
_CHOSEN_BY_CAUSE = f"""
WITH chosen AS MATERIALIZED (
    SELECT t.id, t.revision, t.updated_at, '' AS evidence_ref FROM tasks_task t
    WHERE t.namespace_id = %(namespace)s AND t.queue_id = %(queue)s AND {WANTED}
    ORDER BY t.updated_at, t.id LIMIT %(most)s + 1
),
"""

_CHOSEN_BY_HAND = """
WITH chosen AS MATERIALIZED (
    SELECT t.id, t.revision, t.updated_at,
           coalesce(c.evidence_ref, '') AS evidence_ref
    FROM json_to_recordset(%(tasks)s::json) AS c(task_id uuid, evidence_ref text)
    JOIN tasks_task t ON t.id = c.task_id
    WHERE t.namespace_id = %(namespace)s AND t.queue_id = %(queue)s
      AND t.state = 'NEEDS_REVIEW'
    LIMIT %(most)s + 1
),
"""

# One statement: members, revisions and what was known of them are of one moment.
# It writes nothing when there are none, too many, or not all that were named.
_FREEZE = """
size AS (SELECT count(*)::integer AS n FROM chosen),
added AS (
    INSERT INTO tasks_review_batch (
        id, namespace_id, queue_id, state, outcome, result, reason, evidence_ref,
        cause, canary, total, actor_id, actor_kind, form_key, content_digest,
        created_at, updated_at)
    SELECT %(id)s, %(namespace)s, %(queue)s, %(state)s, %(outcome)s, %(result)s,
           %(reason)s, %(evidence_ref)s, %(chosen_by)s, %(canary)s, s.n, %(actor)s,
           %(actor_kind)s, %(form_key)s, %(content_digest)s, clock_timestamp(),
           clock_timestamp()
    FROM size s
    WHERE s.n BETWEEN 1 AND %(most)s AND s.n = coalesce(%(named)s::integer, s.n)
    ON CONFLICT (namespace_id, form_key) DO NOTHING
    RETURNING id
),
items AS (
    INSERT INTO tasks_review_batch_item (
        batch_id, position, task_id, expected_revision, evidence_ref, evidence_count,
        state)
    SELECT a.id, row_number() OVER (ORDER BY c.updated_at, c.id), c.id, c.revision,
           c.evidence_ref,
           (SELECT count(*) FROM tasks_evidence e WHERE e.task_id = c.id), 'PENDING'
    FROM added a CROSS JOIN chosen c
),
event AS (
    INSERT INTO tasks_review_batch_event (
        batch_id, verb, state, actor_id, actor_kind, created_at)
    SELECT a.id, 'create', %(state)s, %(actor)s, %(actor_kind)s, clock_timestamp()
    FROM added a
)
SELECT s.n, a.id FROM size s LEFT JOIN added a ON true
"""

FREEZE_BY_CAUSE = _CHOSEN_BY_CAUSE + _FREEZE
FREEZE_BY_HAND = _CHOSEN_BY_HAND + _FREEZE

MADE_BEFORE = """
SELECT b.id, b.content_digest FROM tasks_review_batch b
WHERE b.namespace_id = %(namespace)s AND b.form_key = %(form_key)s
"""

NAMED_AND_WAITING = """
SELECT t.id FROM tasks_task t
WHERE t.id = ANY(%(tasks)s) AND t.namespace_id = %(namespace)s
  AND t.queue_id = %(queue)s AND t.state = 'NEEDS_REVIEW'
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

LOCK_BATCH = """
SELECT b.namespace_id, b.queue_id, b.state FROM tasks_review_batch b
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

# Runners share a batch: each takes the first item that no other one is at. The canary's
# are all there is until a person lets the batch go on.
NEXT_ITEM = """
SELECT b.namespace_id, b.queue_id, b.outcome, b.result, b.reason, b.evidence_ref,
       b.actor_id, b.actor_kind, i.id, i.position, i.task_id, i.expected_revision,
       i.evidence_ref, i.evidence_count
FROM tasks_review_batch b CROSS JOIN LATERAL (
    SELECT * FROM tasks_review_batch_item i
    WHERE i.batch_id = b.id AND i.state = 'PENDING'
      AND (b.state = 'RUNNING' OR i.position <= b.canary)
      AND i.position <> ALL(%(held_up)s::integer[])
    ORDER BY i.position LIMIT 1 FOR UPDATE SKIP LOCKED) i
WHERE b.id = %(batch)s AND b.state IN ('CANARY', 'RUNNING')
"""

# Under the task's lock, for which late reports wait.
EVIDENCE_COUNT = """
SELECT count(*)::integer FROM tasks_evidence e WHERE e.task_id = %(task)s
"""

# Whoever aborts waits for the items that are under way, and gives up the others.
FINISH_ITEM = """
UPDATE tasks_review_batch_item SET
    state = %(state)s, code = %(code)s, message = %(message)s, audit_id = %(audit)s,
    finished_at = clock_timestamp()
WHERE id = %(item)s AND state = 'PENDING'
RETURNING id
"""

# Asked under the batch's lock: items that are under way still count as pending.
LEFT = """
SELECT b.state, EXISTS (SELECT FROM tasks_review_batch_item i
                        WHERE i.batch_id = b.id AND i.state = 'PENDING'),
       EXISTS (SELECT FROM tasks_review_batch_item i
               WHERE i.batch_id = b.id AND i.state = 'PENDING'
                 AND i.position <= b.canary)
FROM tasks_review_batch b WHERE b.id = %(batch)s
"""

COUNTS = """
SELECT i.state, count(*) FROM tasks_review_batch_item i
WHERE i.batch_id = %(batch)s GROUP BY i.state
"""
