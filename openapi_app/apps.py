"""Jobs and the open job API as a Django application."""

from django.apps import AppConfig


class OpenApiConfig(AppConfig):
    """Speaks for scheduled tasks at the engine's door."""

    name = "openapi_app"
    verbose_name = "Jobs"

    def ready(self) -> None:
        """Register what this app answers when the engine calls."""
        # Models, which the doors stand on, cannot be imported before the registry.
        from openapi_app.subscribers import (  # noqa: PLC0415
            ExecutionOwner,
            fire_due_jobs,
            release_turns,
        )
        from tasks_app.public import (  # noqa: PLC0415
            OwnerKind,
            register_maintenance_pass,
            register_owner_policy,
        )

        register_owner_policy(OwnerKind.SCHEDULE, ExecutionOwner())
        register_maintenance_pass("jobs_fired", fire_due_jobs)
        register_maintenance_pass("turns_released", release_turns)
