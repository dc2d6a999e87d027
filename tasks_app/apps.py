"""The task engine as a Django application."""

from django.apps import AppConfig

# A token without an application belongs to the namespace itself.
APPLICATION_ENABLED = """
SELECT CASE WHEN t.application_id IS NULL THEN true ELSE coalesce((
    SELECT a.is_enabled FROM tasks_application a WHERE a.id = t.application_id
), false) END
"""


class TasksConfig(AppConfig):
    """Tells the token door whose application is disabled."""

    name = "tasks_app"
    verbose_name = "Task recovery"

    def ready(self) -> None:
        """Register what this app knows about the range of TASKS tokens."""
        # Models, which the door stands on, cannot be imported before the registry.
        from tokens_app.public import (  # noqa: PLC0415
            Audience,
            RangeCatalogue,
            register_range_catalogue,
        )

        register_range_catalogue(
            RangeCatalogue(
                audience=Audience.TASKS, application_enabled_sql=APPLICATION_ENABLED
            )
        )
