"""What must hold of the engine's tables at every commit (10-engine, section 3)."""

OUTSTANDING = "('WAITING', 'RUNNING', 'NEEDS_REVIEW')"
FINAL = "('SUCCEEDED', 'FAILED', 'CANCELLED')"

# A move is an audited act that raised the revision; these two acts leave it alone.
MOVES = """
    SELECT a.* FROM tasks_operation_audit a
    WHERE a.action NOT IN ('task.retry', 'task.propose', 'task.withdraw')
      AND a.after::json ->> 'cancel_requested' IS NULL
"""

# Each query answers the offenders: no row is the invariant.
INVARIANTS = {
    "RUNNING if and only if one attempt is active": """
        SELECT t.id FROM tasks_task t
        WHERE (t.state = 'RUNNING')::int <> (
            SELECT count(*) FROM tasks_attempt a
            WHERE a.task_id = t.id AND a.outcome = 'ACTIVE')
    """,
    "the lease is that of the active attempt": """
        SELECT t.id FROM tasks_task t
        WHERE t.state = 'RUNNING' AND NOT EXISTS (
            SELECT FROM tasks_attempt a
            WHERE a.id = t.lease_attempt_id AND a.task_id = t.id
              AND a.outcome = 'ACTIVE' AND a.lease_seq = t.lease_seq
              AND a.number = t.attempt_count)
    """,
    "attempts are counted, and the fence with them": """
        SELECT t.id FROM tasks_task t
        WHERE ARRAY[t.attempt_count, t.attempt_count, t.lease_seq] IS DISTINCT FROM (
            SELECT ARRAY[count(*), coalesce(max(a.number), 0),
                         coalesce(max(a.lease_seq), 0)]
            FROM tasks_attempt a WHERE a.task_id = t.id)
    """,
    "completed_at if and only if final": f"""
        SELECT t.id FROM tasks_task t
        WHERE (t.completed_at IS NOT NULL) <> (t.state IN {FINAL})
    """,
    "uncertain if and only if it needs review": """
        SELECT t.id FROM tasks_task t
        WHERE t.effect_uncertain <> (t.state = 'NEEDS_REVIEW')
    """,
    "permits belong to active attempts": """
        SELECT p.task_id FROM tasks_permit p
        WHERE NOT EXISTS (SELECT FROM tasks_attempt a
                          WHERE a.id = p.attempt_id AND a.outcome = 'ACTIVE')
    """,
    "where a limit exists, every active attempt holds its permit": """
        SELECT a.task_id FROM tasks_attempt a
        JOIN tasks_task t ON t.id = a.task_id
        JOIN tasks_queue q ON q.id = a.queue_id
        CROSS JOIN (VALUES ('QUEUE'), ('KEY')) AS k(kind)
        WHERE a.outcome = 'ACTIVE'
          AND CASE k.kind WHEN 'QUEUE' THEN q.max_concurrency IS NOT NULL
              ELSE q.key_concurrency IS NOT NULL AND t.concurrency_key IS NOT NULL END
          AND NOT EXISTS (SELECT FROM tasks_permit p
                          WHERE p.attempt_id = a.id AND p.kind = k.kind)
    """,
    "a queue's shares are its limit less what is outstanding": f"""
        SELECT q.id FROM tasks_queue q
        WHERE q.max_outstanding <> (
            SELECT count(*) FROM public.tasks_task t
            WHERE t.queue_id = q.id AND t.state IN {OUTSTANDING}) + (
            SELECT sum(s.available) FROM tasks_quota_share s WHERE s.scope_id = q.id)
    """,
    "an application's shares are its limit less what is outstanding": f"""
        SELECT a.id FROM tasks_application a
        WHERE a.max_outstanding <> (
            SELECT count(*) FROM public.tasks_task t
            WHERE t.application_id = a.id AND t.state IN {OUTSTANDING}) + (
            SELECT sum(s.available) FROM tasks_quota_share s WHERE s.scope_id = a.id)
    """,
    "one accepted event, at the first revision": """
        SELECT t.id FROM tasks_task t
        WHERE (SELECT array_agg(e.revision) FROM outbox_result_event e
               WHERE e.task_id = t.id AND e.kind = 'task.accepted')
              IS DISTINCT FROM ARRAY[1::bigint]
    """,
    "a final event if and only if final, at the last revision": f"""
        SELECT t.id FROM tasks_task t
        WHERE (SELECT array_agg((e.revision, e.kind) ORDER BY e.id)
               FROM outbox_result_event e
               WHERE e.task_id = t.id
                 AND e.kind IN ('task.succeeded', 'task.failed', 'task.cancelled'))
              IS DISTINCT FROM CASE WHEN t.state IN {FINAL} THEN
                  ARRAY[(t.revision, ('task.' || lower(t.state))::varchar)] END
    """,
    "a needs_review event for each time that it came to need review": f"""
        SELECT m.task_id FROM ({MOVES}) m
        WHERE (m.after::json ->> 'state' = 'NEEDS_REVIEW') <> EXISTS (
            SELECT FROM outbox_result_event e
            WHERE e.task_id = m.task_id AND e.revision = m.revision
              AND e.kind = 'task.needs_review')
    """,
    "one audited move for each revision": f"""
        SELECT t.id FROM tasks_task t
        WHERE (SELECT array_agg(m.revision ORDER BY m.revision)
               FROM ({MOVES}) m WHERE m.task_id = t.id)
              IS DISTINCT FROM (
                  SELECT array_agg(n) FROM generate_series(1, t.revision) n)
    """,
    "each audited move begins where the one before ended": f"""
        SELECT c.task_id FROM (
            SELECT m.task_id, m.revision, m.before::json ->> 'state' AS before,
                   lag(m.after::json ->> 'state')
                       OVER (PARTITION BY m.task_id ORDER BY m.revision) AS after
            FROM ({MOVES}) m) c
        WHERE c.revision > 1 AND c.before IS DISTINCT FROM c.after
    """,
    "the last audited move tells the state": f"""
        SELECT t.id FROM tasks_task t
        WHERE NOT EXISTS (SELECT FROM ({MOVES}) m
                          WHERE m.task_id = t.id AND m.revision = t.revision
                            AND m.after::json ->> 'state' = t.state)
    """,
    "a receipt names a record of its own act": """
        SELECT r.subject_id FROM tasks_receipt r
        WHERE NOT EXISTS (
            SELECT FROM tasks_operation_audit a
            WHERE a.id = r.audit_id
              AND a.action = CASE r.operation WHEN 'task.submit' THEN 'task.accept'
                             ELSE r.operation END
              AND a.task_id = CASE r.operation WHEN 'task.submit' THEN r.task_id
                              ELSE r.subject_id END)
    """,
    "an idempotent act has exactly one receipt": """
        SELECT a.task_id FROM tasks_operation_audit a
        WHERE (a.action IN ('task.cancel', 'task.review', 'task.retry', 'task.propose',
                            'task.approve', 'task.withdraw')
               OR (a.action = 'task.accept' AND NOT EXISTS (
                       SELECT FROM tasks_task t
                       WHERE t.id = a.task_id AND t.retry_of IS NOT NULL)))
          AND a.id NOT IN (SELECT r.audit_id FROM tasks_receipt r)
        UNION ALL
        SELECT r.audit_id FROM tasks_receipt r GROUP BY 1 HAVING count(*) > 1
    """,
    "an approval or withdrawal is decided once, and by its own record": """
        SELECT a.task_id FROM tasks_operation_audit a
        WHERE a.action IN ('task.approve', 'task.withdraw')
          AND NOT EXISTS (
              SELECT FROM tasks_review_decision d
              JOIN tasks_review_proposal p ON p.id = d.proposal_id
              WHERE d.audit_id = a.id AND p.task_id = a.task_id
                AND d.decision = CASE a.action WHEN 'task.approve' THEN 'APPROVED'
                                 ELSE 'WITHDRAWN' END
                AND d.actor_id = coalesce(a.approver_id, a.actor_id))
    """,
    "every chain has each place once, up to its head": """
        SELECT t.id FROM tasks_task t
        WHERE t.audit_length <> (SELECT count(*) FROM tasks_operation_audit a
                                 WHERE a.task_id = t.id)
           OR t.audit_head IS DISTINCT FROM (
                  SELECT a.entry_hash FROM tasks_operation_audit a
                  WHERE a.task_id = t.id AND a.sequence = t.audit_length)
        UNION ALL
        SELECT a.task_id FROM tasks_operation_audit a
        WHERE a.sequence > 1 AND a.previous_hash IS DISTINCT FROM (
                  SELECT b.entry_hash FROM tasks_operation_audit b
                  WHERE b.task_id = a.task_id AND b.sequence = a.sequence - 1)
    """,
    "a retry has one audit on its source, and one child": """
        SELECT a.task_id FROM tasks_operation_audit a
        WHERE a.action = 'task.retry' AND NOT EXISTS (
            SELECT FROM tasks_task c
            WHERE c.retry_of = a.task_id
              AND c.id::text = (a.after::json ->> 'retry_task_id')::uuid::text)
        UNION ALL
        SELECT c.id FROM tasks_task c
        WHERE c.retry_of IS NOT NULL AND 1 <> (
            SELECT count(*) FROM tasks_operation_audit a
            WHERE a.task_id = c.retry_of AND a.action = 'task.retry')
    """,
    "a contradiction is of late evidence and of the outcome that stays": """
        SELECT c.task_id FROM tasks_contradiction c
        WHERE NOT EXISTS (
            SELECT FROM tasks_task t
            JOIN tasks_evidence e ON e.task_id = t.id AND e.id = c.evidence_id
            JOIN tasks_operation_audit a ON a.task_id = t.id AND a.id = c.audit_id
            WHERE t.id = c.task_id AND t.state = c.declared
              AND t.revision = c.revision AND a.revision = c.revision
              AND e.received_at >= t.completed_at AND e.attempt_id = c.attempt_id)
    """,
    "a contradiction has one event, and none has another": """
        SELECT c.task_id FROM tasks_contradiction c
        WHERE 1 <> (SELECT count(*) FROM outbox_result_event e
                    WHERE e.task_id = c.task_id AND e.kind = 'task.contradicted'
                      AND (e.payload::json ->> 'contradiction_id')::uuid = c.id)
        UNION ALL
        SELECT e.task_id FROM outbox_result_event e
        WHERE e.kind = 'task.contradicted' AND NOT EXISTS (
            SELECT FROM tasks_contradiction c
            WHERE c.id = (e.payload::json ->> 'contradiction_id')::uuid)
    """,
    "evidence is of an attempt that ended": """
        SELECT e.task_id FROM tasks_evidence e
        WHERE NOT EXISTS (SELECT FROM tasks_attempt a
                          WHERE a.id = e.attempt_id AND a.task_id = e.task_id
                            AND a.outcome <> 'ACTIVE')
    """,
}

ALL_AT_ONCE = " UNION ALL ".join(
    f"SELECT '{name.replace(chr(39), chr(39) * 2)}', o.id FROM ({query}) AS o(id)"
    for name, query in INVARIANTS.items()
)

# Under these names the queries see a few tasks and what belongs to them.
ONLY_THESE = """
WITH tasks_task AS (
    SELECT * FROM public.tasks_task WHERE id = ANY(%(these)s)
    UNION SELECT * FROM public.tasks_task WHERE retry_of = ANY(%(these)s)),
tasks_attempt AS (
    SELECT * FROM public.tasks_attempt WHERE task_id IN (SELECT id FROM tasks_task)),
tasks_permit AS (
    SELECT * FROM public.tasks_permit WHERE task_id IN (SELECT id FROM tasks_task)),
tasks_evidence AS (
    SELECT * FROM public.tasks_evidence WHERE task_id IN (SELECT id FROM tasks_task)),
tasks_contradiction AS (
    SELECT * FROM public.tasks_contradiction
    WHERE task_id IN (SELECT id FROM tasks_task)),
tasks_operation_audit AS (
    SELECT * FROM public.tasks_operation_audit
    WHERE task_id IN (SELECT id FROM tasks_task)),
outbox_result_event AS (
    SELECT * FROM public.outbox_result_event
    WHERE task_id IN (SELECT id FROM tasks_task)),
tasks_receipt AS (
    SELECT * FROM public.tasks_receipt WHERE task_id IN (SELECT id FROM tasks_task))
"""

# The product's connections forbid the plans that are best for looking at everything.
PLAN_FREELY = "SELECT " + ", ".join(
    f"set_config('enable_{way}', 'on', true)"
    for way in ("seqscan", "hashjoin", "mergejoin")
)


def assert_invariants(connection, *, these=None):
    """Fail with every broken invariant and the row that breaks it.

    `connection` is Django's or psycopg's in autocommit mode. `these` are the ids of
    the tasks to look at, all by default; quotas are always looked at.
    """
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(PLAN_FREELY)
        if these is None:
            cursor.execute(ALL_AT_ONCE)
        else:
            cursor.execute(ONLY_THESE + ALL_AT_ONCE, {"these": list(these)})
        broken = [f"{name}: {offender}" for name, offender in cursor.fetchall()]
        cursor.execute("COMMIT")
    assert not broken, "\n".join(broken)
