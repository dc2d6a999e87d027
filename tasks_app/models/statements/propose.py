"""Proposed reviews: written with audit and receipt, read with how they stand."""

# The task is locked: its revision stays, only the head of its audit chain moves.
_AUDITED = """
held AS (
    UPDATE tasks_task t SET
        audit_length = %(sequence)s, audit_head = decode(%(entry_hash)s, 'hex')
    WHERE t.id = %(task)s AND t.revision = %(revision)s
    RETURNING t.id, t.namespace_id, t.queue_id, t.state, t.revision, t.attempt_count,
              t.updated_at
),
receipt AS (
    INSERT INTO tasks_receipt (
        namespace_id, operation, subject_id, key_digest, content_digest, task_id,
        audit_id, state, revision, attempt_count, updated_at, created_at)
    SELECT h.namespace_id, %(action)s, h.id, %(key_digest)s, %(content_digest)s, h.id,
           %(audit_id)s, h.state, h.revision, h.attempt_count, h.updated_at, %(now)s
    FROM held h
),
audited AS (
    INSERT INTO tasks_operation_audit (
        id, namespace_id, task_id, operation_id, actor_id, actor_kind, action,
        revision, reason, evidence_ref, before, after, created_at, sequence,
        previous_hash, entry_hash)
    SELECT %(audit_id)s, h.namespace_id, h.id, %(operation_id)s, %(actor)s,
           %(actor_kind)s, %(action)s, h.revision, %(reason)s, %(evidence_ref)s,
           %(before)s, %(after)s, %(now)s, %(sequence)s,
           decode(%(previous_hash)s, 'hex'), decode(%(entry_hash)s, 'hex')
    FROM held h
),
"""

PROPOSE = f"""
WITH {_AUDITED}
proposed AS (
    INSERT INTO tasks_review_proposal (
        id, namespace_id, queue_id, task_id, revision, outcome, result, reason,
        evidence_ref, dossier_digest, proposer_id, proposer_kind, audit_id, created_at,
        expires_at)
    SELECT %(proposal)s, h.namespace_id, h.queue_id, h.id, h.revision, %(outcome)s,
           %(result)s, %(reason)s, %(evidence_ref)s, %(dossier_digest)s, %(actor)s,
           %(actor_kind)s, %(audit_id)s, %(now)s, %(expires_at)s
    FROM held h
)
SELECT count(*) FROM held
"""

WITHDRAW = f"""
WITH {_AUDITED}
decided AS (
    INSERT INTO tasks_review_decision (
        proposal_id, decision, actor_id, actor_kind, audit_id, decided_at)
    SELECT %(proposal)s, 'WITHDRAWN', %(actor)s, %(actor_kind)s, %(audit_id)s, %(now)s
    FROM held h
)
SELECT count(*) FROM held
"""

DECIDE = """
INSERT INTO tasks_review_decision (
    proposal_id, decision, actor_id, actor_kind, audit_id, decided_at)
VALUES (%(proposal)s, 'APPROVED', %(actor)s, %(actor_kind)s, %(audit_id)s, %(now)s)
RETURNING proposal_id
"""

_PROPOSAL = """
SELECT p.id, p.namespace_id, p.queue_id, p.task_id, p.revision, p.outcome, p.result,
       p.reason, p.evidence_ref, p.dossier_digest, p.proposer_id, p.proposer_kind,
       p.audit_id, p.created_at, p.expires_at, d.decision, d.actor_id, d.actor_kind,
       d.decided_at, t.revision = p.revision, clock_timestamp()
FROM tasks_review_proposal p
JOIN tasks_task t ON t.id = p.task_id
LEFT JOIN tasks_review_decision d ON d.proposal_id = p.id
"""

PROPOSALS_OF_TASK = f"""
{_PROPOSAL} WHERE p.task_id = %(task)s ORDER BY p.created_at, p.id
"""

PROPOSAL_BY_AUDIT = f"""
{_PROPOSAL} WHERE p.audit_id = %(audit)s
UNION ALL
{_PROPOSAL} WHERE d.audit_id = %(audit)s
"""

# Newest first; bounded by what was proposed within the time for approval.
OPEN_PROPOSALS = f"""
{_PROPOSAL} WHERE p.namespace_id = %(namespace)s
  AND p.expires_at > clock_timestamp()
  AND (%(queues)s::uuid[] IS NULL OR p.queue_id = ANY(%(queues)s))
  AND d.proposal_id IS NULL AND t.revision = p.revision
  AND (%(after_at)s::timestamptz IS NULL
       OR (p.created_at, p.id) < (%(after_at)s, %(after_id)s::uuid))
ORDER BY p.created_at DESC, p.id DESC LIMIT %(limit)s
"""
