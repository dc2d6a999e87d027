"""The engine in the admin: to look at, and the limits of queues to set."""

from tasks_app.admin import places, records, work

__all__ = ["places", "records", "work"]
