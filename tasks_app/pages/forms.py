"""The forms of the console: what is typed becomes the body that the API would get."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec
from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from orbit.errors import Invalid
from orbit.exact_json import canonical, check, decode_checked, encode
from orbit.forms import MomentField, TypedForm, zone_named
from orbit.ids import parse_id
from tasks_app.domain.batches import MAX_CANARY, ChosenTask, ReviewBatchDraft
from tasks_app.domain.commands import RetryTask, ReviewTask
from tasks_app.domain.errors import InvalidField
from tasks_app.domain.idempotency import Identity, identify
from tasks_app.queries.inbox import InboxFilter

MAX_EVIDENCE = 512

UNITS = (
    ("1000", _("seconds")),
    ("60000", _("minutes")),
    ("3600000", _("hours")),
    ("86400000", _("days")),
)


class RecoveryForm(TypedForm):
    """What every decision about a task says; the key makes sending it twice safe."""

    form_key = forms.UUIDField(widget=forms.HiddenInput)
    expected_revision = forms.CharField(widget=forms.HiddenInput)
    reason = forms.CharField(
        label=_("Reason"),
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("What you found, for whoever reads this later."),
        error_messages={"required": _("Say why, in words.")},
    )
    evidence_ref = forms.CharField(
        label=_("Evidence reference"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        help_text=_("Where your proof lies, such as ticket:4711. Never opened."),
        error_messages={"required": _("Say where your proof lies.")},
    )

    @property
    def typed(self) -> dict[str, Any]:
        """Everything as it was sent, right or wrong, for a form that begins with it."""
        return {name: self.data.get(name, "") for name in self.fields}

    def members(self) -> dict[str, Any]:
        """The members of the body; raises Invalid."""
        typed = self.cleaned_data
        return {
            "expected_revision": typed["expected_revision"],
            "reason": typed["reason"].replace("\r\n", "\n"),
            "evidence_ref": typed["evidence_ref"],
        }

    def identity(self) -> Identity:
        """The form's own key with what it says."""
        return identify(
            key=self.cleaned_data["form_key"].hex,
            content=canonical(encode(self.members())),
        )


class ReviewForm(RecoveryForm):
    """A decision about a task whose outcome nobody knows."""

    dossier_digest = forms.CharField(widget=forms.HiddenInput)
    is_proposal = forms.BooleanField(required=False, widget=forms.HiddenInput)
    outcome = forms.ChoiceField(
        label=_("Did it take effect?"),
        choices=(
            ("SUCCEEDED", _("Yes, wholly: it succeeded")),
            ("FAILED", _("No, or it is undone: it failed")),
        ),
        widget=forms.RadioSelect,
        error_messages={"required": _("Choose what you found.")},
    )
    result = forms.CharField(
        label=_("Result (JSON)"),
        strip=False,
        widget=forms.Textarea(
            attrs={
                "rows": 5,
                "class": "exact",
                "spellcheck": "false",
                "autocapitalize": "off",
            }
        ),
        help_text=_("Kept digit for digit: 1.10 stays 1.10."),
        error_messages={"required": _("State the conclusion as JSON.")},
    )
    execution_settled = forms.BooleanField(
        label=_("Every attempt has ended and has no further effect."),
        error_messages={"required": _("Declare this, or do not settle the task.")},
    )

    def clean_result(self) -> str:
        """The text with all its white space, but not white space alone."""
        text: str = self.cleaned_data["result"]
        if not text.strip():
            field = self.fields["result"]
            raise forms.ValidationError(field.error_messages["required"])
        return text

    def members(self) -> dict[str, Any]:
        """The members of the body, the result as it was typed; raises Invalid."""
        typed = self.cleaned_data
        return {
            **super().members(),
            "outcome": typed["outcome"],
            "result": msgspec.Raw(_exact(typed["result"])),
            "execution_settled": typed["execution_settled"],
            "expected_dossier_digest": typed["dossier_digest"],
        }

    def command(self) -> ReviewTask:
        """What the action takes; raises Invalid."""
        return decode_checked(encode(self.members()), ReviewTask)


class BatchForm(ReviewForm):
    """One decision for many tasks of a queue."""

    # Each task has its own.
    expected_revision = None  # type: ignore[assignment]
    dossier_digest = None  # type: ignore[assignment]
    canary = forms.IntegerField(
        label=_("First only so many"),
        min_value=0,
        max_value=MAX_CANARY,
        initial=3,
        localize=False,
        help_text=_("Then it waits until somebody has looked at these; 0: none."),
    )
    tasks = forms.CharField(
        label=_("Only these tasks"),
        required=False,
        widget=forms.Textarea(
            attrs={"rows": 3, "class": "exact", "spellcheck": "false"}
        ),
        help_text=_(
            "One id on each line, with its own evidence reference behind it if it has "
            "one. Empty: every task of the cause above."
        ),
    )

    def clean_tasks(self) -> tuple[ChosenTask, ...]:
        """Ids with the evidence behind each."""
        lines = self.cleaned_data["tasks"].replace("\0", "").splitlines()
        chosen = []
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            task_id, _space, evidence_ref = line.strip().partition(" ")
            if parse_id(task_id) is None or len(evidence_ref.strip()) > MAX_EVIDENCE:
                raise forms.ValidationError(
                    gettext("Line %(number)d does not begin with a task's id."),
                    params={"number": number},
                )
            chosen.append(
                ChosenTask(task_id=task_id, evidence_ref=evidence_ref.strip() or None)
            )
        return tuple(chosen)

    def draft(self, wanted: InboxFilter, *, queue_id: UUID) -> ReviewBatchDraft:
        """What the action takes; raises Invalid."""
        typed = self.cleaned_data
        return ReviewBatchDraft(
            queue_id=queue_id.hex,
            outcome=typed["outcome"],
            result=msgspec.Raw(_exact(typed["result"])),
            reason=typed["reason"].replace("\r\n", "\n"),
            evidence_ref=typed["evidence_ref"],
            execution_settled=typed["execution_settled"],
            canary=typed["canary"],
            tasks=typed["tasks"],
            handler=wanted.handler,
            cause=wanted.cause,
            error_code=wanted.error_code,
            min_age_ms=wanted.min_age_ms,
            max_age_ms=wanted.max_age_ms,
        )


class RetryForm(RecoveryForm):
    """A decision to run a final task again as a new one."""

    budget = forms.IntegerField(
        label=_("Time budget"),
        min_value=1,
        localize=False,
        help_text=_("From acceptance to the end of the last attempt."),
    )
    budget_unit = forms.ChoiceField(label=_("Unit"), choices=UNITS)
    available_at = MomentField(
        label=_("Not before"), help_text=_("Empty means at once.")
    )
    start_deadline_at = MomentField(
        label=_("Start by"), help_text=_("Empty means no such limit.")
    )
    zone = forms.CharField(required=False, widget=forms.HiddenInput)
    safe_to_retry = forms.BooleanField(
        label=_("The old execution has ended, and running it again is safe."),
        error_messages={"required": _("Declare this, or do not run it again.")},
    )

    def members(self) -> dict[str, Any]:
        """The members of the body; raises Invalid."""
        typed = self.cleaned_data
        return {
            **super().members(),
            "safe_to_retry": typed["safe_to_retry"],
            "task_timeout_ms": typed["budget"] * int(typed["budget_unit"]),
            "available_at": self._moment("available_at"),
            "start_deadline_at": self._moment("start_deadline_at"),
        }

    def command(self) -> RetryTask:
        """What the action takes; raises Invalid."""
        return decode_checked(encode(self.members()), RetryTask)

    def _moment(self, name: str) -> str | None:
        moment: datetime | None = self.cleaned_data[name]
        if moment is None:
            return None
        there = moment.replace(tzinfo=zone_named(self.cleaned_data["zone"]))
        return there.astimezone(UTC).isoformat().replace("+00:00", "Z")


def budget_of(milliseconds: int) -> tuple[int, str]:
    """A time in its largest whole unit, as the form shows it."""
    for unit, _told in reversed(UNITS):
        if milliseconds % int(unit) == 0 and milliseconds >= int(unit):
            return milliseconds // int(unit), unit
    return -(-milliseconds // 1_000), "1000"


def _exact(text: str) -> bytes:
    """The JSON as it was typed, without the white space around it."""
    written = text.replace("\r\n", "\n").strip().encode()
    try:
        check(written)
    except Invalid as fault:
        raise InvalidField("result", fault.message) from None
    return written
