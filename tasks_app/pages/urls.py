"""The console's pages: their table of contents."""

from django.urls import path

import orbit.http.hex_id  # noqa: F401 - registers the converter of ids
from tasks_app.pages import (
    batches,
    contradictions,
    inbox,
    overview,
    probes,
    proposals,
    retry,
    review,
    task,
    texts,
)

app_name = "recovery"

urlpatterns = [
    path("", inbox.InboxPage.as_view(), name="inbox"),
    path("views", inbox.KeepViewPage.as_view(), name="keep_view"),
    path(
        "views/<hexid:view_id>/forget",
        inbox.ForgetViewPage.as_view(),
        name="forget_view",
    ),
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
    path("overview", overview.OverviewPage.as_view(), name="overview"),
    path(
        "contradictions",
        contradictions.ContradictionListPage.as_view(),
        name="contradictions",
    ),
    path("batches", batches.BatchListPage.as_view(), name="batches"),
    path("batches/new", batches.NewBatchPage.as_view(), name="new_batch"),
    path("batches/<hexid:batch_id>", batches.BatchDetailPage.as_view(), name="batch"),
    path(
        "batches/<hexid:batch_id>/progress",
        batches.BatchProgress.as_view(),
        name="batch_progress",
    ),
    path(
        "batches/<hexid:batch_id>/items.<slug:form>",
        batches.BatchExport.as_view(),
        name="batch_export",
    ),
    path(
        "batches/<hexid:batch_id>/<slug:steer>",
        batches.BatchSteer.as_view(),
        name="batch_steer",
    ),
    path("tasks/<hexid:task_id>/probe", probes.ProbePage.as_view(), name="probe"),
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
