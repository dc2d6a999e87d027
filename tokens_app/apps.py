"""The token workbench as an installed app, and its refusal to start unpeppered."""

from collections.abc import Sequence

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from tokens_app.domain.pepper import PepperError, read_peppers


def check_peppers(
    app_configs: Sequence[AppConfig] | None,  # noqa: ARG001 - the signature of a check
    **_: object,
) -> list[checks.CheckMessage]:
    """An error unless there are peppers fit to key token digests."""
    try:
        read_peppers(
            text=settings.TOKEN_PEPPERS,
            path=settings.TOKEN_PEPPERS_FILE,
            forbidden=settings.SECRET_KEY,
        )
    except PepperError as error:
        return [checks.Error(str(error), id="tokens_app.E001")]
    return []


class TokensConfig(AppConfig):
    """Service accounts: who may call Orbit's APIs, for what, and until when."""

    name = "tokens_app"
    verbose_name = "Service accounts"

    def ready(self) -> None:
        checks.register(check_peppers, checks.Tags.security)
        # Refusals of an edge cannot be imported before the registry of models.
        from orbit.http.envelope import problem_body  # noqa: PLC0415
        from orbit.http.problems import answer_problems  # noqa: PLC0415

        answer_problems(prefix="/workbench/api", shape=problem_body)
