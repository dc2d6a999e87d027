"""Jobs and the open job API as a Django application."""

from django.apps import AppConfig
from django.core import checks
from django.utils.module_loading import autodiscover_modules


class OpenApiConfig(AppConfig):
    """Speaks for scheduled tasks at the engine's door."""

    name = "openapi_app"
    verbose_name = "Jobs"

    def ready(self) -> None:
        """Know the handlers of all apps, and register what this one does for others."""
        # Models, which the doors stand on, cannot be imported before the registry.
        from openapi_app.api.envelope import problem_body  # noqa: PLC0415
        from openapi_app.api.range_preview import CATALOGUE  # noqa: PLC0415
        from openapi_app.gateways.redis import check_eviction_policy  # noqa: PLC0415
        from openapi_app.subscribers import (  # noqa: PLC0415
            ExecutionOwner,
            fire_due_jobs,
            release_turns,
        )
        from openapi_app.workers import (  # noqa: PLC0415
            resend_lost,
            resend_lost_probes,
        )
        from orbit.http.problems import answer_problems  # noqa: PLC0415
        from tasks_app.public import (  # noqa: PLC0415
            OwnerKind,
            register_maintenance_pass,
            register_owner_policy,
        )
        from tokens_app.public import register_range_catalogue  # noqa: PLC0415

        autodiscover_modules("handlers")
        register_owner_policy(OwnerKind.SCHEDULE, ExecutionOwner())
        register_maintenance_pass("jobs_fired", fire_due_jobs)
        register_maintenance_pass("turns_released", release_turns)
        register_maintenance_pass("executions_resent", resend_lost)
        register_maintenance_pass("probes_resent", resend_lost_probes)
        answer_problems(prefix="/openapi", shape=problem_body)
        register_range_catalogue(CATALOGUE)
        checks.register(check_eviction_policy, checks.Tags.compatibility)
