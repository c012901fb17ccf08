#!/bin/sh
# Workers and parameter servers that are stopped for a while, or do not come back, and whole jobs that go on from a
# checkpoint: they end with the weights of one process, or with one error on all tasks. Usage: ps_gone_test.sh
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

alone --epochs 80
for each in worker_1 ps_1; do
    make_hosts_with_servers 2 2
    start_job "ps_0 ps_1 worker_0 worker_1" --epochs 80 --log-every 1 --issync 1 --timeout 1
    within 20 begun worker_1
    signal STOP "$each"
    sleep 2.5
    signal CONT "$each"
    ended_alike "${each}_stopped_for_longer_than_the_timeout_goes_on" "$alone" worker_0 worker_1
done

# goes_on_from_there NAME: the job that has ended with what the chief has saved goes on with fewer servers and more
# workers, and has the weights of the undisturbed one
goes_on_from_there() {
    check and_the_chief_has_saved sh -c "ls run | grep -q 'ckpt-[1-9].*index'"
    goes_on "$1"
    check and_not_from_the_beginning sh -c '! grep -q "\"event\":\"step\",.*\"step\":1," out-worker_0'
}
goes_on() {
    make_hosts_with_servers 1 3
    start_job "ps_0 worker_0 worker_1 worker_2" --epochs 80 --log-every 1 --issync 1 --checkpoint-dir run
    ended_alike "$1" "$alone" worker_0 worker_1 worker_2
}
# Nothing is saved in the first minutes but what is saved where a task stays away: nothing, too, where one server alone
# has got all gradients of the step in which the worker was killed.
rm -rf run
make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 80 --log-every 1 --issync 1 --recovery-timeout 0.5 --checkpoint-dir run
within 20 begun worker_1
random_ms 100
signal 9 worker_1
ended_in_error worker_that_does_not_come_back_is_named_on_all "worker:1 at localhost:$((first + 3))" ps_0 ps_1 worker_0
check with_the_same_words [ "$(tail -q -n 1 err-ps_0 err-ps_1 err-worker_0 | sort -u | wc -l)" -eq 1 ]
if grep -q 'have lost part of the state.*nothing is saved' err-worker_0; then
    goes_on job_that_a_worker_has_left_in_the_midst_of_a_step_begins_again
else
    goes_on_from_there job_that_a_worker_has_left_loses_no_step
fi

# What that server had is gone: the chief saves what it has got of all servers last, here as it was started again itself.
rm -rf run
make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 80 --log-every 1 --issync 1 --recovery-timeout 5 --checkpoint-dir run
within 20 begun worker_1
signal 9 worker_0
wait_for worker_0
start_task worker_0 --epochs 80 --log-every 1 --issync 1 --recovery-timeout 0.5 --checkpoint-dir run
within 20 begun worker_0
signal 9 ps_1
ended_in_error server_that_does_not_come_back_is_named_on_all "ps:1 at localhost:$((first + 1))" ps_0 worker_0 worker_1
check and_the_chief_says_what_it_has grep -q "the chief has that of step [1-9]" err-worker_0
goes_on_from_there job_that_a_server_has_left_goes_on_from_what_the_chief_had

# All leave at once: the chief still gets the state of the servers.
rm -rf run
make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 80 --log-every 1 --checkpoint-dir run --issync 1
within 20 begun worker_1
for each in ps_0 ps_1 worker_0 worker_1; do signal TERM $each; done
for each in ps_0 ps_1 worker_0 worker_1; do
    wait_for $each
    check "${each}_leaves_with_all" [ "$status" -eq 143 ]
done
goes_on_from_there job_that_all_have_left_goes_on_where_it_was
rm -rf run

# The other server, which does not talk to the lost one, hears so from the workers, and does not wait for these.
for each in ps_0 ps_1; do
    other=ps_$((1 - ${each#*_}))
    for synchronous in 0 1; do
        make_hosts_with_servers 2 2
        start_job "ps_0 ps_1 worker_0 worker_1" --epochs 800 --log-every 1 --recovery-timeout 3 --issync $synchronous
        within 20 begun worker_1
        signal 9 "$each"
        began=$(now)
        ended_in_error "${each}_that_does_not_come_back_is_named_on_all" "ps:${each#*_} at localhost" $other worker_0 worker_1
        check "in_the_time_of_one_wait" [ "$(seconds_since "$began" | sed 's/\..*//')" -lt 6 ]
        check "with_one_verdict" [ "$(tail -q -n 1 err-$other err-worker_0 err-worker_1 | sort -u | wc -l)" -eq 1 ]
    done
done

make_hosts_with_servers 1 2
start_job "ps_0 worker_0 worker_1" --epochs 20 --log-every 1 --recovery-timeout 0.5
within 20 begun worker_1
signal 9 worker_1
wait_for worker_0
check others_go_on_without_an_asynchronous_worker [ "$status" -eq 0 ]
ended_well and_so_does_the_server ps_0

# ---- checkpoints --------------------------------------------------------------------------------------

# All tasks end in the middle and are started again. Slots of Adam, too, go on from where they were. Checkpoints have whole
# variables, also of servers that keep parts.
alone --epochs 250
make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 250 --log-every 1 --issync 1 --checkpoint-dir run --save-every 9 \
    --ps-part-bytes 1000
within 20 test -s run/checkpoint
for each in ps_0 ps_1 worker_0 worker_1; do signal 9 "$each"; done
for each in ps_0 ps_1 worker_0 worker_1; do wait_for $each; done
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 250 --log-every 1 --issync 1 --checkpoint-dir run --save-every 9 --resume
ended_alike job_resumed_from_its_checkpoint_has_the_weights_of_the_undisturbed_one "$alone" worker_0 worker_1
check it_goes_on_from_the_checkpoint sh -c '! grep -q "\"event\":\"step\",.*\"step\":1," out-worker_0'

# A learning rate that is given anew is set by a callback of the chief's, and servers go on with it.
rate_of_job() { echo "--epochs $1 --optimizer momentum --learning-rate $2 --checkpoint-dir $3 --resume"; }
# lists of words
# shellcheck disable=SC2046
{
    alone $(rate_of_job 3 0.05 run-rate-one)
    alone $(rate_of_job 80 0.02 run-rate-one)
    make_hosts_with_servers 2 2
    start_job "ps_0 ps_1 worker_0 worker_1" --issync 1 $(rate_of_job 3 0.05 run-rate)
    ended_well job_whose_rate_will_be_another_ends ps_0 ps_1 worker_0 worker_1
    make_hosts_with_servers 2 2
    start_job "ps_0 ps_1 worker_0 worker_1" --issync 1 --log-every 1 $(rate_of_job 80 0.02 run-rate)
    within 20 begun worker_1
    signal 9 ps_1
    wait_for ps_1
    start_task ps_1 --issync 1 --log-every 1 $(rate_of_job 80 0.02 run-rate)
    ended_alike rate_that_is_set_is_that_of_the_servers_also_where_one_was_killed "$alone" worker_0 worker_1
    ended_well and_the_servers_end_with_the_other_rate ps_0 ps_1
}

# 33 steps leave the gradient of one, of the four of an update: it is in the checkpoint, in parts of two servers.
accumulates="--optimizer adam --gradient-accumulation-steps 4 --ps-part-bytes 1000 --checkpoint-dir run-sums --issync 1"
alone --epochs 5 --optimizer adam --gradient-accumulation-steps 4
# a list of words
# shellcheck disable=SC2086
for epochs in 3 5; do
    make_hosts_with_servers 2 2
    start_job "ps_0 ps_1 worker_0 worker_1" --epochs $epochs --resume $accumulates
    [ $epochs -eq 5 ] || ended_well job_that_ends_in_the_middle_of_an_accumulation ps_0 ps_1 worker_0 worker_1
done
ended_alike servers_go_on_in_the_middle_of_an_accumulation "$alone" worker_0 worker_1
check sum_of_gradients_was_in_the_checkpoint grep -q gradient_accumulator run-sums/model.ckpt-33.index

no_task_is_left
end_of_checks
