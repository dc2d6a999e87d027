"""Filters with plain choices: none asks a large table for its values."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from orbit.ids import parse_id
from orbit.read_only_admin import ChoiceFilter
from tasks_app.domain.lifecycle import Outcome, State
from tasks_app.domain.reports import ReportKind
from tasks_app.models import Queue

MOST_QUEUES = 200


class StateFilter(ChoiceFilter):
    """By state of the task."""

    title = "state"
    parameter_name = "state"
    wanted = tuple(State)


class OutcomeFilter(ChoiceFilter):
    """By outcome of the attempt."""

    title = "outcome"
    parameter_name = "outcome"
    wanted = tuple(Outcome)


class KindFilter(ChoiceFilter):
    """By kind of the late report."""

    title = "kind"
    parameter_name = "kind"
    wanted = tuple(ReportKind)


class PermitFilter(ChoiceFilter):
    """By what the permit occupies."""

    title = "kind"
    parameter_name = "kind"
    wanted = ("QUEUE", "KEY")


class QueueFilter(admin.SimpleListFilter):
    """By queue; the first two hundred by name."""

    title = "queue"
    parameter_name = "queue"

    def lookups(
        self,
        request: HttpRequest,  # noqa: ARG002
        model_admin: object,  # noqa: ARG002
    ) -> list[tuple[str, str]]:
        """Each queue with the name of its application."""
        queues = Queue.objects.order_by("application__name", "name").values_list(
            "id", "application__name", "name"
        )
        return [
            (queue_id.hex, f"{application} / {name}")
            for queue_id, application, name in queues[:MOST_QUEUES]
        ]

    def queryset(
        self,
        request: HttpRequest,  # noqa: ARG002
        queryset: QuerySet[Any],
    ) -> QuerySet[Any]:
        """The rows of the queue; none for an id that is none."""
        chosen = self.value()
        return queryset if not chosen else queryset.filter(queue_id=parse_id(chosen))
