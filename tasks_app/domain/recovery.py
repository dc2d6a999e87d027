"""What a person's review or retry must say, whatever the task is like."""

from tasks_app.domain.commands import MAX_RESULT_BYTES, RetryTask, ReviewTask
from tasks_app.domain.declarations import (
    check_declared,
    check_evidence_ref,
    check_reason,
    check_size,
)
from tasks_app.domain.errors import InvalidField
from tasks_app.domain.timing import parse_moment


def check_review(command: ReviewTask) -> None:
    """Refuse a review that declares too little; raises InvalidField."""
    check_reason(command.reason)
    check_evidence_ref(command.evidence_ref)
    check_declared(
        "execution_settled",
        is_declared=command.execution_settled,
        meaning="every execution of the past has ended and has no further effect",
    )
    result = bytes(command.result)
    if result.strip() == b"null":
        raise InvalidField("result", "State the conclusion; null is not a result.")
    check_size("result", result, limit=MAX_RESULT_BYTES)


def check_retry(command: RetryTask) -> None:
    """Refuse a retry that declares too little; raises InvalidField."""
    check_reason(command.reason)
    check_evidence_ref(command.evidence_ref)
    check_declared(
        "safe_to_retry",
        is_declared=command.safe_to_retry,
        meaning="the old execution has ended and running it again is safe",
    )
    # Whether they fit is for the task to say; whether they are moments is not.
    parse_moment("available_at", command.available_at)
    parse_moment("start_deadline_at", command.start_deadline_at)
