#!/bin/sh
# Workers that share the optimizer's slots out (--sharded-state): the weights of one process, a part of its slots,
# checkpoints that any number of workers go on from, workers that are killed and started again. Usage:
# sharded_state_test.sh PATH_OF_MUSTER. MUSTER_TEST_SEED=N repeats the ports.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
echo "MUSTER_TEST_SEED=$seed"
write_data data

# job WORKERS OPTION...: starts so many workers, the last one first
job() {
    find_ports "$1"
    make_hosts
    number=$1
    shift
    while [ "$number" -gt 0 ]; do
        number=$((number - 1))
        start $number "$@"
    done
}

# alike NAME "WORKERS..." OPTION...: jobs of so many workers each end with the weights of one process
alike() {
    what=$1 counts=$2
    shift 2
    alone "$@"
    for workers in $counts; do
        job "$workers" --sharded-state "$@"
        # the numbers of the workers are words
        # shellcheck disable=SC2046
        ended_alike "${what}_over_$workers" "$alone" $(seq 0 $((workers - 1)))
    done
}

for optimizer in sgd momentum adagrad adamw nadam rmsprop ftrl; do
    alike "$optimizer" 3 --epochs 1 --optimizer $optimizer
done
alike adam "2 3 4" --epochs 2 --hidden-units 700,300
alike clipped_by_the_global_norm "2 3" --epochs 1 --clip-global-norm 0.3 --l2 0.01 --ema 0.9
alike clipped_by_norms 2 --epochs 1 --optimizer adamw --clip-norm 0.1 --l1 0.001
alike accumulated 3 --epochs 2 --optimizer adagrad --gradient-accumulation-steps 4 --clip-norm 0.1
alike odd_shards_over_many_workers 9 --epochs 1 --shards 13 --clip-global-norm 0.3
alone --epochs 1 --clip-global-norm 0.3
job 2 --sharded-state --epochs 1 --clip-global-norm 0.3 --devices cpu:2/1
ended_alike two_devices_of_each_worker "$alone" 0 1

# ---- memory ----

slot_bytes() { sed -n 's/.*"event":"start".*"slot_bytes":\([0-9]*\).*/\1/p' "out-$1"; }
# 64 * 700 + 700 + 700 * 300 + 300 + 300 * 8 + 8 parameters, two slots of four bytes each
all=$(((64 * 700 + 700 + 700 * 300 + 300 + 300 * 8 + 8) * 8))
for workers in 2 4; do
    job $workers --sharded-state --epochs 1 --hidden-units 700,300
    sum=0 most=0
    for i in $(seq 0 $((workers - 1))); do
        wait_for "$i"
        bytes=$(slot_bytes "$i")
        sum=$((sum + bytes))
        [ "$bytes" -le $most ] || most=$bytes
    done
    check "slots_of_${workers}_workers_are_those_of_one_process" test $sum -eq $all
    # parts are cut between units of 28 Ki elements
    check "no_worker_of_${workers}_has_much_more_than_its_part" test $most -le $((all / workers + 28 * 1024 * 8))
done

# ---- checkpoints ----

alone --epochs 3 --checkpoint-dir whole
job 2 --sharded-state --epochs 3 --checkpoint-dir shared
ended_alike job_that_saves "$alone" 0 1
check checkpoint_is_there test -s shared/model.ckpt-33.index
alone --epochs 5 --checkpoint-dir whole
cp -r shared shared-1
cp -r shared shared-3
"$muster" train $training --epochs 5 --checkpoint-dir shared-1 > one.out 2> one.err
check one_process_goes_on_from_a_sharded_checkpoint test "$(sha one.out)" = "$alone"
job 3 --sharded-state --epochs 5 --checkpoint-dir shared-3
ended_alike three_workers_go_on_from_that_of_two "$alone" 0 1 2
job 2 --epochs 5 --checkpoint-dir shared
ended_alike workers_with_whole_state_go_on_from_a_sharded_checkpoint "$alone" 0 1
rm -r whole
alone --epochs 3 --checkpoint-dir whole
job 4 --sharded-state --epochs 5 --checkpoint-dir whole
ended_alike sharded_workers_go_on_from_that_of_one_process "$(sha one.out)" 0 1 2 3
accumulates="--optimizer adagrad --gradient-accumulation-steps 4" # the checkpoint of step 33 has the sum of one gradient
# shellcheck disable=SC2086
alone --epochs 5 $accumulates
# shellcheck disable=SC2086
job 2 --sharded-state --epochs 3 --checkpoint-dir accumulated $accumulates
wait_for 0
wait_for 1
check sum_of_gradients_is_in_the_checkpoint grep -q gradient_accumulator accumulated/model.ckpt-33.index
# shellcheck disable=SC2086
job 3 --sharded-state --epochs 5 --checkpoint-dir accumulated $accumulates
ended_alike workers_go_on_in_the_middle_of_an_accumulation "$alone" 0 1 2
job 2 --sharded-state --epochs 2 --checkpoint-dir steps --save-every 5
wait_for 0
wait_for 1
check checkpoint_after_so_many_steps test -s steps/model.ckpt-5.index

# ---- workers that are lost ----

alone --epochs 120
# lost NAME WORKER OPTION...: of three workers one is killed twice, and started again; the second time where it is back
# before the job ends
lost() {
    what=$1 victim=$2
    shift 2
    job 3 --sharded-state --epochs 120 --log-every 1 "$@"
    for kill in 1 2; do
        within 20 begun "$victim" || break
        random_ms 150
        signal 9 "$victim"
        wait_for "$victim"
        [ "$kill $status" = "2 0" ] && break # the job was over first
        [ "$status" -eq 137 ] || failed "${what}_is_killed" "exit status $status: $(tail -n 1 "err-$victim")"
        start "$victim" --sharded-state --epochs 120 --log-every 1 "$@"
    done
    ended_alike "$what" "$alone" 0 1 2
}
lost killed_worker_without_checkpoints 1
lost killed_worker_with_checkpoints 2 --checkpoint-dir lost-worker --save-every 20
lost killed_chief_without_checkpoints 0
lost killed_chief_with_checkpoints 0 --checkpoint-dir lost-chief --save-every 20
# shellcheck disable=SC2086
alone --epochs 120 $accumulates
# shellcheck disable=SC2086
lost killed_worker_while_gradients_add_up 1 $accumulates

# ---- what it is not for ----

# refused NAME PATTERN OPTION...: a usage error
refused() {
    name=$1 pattern=$2
    shift 2
    # shellcheck disable=SC2086
    "$muster" train $training --sharded-state "$@" > refused.out 2> refused.err
    status=$?
    check "$name" test $status -eq 2
    check "${name}_says_so" grep -q -e "$pattern" refused.err
}
refused one_process_has_nothing_to_share "there is one"
refused one_worker_has_nothing_to_share "there is one" --worker_hosts localhost:1 --job_name worker --task_index 0
refused servers_share_already "without parameter servers" --ps_hosts localhost:1 --worker_hosts localhost:2 \
    --job_name worker --task_index 0
find_ports 2
make_hosts
start 0 --epochs 1 --sharded-state
start 1 --epochs 1
ended_in_error all_workers_must_share_alike "differ" 0 1

end_of_checks
