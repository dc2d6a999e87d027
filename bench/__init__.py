"""Benchmarks of Orbit against plain SQL and against the peers a user would take."""
