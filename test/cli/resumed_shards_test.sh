#!/bin/sh
# A training that is resumed without --shards keeps the number of its checkpoint, and so its bits: with more and fewer
# workers, with parameter servers, and where only the chief has the folder.
# Usage: resumed_shards_test.sh PATH_OF_MUSTER. MUSTER_TEST_SEED=N repeats the ports.
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
training="$training --schedule none"
all=30 many=2000

# begin STEPS OPTION...: one process trains so far, and leaves its checkpoint in the folder start
begin() {
    steps=$1
    shift
    rm -rf start
    # $training is a list of words
    # shellcheck disable=SC2086
    run train $training --steps "$steps" --checkpoint-dir start "$@"
    check "the_first_steps_with_${*:-no_options}" [ "$status" -eq 0 ]
}
again() { rm -rf run && cp -r start run; }
has_shards() {
    wanted=$1
    shift
    for n in "$@"; do grep -q "\"shards\":$wanted," "out-$n" || return 1; done
}

alone --steps "$all" --shards 4
with_default=$alone
alone --steps "$many" --shards 6
of_many=$alone
alone --steps "$all" --shards 6
check shards_decide_the_weights [ "$alone" != "$with_default" ]
begin 12 --shards 6

# ---- workers in step ----------------------------------------------------------------------------------

for workers in 2 3 4; do
    again
    find_ports "$workers"
    make_hosts
    start 0 --steps "$all" --checkpoint-dir run
    for i in $(seq $((workers - 1))); do start "$i" --steps "$all"; done
    # shellcheck disable=SC2046
    ended_alike "${workers}_workers_keep_the_shards_of_one_process" "$alone" $(seq 0 $((workers - 1)))
done
check each_says_the_number has_shards 6 0 1 2 3

# Two begin, three go on, and one ends: each has its own share of the shards.
again
find_ports 2
make_hosts
for i in 0 1; do start $i --steps 20 --checkpoint-dir run; done
wait_for 0 && wait_for 1
find_ports 3
make_hosts
for i in 0 1 2; do start $i --steps 25 --checkpoint-dir run; done
wait_for 0 && wait_for 1 && wait_for 2
# shellcheck disable=SC2086
run train $training --steps "$all" --checkpoint-dir run
check from_two_workers_to_three_to_one_process [ "$(sha out)" = "$alone" ]

# Each of the two has 3 shards, and one of its devices computes them.
again
find_ports 2
make_hosts
start 0 --steps "$all" --checkpoint-dir run --devices cpu:2/1 --no-json
start 1 --steps "$all" --devices cpu:2/1
wait_for 0
check devices_that_do_not_divide_the_shards_stay_idle \
    grep -q "^note: this worker uses 1 of its 2 devices, whose number must divide the number of its shards" out-0
check with_the_same_weights grep -q "^weights sha256: $alone" out-0
ended_alike also_on_the_other "$alone" 1

# A worker that is started again while the others train has the number of the job.
again
find_ports 2
make_hosts
slow_down
start 0 --steps "$many" --checkpoint-dir run --log-every 1
start 1 --steps "$many" --log-every 1
within 20 begun 1
signal 9 1
end_pace 1
wait_for 1
check a_worker_was_killed [ "$status" -eq 137 ]
start 1 --steps "$many" --log-every 1
within 20 begun 1
speed_up
ended_alike worker_that_comes_back_has_the_shards_of_the_job "$of_many" 0 1

again
find_ports 3
make_hosts
for i in 0 1 2; do start $i --steps "$all" --checkpoint-dir run --elastic 2; done
ended_alike elastic_workers_keep_them "$alone" 0 1 2

# What is said counts: another number, or a training that begins anew.
again
find_ports 2
make_hosts
for i in 0 1; do start $i --steps "$all" --checkpoint-dir run --shards 4; done
wait_for 0 && wait_for 1
check other_shards_are_told grep -q "^warning: the training that is resumed had 6 shards, now 4: " err-0
check and_taken has_shards 4 0 1
again
find_ports 2
make_hosts
for i in 0 1; do start $i --steps "$all" --checkpoint-dir run --no-resume; done
ended_alike training_that_begins_anew_has_the_default "$with_default" 0 1
again
find_ports 2
make_hosts
start 0 --steps "$all" --checkpoint-dir run
start 1 --steps "$all" --shards 4
ended_in_error one_that_says_another_number_is_an_error_on_all "the workers do not agree on the number of shards" 0 1

# ---- parameter servers --------------------------------------------------------------------------------

for workers in 2 3; do
    again
    make_hosts_with_servers 2 "$workers"
    names=$(seq -f worker_%.0f 1 $((workers - 1)))
    start_task worker_0 --steps "$all" --checkpoint-dir run --issync 1
    start_job "ps_0 ps_1 $names" --steps "$all" --issync 1
    # $names is a list of words
    # shellcheck disable=SC2086
    ended_alike "${workers}_workers_of_servers_keep_the_shards_of_one_process" "$alone" worker_0 $names
done
check each_says_the_number_too has_shards 6 worker_0 worker_1 worker_2

again
make_hosts_with_servers 1 2
slow_down
start_task worker_0 --steps "$many" --checkpoint-dir run --log-every 1 --issync 1
start_job "ps_0 worker_1" --steps "$many" --log-every 1 --issync 1
within 20 begun worker_1
for victim in worker_1 ps_0; do
    signal 9 $victim
    end_pace $victim
    wait_for $victim
    check "${victim}_was_killed" [ "$status" -eq 137 ]
    start_task $victim --steps "$many" --log-every 1 --issync 1
done
within 20 begun worker_1
speed_up
ended_alike worker_and_server_that_come_back_have_the_shards_of_the_job "$of_many" worker_0 worker_1
check it_says_the_number has_shards 6 worker_1

again
make_hosts_with_servers 1 2
start_task worker_0 --steps "$all" --checkpoint-dir run --issync 0
start_job "ps_0 worker_1" --steps "$all" --issync 0
ended_after asynchronous_workers_end "$all" worker_0 worker_1
check they_have_the_shards_too has_shards 6 worker_0 worker_1

# ---- too few ------------------------------------------------------------------------------------------

begin 12 --shards 2
again
find_ports 3
make_hosts
start 0 --steps "$all" --checkpoint-dir run
for i in 1 2; do start $i --steps "$all"; done
few="the training that is resumed has 2 shards, too few for 3 workers: take fewer workers, or give another number"
ended_in_error too_few_shards_are_an_error_on_all_workers "$few" 0 1 2
make_hosts_with_servers 1 3
start_task worker_0 --steps "$all" --checkpoint-dir run --issync 1
start_job "ps_0 worker_1 worker_2" --steps "$all" --issync 1
ended_in_error and_on_all_tasks_with_servers "$few" worker_0 worker_1 worker_2 ps_0

# ---- a batch for each replica -------------------------------------------------------------------------

training=$(echo "$training" | sed 's/--batch-size 40/--batch-per-replica 8/')
alone --steps "$all" --shards 6
begin 12 --shards 6
again
find_ports 2
make_hosts
for i in 0 1; do start $i --steps "$all" --checkpoint-dir run; done
ended_alike batch_is_that_of_the_kept_shards_where_all_see_the_folder "$alone" 0 1
again
find_ports 2
make_hosts
start 0 --steps "$all" --checkpoint-dir run
start 1 --steps "$all"
ended_in_error batches_of_different_numbers_are_an_error_on_both "batch_size 48 and 32" 0 1

no_task_is_left
end_of_checks
