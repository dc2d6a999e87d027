"""Jobs and the open job API as a Django application."""

from django.apps import AppConfig
from django.core import checks


class OpenApiConfig(AppConfig):
    """Speaks for scheduled tasks at the engine's door."""

    name = "openapi_app"
    verbose_name = "Jobs"

    def ready(self) -> None:
        """Register the open API's envelope, its tokens' ranges and the Redis check."""
        # Models, which all of these stand on, cannot be imported before the registry.
        from openapi_app.api.envelope import problem_body  # noqa: PLC0415
        from openapi_app.api.range_preview import CATALOGUE  # noqa: PLC0415
        from openapi_app.gateways.redis import check_eviction_policy  # noqa: PLC0415
        from orbit.http.problems import answer_problems  # noqa: PLC0415
        from tokens_app.public import register_range_catalogue  # noqa: PLC0415

        answer_problems(prefix="/openapi", shape=problem_body)
        register_range_catalogue(CATALOGUE)
        checks.register(check_eviction_policy, checks.Tags.compatibility)
