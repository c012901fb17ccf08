#!/bin/sh
# Workers that train together: started in any order, killed at random moments and started again, stopped, told different
# things. Each job ends with the weights of one process, or with one error on every task. Usage: cluster_test.sh
# PATH_OF_MUSTER [KILLS]; KILLS is $MUSTER_KILLS or 2 where not given. MUSTER_TEST_SEED=N repeats the moments.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
kills=${2:-${MUSTER_KILLS:-2}}
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
echo "MUSTER_TEST_SEED=$seed, $kills kills"
write_data data

# ---- undisturbed --------------------------------------------------------------------------------------

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

alone --epochs 3 --optimizer sgd --learning-rate 0.1 --clip-global-norm 0.5 --ema 0.99
find_ports 2
make_hosts
for i in 0 1; do start $i --epochs 3 --optimizer sgd --learning-rate 0.1 --clip-global-norm 0.5 --ema 0.99 --devices cpu:2/1; done
ended_alike clipped_and_averaged_over_two_devices_each "$alone" 0 1

alone --epochs 3 --validation-split 0.3 --patience 1 --min-delta 1000
find_ports 2
make_hosts
for i in 0 1; do start $i --epochs 3 --validation-split 0.3 --patience 1 --min-delta 1000; done
ended_alike workers_keep_the_same_rows_for_validation "$alone" 0 1

# As mpiexec of Open MPI and torchrun start them on one machine: all addresses follow from the environment.
alone --epochs 3
# launched NAME VARIABLE=VALUE...: two workers with these variables, and @ for their number
launched() {
    name=$1
    shift
    for i in 0 1; do
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

# ---- lost and found -----------------------------------------------------------------------------------

epochs=$((kills > 2 ? 200 * kills : 400)) # long enough for all kills
alone --epochs "$epochs" --history alone.csv
# what does not depend on the time
rows() { sed 's/,[^,]*$//' "$1"; }
# kill_one NUMBER: a job of two workers, of which this one is killed so often; the chief writes each epoch to a file
kill_one() {
    find_ports 2
    make_hosts
    rm -f history.csv
    for i in 0 1; do start $i --epochs "$epochs" --log-every 1 --history history.csv; done
    for kill in $(seq "$kills"); do
        within 20 begun "$1" || break
        random 400
        sleep "$(awk -v x="$number" 'BEGIN { printf "%.3f", x / 1000 }')"
        signal 9 "$1"
        wait_for "$1"
        [ "$status" -eq 137 ] || break
        start "$1" --epochs "$epochs" --log-every 1 --history history.csv
    done
    ended_alike "worker_$1_killed_and_started_again_changes_nothing" "$alone" 0 1
    rows history.csv > got.csv
    check "the_chief_writes_each_epoch_once_where_worker_$1_is_killed" cmp got.csv wanted.csv
}
rows alone.csv > wanted.csv
kill_one 1
kill_one 0
[ "$epochs" -eq 400 ] || alone --epochs 400

# Stopped for longer than the timeout, and going on then.
find_ports 2
make_hosts
for i in 0 1; do start $i --epochs 400 --log-every 1 --timeout 1; done
within 20 begun 1
signal STOP 1
sleep 3
signal CONT 1
ended_alike worker_stopped_for_longer_than_the_timeout_goes_on "$alone" 0 1

# Its port is taken by another program when it comes back.
for lost in 0 1; do
    find_ports 2
    make_hosts
    for i in 0 1; do start $i --epochs 400 --log-every 1; done
    within 20 begun 1
    kill -9 "$(pid_of $lost)"
    wait_for $lost
    hold $((first + lost))
    start $lost --epochs 400 --log-every 1
    ended_in_error "worker_${lost}_that_finds_its_port_taken_ends" "another program listens on port $((first + lost))" $lost
    check "the_other_goes_on_without_worker_$lost" \
        within 10 grep -q "worker:$lost cannot join, and the job goes on: address" err-$((1 - lost))
    let_go
    start $lost --epochs 400 --log-every 1
    ended_alike "worker_${lost}_joins_when_its_port_is_free" "$alone" 0 1
done

find_ports 2
make_hosts
for i in 0 1; do start $i --epochs 400 --log-every 1 --recovery-timeout 1; done
within 20 begun 1
signal 9 1
ended_in_error lost_worker_that_does_not_come_back_is_named "worker:1" 0

# ---- what is wrong ------------------------------------------------------------------------------------

find_ports 2
make_hosts
start 0 --epochs 3
start 1 --epochs 3 --learning-rate 0.5 --optimizer sgd
ended_in_error other_options_are_an_error_on_every_task "learning rate or another option differs" 0 1

find_ports 2
make_hosts
start 0 --epochs 3
start 1 --epochs 3 --hidden-units 65
ended_in_error another_model_is_an_error_on_every_task "the program.s graph differs" 0 1

find_ports 2
make_hosts
start 0 --epochs 3
cp -r data wrong
printf '\177' | dd of=wrong/train-labels-idx1-ubyte bs=1 seek=400 conv=notrunc 2> /dev/null
start 1 --epochs 3 --data idx:wrong
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
    ended_in_error "${1}_is_an_error_on_every_task" \
        "worker:$2: address 'localhost:$((first + $2))': another program listens" $((($2 + 1) % 3)) $((($2 + 2) % 3))
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
ended_in_error worker_with_another_key_is_told_so "another cluster key or none does: give all tasks the same" 1
start 1 --epochs 3 --cluster-key key
ended_alike the_others_wait_until_it_has_theirs "$alone" 0 1

chmod 644 other
TF_CONFIG="{\"cluster\":{\"worker\":[$hosts]},\"task\":{\"type\":\"worker\",\"index\":0}}"
export TF_CONFIG
fails key_that_others_can_read_is_refused 1 "chmod 600 other" train --data idx:data --cluster-key other
fails key_that_is_missing_is_named 1 "muster keygen missing" train --data idx:data --cluster-key missing
unset TF_CONFIG

fails strategy_without_a_cluster_says_how_to_make_one 2 "muster launch" train --strategy multi-worker
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
