#!/bin/sh
# Workers whose gradients parameter servers apply when they come: each step of each worker is made once, with
# gradients that are as old as is allowed, or with those of the first workers alone. Usage: ps_asynchronous_test.sh
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

make_hosts_with_servers 2 3
start_job "worker_0 worker_2 ps_1 ps_0 worker_1" --epochs 4
ended_after each_worker_makes_each_of_its_steps_once $((3 * epoch * 4)) worker_0 worker_1 worker_2
ended_well servers_end_with_the_asynchronous_job ps_0 ps_1
check loss_falls awk -v a="$(loss worker_0 1p)" -v b="$(loss worker_0 '$p')" 'BEGIN { exit !(b < a) }'

make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --steps 37
ended_after number_of_steps_is_that_of_all_workers 37 worker_0 worker_1

# no gradients are older than that, and with three workers who compute at once some are as old
make_hosts_with_servers 1 3
start_job "ps_0 worker_0 worker_1 worker_2" --epochs 20 --max-staleness 2
ended_after bounded_staleness_makes_each_step_once $((3 * epoch * 20)) worker_0 worker_1 worker_2
ended_well server_of_bounded_staleness_ends_with_the_job ps_0
check gradients_are_no_older_than_is_allowed grep -q "steps old on average, and [012] at most" err-ps_0

for epochs in 2 4; do
    make_hosts_with_servers 1 2
    start_job "ps_0 worker_0 worker_1" --epochs $epochs --logdir log --checkpoint-dir run-log --resume
    ended_well "job_of_${epochs}_epochs_with_a_log_ends" ps_0 worker_0 worker_1
done
"$muster" inspect log > out 2> err
check each_epoch_has_one_histogram_of_staleness_also_where_the_job_goes_on grep -q \
    'staleness  *histogram  *4 points, steps 0 to 3' out

make_hosts_with_servers 3 3
start_job "ps_0 ps_1 ps_2 worker_0 worker_1 worker_2" --epochs 20 --max-staleness 2
ended_after bounded_staleness_of_three_servers_makes_each_step_once $((3 * epoch * 20)) worker_0 worker_1 worker_2
ended_well servers_of_bounded_staleness_end_with_the_job ps_0 ps_1 ps_2
for each in ps_0 ps_1 ps_2; do
    check "gradients_of_${each}_are_no_older_than_is_allowed" grep -q "steps old on average, and [012] at most" "err-$each"
done

make_hosts_with_servers 1 3
start_job "ps_0 worker_0" --max-staleness 1
ended_in_error bound_that_is_too_small_is_named "max_staleness 1 is too small for 3 workers" worker_0 ps_0

# The first two of three make a step, and the gradients of the third are dropped; a worker that begins when the others have
# ended makes its steps alone.
make_hosts_with_servers 1 3
start_job "ps_0 worker_0 worker_1 worker_2" --epochs 20 --issync 1 --replicas-to-aggregate 2 --evaluate
ended_well backup_workers_end_with_the_others worker_0 worker_1 worker_2 ps_0
check steps_are_made_of_two_gradients awk -v text="$(grep "came too late" err-ps_0)" -v each=$((epoch * 20)) \
    'BEGIN { split(text, word, " "); exit !(word[2] >= each && word[2] <= 2 * each) }'

# Several servers drop the same gradients.
make_hosts_with_servers 2 3
start_job "ps_0 ps_1 worker_0 worker_1 worker_2" --epochs 10 --issync 1 --replicas-to-aggregate 2 --validation-split 0.2
ended_well servers_of_backup_workers_end_with_them ps_0 ps_1
updates=$(sed -n 's/ps:0: \([0-9]*\) updates;.*/\1/p' err-ps_0)
ended_after backup_workers_end_with_the_others_also_with_two_servers "$updates" worker_0 worker_1 worker_2
check servers_drop_the_same_gradients [ "$(grep "came too late" err-ps_0 | sed s/ps:0//)" = \
    "$(grep "came too late" err-ps_1 | sed s/ps:1//)" ]

no_task_is_left
end_of_checks
