"""Exact JSON at the edge: how DRF reads and writes it."""

from collections.abc import Iterable, Mapping
from typing import IO, Any

from rest_framework.exceptions import APIException
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from orbit.errors import Invalid
from orbit.exact_json import canonical, check, decode, digest, encode

__all__ = [
    "BODY_LIMIT",
    "MEDIA_TYPE",
    "BodyTooLarge",
    "ExactJSONParser",
    "ExactJSONRenderer",
    "JSONOnly",
    "canonical",
    "check",
    "decode",
    "digest",
    "encode",
]

BODY_LIMIT = 512 * 1024
MEDIA_TYPE = "application/json"


class BodyTooLarge(APIException):
    """The body is over the limit; no more than the limit of it was read."""

    status_code = 413
    default_code = "BODY_TOO_LARGE"
    default_detail = f"The body is over {BODY_LIMIT} bytes. Send less at once."


class ExactJSONParser(BaseParser):
    """Answers the checked bytes of the body as `request.data`."""

    media_type = MEDIA_TYPE

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002 - DRF's signature
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - DRF's signature
        """The body, at most BODY_LIMIT bytes; raises BodyTooLarge and Invalid."""
        length = _declared_length(parser_context or {})
        if length is not None and length > BODY_LIMIT:
            raise BodyTooLarge
        body: bytes = stream.read(BODY_LIMIT + 1)
        if len(body) > BODY_LIMIT:
            raise BodyTooLarge
        if length is not None and len(body) < length:
            raise Invalid("The body ended before its Content-Length. Send it again.")
        check(body)
        return body


def _declared_length(parser_context: Mapping[str, Any]) -> int | None:
    request = parser_context.get("request")
    written = request.META.get("CONTENT_LENGTH") if request else None
    return int(written) if written else None


class ExactJSONRenderer(BaseRenderer):
    """Writes the whole envelope in one pass."""

    media_type = MEDIA_TYPE
    format = "json"
    charset = None
    render_style = "binary"

    def render(
        self,
        data: Any,  # noqa: ANN401 - DRF's signature
        accepted_media_type: str | None = None,  # noqa: ARG002
        renderer_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Any:  # noqa: ANN401
        """`data` as JSON; nothing at all for None."""
        return b"" if data is None else encode(data)


class JSONOnly(BaseContentNegotiation):
    """JSON in and JSON out, whatever the Accept header says."""

    def select_parser(
        self, request: Request, parsers: Iterable[BaseParser]
    ) -> BaseParser | None:
        """The first parser if the body says that it is JSON; None answers 415."""
        sent = (request.content_type or "").partition(";")[0].strip().lower()
        return next(iter(parsers)) if sent == MEDIA_TYPE else None

    def select_renderer(
        self,
        request: Request,  # noqa: ARG002 - DRF's signature
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,  # noqa: ARG002
    ) -> tuple[BaseRenderer, str]:
        """The first renderer of the view."""
        renderer = next(iter(renderers))
        return renderer, renderer.media_type
