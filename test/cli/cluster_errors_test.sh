#!/bin/sh
# Workers that train together and are told different things, or whose ports or keys are wrong: one error on every
# task, or an error on the task that is wrong and no harm to the others. Usage: cluster_errors_test.sh PATH_OF_MUSTER.
# MUSTER_TEST_SEED=N repeats the ports.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
echo "MUSTER_TEST_SEED=$seed"
write_data data

find_ports 2
make_hosts
start 0 --epochs 3
start 1 --epochs 4 --batch-size 20 --learning-rate 0.5 --optimizer sgd
ended_in_error other_options_are_an_error_on_every_task \
    "options differ between task worker:0 at .* and task worker:1 at .*: batch_size 40 and 20, epochs 3 and 4, optimizer 'adam' and 'sgd', learning_rate 0.003 and 0.5, " 0 1

find_ports 2
make_hosts
start 0 --epochs 3 --schedule piecewise --boundaries 5 --values 0.1,0.01
start 1 --epochs 3 --schedule piecewise --boundaries 5 --values 0.1,0.02
ended_in_error other_rates_of_a_schedule_are_an_error_on_every_task "the schedule of the learning rate differs" 0 1

DNNL_MAX_CPU_ISA=SSE41
export DNNL_MAX_CPU_ISA
alone --epochs 1
find_ports 2
make_hosts
start 1 --epochs 1
unset DNNL_MAX_CPU_ISA
start 0 --epochs 1
ended_alike workers_use_the_instructions_that_all_have "$alone" 0 1
check worker_0_says_so grep -q "^worker:0: oneDNN uses SSE41, which all workers have, in place of " err-0
check nobody_says_that_bits_may_differ sh -c "! grep -q 'instruction sets differ' err-0 err-1"

find_ports 2
make_hosts
start 0 --epochs 3
start 1 --epochs 3 --hidden-units 65
ended_in_error another_model_is_an_error_on_every_task "the program.s graph differs" 0 1

find_ports 2
make_hosts
cp -r data changed
printf 'x' | dd of=changed/train-images-idx3-ubyte bs=1 seek=100 conv=notrunc 2> /dev/null
start 0 --epochs 3
start 1 --epochs 3 --data idx:changed
ended_in_error other_rows_of_the_same_shape_are_an_error_on_every_task "what is in the first 256 rows of the data differs between" 0 1

mkdir alike unlike elsewhere
"$muster" convert idx:data tfrecord:alike/digits > /dev/null
"$muster" convert idx:changed tfrecord:unlike/digits > /dev/null
find_ports 2
make_hosts
start 0 --epochs 3 --data tfrecord:alike/digits
start 1 --epochs 3 --data tfrecord:unlike/digits
ended_in_error other_contents_of_files_are_an_error_on_every_task "what is in the first 256 files of the data differs between" 0 1
cp alike/* elsewhere
alone --epochs 1 --data tfrecord:alike/digits
find_ports 2
make_hosts
start 0 --epochs 1 --data tfrecord:alike/digits
start 1 --epochs 1 --data tfrecord:elsewhere/digits
ended_alike files_may_lie_elsewhere "$alone" 0 1

# lists_of LENGTH LENGTH: worker 0 has a list of so many workers, and worker 1 another one
lists_of() {
    find_ports 3
    for i in 0 1; do
        make_hosts
        [ "$1" -eq 3 ] || hosts=${hosts%,*}
        start $i --epochs 3
        set -- "$2" "$1"
    done
    ended_in_error "lists_of_$1_and_$2_workers_are_an_error_on_both" "the lists of tasks differ" 0 1
}
lists_of 2 3
lists_of 3 2

find_ports 2
make_hosts
start 0 --epochs 3
start 1 --epochs 3 --elastic 1
ended_in_error elastic_on_one_worker_alone_is_an_error_on_both "do not come together: one of them has --elastic" 0 1

# both are worker 0 of their lists, in which the hosts have another order
find_ports 2
hosts="\"localhost:$first\",\"localhost:$((first + 1))\""
start 0 --epochs 3 --timeout 1
TF_CONFIG="{\"cluster\":{\"worker\":[\"localhost:$((first + 1))\",\"localhost:$first\"]},\"task\":{\"type\":\"worker\",\"index\":0}}"
# $training is a list of words
# shellcheck disable=SC2086
TF_CONFIG=$TF_CONFIG "$muster" train $training --epochs 3 --timeout 1 > out-other 2> err-other &
has_started other
unset TF_CONFIG
ended_in_error two_tasks_with_index_0_are_an_error_on_both \
    "task worker:0 at localhost:.* and task worker:1 at localhost:.* do not come together: two tasks have the number 0: .* the same list of hosts" 0 other

# address_of_the_other NUMBER: worker NUMBER has another address of the other worker, where nobody listens
address_of_the_other() {
    find_ports 3
    for i in 0 1; do
        hosts="\"localhost:$first\",\"localhost:$((first + 1))\""
        [ "$i$1" != 00 ] || hosts="\"localhost:$first\",\"localhost:$((first + 2))\""
        [ "$i$1" != 11 ] || hosts="\"localhost:$((first + 2))\",\"localhost:$((first + 1))\""
        start $i --epochs 3 --timeout 1
    done
    ended_in_error "wrong_address_in_the_list_of_worker_${1}_is_an_error_on_both" \
        "task $1 cannot connect to task $((1 - $1)) at localhost:$((first + 2)).*the same list of hosts" 0 1
}
address_of_the_other 0
address_of_the_other 1

find_ports 2
make_hosts
start 1 --epochs 1
check waiting_for_a_task_says_why_it_is_not_there \
    within 10 grep -q "waiting for worker:0 at localhost:$first (connection refused: nothing listens there)" err-1
TF_CONFIG="{\"cluster\":{\"worker\":[$hosts]},\"task\":{\"type\":\"worker\",\"index\":1}}" \
    "$muster" train --data idx:data > out-again 2> err-again &
has_started again
check second_worker_1_without_a_worker_0_is_told_to_the_first \
    within 10 grep -q "two processes were started as worker:1, .* on 127.0.0.1, .* and none is worker:0" err-1
for i in 1 again; do signal 9 $i; done

find_ports 2
make_hosts
start 0 --epochs 3 --classes 8
cp -r data wrong
printf '\177' | dd of=wrong/train-labels-idx1-ubyte bs=1 seek=400 conv=notrunc 2> /dev/null
start 1 --epochs 3 --classes 8 --data idx:wrong
ended_in_error error_of_one_task_is_that_of_all "label 127" 0 1

find_ports 2
make_hosts
start 0 --epochs 400
within 10 test -s err-0
TF_CONFIG="{\"cluster\":{\"worker\":[$hosts]},\"task\":{\"type\":\"worker\",\"index\":0}}"
export TF_CONFIG
fails second_task_with_one_index_is_refused 1 "another program listens on port $first" train --data idx:data
unset TF_CONFIG
signal 9 0

# busy NAME NUMBER: the port of worker NUMBER of three is taken
busy() {
    find_ports 3
    make_hosts
    hold $((first + $2))
    for i in 0 1 2; do [ "$i" -eq "$2" ] || start $i --epochs 3; done
    within 10 grep -q "waiting for worker:$2" err-$((($2 + 1) % 3))
    start "$2" --epochs 3
    ended_in_error "${1}_is_an_error_on_that_task" "address 'localhost:$((first + $2))': another program listens" "$2"
    # what has the port is a task of another job: the others may hear of that first
    ended_in_error "${1}_is_an_error_on_every_task" \
        "worker:$2: address 'localhost:$((first + $2))': another program listens\|the lists of tasks differ" \
        $((($2 + 1) % 3)) $((($2 + 2) % 3))
    let_go
}
busy port_of_a_worker_that_is_taken 1
busy port_of_the_chief_that_is_taken 0

alone --epochs 1500
find_ports 3
ports="$first $((first + 1))"
make_hosts
for i in 0 1; do start $i --epochs 1500 --log-every 1 --timeout 1; done
within 20 begun 1
TF_CONFIG="{\"cluster\":{\"worker\":[$hosts]},\"task\":{\"type\":\"worker\",\"index\":1}}"
export TF_CONFIG
fails second_worker_with_one_index_is_refused 1 "worker:1 at localhost:$((first + 1)) runs already, in a process on " \
    train --data idx:data --bind "localhost:$((first + 2))" --timeout 1
unset TF_CONFIG
ended_alike the_others_go_on "$alone" 0 1
for i in 0 1; do check "worker_${i}_says_so_once" [ "$(grep -c "a second process as task worker:1" err-$i)" = 1 ]; done

find_ports 2
make_hosts
TF_CONFIG="{\"cluster\":{\"worker\":[$hosts]},\"task\":{\"type\":\"worker\",\"index\":0}}"
export TF_CONFIG
fails address_that_other_machines_reach_is_refused 1 "give --cluster-key FILE.*or --insecure" train --data idx:data --bind "0.0.0.0:$first"
unset TF_CONFIG
alone --epochs 3
for i in 0 1; do start $i --epochs 3 --bind "0.0.0.0:$((first + i))" --insecure; done
ended_alike insecure_workers_listen_where_other_machines_reach_them "$alone" 0 1

works keygen_makes_a_key_for_its_owner_alone "give each task --cluster-key key" keygen key
check key_can_be_read_by_its_owner_alone [ "$(stat -c %a key)" = 600 ]
# Open MPI on several hosts, when nobody has said where worker 0 is
export OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=1 PMIX_NAMESPACE=7
fails worker_0_of_open_mpi_is_not_known 1 "address of worker 0 is not known: .*mpiexec of Open MPI .*-x MASTER_ADDR=HOST" \
    train --data idx:data --strategy multi-worker
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_SIZE PMIX_NAMESPACE

fails keygen_never_writes_over_a_file 1 "is there already" keygen key
fails keygen_needs_a_file 2 "write keygen FILE" keygen
find_ports 2
make_hosts
for i in 0 1; do start $i --epochs 3 --bind "0.0.0.0:$((first + i))" --cluster-key key; done
ended_alike workers_with_a_key_give_the_weights_of_one_process "$alone" 0 1

"$muster" keygen other > out 2> err
find_ports 2
make_hosts
start 0 --epochs 3 --cluster-key key
start 1 --epochs 3 --cluster-key other
ended_in_error worker_with_another_key_is_told_so "a different cluster key or none does: give all tasks the same" 1
start 1 --epochs 3 --cluster-key key
ended_alike the_others_wait_until_it_has_theirs "$alone" 0 1

chmod 644 other
TF_CONFIG="{\"cluster\":{\"worker\":[$hosts]},\"task\":{\"type\":\"worker\",\"index\":0}}"
export TF_CONFIG
fails key_that_others_can_read_is_refused 1 "chmod 600 other" train --data idx:data --cluster-key other
fails key_that_is_missing_is_named 1 "muster keygen missing" train --data idx:data --cluster-key missing
unset TF_CONFIG

fails strategy_without_a_cluster_says_how_to_make_one 2 "muster launch" train --strategy multi-worker
alone --epochs 1
cluster_of_one() {
    name=$1
    shift
    # $training is a list of words
    # shellcheck disable=SC2086
    works "$name" "\"weights_sha256\":\"$alone\"" train $training --epochs 1 --strategy multi-worker "$@"
}
TF_CONFIG='{"cluster":{"worker":["localhost:1"]},"task":{"type":"worker","index":0}}'
export TF_CONFIG
cluster_of_one one_worker_in_tf_config_is_a_cluster_of_one
cluster_of_one which_may_be_elastic --elastic 1
unset TF_CONFIG
cluster_of_one one_worker_of_the_flags_is_a_cluster_of_one --worker_hosts localhost:1 --job_name worker --task_index 0
RANK=0 WORLD_SIZE=1 MASTER_ADDR=localhost MASTER_PORT=1
export RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
cluster_of_one one_process_of_torchrun_is_a_cluster_of_one
WORLD_SIZE=2
unset MASTER_PORT
fails environment_that_is_not_whole_is_no_process_alone 2 "MASTER_PORT is not set" train --data idx:data
unset RANK WORLD_SIZE MASTER_ADDR
fails hosts_without_a_job_are_named 2 "job_name" train --worker_hosts a:1,b:2
TF_CONFIG='{"cluster":{"worker":["localhost:1","localhost:2"]},"task":{"type":"worker","index":0}}'
export TF_CONFIG
fails too_few_shards_are_named 2 "2 workers" train --shards 1 --data idx:data
TF_CONFIG='{"cluster":{"ps":["localhost:1"],"worker":["localhost:2"]},"task":{"type":"ps","index":0}}'
fails parameter_servers_exclude_multi_worker 2 "parameter servers" train --data idx:data --strategy multi-worker
TF_CONFIG='{"cluster":{"worker":["localhost:2","localhost:3"],"reader":["localhost:4"]},"task":{"type":"reader","index":0}}'
fails task_of_another_job_does_not_train 1 "reader:0" train --data idx:data
TF_CONFIG='{"cluster":'
fails text_that_is_no_json_is_named 2 "TF_CONFIG" train --data idx:data

end_of_checks
