"""The management API of tokens: its table of contents."""

from uuid import UUID

from django.urls import path, register_converter

from tokens_app.api import acts, history, ranges, tokens


class TokenId:
    """32 lower-case hex in a path."""

    regex = "[0-9a-f]{32}"

    def to_python(self, value: str) -> UUID:
        """The identifier."""
        return UUID(value)

    def to_url(self, value: UUID) -> str:
        """Its written form."""
        return value.hex


register_converter(TokenId, "tokenid")

urlpatterns = [
    path("tokens", tokens.TokenList.as_view()),
    path("tokens/<tokenid:token_id>", tokens.TokenOne.as_view()),
    path("tokens/<tokenid:token_id>:rotate", acts.TokenRotate.as_view()),
    path("tokens/<tokenid:token_id>:suspend", acts.TokenSuspend.as_view()),
    path("tokens/<tokenid:token_id>:resume", acts.TokenResume.as_view()),
    path("tokens/<tokenid:token_id>:revoke", acts.TokenRevoke.as_view()),
    path("tokens/<tokenid:token_id>/reach", ranges.TokenReach.as_view()),
    path("tokens/<tokenid:token_id>/samples", tokens.TokenSamples.as_view()),
    path("tokens/<tokenid:token_id>/usage", history.TokenUsage.as_view()),
    path("tokens/<tokenid:token_id>/calls", history.TokenCalls.as_view()),
    path("tokens/<tokenid:token_id>/executions", history.TokenExecutions.as_view()),
    path("tokens/<tokenid:token_id>/audit", history.TokenAudits.as_view()),
    path("range:preview", ranges.RangePreview.as_view()),
    path("range/choices", ranges.RangeChoices.as_view()),
    path("namespaces", ranges.NamespaceList.as_view()),
]
