"""How recovery stands: what waits, how fast it is settled, and what disagrees."""

from dataclasses import dataclass
from datetime import timedelta

from django.http import Http404, HttpRequest, HttpResponse

from orbit.ids import parse_id
from orbit.words import Word, amount
from tasks_app.domain.access import Reach
from tasks_app.models import Contradiction, Namespace
from tasks_app.models.slo import QueueInReview, RecoverySLO
from tasks_app.pages import words
from tasks_app.pages.views import VIEW, ConsolePage
from tasks_app.queries import recovery_slo
from tasks_app.queries.contradictions import contradictions_within

WINDOW = timedelta(days=30)
SHOWN = 20
MOST_NAMESPACES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A queue with tasks in review, and what part of its quota they hold."""

    queue: QueueInReview
    age: str
    thousandths: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A late report against the outcome that its task has."""

    record: Contradiction
    declared: Word
    claimed: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The numbers of a namespace, in words where they are times."""

    waiting: int
    oldest: QueueInReview | None
    oldest_age: str
    came_hour: int
    came_day: int
    settled_hour: int
    settled_day: int
    settled: int
    half: str
    most: str
    jobs_blocked: int


class OverviewPage(ConsolePage):
    """/admin/recovery/overview, of one namespace."""

    permissions = (VIEW,)
    template = "tasks_app/overview.html"
    tab = "recovery:overview"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The numbers, the queues that hold something, and the newest disagreements."""
        namespaces = list(Namespace.objects.order_by("name")[:MOST_NAMESPACES])
        chosen = _chosen(request, namespaces)
        if chosen is None:
            return self.page(namespaces=namespaces, chosen=None)
        reach = Reach(namespace_id=chosen.id, queue_ids=None)
        standing = recovery_slo(reach, window=WINDOW)
        return self.page(
            namespaces=namespaces,
            chosen=chosen,
            numbers=_numbers(standing),
            held=[_held(it, standing) for it in standing.queues if it.held],
            disagreements=[
                Disagreement(
                    record=it,
                    declared=words.STATES[it.declared],
                    claimed=words.STATES[it.claimed],
                )
                for it in contradictions_within(reach, after=None, limit=SHOWN)[:SHOWN]
            ],
        )


def _chosen(request: HttpRequest, namespaces: list[Namespace]) -> Namespace | None:
    asked = request.GET.get("namespace", "")
    if not asked:
        return namespaces[0] if namespaces else None
    wanted = parse_id(asked)
    found = [it for it in namespaces if it.id == wanted]
    if not found:
        raise Http404
    return found[0]


def _numbers(standing: RecoverySLO) -> Numbers:
    oldest, speed, queues = standing.oldest, standing.time_to_settle, standing.queues
    since = oldest.oldest_since if oldest else None
    return Numbers(
        waiting=standing.needs_review,
        oldest=oldest,
        oldest_age=amount(standing.measured_at - since) if since else "",
        came_hour=sum(it.inflow_hour for it in queues),
        came_day=sum(it.inflow_day for it in queues),
        settled_hour=sum(it.settled_hour for it in queues),
        settled_day=sum(it.settled_day for it in queues),
        settled=speed.settled,
        half=_told(speed.p50_ms),
        most=_told(speed.p95_ms),
        jobs_blocked=standing.serial_jobs_blocked,
    )


def _held(queue: QueueInReview, standing: RecoverySLO) -> Held:
    since = queue.oldest_since or standing.measured_at
    return Held(
        queue=queue,
        age=amount(standing.measured_at - since),
        thousandths=min(1000, round(1000 * queue.held / max(1, queue.max_outstanding))),
    )


def _told(milliseconds: float | None) -> str:
    return "—" if milliseconds is None else amount(timedelta(milliseconds=milliseconds))
