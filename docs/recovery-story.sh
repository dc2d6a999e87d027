#!/usr/bin/env bash
# A transfer whose worker dies in the middle, and how people bring it to a good end.
#
#   docs/recovery-story.sh [state directory of a running stack, .orbit by default]
#
# Start the stack first: make run. The story takes about half a minute, may be told
# again on the same stack, and ends with 1 if anything happens otherwise than told.
set -euo pipefail
cd "$(dirname "$0")/.."

state_dir=${1:-.orbit}
stack=$state_dir/stack.json
ledger=$state_dir/ledger.jsonl
python=${PYTHON:-.venv/bin/python}
[ -x "$python" ] || python=$(command -v python3)

sequence=9007199254740993 # one more than a double can hold
amount=1.10               # not 1.1
story=story-$(date +%s)-$$
lease_seconds=10

if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' red=$'\e[31m' off=$'\e[0m'
else bold='' dim='' green='' red='' off=''; fi

scene=0
scene() { scene=$((scene + 1)); printf '\n%s%d. %s%s\n' "$bold" "$scene" "$1" "$off"; }
say() { printf '   %s\n' "$1"; }
fact() { printf '   %-15s %s\n' "$1" "$2"; }
quote() { while IFS= read -r line; do printf '   %s│ %s%s\n' "$dim" "$line" "$off"; done; }
fail() { printf '\n%sThe story broke: %s%s\n' "$red" "$1" "$off" >&2; exit 1; }
expect() { [ "$2" = "$3" ] || fail "$1 is '$2', not '$3'. Last answer: ${body:-none}"; }

# pick PATH...: the members of the JSON on standard input, one a line, as written.
pick() {
  "$python" -c '
import sys
import msgspec

text = sys.stdin.buffer.read()
for path in sys.argv[1:]:
    value = msgspec.Raw(text)
    for name in path.split("."):
        if name.isdecimal():
            value = msgspec.json.decode(value, type=list[msgspec.Raw])[int(name)]
        else:
            value = msgspec.json.decode(value, type=dict[str, msgspec.Raw]).get(name, b"")
    written = bytes(value)
    print(msgspec.json.decode(written) if written[:1] == b"\"" else written.decode())
' "$@"
}

# call METHOD PATH TOKEN [KEY BODY]: sets $status and $body.
call() {
  local more=()
  [ $# -lt 5 ] || more=(-H 'Content-Type: application/json' -H "Idempotency-Key: $4" -d "$5")
  printf '   %s%s %s%s\n' "$dim" "$1" "$2" "$off"
  # The token goes through a pipe: a command line can be read by every process.
  body=$(curl -sS -X "$1" -H @<(printf 'Authorization: Bearer %s' "$3") "${more[@]}" \
    -w '\n%{http_code}' "$base_url$2")
  status=${body##*$'\n'} body=${body%$'\n'*}
}
get() { pick "$@" <<<"$body"; }
quietly() { "$@" >/dev/null; }

# await SECONDS WORDS COMMAND...: until the command succeeds.
await() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || fail "$what did not come about in time"
    sleep 0.2
  done
}
state_is() { quietly call GET "/v1/tasks/$1" "$2"; [ "$(get data.state)" = "$3" ]; }
ledger_has() { grep -qs "$1" "$ledger"; }

[ -r "$stack" ] || fail "there is no running stack in $state_dir; start one with: make run"
{ read -r base_url; read -r queue_id; read -r submitter; read -r operator; } < <(
  pick base_url demo.queue_id demo.tokens.submitter demo.tokens.operator <"$stack")
worker_now() { pick processes.ledger <"$stack"; }
is_replaced() { [ "$(worker_now)" != "$1" ]; }

printf '%sA transfer, a death, a decision%s\n' "$bold" "$off"
say "Orbit answers at $base_url; process $(worker_now) works for it."

scene 'A program submits a transfer'
payload='{"from": "alice", "to": "bob", "sequence": '$sequence', "amount": '$amount', "sleep_ms": 6000}'
call POST /v1/tasks "$submitter" "$story-submit" '{
  "queue_id": "'"$queue_id"'",
  "handler": "ledger.transfer", "handler_version": "v1", "payload_version": "v1",
  "payload": '"$payload"',
  "business_key": "'"$story"'",
  "retry": {"max_attempts": 1, "attempt_timeout_ms": 60000},
  "task_timeout_ms": 120000
}'
expect 'the status' "$status" 201
{ read -r task; read -r state; read -r safety; read -r submitted; } < <(
  get data.task.id data.task.state data.task.recovery_safety data.task.payload)
expect 'the payload' "$submitted" "$payload"
fact 'task' "$task"
fact 'state' "$state"
fact 'safety' "$safety: never run again while nobody knows what happened"
fact 'payload' "$submitted"

scene 'A worker takes it, and is killed between debit and credit'
await 20 'the debit' ledger_has "$task"
call GET "/v1/tasks/$task/attempts" "$submitter"
worker=$(get data.items.0.worker.name)
pid=${worker##*/}
expect 'the process of the worker' "$pid" "$(worker_now)"
kill -9 "$pid"
killed_at=$SECONDS
say "${red}kill -9 $pid${off}   $worker held attempt 1. What its ledger has now:"
grep "$task" "$ledger" | quote
expect 'the number of ledger lines' "$(grep -c "$task" "$ledger")" 1
say 'A debit without its credit. Orbit cannot see that; nobody told it anything.'

scene 'The lease runs out, and Orbit says that it does not know'
await $((lease_seconds + 5)) 'NEEDS_REVIEW' state_is "$task" "$submitter" NEEDS_REVIEW
fact 'after' "$((SECONDS - killed_at)) s (a lease of $lease_seconds s, and at most 5 more)"
{ read -r revision; read -r uncertain; read -r code; read -r message; } < <(
  get data.revision data.effect_uncertain data.error.code data.error.message)
fact 'state' "NEEDS_REVIEW, revision $revision, effect_uncertain $uncertain"
fact 'why' "$code: $message"
call GET "/v1/tasks/$task/attempts" "$operator"
{ read -r outcome; read -r worker; read -r started; read -r heard; read -r ended; read -r late; } < <(
  get data.items.0.{outcome,worker.name,started_at,last_heartbeat_at,ended_at,evidence})
expect 'the outcome' "$outcome" UNKNOWN
fact 'attempt 1' "$outcome, by $worker"
fact 'started' "$started"
fact 'last heard of' "${heard:-never after the claim}"
fact 'ended' "$ended"
fact 'late reports' "$late"

scene 'Who submits may not decide'
review='{
  "expected_revision": "'"$revision"'",
  "reason": "The worker was killed after the debit. The debit was reversed by hand.",
  "evidence_ref": "ledger:'"$sequence"'/reversal-001",
  "execution_settled": true,
  "outcome": "FAILED",
  "result": {"debited": true, "credited": false, "reversed": '$amount', "sequence": '$sequence'}
}'
call POST "/v1/tasks/$task:review" "$submitter" "$story-review" "$review"
expect 'the status' "$status" 403
fact "$status" "$(get error.code): $(get error.message)"

scene 'An operator looks, corrects the ledger, and settles the task'
printf '{"side":"reversal","account":"alice","amount":%s,"sequence":%s,"task_id":"%s"}\n' \
  "$amount" "$sequence" "$task" >>"$ledger"
grep "$task" "$ledger" | quote
say 'Then the decision, with its reason and where its proof lies:'
quote <<<"$review"
call POST "/v1/tasks/$task:review" "$operator" "$story-review" "$review"
expect 'the status' "$status" 200
{ read -r state; read -r settled; read -r result; read -r audit; read -r first_request; } < <(
  get data.task.state data.task.revision data.task.result data.audit_id request_id)
expect 'the state' "$state" FAILED
fact 'task' "$state, revision $settled"
fact 'result' "$result"
fact 'recorded as' "$audit"

scene 'The answer got lost? The same key gets the same receipt'
call POST "/v1/tasks/$task:review" "$operator" "$story-review" "$review"
expect 'the status' "$status" 200
expect 'deduplicated' "$(get data.deduplicated)" true
expect 'the audit id' "$(get data.audit_id)" "$audit"
fact 'recorded as' "$(get data.audit_id), deduplicated: true"
fact 'request' "$(get request_id), the first was $first_request"
call POST "/v1/tasks/$task:review" "$operator" "$story-review" "${review/FAILED/SUCCEEDED}"
expect 'the status' "$status" 409
fact "$status" "$(get error.code): the same key cannot mean something else"

scene 'It is safe to run it again: a new task, linked to the old one'
call POST "/v1/tasks/$task:retry" "$operator" "$story-retry" '{
  "expected_revision": "'"$settled"'",
  "reason": "The debit is reversed; the transfer may be made anew.",
  "evidence_ref": "ledger:'"$sequence"'/reversal-001",
  "safe_to_retry": true,
  "task_timeout_ms": 120000
}'
expect 'the status' "$status" 201
{ read -r child; read -r source; read -r same; } < <(
  get data.task.id data.task.retry_of data.task.payload)
expect 'retry_of' "$source" "$task"
expect 'the payload of the retry' "$same" "$payload"
fact 'new task' "$child"
fact 'retry_of' "$source, which stays as it was settled"
fact 'payload' "$same"

scene 'The supervisor has replaced the worker, and the transfer is made'
await 30 'the restart of the worker' is_replaced "$pid"
fact 'worker' "process $(worker_now) in the place of $pid"
await 60 'SUCCEEDED' state_is "$child" "$operator" SUCCEEDED
fact 'state' "SUCCEEDED after $(get data.attempt_count) attempt"
fact 'result' "$(get data.result)"
grep "$child" "$ledger" | quote
expect 'the number of ledger lines' "$(grep -c "$child" "$ledger")" 2

scene 'Everything is on record, newest first'
call GET "/v1/tasks/$task/operations" "$operator"
operations=$body
count=$("$python" -c 'import json, sys; print(len(json.load(sys.stdin)["data"]["items"]))' <<<"$operations")
for ((index = 0; index < count; index++)); do
  audit=$(pick "data.items.$index.id" <<<"$operations")
  quietly call GET "/v1/tasks/$task/operations/$audit" "$operator"
  {
    read -r action; read -r actor; read -r at; read -r before; read -r after
    read -r reason; read -r evidence
  } < <(get data.{action,actor_id,created_at,before,after,reason,evidence_ref})
  printf '\n   %s%s%s  %s  by %s\n' "$bold" "$action" "$off" "$at" "$actor"
  [ -z "$reason" ] || fact '  reason' "$reason"
  [ -z "$evidence" ] || fact '  evidence' "$evidence"
  fact '  before' "${before:--}"
  fact '  after' "$after"
done
expect 'the number of operations' "$count" 5

printf '\n%sNothing was lost, nothing was done twice, and it is known who decided what.%s\n' \
  "$green" "$off"
