"""The way out to Celery: a message that says which execution is due, nothing more."""

import threading
from uuid import UUID

import structlog
from django.conf import settings
from kombu import Producer
from kombu.exceptions import OperationalError

from orbit.celery import app

RUN_EXECUTION = "openapi_app.run_execution"
RUN_PROBE = "openapi_app.run_probe"
WAIT_SECONDS = 0.4  # for one answer of the broker; a message needs two

log = structlog.get_logger("openapi_app.celery")


class _Line(threading.local):
    """This thread's connection to the broker; one that failed is thrown away."""

    _producer: Producer | None = None

    def producer(self) -> Producer:
        """Where messages go in; connects at the first publish, not here."""
        if self._producer is None:
            connection = app.connection_for_write(
                connect_timeout=WAIT_SECONDS, transport_options=_bounds()
            )
            self._producer = Producer(connection, auto_declare=False)
        return self._producer

    def hang_up(self) -> None:
        """Forget the connection without a word to a broker that may not listen."""
        producer, self._producer = self._producer, None
        if producer is not None and producer.connection is not None:
            producer.connection.collect(socket_timeout=WAIT_SECONDS)


_line = _Line()


def send_execution(execution_id: UUID) -> bool:
    """Whether the broker took the message, known in less than a second.

    To be called after the commit. A message that is lost is sent again by maintenance.
    """
    return _send(RUN_EXECUTION, execution_id)


def send_probe(probe_id: UUID) -> bool:
    """The same for the task of a probe."""
    return _send(RUN_PROBE, probe_id)


def _send(task: str, subject_id: UUID) -> bool:
    try:
        app.send_task(
            task,
            args=(subject_id.hex,),
            task_id=subject_id.hex,
            producer=_line.producer(),
            retry=False,
            ignore_result=True,
        )
    except (OperationalError, OSError) as error:
        _line.hang_up()
        log.warning(
            "execution_not_sent",
            execution_id=subject_id.hex,
            error=type(error.__cause__ or error).__name__,
        )
        return False
    return True


def _bounds() -> dict[str, object]:
    once: dict[str, object] = {"max_retries": 0}
    if settings.CELERY_BROKER_URL.startswith(("amqp", "pyamqp")):
        return {
            **once,
            "confirm_publish": True,
            "read_timeout": WAIT_SECONDS,
            "write_timeout": WAIT_SECONDS,
        }
    return {
        **once,
        "socket_connect_timeout": WAIT_SECONDS,
        "socket_timeout": WAIT_SECONDS,
        "retry_on_timeout": False,
    }
