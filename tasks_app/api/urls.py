"""The calls of the task API: its table of contents."""

from django.urls import path

import orbit.http.hex_id  # noqa: F401 - registers the converter of ids
from tasks_app.api import (
    document,
    dossier,
    events,
    proposals,
    recovery,
    slo,
    tasks,
    work,
)

urlpatterns = [
    path("tasks", tasks.TaskList.as_view()),
    path("tasks:batch", tasks.TaskBatch.as_view()),
    path("tasks/<hexid:task_id>", tasks.TaskDetail.as_view()),
    path("tasks/<hexid:task_id>/attempts", tasks.TaskAttempts.as_view()),
    path("tasks/<hexid:task_id>:cancel", tasks.TaskCancel.as_view()),
    path("tasks/<hexid:task_id>:review", recovery.TaskReview.as_view()),
    path("tasks/<hexid:task_id>:propose-review", proposals.TaskProposeReview.as_view()),
    path("tasks/<hexid:task_id>:approve-review", proposals.TaskApproveReview.as_view()),
    path(
        "tasks/<hexid:task_id>:withdraw-review", proposals.TaskWithdrawReview.as_view()
    ),
    path("tasks/<hexid:task_id>/proposals", proposals.TaskProposals.as_view()),
    path("tasks/<hexid:task_id>:retry", recovery.TaskRetry.as_view()),
    path("tasks/<hexid:task_id>:probe", recovery.TaskProbe.as_view()),
    path("tasks/<hexid:task_id>:preview-review", dossier.ReviewPreview.as_view()),
    path("tasks/<hexid:task_id>:preview-retry", dossier.RetryPreview.as_view()),
    path("tasks/<hexid:task_id>/dossier", dossier.TaskDossier.as_view()),
    path("tasks/<hexid:task_id>/lineage", dossier.TaskLineage.as_view()),
    path("tasks/<hexid:task_id>/operations", recovery.TaskOperations.as_view()),
    path(
        "tasks/<hexid:task_id>/operations/<hexid:audit_id>",
        recovery.TaskOperation.as_view(),
    ),
    path("recovery/slo", slo.RecoveryStanding.as_view()),
    path("contradictions", dossier.ContradictionList.as_view()),
    path("receipts:look-up", dossier.ReceiptLookUp.as_view()),
    path("queues/<hexid:queue_id>:claim", work.QueueClaim.as_view()),
    path("attempts:report", work.ReportBatch.as_view()),
    path("attempts/<hexid:attempt_id>:heartbeat", work.AttemptHeartbeat.as_view()),
    path("attempts/<hexid:attempt_id>:succeed", work.AttemptSucceed.as_view()),
    path("attempts/<hexid:attempt_id>:fail", work.AttemptFail.as_view()),
    path("attempts/<hexid:attempt_id>:unknown", work.AttemptUnknown.as_view()),
    path("attempts/<hexid:attempt_id>:cancelled", work.AttemptCancelled.as_view()),
    path("events", events.EventFeed.as_view()),
    path("openapi.json", document.OpenAPIDocument.as_view()),
]
