"""The task engine as a Django application."""

from django.apps import AppConfig


class TasksConfig(AppConfig):
    """Registers the task API's range with the token door."""

    name = "tasks_app"
    verbose_name = "Task recovery"
