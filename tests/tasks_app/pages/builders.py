"""People at the console, and tasks as they meet them there."""

from orbit.ids import new_id
from tasks_app.models import Task
from tests.builders import BROKEN, a_lease, reported
from tests.tokens_app.api.builders import a_person

ROOT = "/admin/recovery/"
VIEW = "tasks_app.view_task"
VIEW_AUDIT = "tasks_app.view_operationaudit"
REVIEW = "tasks_app.review_task"
RETRY = "tasks_app.retry_task"
PERMISSIONS = (VIEW, VIEW_AUDIT, REVIEW, RETRY)


class Browser:
    """Somebody's browser at the console; a superuser's unless permissions are given."""

    def __init__(self, *permissions, **user):
        if not permissions:
            user.setdefault("is_superuser", True)
        self.person = a_person(*permissions, **user)

    def get(self, path="", **headers):
        """One page."""
        return self.person.client.get(f"{ROOT}{path}", headers=headers)

    def post(self, path, data, **headers):
        """One form."""
        sent = {**data, "csrfmiddlewaretoken": self.person.csrf}
        return self.person.client.post(f"{ROOT}{path}", sent, headers=headers)

    def text(self, path="", **headers):
        """What a page says."""
        response = self.get(path, **headers)
        assert response.status_code == 200, response.status_code
        return response.content.decode()

    def form(self, path, **typed):
        """What the browser would send of the form on a page, with what is typed."""
        form = self.get(path).context["form"]
        begun = {name: form[name].value() for name in form.fields}
        return {n: v for n, v in {**begun, **typed}.items() if v not in (None, False)}


def path_of(task, page=""):
    """The address of a page about the task."""
    task_id = getattr(task, "id", task)
    return f"tasks/{task_id.hex}{page}"


def unsure(*, queue=None, failure=BROKEN, **changes):
    """A task whose worker does not know what happened, and the lease it had."""
    lease = a_lease(queue=queue, **changes)
    reported(lease, "unknown", failure=failure)
    return Task.objects.get(id=lease.task.id), lease


def failed(**changes):
    """A task that failed for good."""
    lease = a_lease(**changes)
    reported(lease, "fail")
    return Task.objects.get(id=lease.task.id)


def a_decision(**changes):
    """What is typed into the form of a review."""
    return {
        "outcome": "FAILED",
        "result": '{"paid":false}',
        "reason": "The bank has no such payment.",
        "evidence_ref": "bank:statement-0917",
        "execution_settled": "on",
        **changes,
    }


def another_try(**changes):
    """What is typed into the form of a retry."""
    return {
        "reason": "Nothing was paid; pay now.",
        "evidence_ref": "bank:statement-0917",
        "budget": "10",
        "budget_unit": "60000",
        "safe_to_retry": "on",
        **changes,
    }


def a_form_key():
    """A key that no form had."""
    return new_id().hex
