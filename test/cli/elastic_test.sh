#!/bin/sh
# Jobs with --elastic, whose workers may be fewer than all: killed, stopped, cut off, late. Each ends with the weights of
# one process. Usage: elastic_test.sh PATH_OF_MUSTER. MUSTER_TEST_SEED=N repeats the moments.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
echo "MUSTER_TEST_SEED=$seed"
write_data data
patience=20
unset OMPI_COMM_WORLD_SIZE PMI_SIZE

# ---- what cannot be --------------------------------------------------------------------------------

two="--worker_hosts localhost:1,localhost:2 --job_name worker --task_index 0"
# $two and $training are lists of words
# shellcheck disable=SC2086
{
    fails more_than_all_workers 2 "elastic 3: the cluster has 2 workers: give at most as many" train $training $two --elastic 3
    fails none 2 "elastic" train $training $two --elastic 0
    fails one_process 2 "elastic needs a cluster of several workers" train $training --elastic 1
    fails with_servers 2 "elastic is for workers without parameter servers" \
        train $training --ps_hosts localhost:3 $two --elastic 1
    fails with_mpi 2 "elastic is not for --transport mpi" train $training $two --elastic 1 --transport mpi
}

# ---- killed, and back ------------------------------------------------------------------------------

epochs=300
alone --epochs "$epochs" --shards 4 --history alone.csv
# what does not depend on the time
rows() { sed 's/,[^,]*$//' "$1"; }
rows alone.csv > wanted.csv
# begin COUNT MIN OPTION...: a job of COUNT workers whose first event of a step is there
begin() {
    count=$1 min=$2
    shift 2
    find_ports "$count"
    make_hosts
    rm -f history.csv
    for i in $(seq 0 $((count - 1))); do worker "$i" "$@"; done
    within $patience begun 0
}
worker() {
    i=$1
    shift
    start "$i" --epochs "$epochs" --shards 4 --log-every 1 --elastic "$min" --history history.csv "$@"
}
kill_worker() {
    signal 9 "$1"
    wait_for "$1"
}
says() { grep -q "$2" "err-$1"; }

begin 3 1
random_ms 300
kill_worker 1
check two_of_three_go_on within $patience says 0 "2 of 3 workers go on after step [0-9]*, without worker:1"
worker 1
ended_alike worker_1_comes_back_to_the_others "$alone" 0 1 2
check it_has_joined_while_they_trained says 1 "the job is under way: going on after step"
rows history.csv > got.csv
check the_chief_writes_each_epoch_once cmp got.csv wanted.csv

begin 3 1
random_ms 300
kill_worker 0
check the_others_go_on_without_the_chief \
    within $patience says 1 "2 of 3 workers go on after step [0-9]*, without worker:0; files are written when the chief"
random_ms 300
kill_worker 2
check one_goes_on_without_two within $patience says 1 "1 of 3 workers go on after step [0-9]*, without worker:0, worker:2"
worker 2
worker 0
ended_alike all_are_back_with_the_one "$alone" 0 1 2

begin 3 1
kill_worker 2
kill_worker 1
ended_alike who_is_left_makes_all_steps "$alone" 0

# Of two workers the second goes on alone where it can see that the process of the first has ended; else it waits.
begin 2 1
kill_worker 0
ended_alike the_second_of_two_goes_on_where_the_first_has_ended "$alone" 1
begin 2 1 --transport zmq
kill_worker 0
check the_second_of_two_waits_where_it_cannot_know \
    within $patience says 1 "waiting for worker:0 at .*; without, no majority is here of the workers that trained last"
worker 0 --transport zmq
ended_alike the_first_of_two_comes_back "$alone" 0 1

begin 3 3
kill_worker 2
check fewer_than_the_least_wait \
    within $patience says 0 "waiting for worker:2 at localhost:[0-9]*; without, fewer than 3 workers are here"
worker 2
ended_alike they_go_on_when_they_are_enough "$alone" 0 1 2

# ---- late, stopped ---------------------------------------------------------------------------------

find_ports 3
make_hosts
min=2
for i in 0 2; do worker $i --timeout 1; done
check a_job_begins_without_who_is_late within $patience says 0 "2 of 3 workers go on after step 0, without worker:1"
within $patience begun 0
worker 1 --timeout 1
ended_alike who_is_late_joins "$alone" 0 1 2
check it_has_trained_with_them says 1 "the job is under way"

begin 3 1 --timeout 1
signal STOP 1
check the_others_go_on_without_one_that_is_stopped \
    within $patience says 2 "2 of 3 workers go on after step [0-9]*, without worker:1"
signal CONT 1
ended_alike it_goes_on_with_them "$alone" 0 1 2

# ---- cut off ---------------------------------------------------------------------------------------

if can_make_networks; then
    epochs=4000 # long enough for one to train on when the cable is whole again
    alone --epochs $epochs --shards 4
    make_networks
    min=1
    for i in 0 1; do worker $i --timeout 0.5 --insecure; done
    within $patience begun 1
    cut_cable 2 &
    check one_side_of_the_cut_goes_on within 4 says 0 "1 of 2 workers go on after step [0-9]*, without worker:1"
    check the_other_waits within 6 says 1 "without, no majority is here"
    check and_makes_no_step test "$(wc -l < out-0)" -gt "$(wc -l < out-1)"
    wait $!
    ended_alike both_sides_end_alike "$alone" 0 1
    end_networks
fi

end_of_checks
