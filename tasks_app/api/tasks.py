"""Submit, read, list and cancel tasks."""

from typing import Annotated, Any
from uuid import UUID

import msgspec
from rest_framework.request import Request
from rest_framework.response import Response

from orbit.errors import Refusal
from orbit.exact_json import canonical, decode_checked
from orbit.http.envelope import answer
from orbit.http.paging import Cursor, page, read_limit
from orbit.ids import parse_id
from tasks_app import queries
from tasks_app.actions.cancel_task import cancel_task
from tasks_app.actions.submit_tasks import Submission, submit_tasks
from tasks_app.api.shapes import (
    attempt_shape,
    batch_entry,
    submitted_shape,
    task_shape,
    task_summary,
)
from tasks_app.api.views import TaskAPIView
from tasks_app.domain.commands import MAX_BATCH_TASKS, CancelTask, Command, SubmitTask
from tasks_app.domain.errors import InvalidField
from tasks_app.domain.idempotency import identify
from tasks_app.domain.lifecycle import State
from tasks_app.domain.timing import parse_moment
from tasks_app.models.replay import Answered

OWN_SCOPE = "tasks:own"


class TaskBatchIn(Command, frozen=True, kw_only=True):
    """Up to 500 tasks, each with its own key (POST /v1/tasks:batch)."""

    tasks: Annotated[
        list[msgspec.Raw], msgspec.Meta(min_length=1, max_length=MAX_BATCH_TASKS)
    ]


class BatchedTask(SubmitTask, frozen=True, kw_only=True):
    """One task of a batch."""

    idempotency_key: str


class TaskList(TaskAPIView):
    """GET and POST /v1/tasks."""

    query_parameters = (
        "limit",
        "cursor",
        "state",
        "queue_id",
        "handler",
        "business_key",
        "created_from",
        "created_before",
    )

    @property
    def scope(self) -> str:  # type: ignore[override]
        """Reading and submitting are different permissions."""
        return "tasks:submit" if self.request.method == "POST" else "tasks:read"

    def get(self, request: Request) -> Response:
        """Summaries, newest first."""
        limit = read_limit(self.query)
        cursor = Cursor(self.reach.namespace_id, "tasks", "tasks.list")
        found = queries.tasks_within(
            self.reach,
            wanted=_filter(self.query),
            after=self.position(cursor),
            limit=limit,
        )
        return answer(
            request,
            page(
                found,
                limit,
                lambda row: cursor.sign((row["created_at"], row["id"])),
                item=task_summary,
            ),
        )

    def post(self, request: Request) -> Response:
        """Accept one task: 201 the first time, 200 on replay."""
        if self.query:
            raise InvalidField(next(iter(self.query)), "POST takes no parameters.")
        command = self.body(SubmitTask)
        self._require_own(command)
        submission = Submission(command=command, identity=self.identity())
        answered = submit_tasks([submission], actor=self.actor, reach=self.reach)[0]
        if isinstance(answered, Refusal):
            raise answered
        return answer(
            request,
            submitted_shape(answered),
            status=200 if answered.deduplicated else 201,
        )

    def _require_own(self, command: SubmitTask) -> None:
        if command.gated or command.owner is not msgspec.UNSET:
            self.require(OWN_SCOPE)


class TaskBatch(TaskAPIView):
    """POST /v1/tasks:batch."""

    scope = "tasks:submit"

    def post(self, request: Request) -> Response:
        """Accept each task or say why not; one refusal does not stop the rest."""
        entries = [bytes(raw) for raw in self.body(TaskBatchIn).tasks]
        read = [self._read(index, raw) for index, raw in enumerate(entries)]
        sound = [entry for entry in read if isinstance(entry, Submission)]
        answers = iter(submit_tasks(sound, actor=self.actor, reach=self.reach))
        results: list[Answered | Refusal] = [
            entry if isinstance(entry, Refusal) else next(answers) for entry in read
        ]
        return answer(request, {"results": [batch_entry(item) for item in results]})

    def _read(self, index: int, raw: bytes) -> Submission | Refusal:
        try:
            command = decode_checked(raw, BatchedTask)
            if command.gated or command.owner is not msgspec.UNSET:
                self.require(OWN_SCOPE)
            identity = identify(
                key=command.idempotency_key,
                content=_content(raw),
                field="idempotency_key",
            )
        except Refusal as refusal:
            if refusal.field is not None:
                refusal.field = f"tasks[{index}].{refusal.field}"
            return refusal
        return Submission(command=command, identity=identity)


class TaskDetail(TaskAPIView):
    """GET /v1/tasks/{task_id}."""

    scope = "tasks:read"

    def get(self, request: Request, task_id: UUID) -> Response:
        """The whole task."""
        return answer(request, task_shape(queries.task_within(self.reach, task_id)))


class TaskAttempts(TaskAPIView):
    """GET /v1/tasks/{task_id}/attempts."""

    scope = "tasks:read"

    def get(self, request: Request, task_id: UUID) -> Response:
        """Every attempt in order, each with its late evidence."""
        history = queries.attempts_of(self.reach, task_id)
        items = [
            attempt_shape(
                attempt,
                [item for item in history.evidence if item.attempt_id == attempt.id],
            )
            for attempt in history.attempts
        ]
        return answer(request, {"items": items})


class TaskCancel(TaskAPIView):
    """POST /v1/tasks/{task_id}:cancel."""

    scope = "tasks:cancel"

    def post(self, request: Request, task_id: UUID) -> Response:
        """Cancel at once while it waits; ask its worker while it runs."""
        answered = cancel_task(
            self.body(CancelTask),
            task_id=task_id,
            identity=self.identity(),
            actor=self.actor,
            reach=self.reach,
        )
        return answer(request, submitted_shape(answered))


def _content(raw: bytes) -> bytes:
    members = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    del members["idempotency_key"]
    return canonical(msgspec.json.encode(members))


def _filter(query: dict[str, str]) -> queries.TaskFilter:
    states = tuple(query["state"].split(",")) if "state" in query else ()
    unknown = set(states) - set(State)
    if unknown:
        raise InvalidField("state", f"Known states: {', '.join(State)}.")
    return queries.TaskFilter(
        states=states,
        queue_id=_queue_id(query),
        handler=query.get("handler"),
        business_key=query.get("business_key"),
        created_from=parse_moment("created_from", query.get("created_from")),
        created_before=parse_moment("created_before", query.get("created_before")),
    )


def _queue_id(query: dict[str, Any]) -> UUID | None:
    if "queue_id" not in query:
        return None
    queue_id = parse_id(query["queue_id"])
    if queue_id is None:
        raise InvalidField("queue_id", "An id is 32 lower-case hex digits.")
    return queue_id
