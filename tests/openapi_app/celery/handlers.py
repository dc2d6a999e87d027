"""Handlers that leave traces in a file, for workers of the tests."""

import os
import signal
import time

import msgspec

from openapi_app.domain.handlers import (
    Cancelled,
    Context,
    Finding,
    OutcomeUnknown,
    RetryableError,
    Suspect,
    job_handler,
    job_probe,
)


class Trace(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Where to leave traces, and how to behave."""

    file: str
    sleep_ms: int = 0
    secret: str = ""


def leave(trace: Trace, word: str) -> None:
    """One whole line, whoever else writes."""
    descriptor = os.open(trace.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(descriptor, f"{word}\n".encode())
    os.close(descriptor)


@job_handler("test.traced", parameters=Trace)
def traced(context: Context, trace: Trace) -> object:
    """Begin, wait, end."""
    leave(trace, f"begin {context.execution_id.hex} {context.attempt_number}")
    time.sleep(trace.sleep_ms / 1000)
    leave(trace, f"end {context.execution_id.hex} {context.attempt_number}")
    return {"attempt": context.attempt_number}


@job_handler("test.polite", parameters=Trace)
def polite(context: Context, trace: Trace) -> object:
    """Begin, then look whether it may go on until it may not."""
    leave(trace, "begin")
    for _ in range(trace.sleep_ms // 20):
        time.sleep(0.02)
        context.check()
        if context.cancel_requested.is_set():
            raise Cancelled
    leave(trace, "end")
    return None


@job_handler("test.fails_once", parameters=Trace)
def fails_once(context: Context, trace: Trace) -> object:
    """A failure that another attempt gets over."""
    leave(trace, f"attempt {context.attempt_number}")
    if context.attempt_number == 1:
        raise RetryableError("not yet")
    return None


@job_handler("test.raises", parameters=Trace)
def raises(_context: Context, trace: Trace) -> object:
    """A plain error."""
    leave(trace, "raising")
    raise ValueError(f"cannot go on with {trace.secret}\0")


@job_handler("test.unsure", parameters=Trace)
def unsure(_context: Context, _trace: Trace) -> object:
    """Somebody else did not answer."""
    raise OutcomeUnknown("the bank did not answer")


@job_probe("test.unsure")
def look(suspect: Suspect, trace: Trace) -> Finding:
    """The bank answers now."""
    leave(trace, f"looked {suspect.owner_id}")
    return Finding(effect="NOT_APPLIED", details={"asked": suspect.payload})


@job_handler("test.large", parameters=Trace)
def large(_context: Context, _trace: Trace) -> object:
    """More than the engine takes."""
    return "x" * (256 * 1024)


@job_handler("test.not_json", parameters=Trace)
def not_json(_context: Context, _trace: Trace) -> object:
    """Nothing that JSON knows."""
    return {"when": object()}


@job_handler("test.dies", parameters=Trace)
def dies(context: Context, trace: Trace) -> object:
    """The process is gone in the middle of the first attempt."""
    leave(trace, f"attempt {context.attempt_number}")
    if context.attempt_number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return None
