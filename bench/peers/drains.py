"""Every peer's workers: two processes on the machine's two cores."""

from bench.worker_drain import WorkerDrain

CELERY = [
    "celery",
    "-A",
    "bench.peers.celery_redis",
    "worker",
    "--loglevel=ERROR",
    "--without-gossip",
    "--without-mingle",
    "--without-heartbeat",
]
PROCRASTINATE = [
    "procrastinate",
    "--app",
    "bench.peers.procrastinate_postgres.app",
    "worker",
    "--concurrency",
    "10",
    "--queues",
    "bench",
]
PGQUEUER = ["python", "-m", "bench.peers.pgqueuer_postgres", "work"]
DJANGO_TASKS = ["python", "-m", "bench.peers.django_tasks_postgres", "work"]

DJANGO_Q = ["python", "-m", "bench.peers.django_q_redis", "work"]


def one_by_one() -> list[WorkerDrain]:
    """Peers that take and finish one task at a time."""
    return [
        WorkerDrain(
            name="Procrastinate",
            kind="peer",
            expected=1500,
            config="two workers, --concurrency 10, psycopg, jobs kept",
            module="bench.peers.procrastinate_postgres",
            workers=[PROCRASTINATE, PROCRASTINATE],
        ),
        WorkerDrain(
            name="django-tasks (database)",
            kind="peer",
            expected=1200,
            config="two db_worker, --interval 0",
            module="bench.peers.django_tasks_postgres",
            workers=[DJANGO_TASKS, DJANGO_TASKS],
        ),
        WorkerDrain(
            name="django-q2 (Redis)",
            kind="peer",
            expected=1000,
            config="qcluster, workers 2, results kept (default save_limit)",
            module="bench.peers.django_q_redis",
            workers=[DJANGO_Q],
        ),
        WorkerDrain(
            name="django-q2 (Redis, no results)",
            kind="peer",
            expected=2500,
            config="qcluster, workers 2, save_limit -1",
            module="bench.peers.django_q_redis",
            workers=[DJANGO_Q],
            environment={"BENCH_SAVE_LIMIT": "-1"},
        ),
    ]


def in_batches() -> list[WorkerDrain]:
    """Peers that prefetch: PgQueuer, and those on Redis."""
    return [
        WorkerDrain(
            name="PgQueuer, batch 10",
            kind="peer",
            expected=12_000,
            config="two workers, default batch size 10, asyncpg",
            module="bench.peers.pgqueuer_postgres",
            workers=[[*PGQUEUER, "10"]] * 2,
        ),
        WorkerDrain(
            name="PgQueuer, batch 100",
            kind="peer",
            expected=30_000,
            config="two workers, batch size 100, asyncpg",
            module="bench.peers.pgqueuer_postgres",
            workers=[[*PGQUEUER, "100"]] * 2,
        ),
        WorkerDrain(
            name="Celery (Redis, prefork)",
            kind="peer",
            expected=2500,
            config="-P prefork -c 2, prefetch multiplier 64, results ignored",
            module="bench.peers.celery_redis",
            workers=[[*CELERY, "-c", "2"]],
        ),
        WorkerDrain(
            name="Celery (Redis, solo)",
            kind="peer",
            expected=4000,
            config="two workers -P solo, prefetch multiplier 64, results ignored",
            module="bench.peers.celery_redis",
            workers=[[*CELERY, "-P", "solo", "-n", f"w{n}@bench"] for n in (1, 2)],
        ),
        WorkerDrain(
            name="Huey (Redis)",
            kind="peer",
            expected=10_000,
            config="huey_consumer -k process -w 2, no result store",
            module="bench.peers.huey_redis",
            workers=[
                [
                    "huey_consumer",
                    "bench.peers.huey_redis.huey",
                    "-k",
                    "process",
                    "-w",
                    "2",
                    "-q",
                ]
            ],
        ),
        WorkerDrain(
            name="Dramatiq (Redis)",
            kind="peer",
            expected=10_000,
            config="dramatiq -p 2 -t 8 (defaults), Redis broker",
            module="bench.peers.dramatiq_redis",
            workers=[["dramatiq", "bench.peers.dramatiq_redis", "-p", "2", "-t", "8"]],
        ),
    ]
