"""The claim: candidates under lock, then the start of their attempts."""

from tasks_app.models.record import TASK_COLUMNS
from tasks_app.models.statements.run import compact

# A shared advisory lock lets a change of limits wait for the claims under way.
_GATE = """
SELECT q.id, q.namespace_id, q.is_paused OR NOT a.is_enabled, q.max_concurrency,
       q.rate_per_second, q.key_concurrency, q.lease_ms,
       pg_try_advisory_xact_lock_shared(hashtextextended(q.id::text, 0)),
       clock_timestamp(), q.xmin::text
FROM tasks_queue q JOIN tasks_application a ON a.id = q.application_id
"""
GATE = _GATE + "WHERE q.id = %(queue)s"
GATE_OF_TASK = _GATE + (
    "WHERE q.id = (SELECT t.queue_id FROM tasks_task t WHERE t.id = %(task)s)"
)

# Limited queues are claimed by one at a time; whoever comes second gets nothing now.
LOCK_THROTTLE = """
SELECT th.tokens, th.refilled_at FROM tasks_queue_throttle th
WHERE th.queue_id = %(queue)s FOR UPDATE SKIP LOCKED
"""

COUNT_HOLDERS = """
SELECT p.kind, p.concurrency_key, count(*) FROM tasks_permit p
WHERE p.queue_id = %(queue)s GROUP BY p.kind, p.concurrency_key
"""

SPEND = """
UPDATE tasks_queue_throttle SET tokens = %(tokens)s, refilled_at = %(now)s
WHERE queue_id = %(queue)s RETURNING tokens
"""

CANDIDATES = compact(f"""
SELECT {TASK_COLUMNS}
FROM tasks_task t
WHERE t.queue_id = %(queue)s AND t.state = 'WAITING' AND t.is_due AND NOT t.is_gated
  -- What a schedule owns is run, and looked up, by the scheduler's own workers.
  AND t.owner_kind <> 'SCHEDULE'
  AND (t.owner_kind <> 'PROBE' OR NOT EXISTS (
       SELECT FROM tasks_task s WHERE s.id = t.owner_id AND s.owner_kind = 'SCHEDULE'))
  -- Written so that no other index but the claim's, which gives the order, fits.
  AND t.deadline_at - %(now)s > interval '0'
  -- Nothing, if the limits changed after they were read and before they were kept.
  AND (SELECT q.xmin FROM tasks_queue q
       WHERE q.id = %(queue)s) = %(version)s::text::xid
  AND (t.start_deadline_at IS NULL OR t.start_deadline_at >= %(now)s
       OR t.attempt_count > 0)
  AND (%(handlers)s::json IS NULL OR (t.handler, t.handler_version) IN (
       SELECT h.handler, h.handler_version FROM json_to_recordset(%(handlers)s::json)
              AS h(handler text, handler_version text)))
  AND (%(busy_keys)s::json IS NULL OR t.concurrency_key IS NULL OR NOT EXISTS (
       SELECT FROM json_array_elements_text(%(busy_keys)s::json) AS b(key)
       WHERE b.key = t.concurrency_key))
ORDER BY t.priority DESC, t.due_at, t.id
LIMIT %(limit)s
FOR UPDATE SKIP LOCKED
""")

CANDIDATE = f"""
SELECT {TASK_COLUMNS}
FROM tasks_task t
WHERE t.id = %(task)s AND t.queue_id = %(queue)s AND t.state = 'WAITING'
  AND t.due_at <= %(now)s AND NOT t.is_gated AND t.deadline_at > %(now)s
  AND (SELECT q.xmin FROM tasks_queue q
       WHERE q.id = %(queue)s) = %(version)s::text::xid
  AND (t.start_deadline_at IS NULL OR t.start_deadline_at >= %(now)s
       OR t.attempt_count > 0)
  AND (%(busy_keys)s::json IS NULL OR t.concurrency_key IS NULL OR NOT EXISTS (
       SELECT FROM json_array_elements_text(%(busy_keys)s::json) AS b(key)
       WHERE b.key = t.concurrency_key))
FOR UPDATE SKIP LOCKED
"""

START = compact("""
WITH input AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(attempts)s::json) AS i(
        task_id uuid, from_revision bigint, attempt_id uuid, token_hash text,
        lease_expires_at timestamptz, expires_by timestamptz, takes_slot boolean,
        takes_key boolean, audit_id uuid, operation_id uuid, before text, after text,
        sequence bigint, previous_hash text, entry_hash text)
),
started AS (
    UPDATE tasks_task t SET
        state = 'RUNNING', revision = t.revision + 1,
        attempt_count = t.attempt_count + 1, lease_seq = t.lease_seq + 1,
        lease_attempt_id = i.attempt_id, updated_at = %(now)s,
        audit_length = i.sequence, audit_head = decode(i.entry_hash, 'hex')
    FROM input i
    -- The revision is the guard; a fixed state would invite a scan of all that waits.
    WHERE t.id = i.task_id AND t.revision = i.from_revision
    RETURNING t.id, t.namespace_id, t.revision, t.attempt_count, t.lease_seq,
              t.concurrency_key, i.*
),
attempts AS (
    INSERT INTO tasks_attempt (
        id, namespace_id, task_id, queue_id, number, lease_seq, lease_token_hash,
        lease_ms, lease_expires_at, expires_by, worker_id, worker_name,
        worker_instance_id, outcome, started_at)
    SELECT s.attempt_id, s.namespace_id, s.id, %(queue)s, s.attempt_count,
           s.lease_seq, decode(s.token_hash, 'hex'), %(lease_ms)s, s.lease_expires_at,
           s.expires_by, %(actor)s, %(worker_name)s, %(worker_instance)s, 'ACTIVE',
           %(now)s
    FROM started s
),
permits AS (
    INSERT INTO tasks_permit (
        namespace_id, attempt_id, task_id, queue_id, kind, concurrency_key,
        acquired_at)
    SELECT s.namespace_id, s.attempt_id, s.id, %(queue)s, k.kind,
           CASE WHEN k.kind = 'KEY' THEN s.concurrency_key END, %(now)s
    FROM started s
    JOIN (VALUES ('QUEUE'), ('KEY')) AS k(kind)
      ON (k.kind = 'QUEUE' AND s.takes_slot) OR (k.kind = 'KEY' AND s.takes_key)
),
audited AS (
    INSERT INTO tasks_operation_audit (
        id, namespace_id, task_id, operation_id, actor_id, actor_kind, action,
        revision, before, after, created_at, sequence, previous_hash, entry_hash)
    SELECT s.audit_id, s.namespace_id, s.id, s.operation_id, %(actor)s,
           %(actor_kind)s, 'task.start', s.revision, s.before, s.after, %(now)s,
           s.sequence, decode(s.previous_hash, 'hex'), decode(s.entry_hash, 'hex')
    FROM started s
)
SELECT count(*) FROM started
""")

RENEW = """
UPDATE tasks_attempt a SET
    heartbeat_at = clock_timestamp(),
    lease_expires_at = greatest(a.lease_expires_at, least(
        clock_timestamp() + make_interval(secs => a.lease_ms / 1000.0), a.expires_by))
FROM tasks_task t
WHERE a.id = %(attempt)s AND a.ended_at IS NULL
  AND a.lease_token_hash = %(token_hash)s AND t.id = a.task_id
  AND t.namespace_id = %(namespace)s
  AND (%(queues)s::uuid[] IS NULL OR t.queue_id = ANY(%(queues)s))
RETURNING a.lease_expires_at, t.cancel_requested_at IS NOT NULL
"""

ATTEMPT_STANDING = """
SELECT t.state, t.revision
FROM tasks_attempt a JOIN tasks_task t ON t.id = a.task_id
WHERE a.id = %(attempt)s AND t.namespace_id = %(namespace)s
  AND (%(queues)s::uuid[] IS NULL OR t.queue_id = ANY(%(queues)s))
"""
