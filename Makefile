# make run   everything on http://127.0.0.1:8000    make test  everything that must hold
# make setup the shared first half of both          make lock fmt bench story openapi clean

SHELL := /bin/sh
VENV  := .venv
PY    := $(VENV)/bin/python
STAMP := $(VENV)/.complete
ARGS  ?=
JOBS  ?= 3

.PHONY: setup run test static suite chromium lock fmt bench clean story openapi

setup: $(STAMP)

$(STAMP): requirements.lock sdk/pyproject.toml
	@set -e; python="$(PYTHON)"; \
	for name in $$python python3 python3.13 python3.12 python3.11 python3.14; do \
	  if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	  then python=$$name; break; fi; python=; done; \
	if [ -z "$$python" ]; then \
	  echo "Python 3.11 or newer is needed and not on PATH; or: make PYTHON=/path/to/it" >&2; \
	  exit 1; fi; \
	if ! $(PY) -c '' 2>/dev/null; then \
	  echo "setup: creating $(VENV) with $$($$python -V)"; \
	  $$python -m venv --clear $(VENV); fi
	@echo "setup: installing the packages of requirements.lock (a minute or two, once)"
	@# Compiling every file takes longer than the rest; Python compiles what it imports.
	@$(PY) -m pip install -qq --no-compile --no-input --disable-pip-version-check \
	  --require-hashes -r requirements.lock
	@echo "setup: installing the SDK from ./sdk"
	@$(PY) -m pip install -qq --no-compile --no-input --disable-pip-version-check \
	  --no-deps --no-build-isolation --no-index --editable ./sdk
	@touch $@
	@echo "setup: done"

run: setup
	@exec $(PY) manage.py runstack $(ARGS)

test: setup static suite

# Values of the form that production has; nothing is contacted.
PRODUCTION := \
  ORBIT_BASE_URL=https://orbit.example ORBIT_ALLOWED_HOSTS=orbit.example \
  ORBIT_SECRET_KEY=$$($(PY) -c 'import secrets; print(secrets.token_hex(40))') \
  ORBIT_TOKEN_PEPPERS=p1:$$($(PY) -c 'import secrets; print(secrets.token_hex(32))') \
  DATABASE_URL=postgresql://orbit@127.0.0.1:9/orbit REDIS_URL=redis://127.0.0.1:9/0

static: setup
	@echo "test: ruff";           $(PY) -m ruff check --quiet .
	@echo "test: ruff format";    $(PY) -m ruff format --quiet --check .
	@echo "test: mypy";           $(PRODUCTION) $(PY) -m mypy .
	@echo "test: import-linter";  $(VENV)/bin/lint-imports --no-logo
	@echo "test: migrations match the models"; \
	  $(PRODUCTION) PYTHONWARNINGS=ignore::RuntimeWarning \
	  $(PY) manage.py makemigrations --check --dry-run
	@echo "test: check --deploy"; \
	  $(PRODUCTION) $(PY) manage.py check --deploy --fail-level WARNING

# Without a browser the other tests run all the same, but never under CI=true.
suite: setup
	@if chromium=$$($(PY) -m tests.chromium); then \
	  ORBIT_CHROMIUM="$$chromium" $(PY) -m pytest -n $(JOBS) --dist loadgroup $(ARGS); \
	elif [ "$$CI" = true ]; then \
	  echo "test: no Chromium, so the browser tests cannot run" >&2; exit 1; \
	else \
	  $(PY) -m pytest -n $(JOBS) --dist loadgroup -m "not browser" $(ARGS) && \
	  echo "test: NO CHROMIUM: THE BROWSER TESTS DID NOT RUN" >&2; \
	fi

chromium: setup
	@$(PY) -m tests.chromium

# The dependencies of pyproject.toml, for every supported Python, with their hashes.
lock: setup
	@$(PY) -m pip install --quiet --disable-pip-version-check uv
	@$(PY) -m uv pip compile --quiet --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-emit-index-url --group dev $(ARGS) \
	  pyproject.toml --output-file requirements.lock
	@# What an installation needs, in the same versions, without the tools of this house.
	@$(PY) -m uv pip compile --quiet --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-emit-index-url --constraint requirements.lock \
	  pyproject.toml --output-file requirements.production.lock
	@echo "lock: requirements.lock and requirements.production.lock are written"

fmt: setup
	@$(PY) -m ruff check --quiet --fix . ; $(PY) -m ruff format .

# What happens to a transfer whose worker dies; needs `make run` in another terminal.
story: setup
	@docs/recovery-story.sh $(ARGS)

openapi: setup
	@$(PRODUCTION) $(PY) manage.py spectacular --validate --fail-on-warn \
	  --custom-settings tasks_app.api.document.SETTINGS \
	  --file docs/openapi/tasks-v1.yaml
	@$(PRODUCTION) $(PY) manage.py spectacular --validate --fail-on-warn \
	  --custom-settings openapi_app.api.document.SETTINGS \
	  --file docs/openapi/open-jobs-v1.yaml

# The peers need other packages than the product: an environment of their own.
bench: .venv-bench/.complete
	@.venv-bench/bin/python -m bench $(ARGS)

.venv-bench/.complete: requirements.lock bench/requirements.lock | $(STAMP)
	@echo "bench: installing Orbit's packages and the peers into .venv-bench"
	@$(PY) -m venv --clear .venv-bench
	@.venv-bench/bin/python -m pip install -qq --no-compile --no-input \
	  --disable-pip-version-check --require-hashes \
	  -r requirements.lock -r bench/requirements.lock
	@touch $@

clean:
	@if [ -L .orbit/postgres ]; then rm -rf "$$(readlink .orbit/postgres)"; fi
	rm -rf .orbit .venv-bench $(VENV) staticfiles .mypy_cache .ruff_cache .pytest_cache
