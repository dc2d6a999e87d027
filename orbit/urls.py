"""Every path of Orbit; each app keeps the table of its own."""

from django.contrib import admin
from django.urls import include, path
from django.views.i18n import set_language

from orbit.http import health

handler400 = "orbit.http.problems.bad_request"
handler403 = "orbit.http.problems.permission_denied"
handler404 = "orbit.http.problems.page_not_found"
handler500 = "orbit.http.problems.server_error"

urlpatterns = [
    path("livez", health.livez),
    path("readyz", health.readyz),
    path("v1/", include("tasks_app.api.urls")),
    path("openapi/v1/", include("openapi_app.api.urls")),
    path("workbench/api/", include("tokens_app.api.urls")),
    path("workbench/", include("tokens_app.pages.urls")),
    path("language", set_language, name="set_language"),
    # Before the admin, which answers every path below its own.
    path("admin/recovery/", include("tasks_app.pages.urls")),
    path("admin/", admin.site.urls),
]
