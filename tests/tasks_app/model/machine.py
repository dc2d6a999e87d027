"""The whole engine as a state machine, beside a small model of what it should do."""

import uuid

from django.db import connection
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from orbit.errors import Refusal
from tasks_app.actions.configure_queue import configure_queue
from tasks_app.actions.expire_tasks import expire_tasks
from tasks_app.actions.promote_tasks import promote_tasks
from tasks_app.actions.reap_leases import reap_leases
from tasks_app.domain.limits import QueueLimits
from tests.tasks_app.contested.builders import (
    failure,
    let_deadline_pass,
    let_lease_run_out,
    stopped,
    success,
    unsure,
)
from tests.tasks_app.model.ground import Ground, Known, has, refusal_of, told


class Engine(Ground):
    """Acts of clients, workers, people and maintenance in any order."""

    # --- clients

    @rule(
        is_safe=st.booleans(),
        attempts=st.integers(1, 3),
        key=st.sampled_from([None, "a", "b"]),
        delay=st.sampled_from([0, 60_000]),
        priority=st.integers(-1, 1),
    )
    def submit(self, is_safe, attempts, key, delay, priority):
        submission = self.place.submission(
            recovery_safety="REPLAY_SAFE" if is_safe else "RECONCILE_ONLY",
            retry={
                "max_attempts": attempts,
                "initial_delay_ms": delay,
                "max_delay_ms": delay,
            },
            priority=priority,
            **({"concurrency_key": key} if key else {}),
        )
        [answer] = self.place.submit([submission])
        assert isinstance(answer, Refusal) == self.is_full(), answer
        if isinstance(answer, Refusal):
            return
        self.learn(answer.task, is_safe=is_safe, attempts=attempts, key=key)
        self.writes.append((lambda: self.place.submit([submission])[0], answer))

    def learn(self, task, *, is_safe, attempts, key):
        self.tasks[task.id] = Known(
            id=task.id, is_replay_safe=is_safe, max_attempts=attempts, key=key
        )

    @precondition(lambda self: self.writes)
    @rule(data=st.data())
    def write_again(self, data):
        repeat, first = data.draw(st.sampled_from(self.writes))
        again = repeat()
        assert (again.deduplicated, again.audit_id) == (True, first.audit_id)
        assert told(again.task) == told(first.task)

    @has("WAITING", "RUNNING")
    @rule(data=st.data())
    def cancel(self, data):
        task = self.one_of(data, "WAITING", "RUNNING")
        key = uuid.uuid4().hex
        if task.state == "RUNNING" and task.is_cancel_asked:
            refusal = refusal_of(lambda: self.place.cancel(task.id, key=key))
            assert refusal.details["reason"] == "STATE"
            return
        answer = self.place.cancel(task.id, key=key)
        if task.state == "RUNNING":
            task.is_cancel_asked = True
        else:
            task.move("NEEDS_REVIEW" if task.is_unknown else "CANCELLED")
        assert answer.task.state == task.state
        self.writes.append((lambda: self.place.cancel(task.id, key=key), answer))

    # --- workers

    @rule(wanted=st.integers(1, 4))
    def claim(self, wanted):
        due = [task for task in self.those("WAITING") if task.is_due]
        running = self.those("RUNNING")
        claimed = self.place.claim(wanted)
        for entry in claimed:
            task = self.tasks[entry.task.id]
            assert task in due
            task.move("RUNNING")
            task.attempts.append(entry)
            assert entry.attempt_number == len(task.attempts)
        slots = self.limits["max_concurrency"]
        room = wanted if slots is None else max(0, min(wanted, slots - len(running)))
        expected = 0 if self.is_paused else min(room, len(due))
        if self.limits["key_concurrency"] is None:
            assert len(claimed) == expected
        else:
            assert len(claimed) <= expected
            self.check_keys(claimed)

    def check_keys(self, claimed):
        limit = self.limits["key_concurrency"]
        for key in {self.tasks[entry.task.id].key for entry in claimed} - {None}:
            holders = [task for task in self.those("RUNNING") if task.key == key]
            assert len(holders) <= limit

    @has("RUNNING")
    @rule(data=st.data())
    def heartbeat(self, data):
        task = self.one_of(data, "RUNNING")
        renewal = self.place.renew(task.attempts[-1])
        assert renewal.cancel_requested == task.is_cancel_asked

    @has("RUNNING")
    @rule(data=st.data(), kind=st.sampled_from(["succeed", "fail", "unknown"]))
    def report(self, data, kind):
        task = self.one_of(data, "RUNNING")
        entry = task.attempts[-1]
        report = {"succeed": success, "fail": failure, "unknown": unsure}[kind](entry)
        answer = self.place.report(report)
        to = {"succeed": "SUCCEEDED", "fail": "FAILED", "unknown": "NEEDS_REVIEW"}[kind]
        task.move(to, is_unknown=kind == "unknown")
        assert (answer.state, answer.revision) == (task.state, task.revision)
        assert self.place.report(report) == answer

    @has("RUNNING")
    @rule(data=st.data())
    def fail_for_now(self, data):
        task = self.one_of(data, "RUNNING")
        report = failure(task.attempts[-1], is_retryable=True)
        answer = self.place.report(report)
        if task.is_cancel_asked:
            task.move("CANCELLED", is_unknown=False)
        elif task.has_attempts_left():
            task.move("WAITING", is_unknown=False)
            self.note_due(task)
        else:
            task.move("FAILED", is_unknown=False)
        assert answer.state == task.state

    def note_due(self, task):
        with connection.cursor() as cursor:
            cursor.execute("SELECT is_due FROM tasks_task WHERE id = %s", [task.id])
            [task.is_due] = cursor.fetchone()

    @has("RUNNING")
    @rule(data=st.data())
    def acknowledge_cancel(self, data):
        task = self.one_of(data, "RUNNING")
        report = stopped(task.attempts[-1])
        if task.is_cancel_asked:
            assert self.place.report(report).state == "CANCELLED"
            task.move("CANCELLED", is_unknown=False)
        else:
            assert refusal_of(lambda: self.place.report(report)).details["reason"] == (
                "STATE"
            )

    @precondition(lambda self: any(len(it.attempts) for it in self.tasks.values()))
    @rule(data=st.data(), result=st.sampled_from(["1", "2.50"]))
    def report_late(self, data, result):
        ended = [
            entry
            for task in self.tasks.values()
            for entry in task.attempts[: -1 if task.state == "RUNNING" else None]
        ]
        if ended:
            entry = data.draw(st.sampled_from(ended))
            # A result that no timely report has.
            report = success(entry, result=f'{{"late":{result}}}')
            assert refusal_of(lambda: self.place.report(report)).details["reason"] == (
                "LEASE"
            )
            assert refusal_of(lambda: self.place.renew(entry)).details["reason"] == (
                "LEASE"
            )

    # --- maintenance

    @has("RUNNING")
    @rule(data=st.data())
    def lose_lease(self, data):
        task = self.one_of(data, "RUNNING")
        let_lease_run_out(task.attempts[-1])
        assert reap_leases(limit=10) == 1
        if task.is_replay_safe and task.has_attempts_left():
            task.move("WAITING", is_unknown=True)
            self.note_due(task)
        else:
            task.move("NEEDS_REVIEW", is_unknown=True)
        assert reap_leases(limit=10) == 0

    @has("WAITING")
    @rule(data=st.data())
    def miss_deadline(self, data):
        task = self.one_of(data, "WAITING")
        let_deadline_pass(task.id)
        assert expire_tasks(limit=10) == 1
        task.move("NEEDS_REVIEW" if task.is_unknown else "FAILED")

    @precondition(lambda self: any(not it.is_due for it in self.those("WAITING")))
    @rule()
    def come_due(self):
        with connection.cursor() as cursor:
            cursor.execute("UPDATE tasks_task SET due_at = created_at WHERE NOT is_due")
        late = [task for task in self.those("WAITING") if not task.is_due]
        assert promote_tasks(limit=100) == len(late)
        for task in late:
            task.is_due = True

    # --- people

    @has("NEEDS_REVIEW")
    @rule(data=st.data(), outcome=st.sampled_from(["SUCCEEDED", "FAILED"]))
    def review(self, data, outcome):
        task = self.one_of(data, "NEEDS_REVIEW")
        arguments = {
            "key": uuid.uuid4().hex,
            "outcome": outcome,
            "revision": str(task.revision),
        }
        answer = self.place.review(task.id, **arguments)
        task.move(outcome)
        assert (answer.task.state, answer.task.revision) == (outcome, task.revision)
        self.writes.append((lambda: self.place.review(task.id, **arguments), answer))

    @has("FAILED", "CANCELLED")
    @rule(data=st.data())
    def retry(self, data):
        task = self.one_of(data, "FAILED", "CANCELLED")
        arguments = {"key": uuid.uuid4().hex, "revision": str(task.revision)}
        if task.child or self.is_full():
            refusal = refusal_of(lambda: self.place.retry(task.id, **arguments))
            assert refusal.code == ("STATE_CONFLICT" if task.child else "QUEUE_FULL")
            return
        answer = self.place.retry(task.id, **arguments)
        task.child = answer.task.id
        self.learn(
            answer.task,
            is_safe=task.is_replay_safe,
            attempts=task.max_attempts,
            key=task.key,
        )
        self.writes.append((lambda: self.place.retry(task.id, **arguments), answer))

    @precondition(lambda self: self.tasks)
    @rule(data=st.data(), act=st.sampled_from(["review", "retry", "cancel"]))
    def act_out_of_place(self, data, act):
        task = data.draw(st.sampled_from(list(self.tasks.values())))
        allowed = {
            "review": {"NEEDS_REVIEW"},
            "retry": {"FAILED", "CANCELLED"},
            "cancel": {"WAITING", "RUNNING"},
        }[act]
        if task.state not in allowed:
            refusal = refusal_of(lambda: getattr(self.place, act)(task.id))
            assert refusal.details["state"] == task.state

    @rule(
        outstanding=st.integers(1, 30),
        slots=st.one_of(st.none(), st.integers(1, 4)),
        per_key=st.one_of(st.none(), st.integers(1, 2)),
        is_paused=st.booleans(),
    )
    def configure(self, outstanding, slots, per_key, is_paused):
        self.limits = {
            "max_outstanding": outstanding,
            "max_concurrency": slots,
            "key_concurrency": per_key,
        }
        self.is_paused = is_paused
        configure_queue(
            queue_id=self.place.queue_id,
            limits=QueueLimits(**self.limits, is_paused=is_paused),
        )
