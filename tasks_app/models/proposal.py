"""Proposed reviews, and what was decided about them."""

from django.db import models

from tasks_app.models.namespace import Namespace


class ReviewProposal(models.Model):
    """A review that waits for a second person; its row never changes.

    How it stands follows from its decision, the task's revision and the database's
    time: see domain/duty.py.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    namespace = models.ForeignKey(
        Namespace, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False
    )
    queue_id = models.UUIDField()
    task_id = models.UUIDField()
    revision = models.BigIntegerField()
    outcome = models.CharField(max_length=9)
    result = models.TextField()
    reason = models.TextField()
    evidence_ref = models.TextField()
    dossier_digest = models.CharField(max_length=64, null=True)  # noqa: DJ001
    proposer_id = models.UUIDField()
    proposer_kind = models.CharField(max_length=6)
    audit_id = models.UUIDField(unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "tasks_review_proposal"
        indexes = [
            models.Index(
                fields=["task_id", "created_at", "id"], name="tasks_proposal_of_task"
            ),
            # What may be open: the rest has expired.
            models.Index(
                fields=["namespace", "expires_at"], name="tasks_proposal_unexpired"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} proposed at {self.created_at:%Y-%m-%d %H:%M:%S}"


class ReviewDecision(models.Model):
    """That a proposal was approved or withdrawn; one for each, and never changed."""

    proposal = models.OneToOneField(
        ReviewProposal,
        primary_key=True,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
    )
    decision = models.CharField(max_length=9)
    actor_id = models.UUIDField()
    actor_kind = models.CharField(max_length=6)
    audit_id = models.UUIDField(unique=True)
    decided_at = models.DateTimeField()

    class Meta:
        db_table = "tasks_review_decision"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(decision__in=["APPROVED", "WITHDRAWN"]),
                name="tasks_review_decision_known",
            )
        ]

    def __str__(self) -> str:
        return self.decision
