"""How recovery stands: what waits, how fast it is settled, and what disagrees."""

from dataclasses import dataclass
from datetime import timedelta

from django.http import HttpRequest, HttpResponse

from orbit.words import amount, remaining
from tasks_app.models.liveness import Liveness, QueueWaiting, WorkerAtWork
from tasks_app.models.slo import HourOfReview, QueueInReview, RecoverySLO
from tasks_app.pages.contradictions import disagreements
from tasks_app.pages.namespaces import namespaces_of
from tasks_app.pages.views import VIEW, ConsolePage
from tasks_app.queries import liveness, recovery_slo, review_by_hour
from tasks_app.queries.contradictions import contradictions_within

WINDOW = timedelta(days=30)
SHOWN = 5
# The units of the drawing of hours.
CHART_MIDDLE = 60
CHART_STEP = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A queue with tasks in review, and what part of its quota they hold."""

    queue: QueueInReview
    age: str
    thousandths: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """An hour in the drawing: both heights and where they begin, in its units."""

    hour: HourOfReview
    hours_ago: int
    x: int
    came: int
    settled: int

    @property
    def came_y(self) -> int:
        """Where the upper bar begins: it stands on the middle line."""
        return CHART_MIDDLE - self.came


@dataclass(frozen=True, slots=True, kw_only=True)
class AtWork:
    """A worker, and how long ago it was heard of."""

    worker: WorkerAtWork
    heard: str
    is_over: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """A queue with due tasks, and for how long the oldest has waited."""

    queue: QueueWaiting
    age: str
    is_unserved: bool


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
    disagreed_hour: int
    disagreed_day: int


class OverviewPage(ConsolePage):
    """/admin/recovery/overview, of one namespace."""

    permissions = (VIEW,)
    template = "tasks_app/overview.html"
    tab = "recovery:overview"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The numbers, the queues that hold something, and the newest disagreements."""
        namespaces = namespaces_of(request)
        reach = namespaces.reach
        if reach is None:
            return self.page(namespaces=namespaces)
        standing = recovery_slo(reach, window=WINDOW)
        hours = review_by_hour(reach)
        life = liveness(reach)
        return self.page(
            namespaces=namespaces,
            numbers=_numbers(standing),
            bars=_bars(hours),
            most_in_an_hour=max(max(it) for it in hours),
            life=life,
            overdue_age=amount(life.now - life.overdue_since)
            if life.overdue_since
            else "",
            workers=[_at_work(it, life) for it in life.workers],
            waiting=[_waiting(it, life) for it in life.queues],
            held=[_held(it, standing) for it in standing.queues if it.held],
            disagreements=disagreements(
                contradictions_within(reach, after=None, limit=SHOWN)[:SHOWN]
            ),
        )


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
        disagreed_hour=standing.contradictions.hour,
        disagreed_day=standing.contradictions.day,
    )


def _held(queue: QueueInReview, standing: RecoverySLO) -> Held:
    since = queue.oldest_since or standing.measured_at
    return Held(
        queue=queue,
        age=amount(standing.measured_at - since),
        thousandths=min(1000, round(1000 * queue.held / max(1, queue.max_outstanding))),
    )


def _bars(hours: list[HourOfReview]) -> list[Bar]:
    most = max(1, *(max(it) for it in hours))

    def height(count: int) -> int:
        # One among thousands is still seen.
        return max(2, round(CHART_MIDDLE * count / most)) if count else 0

    return [
        Bar(
            hour=hour,
            hours_ago=len(hours) - 1 - place,
            x=place * CHART_STEP,
            came=height(hour.came),
            settled=height(hour.settled),
        )
        for place, hour in enumerate(hours)
    ]


def _at_work(worker: WorkerAtWork, life: Liveness) -> AtWork:
    return AtWork(
        worker=worker,
        heard=remaining(worker.seen_at, now=life.now),
        is_over=worker.expires_at <= life.now,
    )


def _waiting(queue: QueueWaiting, life: Liveness) -> Waiting:
    return Waiting(
        queue=queue,
        age=amount(life.now - queue.oldest),
        is_unserved=life.is_unserved(queue),
    )


def _told(milliseconds: float | None) -> str:
    return "—" if milliseconds is None else amount(timedelta(milliseconds=milliseconds))
