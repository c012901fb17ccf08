#!/bin/sh
# Workers that train together, started in any order and in different ways: each job ends with the weights of one
# process. Usage: cluster_test.sh PATH_OF_MUSTER. MUSTER_TEST_SEED=N repeats the ports.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
echo "MUSTER_TEST_SEED=$seed"
write_data data

alone --epochs 3
find_ports 2
make_hosts
start 1 --epochs 3
within 10 grep -q "waiting for worker:0 at localhost" err-1
start 0 --epochs 3
ended_alike two_workers_give_the_weights_of_one_process "$alone" 0 1
check worker_that_was_first_says_for_whom_it_waits grep -q "waiting for worker:0 at localhost:$first" err-1

find_ports 3
make_hosts
for i in 0 1 2; do start $i --epochs 3; done
ended_alike three_workers_with_four_shards_give_the_weights_of_one_process "$alone" 0 1 2

rates="--optimizer sgd --schedule piecewise --boundaries 12 --values 0.1,0.05"
# a list of words
# shellcheck disable=SC2086
alone --epochs 3 $rates --clip-global-norm 0.5 --ema 0.99
find_ports 2
make_hosts
# shellcheck disable=SC2086
for i in 0 1; do start $i --epochs 3 $rates --clip-global-norm 0.5 --ema 0.99 --devices cpu:2/1; done
ended_alike clipped_and_averaged_over_two_devices_each "$alone" 0 1

stops="--validation-split 0.3 --patience 1 --min-delta 1000 --reduce-on-plateau 2"
# shellcheck disable=SC2086
alone --epochs 3 $stops
find_ports 2
make_hosts
# shellcheck disable=SC2086
for i in 0 1; do start $i --epochs 3 $stops; done
ended_alike workers_keep_the_same_rows_for_validation "$alone" 0 1

# Statistics of the whole batch are sums over the shards of all workers.
cat > together.json << END
{"class_name": "Sequential", "config": {"name": "together", "layers": [
    {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [null, 8, 8]}},
    {"class_name": "Flatten", "config": {"name": "flat"}},
    {"class_name": "Dense", "config": {"name": "middle", "units": 16}},
    {"class_name": "BatchNormalization", "config": {"name": "norm", "momentum": 0.9, "synchronized": true}},
    {"class_name": "Dense", "config": {"name": "end", "units": 8}}]}}
END
plain=$training
training=$(echo "$plain" | sed 's/--hidden-units [0-9]*/--model together.json/; s/--dropout [0-9.]*//')
alone --epochs 2
find_ports 3
make_hosts
for i in 0 1 2; do start $i --epochs 2; done
ended_alike statistics_of_the_whole_batch_are_those_of_one_process "$alone" 0 1 2
training=$plain

# As mpiexec of Open MPI and torchrun start them on one machine: all addresses follow from the environment.
alone --epochs 3
# launched NAME VARIABLE=VALUE...: two workers with these variables, and @ for their number
launched() {
    name=$1
    shift
    for i in 0 1; do
        new_output $i
        # shellcheck disable=SC2086
        env $(echo "$@" | tr @ $i) "$muster" train --data idx:data --hidden-units 64 --batch-size 40 --seed 3 --dropout 0.2 \
            --json --devices cpu:1/1 --epochs 3 > "out-$i" 2> "err-$i" &
        has_started "$i"
    done
    ended_alike "$name" "$alone" 0 1
}
launched processes_of_mpiexec_are_workers OMPI_COMM_WORLD_RANK=@ OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE=2 \
    "PMIX_NAMESPACE=$$"
find_ports 2
launched processes_of_torchrun_are_workers RANK=@ WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=localhost "MASTER_PORT=$first"

end_of_checks
