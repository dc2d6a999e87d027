"""Pages that show one namespace at a time: which there are, and which is asked for."""

from dataclasses import dataclass

from django.http import Http404, HttpRequest

from orbit.ids import parse_id
from tasks_app.domain.access import Reach
from tasks_app.models import Namespace

MOST_NAMESPACES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespaces:
    """All that can be chosen, by name; `chosen` is None while there is none at all."""

    every: list[Namespace]
    chosen: Namespace | None

    @property
    def reach(self) -> Reach | None:
        """Every queue of the chosen one."""
        if self.chosen is None:
            return None
        return Reach(namespace_id=self.chosen.id, queue_ids=None)


def namespaces_of(request: HttpRequest) -> Namespaces:
    """Those there are, and the one that `?namespace=` names, or else the first.

    Raises Http404 for one that is not there.
    """
    every = list(Namespace.objects.order_by("name")[:MOST_NAMESPACES])
    asked = request.GET.get("namespace", "")
    if not asked:
        return Namespaces(every=every, chosen=every[0] if every else None)
    wanted = parse_id(asked)
    chosen = next((it for it in every if it.id == wanted), None)
    if chosen is None:
        raise Http404
    return Namespaces(every=every, chosen=chosen)
