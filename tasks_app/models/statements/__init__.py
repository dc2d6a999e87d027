"""The engine's writes as set-based SQL: each statement is one round trip."""
