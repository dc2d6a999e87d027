"""The workbench's pages: their table of contents."""

from django.urls import path

import orbit.http.hex_id  # noqa: F401 - registers the converter of ids
from tokens_app.pages import acts, edit, guide, issue, rotate, tokens

app_name = "workbench"

urlpatterns = [
    path("tokens/", tokens.TokenListPage.as_view(), name="tokens"),
    path("tokens/new", issue.IssuePage.as_view(), name="issue"),
    path("tokens/preview", issue.PreviewFragment.as_view(), name="preview"),
    path("tokens/guide", guide.GuidePage.as_view(), name="guide"),
    path("tokens/<hexid:token_id>", tokens.TokenPage.as_view(), name="token"),
    path(
        "tokens/<hexid:token_id>/guide",
        guide.TokenGuidePage.as_view(),
        name="token_guide",
    ),
    path("tokens/<hexid:token_id>/edit", edit.EditPage.as_view(), name="edit"),
    path("tokens/<hexid:token_id>/rotate", rotate.RotatePage.as_view(), name="rotate"),
    path("tokens/<hexid:token_id>/suspend", acts.SuspendPage.as_view(), name="suspend"),
    path("tokens/<hexid:token_id>/resume", acts.ResumePage.as_view(), name="resume"),
    path("tokens/<hexid:token_id>/revoke", acts.RevokePage.as_view(), name="revoke"),
]
