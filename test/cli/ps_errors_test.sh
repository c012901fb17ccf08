#!/bin/sh
# Workers and parameter servers that are told different things, are stopped by a signal or have another key: all tasks
# end with one error. Usage: ps_errors_test.sh PATH_OF_MUSTER. MUSTER_TEST_SEED=N repeats the moments.
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

# differs NAME PATTERN OPTION...: worker 1 has these options
differs() {
    name_of_difference=$1 pattern_of_difference=$2
    shift 2
    make_hosts_with_servers 1 2
    start_job "ps_0 worker_0" --epochs 3 --issync 1
    start_task worker_1 --epochs 3 --issync 1 "$@"
    ended_in_error "$name_of_difference" "$pattern_of_difference" ps_0 worker_0 worker_1
}
differs other_options_are_an_error_on_every_task \
    "options differ between worker:[01] at .* and worker:[01] at .*: optimizer '[a-z]*' and '[a-z]*', learning_rate 0[.0-9]* and 0[.0-9]*, " \
    --learning-rate 0.5 --optimizer sgd
differs another_model_is_an_error_on_every_task "the program.s graph differs" --hidden-units 65
differs asynchronous_worker_in_a_synchronous_job_is_an_error_on_every_task ": synchronous [01] and [01]: " --issync 0
differs another_size_of_parts_is_an_error_on_every_task ": part_bytes [01]0* and [01]0*: " --ps-part-bytes 1000
differs another_placement_is_an_error_on_every_task ": by_bytes [01] and [01]: " --ps-placement greedy

mkdir alike unlike
cp -r data changed
printf 'x' | dd of=changed/train-images-idx3-ubyte bs=1 seek=100 conv=notrunc 2> /dev/null
"$muster" convert idx:data tfrecord:alike/digits > /dev/null
"$muster" convert idx:changed tfrecord:unlike/digits > /dev/null
make_hosts_with_servers 1 2
start_job "ps_0 worker_0" --epochs 3 --issync 1 --data tfrecord:alike/digits
start_task worker_1 --epochs 3 --issync 1 --data tfrecord:unlike/digits
ended_in_error other_contents_of_files_are_an_error_on_every_task \
    "what is in the first 256 files of the data differs between" ps_0 worker_0 worker_1

DNNL_MAX_CPU_ISA=SSE41
export DNNL_MAX_CPU_ISA
alone --epochs 1
make_hosts_with_servers 2 2
start_task worker_1 --epochs 1 --issync 1
unset DNNL_MAX_CPU_ISA
start_job "ps_0 ps_1 worker_0" --epochs 1 --issync 1
ended_alike workers_use_the_instructions_that_all_have "$alone" worker_0 worker_1
ended_well and_so_do_the_servers ps_0 ps_1
check worker_0_says_so grep -q "^worker:0: oneDNN uses SSE41, which all workers have, in place of " err-worker_0
check nobody_says_that_bits_may_differ sh -c "! grep -q 'instruction sets differ' err-worker_0 err-worker_1 err-ps_0 err-ps_1"

# A process with less that comes in place of one of a job under way.
alone --epochs 300
make_hosts_with_servers 1 2
start_job "ps_0 worker_0 worker_1" --epochs 300 --log-every 1 --issync 1
within 20 begun worker_1
signal 9 worker_1
wait_for worker_1
DNNL_MAX_CPU_ISA=SSE41 start_task worker_1 --epochs 300 --log-every 1 --issync 1
wait_for worker_1
check worker_with_fewer_instructions_is_refused [ "$status" -eq 1 ]
check and_hears_why grep -q "instruction sets differ between .*: oneDNN .* and SSE41: " err-worker_1
start_task worker_1 --epochs 300 --log-every 1 --issync 1
ended_alike and_the_job_goes_on "$alone" worker_0 worker_1
ended_well and_so_does_the_server ps_0

# A server that has not enough memory.
printf '#!/bin/sh\nulimit -v 250000\nexec "%s" "$@"\n' "$muster" > limited
chmod +x limited
if ./limited version > out 2> err; then
    make_hosts_with_servers 1 1
    unlimited=$muster
    muster=$folder/limited
    start_task ps_0 --epochs 1 --hidden-units 300000 --transport zmq
    muster=$unlimited
    start_task worker_0 --epochs 1 --hidden-units 300000 --transport zmq
    ended_in_error variables_that_a_server_has_no_memory_for_are_an_error_on_every_task \
        "ps:0 at localhost:[0-9]* has no memory for [0-9]* bytes, sent by worker:0 at localhost:[0-9]*: take more" ps_0 worker_0
else
    echo "SKIPPED: a server that has not enough memory, which this build needs to begin with"
fi

make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0" --epochs 3 --max-staleness 1
start_task worker_1 --epochs 3 --max-staleness 2
ended_in_error another_bound_of_staleness_is_an_error_on_every_task ": max_staleness [12] and [12]: " ps_0 ps_1 worker_0 worker_1

make_hosts_with_servers 1 2
start_job "ps_0 worker_0 worker_1" --epochs 800 --log-every 1 --classes 8
within 20 begun worker_1
cp -r data wrong
printf '\177' | dd of=wrong/train-labels-idx1-ubyte bs=1 seek=400 conv=notrunc 2> /dev/null
signal 9 worker_1
wait_for worker_1
start_task worker_1 --epochs 800 --classes 8 --hidden-units 65
ended_in_error newcomer_that_differs_is_refused "the program.s graph differs" worker_1
check and_the_job_goes_on runs worker_0
start_task worker_1 --epochs 800 --classes 8 --data idx:wrong
ended_in_error error_of_one_task_is_that_of_all "label 127" ps_0 worker_0 worker_1

# ---- other lists of tasks -----------------------------------------------------------------------------

another_list="the lists of tasks differ: that of .*'worker: [12], ps: 1', that of .*: give all tasks the same TF_CONFIG"
for number_of_ps in 1 2; do
    make_hosts_with_servers 1 2
    both=$worker_hosts
    [ $number_of_ps = 2 ] || worker_hosts=${both%,*}
    start_task ps_0
    worker_hosts=$both
    [ $number_of_ps = 1 ] || worker_hosts=${both%,*}
    start_task worker_0 --epochs 3
    ended_in_error "number_of_workers_that_differs_from_${number_of_ps}_is_an_error_on_both" "$another_list" ps_0 worker_0
done

make_hosts_with_servers 1 2
start_job "ps_0 worker_0 worker_1" --epochs 100000 --log-every 1
within 20 begun worker_1
both=$worker_hosts
worker_hosts=$worker_hosts,localhost:1
start_task worker_2 --epochs 800
worker_hosts=$both
ended_in_error newcomer_with_another_list_is_refused "the lists of tasks differ: .*'worker: 3, ps: 1'" worker_2
check and_the_others_go_on runs worker_0
check without_a_loss sh -c '! grep -q "is lost" err-ps_0 err-worker_0 err-worker_1 out-ps_0'
for each in worker_1 worker_0 ps_0; do
    signal 15 "$each"
    wait_for "$each"
done

# One worker lacks a list, or has one too many; the others are there. All hear which lists differ.
# start_with LISTS TASK OPTION...: TASK with that cluster
start_with() {
    lists=$1 task=$2
    shift 2
    new_output "$task"
    # $training is a list of words
    # shellcheck disable=SC2086
    TF_CONFIG="{\"cluster\":{$lists},\"task\":{\"type\":\"${task%_*}\",\"index\":${task#*_}}}" \
        "$muster" train $training "$@" > "out-$task" 2> "err-$task" &
    has_started "$task"
}
# lacks NAME LISTS TASK OTHER_LISTS OTHER_TASK...: TASK has LISTS, the other tasks OTHER_LISTS
lacks() {
    case_of_lists=$1 its=$2 one=$3 theirs=$4
    shift 4
    for each in "$@"; do start_with "$theirs" "$each" --epochs 3000 --timeout 1; done
    sleep 0.5
    start_with "$its" "$one" --epochs 3000 --timeout 1
    ended_in_error "$case_of_lists" "the lists of tasks differ: " "$one" "$@"
}
for odd in 0 1; do
    even=worker_$((1 - odd))
    find_ports 3
    ps="\"ps\":[\"localhost:$first\"]" workers="\"worker\":[\"localhost:$((first + 1))\",\"localhost:$((first + 2))\"]"
    chief="\"chief\":[\"localhost:$first\"]"
    lacks "worker_${odd}_without_the_servers_is_told" "$workers" worker_$odd "$ps,$workers" ps_0 $even
    find_ports 3
    lacks "worker_${odd}_with_servers_of_its_own_is_told" "$ps,$workers" worker_$odd "$workers" $even
    lacks "worker_${odd}_without_the_chief_is_told" "$workers" worker_$odd "$chief,$workers" chief_0 $even
done

# A worker that has never come is told from one that was lost, by those who are done.
make_hosts_with_servers 1 3
slow_down
start_task worker_1 --epochs 60 --issync 0 --log-every 1
is_slow=
start_job "ps_0 worker_0" --epochs 60 --issync 0
within 20 begun worker_1
for each in ps_0 worker_0; do
    check "${each}_says_who_never_came" within 20 grep -q "waiting for worker:2 at localhost:[0-9]*: has not connected yet" "err-$each"
done
signal 9 worker_1
wait_for worker_1
for each in ps_0 worker_0; do
    check "${each}_says_who_was_lost" within 30 grep -q "waiting for worker:1 at localhost:[0-9]*: was connected, and is lost" "err-$each"
done
speed_up
for each in worker_1 worker_2; do start_task $each --epochs 60 --issync 0; done
ended_well all_end_when_these_have_come worker_0 worker_1 worker_2 ps_0

find_ports 1
TF_CONFIG="{\"cluster\":{\"ps\":[\"localhost:$first\"]},\"task\":{\"type\":\"ps\",\"index\":0}}"
export TF_CONFIG
fails cluster_without_workers_is_an_error_and_no_more 1 "server: the cluster has no workers" server
TF_CONFIG="{\"sparseCluster\":{\"ps\":[\"localhost:$first\"]},\"task\":{\"type\":\"ps\",\"index\":0}}"
fails server_that_knows_no_workers_says_why 1 "server: TF_CONFIG lists some of the tasks only.*enableDynamicWorker" server
TF_CONFIG="{\"cluster\":{\"worker\":{\"1\":\"localhost:$first\"},\"ps\":[\"localhost:1\"]},\"task\":{\"type\":\"worker\",\"index\":1}}"
fails and_so_does_a_worker 1 "task: TF_CONFIG lists some of the tasks only.*enableDynamicWorker" train --data idx:data
fails and_the_doctor 1 "TF_CONFIG lists some of the tasks only.*enableDynamicWorker" doctor --data idx:data
unset TF_CONFIG

make_hosts_with_servers 5 2
start_job "ps_0 ps_1 ps_2 ps_3 ps_4 worker_0 worker_1" --epochs 3
ended_in_error more_servers_than_variables_are_an_error "5 parameter servers for 4 variables" worker_0 worker_1
ended_in_error and_the_servers_hear_of_it "5 parameter servers for 4 variables" ps_0 ps_1 ps_2 ps_3 ps_4

make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 3 --clip-norm 1 --ps-part-bytes 1000
ended_in_error norm_of_a_variable_in_parts_is_refused "clip_norm needs all of the gradient of a variable in one place" \
    ps_0 worker_0

make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 3 --clip-global-norm 1
ended_in_error global_norm_over_several_servers_is_refused "clip_global_norm needs all gradients in one place" ps_0 worker_0

make_hosts_with_servers 1 2
start_task ps_0
within 10 test -s out-ps_0
signal TERM ps_0
wait_for ps_0
check server_that_waits_ends_by_a_signal [ "$status" -eq 143 ]
start_job "ps_0 worker_0 worker_1" --epochs 800 --log-every 1
within 20 begun worker_1
signal INT ps_0
wait_for ps_0
check server_in_the_middle_of_a_job_ends_by_a_signal [ "$status" -eq 130 ]
ended_in_error and_the_workers_hear_of_it "ps:0 at localhost:$first was stopped" worker_0 worker_1

"$muster" keygen key > out 2> err
"$muster" keygen other > out 2> err
alone --epochs 3
make_hosts_with_servers 1 2
start_job "ps_0 worker_0" --epochs 3 --issync 1 --cluster-key key
start_task worker_1 --epochs 3 --issync 1 --cluster-key other --recovery-timeout 0.5
ended_in_error worker_with_another_key_is_told_so "a different cluster key or none does: give all tasks the same" worker_1
start_task worker_1 --epochs 3 --issync 1 --cluster-key key
ended_alike tasks_with_a_key_give_the_weights_of_one_process "$alone" worker_0 worker_1
ended_well and_so_ends_their_server ps_0

fails server_needs_a_cluster_with_servers 2 "give --ps-hosts and --worker-hosts" server
fails strategy_without_servers_says_how_to_start_them 2 "muster launch --ps 1" train --data idx:data --strategy parameter-server

no_task_is_left
end_of_checks
