"""Records that the database itself keeps from change: evidence and operations."""

from django.contrib import admin
from django.utils.safestring import SafeString

from orbit.read_only_admin import LISTED, ReadOnlyAdmin, link, stored_text
from tasks_app.admin.filters import KindFilter
from tasks_app.models import Evidence, OperationAudit, ReviewDecision, ReviewProposal


@admin.register(Evidence)
class EvidenceAdmin(ReadOnlyAdmin):
    """Late reports, word for word."""

    list_display = (
        "hex_id",
        "kind",
        "of_task",
        "of_attempt",
        "received_at",
        "actor_id",
    )
    list_filter = (KindFilter,)
    search_fields = ("id", "task_id", "attempt")
    search_help_text = (
        f"The id of a report, a task or an attempt. The newest {LISTED:,} rows."
    )
    kept_back = ("content", "digest")
    exclude = ("task_id", "attempt")
    readonly_fields = ("hex_id", "of_task", "of_attempt", "content_as_stored")

    @admin.display(description="task")
    def of_task(self, evidence: Evidence) -> SafeString | str:
        """The task that it is about."""
        return link("tasks_app_task", evidence.task_id)

    @admin.display(description="attempt")
    def of_attempt(self, evidence: Evidence) -> SafeString | str:
        """The attempt that it is about."""
        return link("tasks_app_attempt", evidence.attempt_id)

    @admin.display(description="content")
    def content_as_stored(self, evidence: Evidence) -> SafeString | str:
        """The report's own text."""
        return stored_text(evidence, "content")


@admin.register(ReviewProposal)
class ReviewProposalAdmin(ReadOnlyAdmin):
    """Reviews proposed for a second person."""

    list_display = (
        "hex_id",
        "of_task",
        "outcome",
        "revision",
        "proposer_kind",
        "proposer_id",
        "created_at",
        "expires_at",
    )
    search_fields = ("id", "task_id")
    search_help_text = f"The id of a proposal or a task. The newest {LISTED:,} rows."
    kept_back = ("result",)
    exclude = ("task_id",)
    readonly_fields = ("hex_id", "of_task", "result_as_stored")

    @admin.display(description="task")
    def of_task(self, proposal: ReviewProposal) -> SafeString | str:
        """The task that it would settle."""
        return link("tasks_app_task", proposal.task_id)

    @admin.display(description="result")
    def result_as_stored(self, proposal: ReviewProposal) -> SafeString | str:
        """The result's own text."""
        return stored_text(proposal, "result")


@admin.register(ReviewDecision)
class ReviewDecisionAdmin(ReadOnlyAdmin):
    """What was decided about proposed reviews."""

    ordering = ("-pk",)
    list_display = ("proposal_id", "decision", "actor_kind", "actor_id", "decided_at")
    search_fields = ("proposal",)
    search_help_text = f"The id of a proposal. The newest {LISTED:,} rows."


@admin.register(OperationAudit)
class OperationAuditAdmin(ReadOnlyAdmin):
    """Who did what to which task."""

    list_display = (
        "hex_id",
        "action",
        "of_task",
        "revision",
        "actor_kind",
        "actor_id",
        "created_at",
    )
    search_fields = ("id", "task_id")
    search_help_text = f"The id of an operation or a task. The newest {LISTED:,} rows."
    kept_back = ("before", "after")
    exclude = ("task_id", "previous_hash", "entry_hash")
    readonly_fields = (
        "hex_id",
        "of_task",
        "before_as_stored",
        "after_as_stored",
        "hash_before",
        "own_hash",
    )

    @admin.display(description="task")
    def of_task(self, operation: OperationAudit) -> SafeString | str:
        """The task that it changed."""
        return link("tasks_app_task", operation.task_id)

    @admin.display(description="before")
    def before_as_stored(self, operation: OperationAudit) -> SafeString | str:
        """The task's picture before."""
        return stored_text(operation, "before")

    @admin.display(description="after")
    def after_as_stored(self, operation: OperationAudit) -> SafeString | str:
        """The task's picture after."""
        return stored_text(operation, "after")

    @admin.display(description="hash of the record before")
    def hash_before(self, operation: OperationAudit) -> str:
        """In hex."""
        return bytes(operation.previous_hash).hex()

    @admin.display(description="hash")
    def own_hash(self, operation: OperationAudit) -> str:
        """In hex."""
        return bytes(operation.entry_hash).hex()
