"""Connections whose server went away while nobody used them."""

import select

from django.db import connections


def close_dead_connections(**_signal: object) -> None:
    """Close this thread's connections that the server has ended, before they are used.

    A restarted database would otherwise cost each idle thread one failed request. One
    look at the socket tells, without a round trip: a server says nothing to an idle
    client but that it goes.
    """
    for connection in connections.all(initialized_only=True):
        driver = connection.connection
        if driver is None or connection.in_atomic_block:
            continue
        if driver.closed or _is_readable(driver.fileno()):
            connection.close()


def _is_readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
