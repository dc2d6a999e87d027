"""What Celery calls: one message, one look at the row that it names."""

from uuid import UUID

from openapi_app.actions.resend_executions import (
    find_unsent_executions,
    resend_executions,
)
from openapi_app.gateways.celery import RUN_EXECUTION, send_execution
from openapi_app.workers import shutdown
from openapi_app.workers.execution import execute
from orbit.celery import app
from orbit.ids import parse_id

__all__ = ["resend_lost", "run_execution", "shutdown"]


@app.task(name=RUN_EXECUTION)
def run_execution(execution_id: str) -> None:
    """Run the execution if it may run now; else do nothing.

    So a message that comes twice, too late or for nothing does no harm.
    """
    found = parse_id(execution_id)
    if found is not None:
        execute(found)


def resend_lost(*, limit: int) -> int:
    """Send again up to `limit` executions that were accepted and not taken.

    A maintenance pass; it ends at the first message that the broker does not take.
    """
    sent: list[UUID] = []
    for execution_id in find_unsent_executions(limit=limit):
        if not send_execution(execution_id):
            break
        sent.append(execution_id)
    if sent:
        resend_executions(sent)
    return len(sent)
