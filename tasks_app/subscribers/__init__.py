"""What the engine itself does when tasks that it owns become final."""

from collections.abc import Sequence
from uuid import UUID

from tasks_app.actions.attach_findings import attach_findings
from tasks_app.domain.ownership import Settled
from tasks_app.models.probing import lock_probed


class ProbeOwner:
    """Speaks for probes; they belong to the task that they look at."""

    def refuse_review(self, *, task_id: UUID, owner_id: UUID | None) -> str | None:
        """Never refused: a probe that nobody knows of may be closed."""
        del task_id, owner_id
        return None

    def refuse_retry(self, *, task_id: UUID, owner_id: UUID | None) -> str | None:
        """Always refused: another probe sees how things are then."""
        del task_id, owner_id
        return "Start another probe of the task that this one looked at."

    def before_settling(self, owner_ids: Sequence[UUID]) -> None:
        """The tasks that were looked at: what was found may contradict them."""
        lock_probed(owner_ids)

    def on_settled(self, settled: Sequence[Settled]) -> None:
        """What they found becomes evidence."""
        attach_findings(settled=[probe.task_id for probe in settled])
