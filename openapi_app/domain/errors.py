"""The refusals of jobs and executions."""

from enum import StrEnum

from orbit.errors import Conflict, Invalid, NotFound


class WhyNot(StrEnum):
    """Why a job cannot be started; safe to show to any caller of the job."""

    DISABLED = "disabled"
    NOT_SYNCED = "not_synced"


_EXPLAINED = {
    WhyNot.DISABLED: "The job is disabled. Ask its owner to enable it.",
    WhyNot.NOT_SYNCED: (
        "The job is not in step with the scheduler. Ask its owner to synchronise it."
    ),
}


class JobNotFound(NotFound):
    """No such job within the caller's reach, or it is deleted."""

    code = "job_not_found"

    def __init__(self) -> None:
        super().__init__("There is no such job.")


class GroupNotFound(NotFound):
    """No such group in the namespace."""

    code = "group_not_found"

    def __init__(self) -> None:
        super().__init__("There is no such group.", field="group")


class ExecutionNotFound(NotFound):
    """No such execution within the caller's reach."""

    code = "execution_not_found"

    def __init__(self) -> None:
        super().__init__("There is no such execution.")


class JobNotTriggerable(Conflict):
    """The job is disabled or not synchronised; nothing was started.

    `details["reason"]` is a WhyNot.
    """

    code = "job_not_triggerable"

    def __init__(self, reason: WhyNot) -> None:
        super().__init__(_EXPLAINED[reason], details={"reason": reason})
        self.reason = reason


class InvalidJob(Invalid):
    """A field of a job breaks a rule; nothing was written."""

    code = "invalid_job"

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message, field=field)


class JobNameTaken(InvalidJob):
    """The group has a live job of that name already."""

    def __init__(self) -> None:
        super().__init__("name", "This group has a job of that name; choose another.")


class GroupNameTaken(InvalidJob):
    """The namespace has a group of that name already."""

    def __init__(self) -> None:
        super().__init__("name", "There is a group of that name; choose another.")
