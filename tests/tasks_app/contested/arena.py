"""Threads that act at the same moment, or stop at a statement until they may go on."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

from django.db import connection

from orbit.errors import Refusal
from tests.live import eventually

PATIENCE = 30


def connect():
    """Open the connection of the thread that asks."""
    connection.ensure_connection()


def disconnect():
    """Close the connection of the thread that asks."""
    connection.close()


class Arena:
    """As many threads as there are contestants, each with a connection of its own."""

    def __init__(self, contestants):
        self.contestants = contestants
        self.barrier = threading.Barrier(contestants)
        self.pool = ThreadPoolExecutor(contestants)

    def __enter__(self):
        self.race(*[connect] * self.contestants)
        return self

    def __exit__(self, *_):
        self.barrier.reset()
        self.race(*[disconnect] * self.contestants)
        self.pool.shutdown()

    def race(self, *acts):
        """What each act answered or refused with; any other exception is raised."""
        assert len(acts) == self.contestants
        started = [self.pool.submit(self._act, act) for act in acts]
        return [future.result(timeout=PATIENCE) for future in started]

    def _act(self, act):
        self.barrier.wait(timeout=PATIENCE)
        try:
            return act()
        except Refusal as refusal:
            return refusal


class Halt:
    """A thread's place to wait: `reached` by the thread, left when `go` is set."""

    def __init__(self, text, *, is_after=False):
        self.text = text
        self.is_after = is_after
        self.reached = threading.Event()
        self.go = threading.Event()

    def __call__(self, execute, sql, params, many, context):
        """Django's execute wrapper: the first statement with the text waits here."""
        if self.text not in str(sql) or self.reached.is_set():
            return execute(sql, params, many, context)
        answer = execute(sql, params, many, context) if self.is_after else None
        self.reached.set()
        assert self.go.wait(PATIENCE)
        return answer if self.is_after else execute(sql, params, many, context)


class Halted:
    """An act in a thread of its own, held at a statement."""

    def __init__(self, act, halt):
        self.halt = halt
        self.future = acting(act, halt)

    def go_on(self):
        """Let it act to its end; answers what it answered."""
        self.halt.go.set()
        return self.future.result(timeout=PATIENCE)


def acting(act, *wrappers):
    """The future of an act in a thread and on a connection of its own."""

    def run():
        try:
            with ExitStack() as stack:
                for wrapper in wrappers:
                    stack.enter_context(connection.execute_wrapper(wrapper))
                return act()
        except Refusal as refusal:
            return refusal
        finally:
            connection.close()

    pool = ThreadPoolExecutor(1)
    future = pool.submit(run)
    pool.shutdown(wait=False)
    return future


@contextmanager
def held_before(text, act, *, is_after=False):
    """`act` under way in a thread, and standing before a statement with `text`."""
    held = Halted(act, Halt(text, is_after=is_after))
    try:
        eventually(lambda: held.halt.reached.is_set() or held.future.done())
        assert held.halt.reached.is_set(), held.future.result()
        yield held
    finally:
        held.go_on()


def held_after(text, act):
    """`act` under way in a thread, with a statement done and not yet committed."""
    return held_before(text, act, is_after=True)


@contextmanager
def waiting_for_a_lock(act):
    """`act` under way in a thread, and seen to wait for a lock in the database."""
    before = lock_waits()
    held = Halted(act, Halt("a text that no statement has"))
    try:
        eventually(lambda: lock_waits() > before or held.future.done())
        assert not held.future.done(), "It did not wait."
        yield held
    finally:
        held.go_on()


def lock_waits():
    """How many sessions of this database wait for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return cursor.fetchone()[0]
