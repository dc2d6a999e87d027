"""One Django project for the two peers that need one."""

import os
from urllib.parse import parse_qs, urlsplit

SECRET_KEY = "benchmarks only, no request is ever signed with it"  # noqa: S105
USE_TZ = True
_url = urlsplit(os.environ["BENCH_DATABASE_URL"])
_query = parse_qs(_url.query)
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _url.path.strip("/"),
        "USER": "postgres",
        "HOST": _query["host"][0],
        "PORT": _query["port"][0],
        "CONN_MAX_AGE": None,
    }
}
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django_tasks",
    "django_tasks_db",
    "django_q",
]
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
Q_CLUSTER = {
    "name": "bench",
    "workers": 2,
    "recycle": 100_000,
    "timeout": 60,
    "retry": 120,
    "save_limit": int(os.environ.get("BENCH_SAVE_LIMIT", "250")),
    "queue_limit": 200,
    "scheduler": False,
    "redis": os.environ["BENCH_REDIS_URL"],
}
LOGGING = {"version": 1, "root": {"level": "WARNING"}}
