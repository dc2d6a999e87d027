"""Admin pages that show rows and never touch them, cheap on tables of any size."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db import models
from django.db.models.functions import Left
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

LISTED = 1_000
SHOWN_CHARACTERS = 16 * 1024


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Pages through the first thousand rows; looks no further to count them."""

    @cached_property
    def count(self) -> int:
        """How many rows can be paged to, at most a thousand."""
        rows: Any = self.object_list
        return int(rows.order_by()[:LISTED].count())


class ReadOnlyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Rows to look at, newest first; acts have pages of their own.

    `kept_back` names the columns that no list and no form reads. A search finds the
    rows whose `search_fields` are exactly the identifier that was typed.
    """

    actions = None
    sortable_by = ()
    ordering = ("-id",)
    list_per_page = 50
    list_max_show_all = 50
    show_full_result_count = False
    paginator = BoundedPaginator
    search_help_text = f"An id, exactly. The newest {LISTED:,} rows are listed."
    kept_back: ClassVar[tuple[str, ...]] = ()

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        """The rows without what is kept back."""
        return super().get_queryset(request).defer(*self.kept_back)

    def get_exclude(self, request: HttpRequest, obj: Any = None) -> Any:  # noqa: ANN401
        """A form must not read what is kept back either."""
        return (*(super().get_exclude(request, obj) or ()), *self.kept_back)

    def get_search_results(
        self,
        request: HttpRequest,  # noqa: ARG002
        queryset: models.QuerySet[Any],
        search_term: str,
    ) -> tuple[models.QuerySet[Any], bool]:
        """The rows that the term names, found by indexes alone."""
        term = search_term.strip()
        return (queryset.filter(self.named(term)) if term else queryset), False

    def named(self, term: str) -> models.Q:
        """The condition that an exact search term stands for."""
        found = models.Q(pk__in=[])
        for name in self.search_fields:
            value = _as_written(self.model._meta.get_field(name), term)  # noqa: SLF001
            if value is not None:
                found |= models.Q(**{name: value})
        return found

    @admin.display(description="id")
    def hex_id(self, row: Any) -> str:  # noqa: ANN401
        """The id as the API writes it."""
        return str(row.pk.hex)

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(
        self,
        request: HttpRequest,  # noqa: ARG002
        obj: object = None,  # noqa: ARG002
    ) -> bool:
        return False

    def has_delete_permission(
        self,
        request: HttpRequest,  # noqa: ARG002
        obj: object = None,  # noqa: ARG002
    ) -> bool:
        return False


class ChoiceFilter(admin.SimpleListFilter):
    """A filter whose choices are known without asking the table."""

    wanted: ClassVar[Iterable[str]]

    def lookups(
        self,
        request: HttpRequest,  # noqa: ARG002
        model_admin: object,  # noqa: ARG002
    ) -> list[tuple[str, str]]:
        """Each choice under its own name."""
        return [(choice, choice) for choice in self.wanted]

    def queryset(
        self,
        request: HttpRequest,  # noqa: ARG002
        queryset: models.QuerySet[Any],
    ) -> models.QuerySet[Any]:
        """The rows of the choice; none for one that is unknown."""
        chosen = self.value()
        if chosen is None:
            return queryset
        return queryset.filter(**{str(self.parameter_name): chosen})


def stored_text(row: models.Model, column: str) -> SafeString | str:
    """The column exactly as stored, escaped; the beginning of it when it is long."""
    shown = Left(column, SHOWN_CHARACTERS), _octets(column)
    rows: Any = type(row).objects.filter(pk=row.pk)  # type: ignore[attr-defined]
    head, size = rows.values_list(*shown).get()
    if head is None:
        return "-"
    note = f"{size:,} bytes"
    if len(head) == SHOWN_CHARACTERS:
        note += f", the first {SHOWN_CHARACTERS:,} characters are shown"
    return format_html('<pre class="stored">{}</pre><p class="help">{}</p>', head, note)


def link(page: str, row_id: UUID | None) -> SafeString | str:
    """A link to one row's page, such as "tasks_app_task", under its id."""
    if row_id is None:
        return "-"
    url = reverse(f"admin:{page}_change", args=[row_id])
    return format_html('<a href="{}">{}</a>', url, row_id.hex)


def link_to_found(page: str, term: UUID, words: str) -> SafeString:
    """A link to the rows that a search for the id finds."""
    url = reverse(f"admin:{page}_changelist")
    return format_html('<a href="{}?q={}">{}</a>', url, term.hex, words)


def _octets(column: str) -> models.Func:
    return models.Func(
        models.F(column), function="octet_length", output_field=models.IntegerField()
    )


def _as_written(field: object, term: str) -> object:
    """The term as a value of the field, or None if it cannot be one."""
    field = getattr(field, "target_field", field)
    try:
        if isinstance(field, models.UUIDField):
            return UUID(term)
        if isinstance(field, models.IntegerField):
            return int(term) if term.isascii() and term.isdecimal() else None
    except ValueError:
        return None
    return term
