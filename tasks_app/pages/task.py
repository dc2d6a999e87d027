"""One task with all that is known of it, on one page."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from orbit import clock
from orbit.words import Word, remaining
from tasks_app.domain.access import Actor, Reach
from tasks_app.domain.causes import cause_of
from tasks_app.domain.errors import TaskNotFound
from tasks_app.domain.lifecycle import FINAL, RETRYABLE, State
from tasks_app.models.record import TaskRecord
from tasks_app.pages import words
from tasks_app.pages.offers import Offer, offer_retry, offer_review
from tasks_app.pages.probes import probes_seen
from tasks_app.pages.proposals import open_proposal_of
from tasks_app.pages.story import Story, tell
from tasks_app.pages.texts import Excerpt, payload_excerpt, result_excerpt
from tasks_app.pages.views import RETRY, REVIEW, VIEW, VIEW_AUDIT, ConsolePage
from tasks_app.queries import QueuePlace, TaskStanding, queue_place, standings_of
from tasks_app.queries.dossier import Dossier, dossier_of

# States that go on by themselves, so that a page follows them.
MOVING = frozenset({State.WAITING, State.RUNNING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """How a task stands, as every page about it says at its head."""

    task: TaskRecord
    state: Word
    cause: words.CauseWords | None
    since: str
    is_moving: bool
    is_final: bool
    place: QueuePlace

    @property
    def name(self) -> str:
        """What people call it: its business key, or its handler."""
        return self.task.business_key or self.task.handler


@dataclass(frozen=True, slots=True, kw_only=True)
class Glimpse:
    """Where a task stands, and no more."""

    task: TaskStanding

    @property
    def state(self) -> Word:
        """Its state in words."""
        return words.STATES[self.task.state]

    @property
    def is_moving(self) -> bool:
        """Whether it goes on by itself."""
        return self.task.state in MOVING


def glance_at(task: TaskRecord, *, now: datetime) -> Glance:
    """The head of a page about this task."""
    needs_review = task.state == State.NEEDS_REVIEW
    return Glance(
        task=task,
        state=words.STATES[task.state],
        cause=words.CAUSES[cause_of(task.error_code)] if needs_review else None,
        since=remaining(task.updated_at, now=now),
        is_moving=task.state in MOVING,
        is_final=task.state in FINAL,
        place=queue_place(task.queue_id),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A task as a page shows it, of one dossier."""

    dossier: Dossier
    glance: Glance
    story: Story
    payload: Excerpt
    result: Excerpt | None


def see(reach: Reach, task_id: UUID, *, may_audit: bool) -> Seen:
    """Everything that a page shows of the task; raises TaskNotFound."""
    dossier, now = dossier_of(reach, task_id), clock.now()
    return Seen(
        dossier=dossier,
        glance=glance_at(dossier.task, now=now),
        story=tell(dossier, now=now, may_audit=may_audit),
        payload=payload_excerpt(dossier.task),
        result=result_excerpt(dossier.task),
    )


class TaskPage(ConsolePage):
    """/admin/recovery/tasks/{task_id}."""

    permissions = (VIEW,)
    template = "tasks_app/task.html"

    def get(self, request: HttpRequest, task_id: UUID) -> HttpResponse:  # noqa: ARG002
        """The task, and the acts that are open to this user now."""
        reach = self.reach_of(task_id)
        may_audit = self.user.has_perm(VIEW_AUDIT)
        seen = see(reach, task_id, may_audit=may_audit)
        task = seen.dossier.task
        may_review = self.user.has_perm(REVIEW)
        review = _review_of(task, reach, self.actor)
        proposal = (
            open_proposal_of(reach, task_id, actor=self.actor)
            if task.state == State.NEEDS_REVIEW
            else None
        )
        return self.page(
            seen=seen,
            glance=seen.glance,
            story=seen.story,
            may_audit=may_audit,
            proposal=proposal,
            probes=probes_seen(reach, task_id)
            if task.state == State.NEEDS_REVIEW
            else None,
            may_review=may_review,
            may_begin=may_review
            and review is not None
            and review.may_begin(proposal=proposal),
            may_retry=self.user.has_perm(RETRY),
            review=review,
            retry=_retry_of(task, reach, self.actor),
        )


class StandingFragment(ConsolePage):
    """/admin/recovery/tasks/{task_id}/standing: asked again while a task moves on."""

    permissions = (VIEW,)
    template = "tasks_app/standing.html"

    def get(self, request: HttpRequest, task_id: UUID) -> HttpResponse:  # noqa: ARG002
        """State, revision and attempts, as they are now; no payload is read for it."""
        found = standings_of([task_id])
        if task_id not in found:
            raise TaskNotFound
        return self.page(glance=Glimpse(task=found[task_id]))


def _review_of(task: TaskRecord, reach: Reach, actor: Actor) -> Offer | None:
    if task.state != State.NEEDS_REVIEW:
        return None
    return offer_review(task, actor=actor, reach=reach)


def _retry_of(task: TaskRecord, reach: Reach, actor: Actor) -> Offer | None:
    if task.state not in RETRYABLE:
        return None
    return offer_retry(task, actor=actor, reach=reach)
