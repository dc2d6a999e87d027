"""Waiting for what another process will do."""

import time

import pytest


def eventually(look, *, within=90):
    """The first true value of look(); fails the test when there is none in time."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        if found := look():
            return found
        time.sleep(0.02)
    pytest.fail(f"{look} was not true within {within} s")
