"""The ground of every /v1 view: token, permission, reach, query and key."""

import time
from typing import TypeVar

import structlog
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from orbit.exact_json import canonical, decode_checked
from orbit.http.paging import Cursor, read_query
from tasks_app.api.authentication import TaskTokenAuthentication
from tasks_app.api.described import Described
from tasks_app.domain.access import Actor, ActorKind, Reach
from tasks_app.domain.errors import InvalidField, MissingScope
from tasks_app.domain.idempotency import KEY_FIELD, Identity, identify
from tasks_app.queries import Position
from tokens_app.public import Principal, note_call

T = TypeVar("T")


class TaskAPIView(APIView):
    """Checks the token, then the scope, then that no unknown query parameter came."""

    authentication_classes = [TaskTokenAuthentication]
    permission_classes = ()
    schema = Described()
    scope: str
    query_parameters: tuple[str, ...] = ()
    caller: Principal | None = None

    def dispatch(
        self, request: HttpRequest, *args: object, **kwargs: object
    ) -> HttpResponseBase:
        """The answer; an authenticated call is noted in its token's log."""
        started_ns = time.perf_counter_ns()
        response = super().dispatch(request, *args, **kwargs)
        if self.caller is not None and isinstance(response, Response):
            note_call(
                self.caller,
                request=request,
                started_ns=started_ns,
                status=response.status_code,
                result=_result_of(response),
            )
        return response

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Refuse whom the token, its scopes or the query disqualify."""
        super().initial(request, *args, **kwargs)
        self.caller = self.principal
        structlog.contextvars.bind_contextvars(key_id=self.principal.key_id)
        self.require(self.scope)
        self.query = read_query(request, allowed=self.query_parameters)

    def require(self, scope: str) -> None:
        """Raise MissingScope unless the token has the permission."""
        if scope not in self.principal.scopes:
            raise MissingScope(scope)

    @property
    def principal(self) -> Principal:
        """The authenticated caller."""
        caller: Principal = self.request.user  # type: ignore[assignment]
        return caller

    @property
    def actor(self) -> Actor:
        """The caller as audits name it."""
        return Actor(id=self.principal.token_id, kind=ActorKind.TOKEN)

    @property
    def reach(self) -> Reach:
        """What the caller may touch."""
        return Reach(
            namespace_id=self.principal.namespace_id, queue_ids=self.principal.queue_ids
        )

    def body(self, shape: type[T]) -> T:
        """The request's body in its shape; raises Invalid."""
        return decode_checked(self._raw(), shape)

    def position(self, cursor: Cursor) -> Position | None:
        """Where the list goes on, or None for its first page; raises Invalid."""
        if "cursor" not in self.query:
            return None
        return cursor.read(self.query["cursor"], Position)

    def identity(self) -> Identity:
        """The identity of this write: its key and its content; raises Invalid."""
        return identify(key=self._key(), content=canonical(self._raw()))

    def _raw(self) -> bytes:
        body: object = self.request.data
        # DRF answers {} where there is no body.
        return body if isinstance(body, bytes) else b"{}"

    def _key(self) -> str:
        key = self.request.META.get("HTTP_IDEMPOTENCY_KEY")
        if key is None:
            raise InvalidField(
                KEY_FIELD, "Send an Idempotency-Key header and keep it for repetitions."
            )
        return str(key)


def _result_of(response: Response) -> str:
    body = response.data
    error = body.get("error") if isinstance(body, dict) else None
    return str(error["code"]) if error else "ok"
