#!/bin/sh
# What workers of parameter servers print of an epoch, and what they decide by it. In a synchronous job each worker has the
# loss and the metrics of one process, bit for bit. Usage: ps_history_test.sh PATH_OF_MUSTER. MUSTER_TEST_SEED=N repeats the
# moments.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
. "$here/support/servers.sh"
echo "MUSTER_TEST_SEED=$seed"
write_data data

# history FILE [EVENT]: the rows that it has of each step, epoch and of the end, or of EVENT, without times
history() {
    grep -E "\"event\":\"${2:-(step|epoch|done)}\"" "$1" |
        sed -E 's/,"(examples_per_sec|first_step_sec|seconds|waited_for_data|runs_alone|checkpoint)":[^,}]*//g'
}

# same_history NAME WORKER...: each has printed what one process has
same_history() {
    name=$1 wrong=
    shift
    history alone.out > history-alone
    [ -s history-alone ] || wrong="one process has printed nothing"
    for n in "$@"; do
        history "out-$n" > "history-$n"
        cmp -s history-alone "history-$n" || wrong="$n: $(diff history-alone "history-$n" | head -n 4)"
    done
    if [ -n "$wrong" ]; then failed "$name" "$wrong"; else ok "$name"; fi
}

# like_one NAME SERVERS WORKERS OPTION...: a synchronous job prints what one process prints, and ends with its hash
like_one() {
    like=$1 servers=$2 workers=$3
    shift 3
    alone --log-every 4 "$@"
    make_hosts_with_servers "$servers" "$workers"
    names=$(for i in $(seq 0 $((workers - 1))); do printf 'worker_%d ' "$i"; done)
    # lists of words
    # shellcheck disable=SC2086
    start_job "$(for i in $(seq 0 $((servers - 1))); do printf 'ps_%d ' "$i"; done) $names" --issync 1 --log-every 4 \
        $of_servers "$@"
    # shellcheck disable=SC2086
    ended_alike "${like}_and_its_weights" "$alone" $names
    # shellcheck disable=SC2086
    same_history "$like" $names
}

of_servers=
like_one workers_print_what_one_process_prints 1 2 --epochs 3 --validation-split 0.2
of_servers="--transport zmq"
like_one also_over_TCP 2 2 --epochs 3 --validation-split 0.2 --metrics accuracy,top_k_accuracy
of_servers="--ps-part-bytes 40"
like_one also_where_shards_are_uneven_and_variables_cut 3 3 --epochs 2 --shards 7 --class-weight 1,2,3,4,1,2,3,4
of_servers=
like_one also_with_a_number_of_steps_that_ends_within_an_epoch 2 2 --steps 17
like_one also_where_last_batches_have_no_row_for_a_worker 1 3 --epochs 2 --batch-size 143 --shards 3

make_hosts_with_servers 1 3
start_job "ps_0 worker_0 worker_1 worker_2" --issync 1 --replicas-to-aggregate 2 --epochs 2 --batch-size 143 --shards 3
ended_well so_are_last_batches_with_backup_workers worker_0 worker_1 worker_2 ps_0

# ---- what is decided by it ----

stops="--epochs 300 --learning-rate 0.003 --monitor loss --validation-split 0.2"
best="$stops --patience 10 --restore-best-weights"
# $best and $stops are lists of words
# shellcheck disable=SC2086
like_one best_weights_are_those_of_one_process 1 2 $best --evaluate
check it_has_stopped_early grep -q '"weights":"best"' alone.out
check before_the_last_epoch [ "$(grep -c '"event":"epoch"' alone.out)" -lt 300 ]
of_servers="--transport zmq --ps-part-bytes 1000"
# shellcheck disable=SC2086
like_one also_of_servers_of_parts_over_TCP 2 2 $best
of_servers=
# shellcheck disable=SC2086
like_one rate_that_is_reduced_is_that_of_one_process 2 2 $stops --reduce-on-plateau 3 --epochs 100

# The files of the chief have the best weights, as those of one process.
# shellcheck disable=SC2086
alone $best --save one.safetensors --checkpoint-dir one --best
make_hosts_with_servers 2 2
# shellcheck disable=SC2086
start_job "ps_0 ps_1 worker_0 worker_1" --issync 1 $best --save job.safetensors --checkpoint-dir job --best
ended_alike job_that_saves_has_the_best_weights "$alone" worker_0 worker_1
check saved_weights_are_those_of_one_process cmp one.safetensors job.safetensors
for each in one job; do
    "$muster" evaluate --checkpoint-dir $each --data idx:data --json > out 2> err || failed "checkpoint of $each"
    grep '"evaluated"' out > "evaluated-$each"
done
check checkpoints_too cmp evaluated-one evaluated-job

# ---- a task that is lost ----

# unique FILE: its history, without what was made again
unique() { history "$1" '(step|epoch)' | awk '!seen[$0]++'; }

# kill_one TASK NAME: the task is killed in the middle of the job and started again. All end with the hash of one process,
# and print nothing that it has not printed.
kill_one() {
    name_of_kill=$2
    make_hosts_with_servers 2 2
    tasks="ps_0 ps_1 worker_0 worker_1"
    # shellcheck disable=SC2086
    kill_and_restart "$1" 600 --issync 1 $best
    ended_alike "$name_of_kill" "$alone" worker_0 worker_1
    ended_well "and_the_servers_end_where_${victim}_was_killed" ps_0 ps_1
    unique alone.out | sort > history-alone
    for n in worker_0 worker_1; do
        unique "out-$n" | sort > "history-$n"
        check "${n}_prints_what_one_process_prints_where_${victim}_was_killed" \
            [ -z "$(comm -13 history-alone "history-$n")" ]
        [ "$n" = "$victim" ] || check "all_of_it" cmp history-alone "history-$n"
    done
}
# shellcheck disable=SC2086
alone --log-every 1 $best
for each in ps_0 ps_1 worker_0 worker_1; do
    kill_one $each "${each}_killed_and_started_again_changes_no_decision"
done

# Most of the time is spent after the last step of an epoch, and before its end.
best="$stops --epochs 300 --patience 10 --restore-best-weights --validation-split 0.8"
# shellcheck disable=SC2086
alone --log-every 1 $best
for each in worker_0 worker_1; do
    kill_one $each "${each}_killed_in_validation_changes_no_decision"
done

# ---- asynchronous jobs: the chief decides ----

for options in "" "--max-staleness 3" "--issync 1 --replicas-to-aggregate 1"; do
    make_hosts_with_servers 2 2
    # lists of words
    # shellcheck disable=SC2086
    start_job "ps_0 ps_1 worker_0 worker_1" --epochs 2000 --learning-rate 0.003 --patience 3 --monitor accuracy \
        --restore-best-weights $options
    wait_for worker_0
    ended_alike "chief_that_has_waited_ends_the_job_of_all $options" "$(sha out-worker_0)" worker_0 worker_1
    ended_well and_the_servers_end ps_0 ps_1
    check chief_has_stopped_early [ "$(grep -c '"event":"epoch"' out-worker_0)" -lt 2000 ]
    check other_worker_ends_before_its_last_epoch [ "$(grep -c '"event":"epoch"' out-worker_1)" -lt 2000 ]
done

# A worker that is lost meanwhile, and the chief, which then goes on counting.
for victim in worker_0 worker_1; do
    make_hosts_with_servers 1 2
    tasks="ps_0 worker_0 worker_1"
    kill_and_restart $victim 300 --epochs 2000 --learning-rate 0.0001 --patience 30 --monitor accuracy
    wait_for worker_0
    ended_alike "asynchronous_job_ends_for_all_where_${victim}_was_killed" "$(sha out-worker_0)" worker_0 worker_1
    ended_well and_its_server_ends ps_0
done

make_hosts_with_servers 1 2
start_job "ps_0 worker_0 worker_1" --epochs 2000 --patience 2 --monitor accuracy --update-log log
ended_in_error end_by_a_callback_is_not_in_the_log "a callback ends the training, which is not in the log of updates" \
    worker_0 worker_1 ps_0

no_task_is_left
end_of_checks
