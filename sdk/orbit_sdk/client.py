"""The two clients: the same calls, one blocking and one awaited."""

import functools
import inspect
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import httpx
import msgspec

from orbit_sdk import calls
from orbit_sdk.calls import Call
from orbit_sdk.wire import Connection, read, unsent

Shape = TypeVar("Shape", bound=msgspec.Struct)
Params = ParamSpec("Params")


def _blocking(
    build: Callable[Params, Call[Shape]],
) -> Callable[Concatenate["Client", Params], Shape]:
    @functools.wraps(build)
    def send(client: "Client", /, *args: Params.args, **kwargs: Params.kwargs) -> Shape:
        return client.send(build(*args, **kwargs))

    send.__dict__["__signature__"] = _as_method(build)
    return send


def _awaited(
    build: Callable[Params, Call[Shape]],
) -> Callable[Concatenate["AsyncClient", Params], Coroutine[Any, Any, Shape]]:
    @functools.wraps(build)
    async def send(
        client: "AsyncClient", /, *args: Params.args, **kwargs: Params.kwargs
    ) -> Shape:
        return await client.send(build(*args, **kwargs))

    send.__dict__["__signature__"] = _as_method(build)
    return send


def _as_method(build: Callable[..., Any]) -> inspect.Signature:
    described = inspect.signature(build)
    client = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    (answer,) = described.return_annotation.__args__
    return described.replace(
        parameters=[client, *described.parameters.values()], return_annotation=answer
    )


class Client:
    """A blocking client; safe to share between threads; close it or use `with`.

    Every call raises an OrbitError when it does not succeed, with
    `outcome_unknown` set when a write may be committed all the same. Nothing is
    sent twice and no idempotency key is made up: both are the caller's to decide.
    `timeout_seconds` bounds the connecting and every single wait for the server.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        timeout_seconds: float = 10.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._connection = Connection(base_url, token, timeout_seconds)
        self._http = httpx.Client(**self._connection.options, transport=transport)

    submit_task = _blocking(calls.submit_task)
    submit_tasks = _blocking(calls.submit_tasks)
    get_task = _blocking(calls.get_task)
    list_tasks = _blocking(calls.list_tasks)
    list_attempts = _blocking(calls.list_attempts)
    cancel_task = _blocking(calls.cancel_task)
    review_task = _blocking(calls.review_task)
    propose_review = _blocking(calls.propose_review)
    approve_review = _blocking(calls.approve_review)
    withdraw_review = _blocking(calls.withdraw_review)
    list_proposals = _blocking(calls.list_proposals)
    retry_task = _blocking(calls.retry_task)
    start_probe = _blocking(calls.start_probe)
    preview_review = _blocking(calls.preview_review)
    preview_retry = _blocking(calls.preview_retry)
    get_dossier = _blocking(calls.get_dossier)
    get_lineage = _blocking(calls.get_lineage)
    list_contradictions = _blocking(calls.list_contradictions)
    look_up_receipt = _blocking(calls.look_up_receipt)
    list_operations = _blocking(calls.list_operations)
    get_operation = _blocking(calls.get_operation)
    get_recovery_slo = _blocking(calls.get_recovery_slo)
    list_events = _blocking(calls.list_events)
    claim_tasks = _blocking(calls.claim_tasks)
    heartbeat = _blocking(calls.heartbeat)
    succeed = _blocking(calls.succeed)
    fail = _blocking(calls.fail)
    unknown = _blocking(calls.unknown)
    acknowledge_cancel = _blocking(calls.acknowledge_cancel)
    report = _blocking(calls.report)

    def send(self, call: Call[Shape], *, timeout_seconds: float | None = None) -> Shape:
        """Send one described call; a time-out here takes the client's place."""
        request = self._http.build_request(
            **self._connection.request(call, timeout_seconds)
        )
        try:
            response = self._http.send(request)
        except httpx.HTTPError as error:
            raise unsent(call, error) from error
        return read(call, response)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._connection.base_url!r})"


class AsyncClient:
    """The same calls as `Client`, to be awaited; close it or use `async with`."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        timeout_seconds: float = 10.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._connection = Connection(base_url, token, timeout_seconds)
        self._http = httpx.AsyncClient(**self._connection.options, transport=transport)

    submit_task = _awaited(calls.submit_task)
    submit_tasks = _awaited(calls.submit_tasks)
    get_task = _awaited(calls.get_task)
    list_tasks = _awaited(calls.list_tasks)
    list_attempts = _awaited(calls.list_attempts)
    cancel_task = _awaited(calls.cancel_task)
    review_task = _awaited(calls.review_task)
    propose_review = _awaited(calls.propose_review)
    approve_review = _awaited(calls.approve_review)
    withdraw_review = _awaited(calls.withdraw_review)
    list_proposals = _awaited(calls.list_proposals)
    retry_task = _awaited(calls.retry_task)
    start_probe = _awaited(calls.start_probe)
    preview_review = _awaited(calls.preview_review)
    preview_retry = _awaited(calls.preview_retry)
    get_dossier = _awaited(calls.get_dossier)
    get_lineage = _awaited(calls.get_lineage)
    list_contradictions = _awaited(calls.list_contradictions)
    look_up_receipt = _awaited(calls.look_up_receipt)
    list_operations = _awaited(calls.list_operations)
    get_operation = _awaited(calls.get_operation)
    get_recovery_slo = _awaited(calls.get_recovery_slo)
    list_events = _awaited(calls.list_events)
    claim_tasks = _awaited(calls.claim_tasks)
    heartbeat = _awaited(calls.heartbeat)
    succeed = _awaited(calls.succeed)
    fail = _awaited(calls.fail)
    unknown = _awaited(calls.unknown)
    acknowledge_cancel = _awaited(calls.acknowledge_cancel)
    report = _awaited(calls.report)

    async def send(
        self, call: Call[Shape], *, timeout_seconds: float | None = None
    ) -> Shape:
        """Send one described call; a time-out here takes the client's place."""
        request = self._http.build_request(
            **self._connection.request(call, timeout_seconds)
        )
        try:
            response = await self._http.send(request)
        except httpx.HTTPError as error:
            raise unsent(call, error) from error
        return read(call, response)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"AsyncClient({self._connection.base_url!r})"
