"""Issue a token: the form, the preview of its range, and the one answer with it."""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from orbit.errors import Refusal
from orbit.http.login_age import needs_password, require_recent_login
from orbit.ids import new_id
from tokens_app import queries
from tokens_app.actions.issue_token import issue_token
from tokens_app.domain.errors import TokenAlreadyIssued
from tokens_app.domain.grant import TokenGrant
from tokens_app.domain.issued import IssuedToken
from tokens_app.domain.range_catalogue import Place, TokenRange
from tokens_app.domain.samples import samples
from tokens_app.domain.scope import Audience
from tokens_app.pages import words
from tokens_app.pages.forms import IssueForm
from tokens_app.pages.views import EDIT, ISSUE, WorkbenchPage, add_refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """Which API and which namespace a new token is for."""

    audience: Audience
    namespace: Place | None
    namespaces: list[Place]


def aim_of(request: HttpRequest) -> Aim:
    """What the address says; the open job API and the first namespace by default."""
    namespaces = queries.namespaces()
    wanted = request.GET.get("namespace", "")
    found = [place for place in namespaces if place.id.hex == wanted]
    if wanted and not found:
        raise Http404
    audience = request.GET.get("audience", Audience.OPEN_JOBS)
    if audience not in words.AUDIENCES:
        raise Http404
    return Aim(
        audience=Audience(audience),
        namespace=next(iter(found or namespaces), None),
        namespaces=namespaces,
    )


@method_decorator(sensitive_post_parameters("password"), name="dispatch")
class IssuePage(WorkbenchPage):
    """/workbench/tokens/new: for an audience and a namespace."""

    permissions = (ISSUE,)
    template = "tokens_app/issue.html"

    def get(self, request: HttpRequest) -> HttpResponse:
        """The empty form, with a key under which it issues one token at most."""
        aim = aim_of(request)
        form = self._form(
            aim, initial={"form_key": new_id().hex, "lifetime": "90", "zone": "UTC"}
        )
        return self._page(aim, form)

    @sensitive_variables("form", "issued")
    def post(self, request: HttpRequest) -> HttpResponse:
        """201 with the plain text, this once; else the form with what is wrong."""
        aim = aim_of(request)
        form = self._form(aim, data=request.POST)
        if aim.namespace is None or not form.is_valid():
            return self._page(aim, form)
        try:
            issued = self._issue(form, aim.audience, aim.namespace.id)
        except TokenAlreadyIssued as refusal:
            earlier = UUID(str(refusal.details["token_id"]))
            add_refusal(form, refusal)
            return self._page(aim, form, earlier=earlier)
        except Refusal as refusal:
            add_refusal(form, refusal)
            return self._page(aim, form)
        return self._page(aim, form, status=201, **secret_context(issued))

    def _form(self, aim: Aim, **given: object) -> IssueForm:
        form = IssueForm(audience=aim.audience, **given)
        if aim.namespace:
            place_id = aim.namespace.id
            form.offer(
                queries.range_choices(audience=aim.audience, namespace_id=place_id)
            )
            form.offer_applications(
                it for it in queries.applications() if it.namespace_id == place_id
            )
        return form

    def _page(
        self, aim: Aim, form: IssueForm, *, status: int = 200, **more: object
    ) -> HttpResponse:
        return self.page(
            status=status,
            aim=aim,
            audiences=words.AUDIENCES.items(),
            form=form,
            asks_password=needs_password(self.request) or "password" in form.errors,
            **more,
        )

    @sensitive_variables("form")
    def _issue(
        self, form: IssueForm, audience: Audience, namespace_id: UUID
    ) -> IssuedToken:
        typed = form.cleaned_data
        require_recent_login(self.request, password=typed["password"])
        application = typed["application_id"]
        grant = TokenGrant(
            name=typed["name"],
            audience=audience,
            namespace_id=namespace_id,
            application_id=UUID(application) if application else None,
            scopes=typed["scopes"],
            # Without a choice the rule of expiry refuses, at its field.
            expires=form.expires or timedelta(0),
            description=typed["description"],
            owner_contact=typed["owner_contact"],
            reads_per_minute=typed["reads_per_minute"],
            triggers_per_minute=typed["triggers_per_minute"],
            form_key=typed["form_key"],
            **form.ids,
        )
        return issue_token(grant=grant, by=self.actor)


class PreviewFragment(WorkbenchPage):
    """POST /workbench/tokens/preview: what a range that is being chosen reaches."""

    permissions = (ISSUE, EDIT)
    template = "tokens_app/preview.html"
    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        """The list as a fragment of a page."""
        aim = aim_of(request)
        form = IssueForm(request.POST, audience=aim.audience)
        if aim.namespace is None:
            raise Http404
        form.offer(
            queries.range_choices(audience=aim.audience, namespace_id=aim.namespace.id)
        )
        form.is_valid()
        chosen = {
            name: form.cleaned_data.get(name, [])
            for name in ("queue_ids", "job_ids", "job_groups")
        }
        scopes: frozenset[str] = frozenset(
            form.cleaned_data.get("scopes") or request.POST.getlist("scopes") or ()
        )
        preview = queries.range_preview(
            audience=aim.audience,
            scopes=scopes,
            wanted=TokenRange(
                namespace_id=aim.namespace.id,
                queue_ids=tuple(map(UUID, chosen["queue_ids"])),
                job_ids=tuple(map(UUID, chosen["job_ids"])),
                job_groups=tuple(chosen["job_groups"]),
            ),
            user_id=self.user.pk,
        )
        return self.page(
            preview=preview,
            audience=aim.audience,
            sees="jobs:read" in scopes,
            starts="jobs:trigger" in scopes,
            follows="executions:read" in scopes,
        )


@sensitive_variables("issued")
def secret_context(issued: IssuedToken) -> dict[str, object]:
    """What the one-time dialog shows; it goes into one answer and nowhere else."""
    token = queries.token_detail(issued.token_id)
    return {
        "issued": issued,
        "token": token,
        "samples": samples(  # noqa: S604 - a language, not a command
            base_url=settings.BASE_URL,
            audience=token.audience,
            scopes=token.scopes,
            token=issued.plaintext,
            shell="curl",
        ),
    }
