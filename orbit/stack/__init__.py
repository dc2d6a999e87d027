"""Orbit on one machine: embedded PostgreSQL and Valkey, and a process supervisor."""
