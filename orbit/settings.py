"""Every setting of Orbit; environments differ by variables only."""

from pathlib import Path

from orbit import env, logs

BASE_DIR = Path(__file__).resolve().parent.parent

# --- Secrets: none has a default; `runstack` makes its own for the embedded stack.
SECRET_KEY = env.secret("ORBIT_SECRET_KEY")
TOKEN_PEPPERS = env.text("ORBIT_TOKEN_PEPPERS", "")
TOKEN_PEPPERS_FILE = env.text("ORBIT_TOKEN_PEPPERS_FILE", "")

# --- Where Orbit answers
DEBUG = False
ALLOWED_HOSTS = env.words("ORBIT_ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
BASE_URL = env.text("ORBIT_BASE_URL", "http://127.0.0.1:8000")
HTTPS_ONLY = env.boolean("ORBIT_HTTPS_ONLY", default=BASE_URL.startswith("https:"))

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "axes",
    "django_celery_beat",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "orbit",
    "orbit.outbox",
    "tokens_app",
    "tasks_app",
    "openapi_app",
]

MIDDLEWARE = [
    "orbit.http.request_id.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "orbit.http.csp.StrictCSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "orbit.http.language.PageLanguageMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "orbit.http.login_age.LoginAgeMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "orbit.urls"
WSGI_APPLICATION = "orbit.wsgi.application"
APPEND_SLASH = True

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- PostgreSQL: every wait is bounded
DATABASES = {"default": env.database("DATABASE_URL")}
DATABASES["default"]["CONN_MAX_AGE"] = None
DATABASES["default"]["OPTIONS"] = {
    "connect_timeout": 3,
    "application_name": "orbit",
    # The engine's statements are long: parsed and planned once for each connection.
    "server_side_binding": True,
    "prepare_threshold": 1,
    "options": "-c statement_timeout=15000 -c lock_timeout=3000"
    " -c idle_in_transaction_session_timeout=30000 -c timezone=UTC"
    # Plans are kept: one made on a small table must still be right on a large one.
    " -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off",
    **DATABASES["default"]["OPTIONS"],  # type: ignore[dict-item]
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Redis or Valkey: the open job API needs it, /v1 does not
REDIS_URL = env.sealed("REDIS_URL", "")

# --- Celery: messages only say which execution is due; PostgreSQL rows are the truth
CELERY_BROKER_URL = env.sealed("CELERY_BROKER_URL", REDIS_URL)
CELERY_BROKER_CONNECTION_TIMEOUT = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker
CELERY_BROKER_HEARTBEAT = 0  # a handler may keep the connection waiting
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {}
    if CELERY_BROKER_URL.startswith(("amqp", "pyamqp"))
    else {
        # What was lost is sent again by maintenance, long before this.
        "visibility_timeout": 24 * 3600,
        "socket_connect_timeout": 1,
        "socket_timeout": 5,
        "health_check_interval": 10,
    }
)
CELERY_TASK_DEFAULT_QUEUE = "orbit"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_TIMEZONE = "UTC"
CELERY_DB_REUSE_MAX = 10**9  # a connection is kept until it fails
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 5  # seconds until a changed schedule is noticed

# --- Executions: how long a worker that is asked to stop lets a handler go on
WORKER_FINISH_MS = env.integer("ORBIT_WORKER_FINISH_MS", 4_000, high=3_600_000)
LEDGER = env.text("ORBIT_LEDGER", "")

# --- People
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 1  # hours
AXES_LOCKOUT_PARAMETERS = [["ip_address", "username"]]
LOGIN_URL = "admin:login"

# --- Language and time
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# --- Static files, served from where they lie: nothing to collect before a start
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False

# --- What a browser may do with Orbit's pages
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_SSL_REDIRECT = HTTPS_ONLY
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS_ONLY else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS_ONLY
SECURE_HSTS_PRELOAD = HTTPS_ONLY
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS_ONLY else None
SESSION_COOKIE_SECURE = HTTPS_ONLY
SESSION_COOKIE_HTTPONLY = True
CSRF_COOKIE_SECURE = HTTPS_ONLY

# --- The APIs: each view names its own authentication, parser and renderer
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
    "DEFAULT_PARSER_CLASSES": ["orbit.http.exact_json.ExactJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["orbit.http.exact_json.ExactJSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "orbit.http.exact_json.JSONOnly",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "orbit.http.problems.handle",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Orbit task API",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# --- Tokens
TOKEN_MAX_LIFETIME_DAYS = env.integer("ORBIT_TOKEN_MAX_LIFETIME_DAYS", 365, low=1)

# How long a call may wait to be written into its token's log; 0: until told to.
CALL_LOG_INTERVAL_MS = env.integer("ORBIT_CALL_LOG_INTERVAL_MS", 1_000, high=60_000)

# --- The open job API, calls a minute; a token may have limits of its own
OPEN_JOBS_READS_PER_MINUTE = env.integer("ORBIT_OPEN_JOBS_READS_PER_MINUTE", 120, low=1)
OPEN_JOBS_TRIGGERS_PER_MINUTE = env.integer(
    "ORBIT_OPEN_JOBS_TRIGGERS_PER_MINUTE", 20, low=1
)
# Failed authentications of one address; they never count against a token.
OPEN_JOBS_FAILURES_PER_MINUTE = env.integer(
    "ORBIT_OPEN_JOBS_FAILURES_PER_MINUTE", 100, low=1
)
# Calls that may wait for an execution at once, in each process.
OPEN_JOBS_MAX_WAITING = env.integer("ORBIT_OPEN_JOBS_MAX_WAITING", 4)

# --- The engine
MAINTENANCE_INTERVAL_MS = env.integer(
    "ORBIT_MAINTENANCE_INTERVAL_MS", 500, low=50, high=60_000
)
RECEIPT_MIN_DAYS = 30

# --- Logs: one JSON line an event on standard output
LOGGING = logs.configuration(level=env.text("ORBIT_LOG_LEVEL", "INFO"))
