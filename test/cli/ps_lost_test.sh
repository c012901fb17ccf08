#!/bin/sh
# Workers and parameter servers that are killed in the middle of a job and started again. A synchronous job ends with
# the weights of one process, an asynchronous one has made each step of each worker once. Usage: ps_lost_test.sh
# PATH_OF_MUSTER. MUSTER_TEST_SEED=N repeats the moments.
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

# kill_one NAME TASK ENDED OPTION...: the task is killed in the middle of a job of 2 servers and 2 workers and started again;
# ENDED, a list of words, says how the workers end
kill_one() {
    name_of_kill=$1 killed=$2 ended=$3
    shift 3
    make_hosts_with_servers 2 2
    kill_and_restart "$killed" 150 "$@"
    # a list of words
    # shellcheck disable=SC2086
    $ended "$name_of_kill" $wanted_of_kill worker_0 worker_1
    ended_well "and_the_servers_end_where_${victim}_was_killed" ps_0 ps_1
}
tasks="ps_0 ps_1 worker_0 worker_1"
alone --epochs 80
wanted_of_kill=$alone
for each in ps_0 ps_1 worker_0 worker_1; do
    kill_one "${each}_killed_and_started_again_changes_no_weight" $each ended_alike --epochs 80 --issync 1
done
kill_one server_of_parts_killed_and_started_again_changes_no_weight ps_1 ended_alike --epochs 80 --issync 1 \
    --ps-part-bytes 1000
wanted_of_kill=$((2 * epoch * 80))
for each in ps_0 ps_1 worker_0 worker_1; do
    kill_one "${each}_killed_and_started_again_changes_no_number_of_steps" $each ended_after --epochs 80
    kill_one "${each}_killed_where_staleness_is_bounded_changes_no_number_of_steps" $each ended_after --epochs 80 \
        --max-staleness 1
done

# told_to_leave NAME TASK ENDED OPTION...: as kill_one, of a server that gets SIGTERM. It leaves when the chief has its state:
# nothing is made again.
told_to_leave() {
    name_of_leave=$1 victim=$2 ended=$3
    shift 3
    rm -rf run
    make_hosts_with_servers 2 2
    slow_down
    start_job "$tasks" --epochs 80 --log-every 1 --checkpoint-dir run "$@"
    within 20 begun worker_1
    random_ms 150
    signal TERM "$victim"
    wait_for "$victim"
    check "${name_of_leave}_ends_by_the_signal" [ "$status" -eq 143 ]
    speed_up
    check and_the_chief_saves within 20 test -s run/checkpoint
    start_task "$victim" --epochs 80 --log-every 1 "$@"
    $ended "$name_of_leave" $wanted_of_leave worker_0 worker_1
    ended_well and_the_servers_end_then ps_0 ps_1
    check and_no_step_was_made_again [ "$(grep -c '"event":"step"' out-worker_0)" -eq $((epoch * 80)) ]
}
wanted_of_leave=$alone
told_to_leave server_that_leaves_and_comes_back_changes_no_weight ps_0 ended_alike --issync 1
wanted_of_leave=$((2 * epoch * 80))
told_to_leave server_that_leaves_an_asynchronous_job_loses_no_step ps_1 ended_after
told_to_leave server_that_leaves_where_staleness_is_bounded_loses_no_step ps_0 ended_after --max-staleness 1

# Worker 0 has made its last step when a server loses it, and makes it again.
make_hosts_with_servers 2 2
start_job "$tasks" --epochs 300 --log-every 1
within 20 begun worker_1
signal STOP worker_1
within 20 grep -q '"event":"epoch","epoch":300' out-worker_0
signal 9 ps_1
wait_for ps_1
start_task ps_1 --epochs 300 --log-every 1
signal CONT worker_1
ended_after worker_that_has_finished_makes_steps_again_that_a_server_loses $((2 * epoch * 300)) worker_0 worker_1
ended_well and_the_servers_end_then ps_0 ps_1

# Two at once: the chief waits for the other server, which waits for worker 1, which waits for what the first server gets
# from the chief.
make_hosts_with_servers 2 2
slow_down
start_job "$tasks" --epochs 80 --log-every 1 --issync 1
within 20 begun worker_1
random_ms 150
for each in ps_0 worker_1; do signal 9 "$each"; done
for each in ps_0 worker_1; do
    wait_for $each
    check "${each}_was_killed_with_the_other" [ "$status" -eq 137 ]
done
speed_up
for each in ps_0 worker_1; do start_task $each --epochs 80 --log-every 1 --issync 1; done
ended_alike server_and_worker_killed_at_once_change_no_weight "$alone" worker_0 worker_1
ended_well and_the_servers_of_that_job_end ps_0 ps_1

no_task_is_left
end_of_checks
