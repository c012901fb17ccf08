#!/bin/sh
# Synchronous jobs of workers and parameter servers, started in any order, by flags, by TF_CONFIG and by a launcher:
# they end with the weights of one process. Usage: ps_test.sh PATH_OF_MUSTER. MUSTER_TEST_SEED=N repeats the moments.
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

# like_one NAME SERVERS WORKERS OPTION...: a synchronous job gives the hash of one process, which does not get the options
# in $of_servers
of_servers=
like_one() {
    like=$1 servers=$2 workers=$3
    shift 3
    alone "$@"
    make_hosts_with_servers "$servers" "$workers"
    names=$(for i in $(seq 0 $((workers - 1))); do printf 'worker_%d ' "$i"; done)
    # lists of words
    # shellcheck disable=SC2086
    start_job "$(for i in $(seq 0 $((servers - 1))); do printf 'ps_%d ' "$i"; done) $names" --issync 1 $of_servers "$@"
    # shellcheck disable=SC2086
    ended_alike "$like" "$alone" $names
}

alone --epochs 3
make_hosts_with_servers 1 2
start_job "worker_0 worker_1" --epochs 3 --issync 1
within 10 grep -q "waiting for ps:0 at localhost:$first" err-worker_0
start_task ps_0 --epochs 3 --issync 1
ended_alike server_that_comes_last_is_waited_for "$alone" worker_0 worker_1
check worker_that_was_first_says_for_whom_it_waits grep -q "waiting for ps:0 at localhost:$first" err-worker_0
ended_well server_ends_when_the_workers_have_done_their_work ps_0

make_hosts_with_servers 1 2
start_job "ps_0 worker_1" --epochs 3 --issync 1
within 10 grep -q "waiting for worker:0" err-ps_0
start_task worker_0 --epochs 3 --issync 1
ended_alike chief_that_comes_last_is_waited_for "$alone" worker_0 worker_1
check server_that_was_first_says_for_whom_it_waits grep -q "waiting for worker:0 at localhost:$((first + 1))" err-ps_0

like_one one_worker_gives_the_weights_of_one_process 1 1 --epochs 3
like_one three_servers_and_three_workers_give_the_weights_of_one_process 3 3 --epochs 3
like_one data_over_TCP_give_the_weights_of_one_process 1 2 --epochs 3 --transport zmq
like_one uneven_shards_give_the_weights_of_one_process 1 3 --epochs 3 --shards 7
like_one averages_of_adam_are_those_of_one_process 3 2 --epochs 3 --optimizer adam --ema 0.99
like_one averages_in_place_of_weights_are_those_of_one_process 1 2 --epochs 3 --ema 0.9 --use-ema
like_one averages_of_three_servers_in_place_of_weights_are_those_of_one_process 3 2 --epochs 3 --optimizer adam --ema 0.99 --use-ema
like_one clipping_by_the_global_norm_is_that_of_one_process 1 2 --epochs 3 --optimizer momentum --learning-rate 0.05 \
    --clip-global-norm 0.5
like_one schedule_is_that_of_one_process 2 2 --epochs 3 --optimizer sgd --learning-rate 0.1 --schedule cosine
like_one number_of_steps_is_that_of_one_process 2 2 --steps 17
# Moving statistics are kept by the servers too.
normalized() {
    cat << END
{"class_name": "Sequential", "config": {"name": "normalized", "layers": [
    {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [null, 8, 8]}},
    {"class_name": "Flatten", "config": {"name": "flat"}},
    {"class_name": "Dense", "config": {"name": "middle", "units": 16}},
    {"class_name": "BatchNormalization", "config": {"name": "norm", "momentum": 0.9, "synchronized": $1}},
    {"class_name": "Dense", "config": {"name": "end", "units": 8}}]}}
END
}
normalized false > normalized.json
normalized true > together.json
plain=$training
training=$(echo "$plain" | sed 's/--hidden-units [0-9]*/--model normalized.json/; s/--dropout [0-9.]*//')
like_one statistics_are_those_of_one_process 2 2 --epochs 3 --optimizer adam --learning-rate 0.01
of_servers="--ps-part-bytes 40"
like_one also_where_they_are_cut_and_shards_are_uneven 3 2 --epochs 3 --shards 7
of_servers=
make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 3 --issync 0
ended_after asynchronous_workers_end_with_the_same_statistics 66 worker_0 worker_1
make_hosts_with_servers 1 2
training=$(echo "$training" | sed 's/normalized/together/')
start_job "ps_0 worker_0 worker_1" --epochs 3 --issync 1
ended_in_error statistics_of_the_whole_batch_need_workers_without_servers "with synchronous parameter servers do not" \
    worker_0 worker_1
ended_in_error and_the_server_ends_with_their_error "with synchronous parameter servers do not" ps_0
training=$plain
of_servers="--ps-placement greedy"
like_one greedy_placement_gives_the_weights_of_one_process 2 2 --epochs 3 --optimizer momentum --learning-rate 0.05
check greedy_placement_gives_the_largest_variable_a_server_of_its_own grep -q 'keeps 1 variables' err-ps_0
check and_the_others_to_the_server_with_fewer_bytes grep -q 'keeps 3 variables' err-ps_1
of_servers="--ps-part-bytes 1000"
like_one variables_in_parts_give_the_weights_of_one_process 3 2 --epochs 3 --optimizer adam --ema 0.99
check server_without_biases_keeps_a_part_of_both_weights grep -q 'keeps 2 variables' err-ps_2
of_servers="--ps-part-bytes 40"
like_one more_servers_than_variables_share_what_is_in_parts 5 2 --epochs 3 --optimizer momentum --learning-rate 0.05
of_servers=
like_one penalties_are_those_of_one_process 2 2 --epochs 3 --l2 0.001

alone --epochs 3
make_hosts_with_servers 2 2
for i in 0 1; do
    new_output ps_$i
    "$muster" server --ps_hosts "$ps_hosts" --worker_hosts "$worker_hosts" --task_index $i > "out-ps_$i" 2> "err-ps_$i" &
    has_started ps_$i
done
start_job "worker_0 worker_1" --epochs 3 --issync 1
ended_alike muster_server_is_a_parameter_server "$alone" worker_0 worker_1
ended_well muster_server_ends_with_the_job ps_0 ps_1

# The same cluster as TF_CONFIG says it.
make_hosts_with_servers 1 2
quoted() { echo "\"$1\"" | sed 's/,/","/g'; }
for each in ps_0 worker_0 worker_1; do
    new_output $each
    # $training is a list of words
    # shellcheck disable=SC2086
    TF_CONFIG="{\"cluster\":{\"ps\":[$(quoted "$ps_hosts")],\"worker\":[$(quoted "$worker_hosts")]},
        \"task\":{\"type\":\"${each%_*}\",\"index\":${each#*_}}}" \
        "$muster" train $training --epochs 3 --issync 1 > "out-$each" 2> "err-$each" &
    has_started "$each"
done
ended_alike tasks_of_TF_CONFIG_give_the_weights_of_one_process "$alone" worker_0 worker_1
ended_well server_of_TF_CONFIG_ends_with_the_job ps_0

find_ports 3
# $training is a list of words
# shellcheck disable=SC2086
"$muster" launch --ps 1 --workers 2 --port "$first" -- "$muster" train $training --epochs 3 --issync 1 > out 2> err
status=$?
check launched_job_ends_without_error [ "$status" -eq 0 ]
check launched_workers_have_the_weights_of_one_process [ "$(grep -c "\"weights_sha256\":\"$alone\"" out)" -eq 2 ]

no_task_is_left
end_of_checks
