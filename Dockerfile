# syntax=docker/dockerfile:1
# One image; compose gives each service its command.
FROM python:3.13-slim AS packages
WORKDIR /build
COPY requirements.production.lock ./
RUN python -m venv /opt/orbit-venv \
 && /opt/orbit-venv/bin/pip install --no-cache-dir --require-hashes \
      -r requirements.production.lock

FROM python:3.13-slim
# The number is fixed, so that volumes and secrets can be made readable for it.
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin orbit \
 && install --directory --owner=10001 --group=10001 /var/lib/orbit
COPY --from=packages /opt/orbit-venv /opt/orbit-venv
WORKDIR /srv/orbit
# What may come along is listed in .dockerignore.
COPY . .
ENV PATH=/opt/orbit-venv/bin:$PATH \
    DJANGO_SETTINGS_MODULE=orbit.settings \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 10001:10001
EXPOSE 8000
CMD ["gunicorn", "orbit.wsgi:application", "--bind", "0.0.0.0:8000"]
