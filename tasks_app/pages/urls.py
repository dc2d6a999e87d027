"""The console's pages: their table of contents."""

from django.urls import path

import orbit.http.hex_id  # noqa: F401 - registers the converter of ids
from tasks_app.pages import inbox, proposals, retry, review, task, texts

app_name = "recovery"

urlpatterns = [
    path("", inbox.InboxPage.as_view(), name="inbox"),
    path("tasks/<hexid:task_id>", task.TaskPage.as_view(), name="task"),
    path(
        "tasks/<hexid:task_id>/standing",
        task.StandingFragment.as_view(),
        name="standing",
    ),
    path("tasks/<hexid:task_id>/payload", texts.PayloadText.as_view(), name="payload"),
    path("tasks/<hexid:task_id>/result", texts.ResultText.as_view(), name="result"),
    path(
        "tasks/<hexid:task_id>/evidence/<hexid:evidence_id>",
        texts.EvidenceText.as_view(),
        name="evidence",
    ),
    path("tasks/<hexid:task_id>/review", review.ReviewPage.as_view(), name="review"),
    path(
        "tasks/<hexid:task_id>/approve",
        proposals.ApprovePage.as_view(),
        name="approve",
    ),
    path(
        "tasks/<hexid:task_id>/withdraw",
        proposals.WithdrawPage.as_view(),
        name="withdraw",
    ),
    path("tasks/<hexid:task_id>/retry", retry.RetryPage.as_view(), name="retry"),
]
