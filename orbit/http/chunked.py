"""Bodies without a declared length, read within the limit before Django looks."""

import io
from collections.abc import Callable, Iterable
from typing import Any

from orbit.http.exact_json import BODY_LIMIT

Application = Callable[[dict[str, Any], Any], Iterable[bytes]]


class MeasuredBody:
    """A WSGI application that gives a chunked body its Content-Length.

    Django and DRF take a body without a length for an empty one. At most one byte
    more than the limit is read: enough for the parser to refuse it.
    """

    def __init__(self, application: Application) -> None:
        self.application = application

    def __call__(
        self,
        environ: dict[str, Any],
        start_response: Any,  # noqa: ANN401
    ) -> Iterable[bytes]:
        """The inner application's answer."""
        if "HTTP_TRANSFER_ENCODING" in environ and not environ.get("CONTENT_LENGTH"):
            body = environ["wsgi.input"].read(BODY_LIMIT + 1)
            environ["CONTENT_LENGTH"] = str(len(body))
            environ["wsgi.input"] = io.BytesIO(body)
        return self.application(environ, start_response)
