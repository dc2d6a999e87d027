"""The task API, /v1."""
