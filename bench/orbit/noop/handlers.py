"""The handler that does nothing, and says how long its execution waited."""

from bench.ticks import tick_waited
from openapi_app.domain.handlers import Context, NoParameters, job_handler

NAME = "bench.noop"
MILLISECONDS = 80  # bits of a UUIDv7 below its time


@job_handler(NAME, recovery_safety="REPLAY_SAFE")
def noop(context: Context, _parameters: NoParameters) -> None:
    """Do nothing; the execution's id tells when it was accepted."""
    tick_waited(since=(context.execution_id.int >> MILLISECONDS) / 1000)
