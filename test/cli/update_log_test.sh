#!/bin/sh
# The log of the updates of an asynchronous job, or of one with backup workers, and its replay, which ends with the same weights: with dropout, slots of
# the optimizer and checkpoints. Usage: update_log_test.sh PATH_OF_MUSTER.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
echo "MUSTER_TEST_SEED=$seed"
write_data data

tasks="ps_0 ps_1 worker_0 worker_1 worker_2"

# run_job OPTION...: a job of 2 servers and 3 workers; its hash in $hash, or why it has none
run_job() {
    make_hosts_with_servers 2 3
    for task_of_job in $tasks; do
        start_task "$task_of_job" "$@"
        random_ms 30
    done
    for task_of_job in $tasks; do
        wait_for "$task_of_job"
        [ "$status" -eq 0 ] || break
    done
    hash=$(sha out-worker_0)
    [ "$status" -eq 0 ] && [ -n "$hash" ] || hash="$task_of_job: exit status $status: $(tail -n 1 "err-$task_of_job")"
}

# replays NAME WANTED OPTION...: a replay has the hash WANTED
replays() {
    name_of_replay=$1 wanted_of_replay=$2
    shift 2
    run_job "$@"
    if [ "$hash" = "$wanted_of_replay" ]; then ok "$name_of_replay"; else failed "$name_of_replay" "$hash"; fi
}

run_job --epochs 3 --update-log log --checkpoint-dir run --save-every 1
recorded=$hash
check log_has_the_updates_of_each_server [ "$(grep -c '"event":"update"' log/updates-ps-0.jsonl)" -eq 99 ]
replays replay_has_the_weights_of_the_job "$recorded" --epochs 3 --replay-updates log --update-log again
replays and_has_them_again "$recorded" --epochs 3 --replay-updates again
check its_log_is_the_same diff -r log again
for i in 1 2 3; do
    run_job --epochs 3
    [ "$hash" = "$recorded" ] || break
done
[ "$hash" != "$recorded" ] || echo "jobs without a replay have all had the same order, too"

run_job --steps 41 --optimizer adam --max-staleness 3 --ps-part-bytes 1000 --update-log log-of-steps
replays replay_of_steps_with_variables_in_parts_has_the_weights_of_the_job "$hash" --steps 41 --optimizer adam \
    --max-staleness 3 --ps-part-bytes 1000 --replay-updates log-of-steps

backup="--issync 1 --replicas-to-aggregate 2 --validation-split 0.2"
# a list of words
# shellcheck disable=SC2086
run_job --epochs 3 $backup --update-log log-of-sets
# shellcheck disable=SC2086
replays replay_of_backup_workers_has_the_weights_of_the_job "$hash" --epochs 3 $backup --replay-updates log-of-sets

make_hosts_with_servers 2 3
for each in $tasks; do start_task "$each" --epochs 3 --dropout 0.3 --replay-updates log; done
# a list of words
# shellcheck disable=SC2086
ended_in_error another_model_is_an_error_on_all_tasks "the program.s graph differs between the job that wrote it" $tasks

fails log_needs_servers 2 "\-\-update-log is for a cluster with parameter servers" train --data idx:data --update-log log
make_hosts_with_servers 1 1
fails log_is_of_asynchronous_jobs 2 "\-\-replay-updates is not for --issync 1" train --data idx:data --ps_hosts "$ps_hosts" \
    --worker_hosts "$worker_hosts" --job_name worker --issync 1 --replay-updates log
end_of_checks
