"""The management API of tokens: its table of contents."""

from django.urls import path

import orbit.http.hex_id  # noqa: F401 - registers the converter of ids
from tokens_app.api import acts, history, ranges, tokens

urlpatterns = [
    path("tokens", tokens.TokenList.as_view()),
    path("tokens/<hexid:token_id>", tokens.TokenOne.as_view()),
    path("tokens/<hexid:token_id>:rotate", acts.TokenRotate.as_view()),
    path("tokens/<hexid:token_id>:suspend", acts.TokenSuspend.as_view()),
    path("tokens/<hexid:token_id>:resume", acts.TokenResume.as_view()),
    path("tokens/<hexid:token_id>:revoke", acts.TokenRevoke.as_view()),
    path("tokens/<hexid:token_id>/reach", ranges.TokenReach.as_view()),
    path("tokens/<hexid:token_id>/samples", tokens.TokenSamples.as_view()),
    path("tokens/<hexid:token_id>/usage", history.TokenUsage.as_view()),
    path("tokens/<hexid:token_id>/calls", history.TokenCalls.as_view()),
    path("tokens/<hexid:token_id>/executions", history.TokenExecutions.as_view()),
    path("tokens/<hexid:token_id>/audit", history.TokenAudits.as_view()),
    path("range:preview", ranges.RangePreview.as_view()),
    path("range/choices", ranges.RangeChoices.as_view()),
    path("namespaces", ranges.NamespaceList.as_view()),
]
