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
# begin COUNT MIN OPTION...: a job of COUNT workers whose first event of a step is there, and which does not end before
# speed_up
begin() {
    count=$1 min=$2
    shift 2
    slow_down
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
    end_pace "$1"
    wait_for "$1"
}
says() { grep -q "$2" "err-$1"; }
# come_back NUMBER...: these train with the others, who then may end
come_back() {
    for back in "$@"; do within $patience begun "$back"; done
    speed_up
}

begin 3 1
random_ms 300
kill_worker 1
check two_of_three_go_on within $patience says 0 "2 of 3 workers go on after step [0-9]*, without worker:1"
worker 1
come_back 1
ended_alike worker_1_comes_back_to_the_others "$alone" 0 1 2
check it_has_joined_while_they_trained says 1 "the job is under way: going on after step"
rows history.csv > got.csv
check the_chief_writes_each_epoch_once cmp got.csv wanted.csv

begin 3 1
random_ms 300
kill_worker 0
check the_others_go_on_without_the_chief \
    within $patience says 1 "2 of 3 workers go on after step [0-9]*, without worker:0; files are written by worker:1"
random_ms 300
kill_worker 2
check one_goes_on_without_two within $patience says 1 "1 of 3 workers go on after step [0-9]*, without worker:0, worker:2"
worker 2
worker 0
come_back 2 0
ended_alike all_are_back_with_the_one "$alone" 0 1 2

begin 3 1
kill_worker 2
kill_worker 1
speed_up
ended_alike who_is_left_makes_all_steps "$alone" 0

# Of two workers the second goes on alone where it can see that the process of the first has ended; else it waits.
begin 2 1
kill_worker 0
speed_up
ended_alike the_second_of_two_goes_on_where_the_first_has_ended "$alone" 1
begin 2 1 --transport zmq
kill_worker 0
check the_second_of_two_waits_where_it_cannot_know \
    within $patience says 1 "waiting for worker:0 at .*; without, no majority is here of the workers that trained last"
worker 0 --transport zmq
speed_up
ended_alike the_first_of_two_comes_back "$alone" 0 1

begin 3 3
kill_worker 2
check fewer_than_the_least_wait \
    within $patience says 0 "waiting for worker:2 at localhost:[0-9]* (.*); without, fewer than 3 workers are here"
worker 2
speed_up
ended_alike they_go_on_when_they_are_enough "$alone" 0 1 2

# ---- who saves -------------------------------------------------------------------------------------

# goes_on_to NAME WANTED: one process that goes on from the folder of checkpoints has made all steps, and has these weights
goes_on_to() {
    # $training is a list of words
    # shellcheck disable=SC2086
    "$muster" train $training --epochs "$epochs" --shards 4 --checkpoint-dir run > again.out 2> again.err
    check "$1" [ "$(sha again.out)" = "$2" ]
    check "$1_without_a_step" sh -c '! grep -q "\"event\":\"step\"" again.out'
}
newest() { sed -n 's/^model_checkpoint_path: "model.ckpt-\([0-9]*\).*"/\1/p' run/checkpoint 2> /dev/null; }
# history.csv has no row that wanted.csv has not, and lacks at most $1 of it: that of an epoch which ended as a chief was
# lost. comm needs sorted lines: else, if the row of epoch 9 or 99 is missing, it takes the rows after it for others.
missing_at_most() {
    rows history.csv | sort > got.csv
    sort wanted.csv > all.csv
    [ "$(comm -13 all.csv got.csv | wc -l)" -eq 0 ] && [ "$(comm -23 all.csv got.csv | wc -l)" -le "$1" ]
}
is_past() { [ "$(newest || echo 0)" -gt "$1" ]; }
last_step=$((epochs * 11))

# The chief is lost and does not come back: epochs, checkpoints and points of TensorBoard go on.
rm -rf run log
begin 3 1 --checkpoint-dir run --save-every 50 --save model.npz --logdir log
within $patience is_past 50
kill_worker 0
then=$(newest)
check another_worker_saves_while_the_chief_is_lost within $patience is_past $((then + 100))
speed_up
ended_alike the_others_end_without_the_chief "$alone" 1 2
check the_last_state_is_saved_without_the_chief [ "$(newest)" -eq $last_step ]
check the_model_too test -s model.npz
check the_end_is_noted test -s run/.muster.ended
check by_one_of_them sh -c 'grep -q "\"checkpoint\":\"run/model.ckpt-" out-1 && ! grep -q "\"checkpoint\":" out-2'
check each_epoch_has_its_row missing_at_most 1
check summaries_go_on_too sh -c 'ls -l log/train | grep -c tfevents | grep -q -x 2'
goes_on_to a_job_without_its_chief_leaves_all_steps "$alone"

# It comes back, and saves again: nobody else may write then.
rm -rf run
begin 3 1 --checkpoint-dir run --save-every 20
within $patience is_past 20
kill_worker 0
then=$(newest)
within $patience is_past $((then + 60))
worker 0 --checkpoint-dir run --save-every 20
come_back 0
ended_alike the_chief_saves_again_when_it_is_back "$alone" 0 1 2
check it_has_saved_the_end grep -q '"checkpoint":"run/model.ckpt-'$last_step'"' out-0
check and_no_other_has sh -c '! grep -q "ckpt-'$last_step'" out-1 out-2'
check whose_history_has_each_epoch_too missing_at_most 2
goes_on_to the_folder_of_both_has_all_steps "$alone"

# It is killed when all steps are made, before it has saved the last one: another process has the folder until then.
rm -rf run
alone --epochs 5 --shards 4 --checkpoint-dir run
cp -r run copy
alone --epochs "$epochs" --shards 4 --checkpoint-dir copy
sh -c 'flock 8 && exec sleep 100' 8> run/.muster.lock &
has_started holder
begin 3 1 --checkpoint-dir run --save-every 100000
speed_up
within 60 grep -q '"event":"epoch","epoch":'$epochs, out-0
check who_cannot_save_says_so within $patience says 0 "another training writes its checkpoints there"
kill_worker 0
signal 9 holder
wait_for holder
ended_alike the_others_end_where_the_chief_was_killed_at_the_end "$alone" 1 2
check the_first_of_them_saves_the_end [ "$(newest)" -eq $last_step ]
goes_on_to all_steps_are_there_too "$alone"

# ---- late, stopped ---------------------------------------------------------------------------------

alone --epochs "$epochs" --shards 4
find_ports 3
make_hosts
min=2
slow_down
for i in 0 2; do worker $i --timeout 1; done
check a_job_begins_without_who_is_late within $patience says 0 "2 of 3 workers go on after step 0, without worker:1"
within $patience begun 0
worker 1 --timeout 1
come_back 1
ended_alike who_is_late_joins "$alone" 0 1 2
check it_has_trained_with_them says 1 "the job is under way"

# Who comes when the others have ended is told so, by the folder of checkpoints, or at last by nobody's being there.
epochs=5
alone --epochs "$epochs" --shards 4
rm -rf run
find_ports 3
make_hosts
speed_up
for i in 0 2; do worker $i --timeout 1 --checkpoint-dir run; done
ended_alike two_of_three_end_without_one "$alone" 0 2
worker 1 --timeout 1 --checkpoint-dir run
wait_for 1
check who_comes_after_the_end_has_nothing_to_do [ "$status" -eq 0 ]
check and_is_told_so says 1 "worker:1: the job has ended: 'run' has its last step; a greater --epochs goes on"
worker 1 --timeout 0.5 --recovery-timeout 1
ended_in_error who_waits_for_nobody_ends_too \
    "1 of 3 workers were here for 1 s, and may not begin alone: .* if the job has ended before, nothing is left to do" 1
epochs=300
alone --epochs "$epochs" --shards 4

begin 3 1 --timeout 1
signal STOP 1
check the_others_go_on_without_one_that_is_stopped \
    within $patience says 2 "2 of 3 workers go on after step [0-9]*, without worker:1"
signal CONT 1
check it_comes_back_to_them within $patience says 1 "going on after step"
speed_up
ended_alike it_goes_on_with_them "$alone" 0 1 2

# The chief keeps the folder while it is stopped, so that nobody can save; when it goes on it saves again.
rm -rf run
begin 3 1 --timeout 1 --checkpoint-dir run --save-every 20
signal STOP 0
check the_others_go_on_without_a_chief_that_is_stopped \
    within $patience says 1 "without worker:0; files are written by worker:1"
check who_stands_in_for_it_says_that_it_cannot_save \
    within $patience says 1 "^worker:1: cannot save for now: 'run': another training writes its checkpoints there"
signal CONT 0
check the_chief_comes_back_to_them within $patience says 0 "going on after step"
speed_up
ended_alike a_chief_that_was_stopped_goes_on_with_them "$alone" 0 1 2
check the_chief_has_saved_the_end grep -q '"checkpoint":"run/model.ckpt-' out-0
goes_on_to the_folder_of_a_chief_that_was_stopped_has_all_steps "$alone"

# The folder of another job is refused where training begins.
rm -rf run
mkdir run
sh -c 'flock 8 && exec sleep 100' 8> run/.muster.lock &
has_started holder
find_ports 2
make_hosts
min=1
for i in 0 1; do worker $i --checkpoint-dir run; done
ended_in_error the_folder_of_another_job_is_refused "another training writes its checkpoints there" 0 1
signal 9 holder
wait_for holder

# ---- cut off ---------------------------------------------------------------------------------------

if can_make_networks; then
    make_networks
    min=1
    slow_down
    for i in 0 1; do worker $i --timeout 0.5 --insecure; done
    within $patience begun 1
    cut_cable 2 &
    check one_side_of_the_cut_goes_on within 4 says 0 "1 of 2 workers go on after step [0-9]*, without worker:1"
    check the_other_waits within 6 says 1 "without, no majority is here"
    check and_does_not_go_on sh -c '! grep -q "going on after step" err-1'
    wait $!
    check until_the_cable_is_whole_again within $patience says 1 "going on after step"
    speed_up
    ended_alike both_sides_end_alike "$alone" 0 1
    end_networks
fi

end_of_checks
