"""The calls of the task API."""

urlpatterns: list[object] = []
