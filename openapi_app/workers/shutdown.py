"""Whether this worker was asked to end: told in its main process, seen in all."""

import mmap

from celery.signals import worker_shutting_down

# Memory that the pool's processes share, since none of them gets the signal itself.
_flag = mmap.mmap(-1, 1)


@worker_shutting_down.connect
def ask(**_signal: object) -> None:
    """The worker takes no new messages and waits for what runs."""
    _flag[0] = 1


def is_asked() -> bool:
    """Whether the handlers of this worker should come to an end."""
    return _flag[0] == 1
