"""The workbench's pages: their table of contents."""

from uuid import UUID

from django.urls import path, register_converter

from tokens_app.pages import acts, edit, guide, issue, rotate, tokens

app_name = "workbench"


class HexId:
    """32 lower-case hex in a path."""

    regex = "[0-9a-f]{32}"

    def to_python(self, value: str) -> UUID:
        """The identifier."""
        return UUID(value)

    def to_url(self, value: UUID) -> str:
        """Its written form."""
        return value.hex


register_converter(HexId, "shownid")

urlpatterns = [
    path("tokens/", tokens.TokenListPage.as_view(), name="tokens"),
    path("tokens/new", issue.IssuePage.as_view(), name="issue"),
    path("tokens/preview", issue.PreviewFragment.as_view(), name="preview"),
    path("tokens/guide", guide.GuidePage.as_view(), name="guide"),
    path("tokens/<shownid:token_id>", tokens.TokenPage.as_view(), name="token"),
    path(
        "tokens/<shownid:token_id>/guide",
        guide.TokenGuidePage.as_view(),
        name="token_guide",
    ),
    path("tokens/<shownid:token_id>/edit", edit.EditPage.as_view(), name="edit"),
    path("tokens/<shownid:token_id>/rotate", rotate.RotatePage.as_view(), name="rotate"),
    path("tokens/<shownid:token_id>/suspend", acts.SuspendPage.as_view(), name="suspend"),
    path("tokens/<shownid:token_id>/resume", acts.ResumePage.as_view(), name="resume"),
    path("tokens/<shownid:token_id>/revoke", acts.RevokePage.as_view(), name="revoke"),
]
