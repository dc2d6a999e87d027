"""From a described call to an HTTP request, and from its response to an answer."""

import re
from typing import Any, TypeVar

import httpx
import msgspec

from orbit_sdk.answers import problem
from orbit_sdk.calls import Call
from orbit_sdk.errors import (
    AnswerLost,
    NotSent,
    OrbitError,
    Problem,
    UnreadableAnswer,
    refusal,
)
from orbit_sdk.exact import decode

VERSION = "0.1.0"
Shape = TypeVar("Shape", bound=msgspec.Struct)

_TOKEN = re.compile(r"[!-~]{1,1024}")
# Before these are raised no byte of the request has left.
_NOT_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)


class Connection:
    """What both clients tell httpx; holds the token and never shows it."""

    def __init__(self, base_url: str, token: str, timeout_seconds: float) -> None:
        if not _TOKEN.fullmatch(token):
            raise ValueError("The token is empty or has characters no token has.")
        self.base_url = base_url.rstrip("/")
        self.options: dict[str, Any] = {
            "headers": {
                "Authorization": f"Bearer {token}",
                "Accept": "application/json",
                "User-Agent": f"orbit-sdk/{VERSION}",
            },
            "timeout": httpx.Timeout(timeout_seconds),
            "http1": True,
            "http2": False,
            "follow_redirects": False,
            # Proxies and .netrc of the surroundings must not see or replace the token.
            "trust_env": False,
        }

    def request(self, call: Call[Any], timeout_seconds: float | None) -> dict[str, Any]:
        """Arguments of httpx' build_request."""
        asked: dict[str, Any] = {
            "method": call.method,
            "url": self.base_url + call.path,
            "headers": call.headers,
            "content": call.body,
        }
        if call.query:
            asked["params"] = call.query
        if timeout_seconds is not None:
            asked["timeout"] = httpx.Timeout(timeout_seconds)
        return asked

    def __repr__(self) -> str:
        return f"Connection({self.base_url!r})"


class _Good(msgspec.Struct):
    request_id: str
    data: msgspec.Raw


class _Bad(msgspec.Struct):
    request_id: str
    error: msgspec.Raw


_GOOD = msgspec.json.Decoder(_Good)
_BAD = msgspec.json.Decoder(_Bad)
_DECODERS: dict[object, msgspec.json.Decoder[Any]] = {}


def read(call: Call[Shape], response: httpx.Response) -> Shape:
    """The answer, or the OrbitError that the response stands for."""
    if not response.is_success:
        raise _refused(call, response)
    try:
        envelope = _GOOD.decode(response.content)
        answer = _decoder(call).decode(envelope.data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _unreadable(call, response) from error
    msgspec.structs.force_setattr(answer, "request_id", envelope.request_id)
    return answer


def unsent(call: Call[Any], error: httpx.HTTPError) -> OrbitError:
    """The OrbitError for a call that httpx could not bring to an end."""
    what = f"{call.method} {call.path}: {type(error).__name__}: {error}"
    if isinstance(error, _NOT_SENT):
        return NotSent(Problem(code="NOT_SENT", message=what))
    return AnswerLost(
        Problem(code="ANSWER_LOST", message=what, outcome_unknown=call.writes)
    )


def _refused(call: Call[Any], response: httpx.Response) -> OrbitError:
    try:
        envelope = _BAD.decode(response.content)
        told = decode(envelope.error)
    except (msgspec.DecodeError, ValueError):
        return _unreadable(call, response)
    if not isinstance(told, dict):
        return _unreadable(call, response)
    return refusal(
        problem(
            told,
            status=response.status_code,
            request_id=envelope.request_id,
            writes=call.writes,
        )
    )


def _unreadable(call: Call[Any], response: httpx.Response) -> UnreadableAnswer:
    return UnreadableAnswer(
        Problem(
            code="UNREADABLE_ANSWER",
            message=(
                f"{call.method} {call.path}: {response.status_code}, "
                "but not in Orbit's envelope."
            ),
            status=response.status_code,
            request_id=response.headers.get("X-Request-Id"),
            # A 4xx of something in between: the write did not pass it.
            outcome_unknown=call.writes and not response.is_client_error,
        )
    )


def _decoder(call: Call[Shape]) -> msgspec.json.Decoder[Shape]:
    decoder = _DECODERS.get(call.answer)
    if decoder is None:
        decoder = _DECODERS[call.answer] = msgspec.json.Decoder(call.answer)
    return decoder
