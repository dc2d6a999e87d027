"""What the open job API shows: never handler, parameters, result, error or worker."""

from openapi_app.domain.summaries import ExecutionSummary, JobSummary
from openapi_app.gateways.rate_limit import WINDOW_MS, Bucket, Quota
from tokens_app.public import Principal


def job_shape(job: JobSummary) -> dict[str, object]:
    """A job, and the execution that it accepted last."""
    last = job.last_execution
    return {
        "id": job.id,
        "name": job.name,
        "group": job.group,
        "description": job.description,
        "schedule_type": job.schedule_type,
        "timezone": job.timezone,
        "enabled": job.enabled,
        "triggerable": job.triggerable,
        "not_triggerable_reason": job.not_triggerable,
        "next_run_at": job.next_run_at,
        "last_execution": last
        and {
            "id": last.id,
            "state": last.state,
            "started_at": last.started_at,
            "finished_at": last.finished_at,
        },
    }


def execution_shape(execution: ExecutionSummary) -> dict[str, object]:
    """An execution in its present state; times are RFC 3339, UTC."""
    return {
        "id": execution.id,
        "job_id": execution.job_id,
        "job_name": execution.job_name,
        "group": execution.group,
        "source": execution.source,
        "state": execution.state,
        "accepted_at": execution.accepted_at,
        "started_at": execution.started_at,
        "finished_at": execution.finished_at,
        "duration_ms": execution.duration_ms,
        "attempts": execution.attempts,
    }


def token_shape(
    caller: Principal, quotas: list[tuple[Bucket, Quota | None]]
) -> dict[str, object]:
    """What a token may do, and what is left of it this minute."""
    return {
        "key_id": caller.key_id,
        "name": caller.name,
        "scopes": sorted(caller.scopes),
        "range": {"job_ids": caller.job_ids, "job_groups": caller.job_groups},
        "expires_at": caller.expires_at,
        "quota": {bucket.name: quota_shape(bucket, quota) for bucket, quota in quotas},
    }


def quota_shape(bucket: Bucket, quota: Quota | None) -> dict[str, object]:
    """A limit; `remaining` and `reset_seconds` are null while Redis does not answer."""
    return {
        "limit": bucket.limit,
        "window_seconds": WINDOW_MS // 1000,
        "remaining": quota and quota.remaining,
        "reset_seconds": quota and quota.reset_seconds,
    }
