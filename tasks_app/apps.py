"""The task engine as a Django application."""

from django.apps import AppConfig


class TasksConfig(AppConfig):
    """Tells the token door whose application is disabled, and speaks for probes."""

    name = "tasks_app"
    verbose_name = "Task recovery"

    def ready(self) -> None:
        """Register what this app knows about the range of TASKS tokens."""
        # Models, which the door stands on, cannot be imported before the registry.
        from tasks_app.api.token_range import CATALOGUE  # noqa: PLC0415
        from tasks_app.domain.lifecycle import OwnerKind  # noqa: PLC0415
        from tasks_app.domain.ownership import register  # noqa: PLC0415
        from tasks_app.subscribers import ProbeOwner  # noqa: PLC0415
        from tokens_app.public import register_range_catalogue  # noqa: PLC0415

        register_range_catalogue(CATALOGUE)
        register(OwnerKind.PROBE, ProbeOwner())
