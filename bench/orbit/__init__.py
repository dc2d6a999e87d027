"""Orbit as a contestant: its engine in process, and its API over HTTP."""
