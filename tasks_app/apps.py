"""The task engine as a Django application."""

from django.apps import AppConfig


class TasksConfig(AppConfig):
    """Tells the token door whose application is disabled."""

    name = "tasks_app"
    verbose_name = "Task recovery"

    def ready(self) -> None:
        """Register what this app knows about the range of TASKS tokens."""
        # Models, which the door stands on, cannot be imported before the registry.
        from tasks_app.api.token_range import CATALOGUE  # noqa: PLC0415
        from tokens_app.public import register_range_catalogue  # noqa: PLC0415

        register_range_catalogue(CATALOGUE)
