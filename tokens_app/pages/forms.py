"""The forms of the workbench: what is typed becomes what the actions take."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from orbit.forms import MomentField, TypedForm, zone_named
from tokens_app.domain.range_catalogue import Place, RangeMember
from tokens_app.domain.rotation import Rotation, RotationReason
from tokens_app.domain.scope import SCOPES
from tokens_app.pages import words

LIFETIMES = (
    ("30", _("30 days")),
    ("90", _("90 days")),
    ("180", _("180 days")),
    ("365", _("365 days")),
    ("until", _("Until a date")),
)
KEEP = ("keep", _("Leave as it is"))
OVERLAPS = (
    ("0", _("None: it dies at once")),
    ("3600", _("1 hour")),
    ("86400", _("24 hours")),
    ("604800", _("7 days")),
)
REASONS = (
    (RotationReason.ROUTINE, _("Routine")),
    (RotationReason.LEAKED, _("It leaked, or may have")),
    (RotationReason.OTHER, _("Another reason")),
)


class PasswordForm(TypedForm):
    """Asks for the password where the login is old."""

    password = forms.CharField(
        label=_("Your password"),
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class ReasonForm(TypedForm):
    """Why it is done."""

    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Kept in the audit."),
    )


class TokenForm(TypedForm):
    """What can be typed for a new token and changed later.

    `range_name` is the field of the range's choices: by id, and for jobs by group too.
    """

    name = forms.CharField(
        label=_("Caller"),
        required=False,
        help_text=_("The program that will hold the token."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    owner_contact = forms.CharField(
        label=_("Contact"),
        required=False,
        help_text=_("Who to ask when the token is used oddly."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    description = forms.CharField(
        label=_("Description"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    lifetime = forms.ChoiceField(
        label=_("Expires"), choices=LIFETIMES, widget=forms.RadioSelect
    )
    until = MomentField(label=_("Date and time"))
    zone = forms.CharField(required=False, widget=forms.HiddenInput)
    job_groups = forms.MultipleChoiceField(
        label=_("Groups"), required=False, widget=forms.CheckboxSelectMultiple
    )
    job_ids = forms.MultipleChoiceField(
        label=_("Jobs"), required=False, widget=forms.CheckboxSelectMultiple
    )
    queue_ids = forms.MultipleChoiceField(
        label=_("Queues"), required=False, widget=forms.CheckboxSelectMultiple
    )
    reads_per_minute = forms.IntegerField(
        label=_("Reads per minute"), required=False, localize=False
    )
    triggers_per_minute = forms.IntegerField(
        label=_("Starts per minute"), required=False, localize=False
    )

    def offer(self, choices: Iterable[RangeMember]) -> None:
        """Let the range be chosen from these."""
        offered: dict[str, list[tuple[str, str]]] = {
            "job_groups": [],
            "job_ids": [],
            "queue_ids": [],
        }
        for it in choices:
            if it.kind == "group":
                offered["job_groups"].append((it.name, it.name))
            elif it.kind == "job":
                offered["job_ids"].append((it.id.hex, f"{it.group} / {it.name}"))
            else:
                offered["queue_ids"].append((it.id.hex, it.name))
        for name, pairs in offered.items():
            field = self.fields[name]
            assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101
            field.choices = pairs

    @property
    def ids(self) -> dict[str, Any]:
        """The chosen range, as the actions take it."""
        chosen = self.cleaned_data
        return {
            "queue_ids": tuple(map(UUID, chosen["queue_ids"])),
            "job_ids": tuple(map(UUID, chosen["job_ids"])),
            "job_groups": tuple(chosen["job_groups"]),
        }

    @property
    def expires(self) -> datetime | timedelta | None:
        """The wanted expiry; None to leave it."""
        lifetime = self.cleaned_data["lifetime"]
        if lifetime == "until":
            until: datetime = self.cleaned_data["until"]
            return until
        return timedelta(days=int(lifetime)) if lifetime.isdecimal() else None

    def clean(self) -> dict[str, Any]:
        """Read the typed moment in the viewer's time zone."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("lifetime") == "until" and "until" in cleaned:
            if cleaned["until"] is None:
                self.add_error("until", _("Choose a date and a time."))
            else:
                zone = zone_named(cleaned.get("zone", ""))
                cleaned["until"] = cleaned["until"].replace(tzinfo=zone)
        return cleaned


class IssueForm(TokenForm, PasswordForm):
    """A token to issue, for one audience in one namespace."""

    form_key = forms.UUIDField(widget=forms.HiddenInput)
    scopes = forms.MultipleChoiceField(
        label=_("Scopes"), required=False, widget=forms.CheckboxSelectMultiple
    )
    application_id = forms.ChoiceField(label=_("Application"), required=False)

    def __init__(self, *args: Any, audience: str, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        scopes = self.fields["scopes"]
        assert isinstance(scopes, forms.MultipleChoiceField)  # noqa: S101
        scopes.choices = [(name, words.SCOPES[name]) for name in SCOPES[audience]]

    def offer_applications(self, places: Iterable[Place]) -> None:
        """Let the token belong to one of these, or to the namespace."""
        field = self.fields["application_id"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101
        field.choices = [
            ("", _("All of the namespace")),
            *((place.id.hex, place.name) for place in places),
        ]


class EditForm(TokenForm, ReasonForm):
    """What is changed, and the state in which it was seen."""

    seen_updated_at = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        lifetime = self.fields["lifetime"]
        assert isinstance(lifetime, forms.ChoiceField)  # noqa: S101
        lifetime.choices = [KEEP, *LIFETIMES]

    def clean_seen_updated_at(self) -> datetime:
        """The moment exactly as the page was given it."""
        try:
            return datetime.fromisoformat(self.cleaned_data["seen_updated_at"])
        except ValueError:
            raise forms.ValidationError(_("Reload the page and try again.")) from None


class RotateForm(PasswordForm):
    """A rotation of the secret that the viewer saw."""

    expected_rotation_count = forms.IntegerField(
        widget=forms.HiddenInput, localize=False
    )
    reason = forms.ChoiceField(
        label=_("Why"),
        choices=REASONS,
        initial=RotationReason.ROUTINE,
        widget=forms.RadioSelect,
    )
    overlap = forms.ChoiceField(
        label=_("The old secret lives on for"),
        choices=OVERLAPS,
        initial="0",
        widget=forms.RadioSelect,
    )
    note = forms.CharField(
        label=_("Note"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Kept in the audit."),
    )

    @property
    def rotation(self) -> Rotation:
        """What the action takes."""
        typed = self.cleaned_data
        return Rotation(
            expected_rotation_count=typed["expected_rotation_count"],
            reason=RotationReason(typed["reason"]),
            overlap=timedelta(seconds=int(typed["overlap"])),
            note=typed["note"],
        )
