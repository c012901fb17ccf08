#!/bin/sh
# muster-bench as its users meet it: exit status, messages, output. Usage: bench_test.sh PATH_OF_MUSTER_BENCH
# Prints `ok NAME` or `FAIL NAME`; the exit status is 1 where something failed.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"

fails benchmark_must_be_named 2 "mlp"
fails unknown_benchmark_names_the_nearest 2 "'mpl'.*'mlp'" mpl
fails unknown_benchmark_far_from_all_says_which_there_are 2 "mlp, text_cnn, mobilenet_v2, inference, gpt, ops, plan, data, checkpoint, events, cluster, remote, compiled and device" xyzzy
works help_lists_the_benchmarks "^  checkpoint " --help
for benchmark in mlp text_cnn mobilenet_v2 inference ops plan data checkpoint events cluster remote compiled device; do
    works "${benchmark}_has_help" "usage: muster-bench $benchmark" $benchmark --help
    works "${benchmark}_prints_its_options" "^# muster-bench $benchmark" $benchmark --print-config
done

# with memory for a fraction of what it measures it ends soon
if { (ulimit -v 700000 && "$muster" --help > /dev/null 2>&1); } 2> /dev/null; then
    mkdir -p own/bench-checkpoint
    echo mine > own/bench-checkpoint/mine
    (cd own && ulimit -v 700000 && "$muster" checkpoint > /dev/null 2> ../err)
    check bench_of_checkpoints_ends_without_memory grep -q "memory" err
    check bench_of_checkpoints_leaves_folders_alone grep -q mine own/bench-checkpoint/mine
    check bench_of_checkpoints_leaves_nothing_behind [ "$(ls -A own)" = bench-checkpoint ]
    rm -r own
fi

works bench_of_a_network_makes_one_step_and_says_so '^first step$' text_cnn --first-step
run text_cnn --seconds 0.01 --json
for row in bound bound_of_convolutions one_to_bound one_to_bound_of_convolutions; do
    for place in '' _from_memory; do
        check "bench_of_a_network_has_$row$place" grep -q "\"key\":\"$row$place\",\"value\":[0-9.]*[1-9]" out
    done
done
check bench_of_a_network_has_memory_speed grep -q '"key":"memory_speed","value":[0-9.]*[1-9]' out
works bench_of_an_op_is_held_against_its_limit '"of_limit":[0-9]' ops --op relu --seconds 0.2 --json
works bench_of_an_op_says_what_two_threads_gain '"gain_two_threads":[0-9]' ops --op relu --seconds 0.2 --json
works bench_of_a_product_is_held_against_its_limit '(flops)' ops --op matmul --seconds 0.2
fails only_some_benchmarks_have_peers 2 "events: there is no option '--peers'" events --peers
fails only_one_benchmark_has_ops 2 "plan: there is no option '--op'" plan --op relu
fails bench_of_an_unknown_op_names_the_nearest 2 "no op 'matmull'.*'matmul'" ops --op matmull
run ops --op variable --seconds 0.1 --json
check bench_of_an_op_that_is_not_measured_says_so [ $status -eq 1 -a "$(grep -c "'variable' is not measured" err)" -eq 1 ]
run ops --op softmax --seconds 0.2 --json
check bench_lists_an_op_once test "$(grep -c '"op":"softmax"' out)" = 1

"$muster" plan > out 2> err &
process=$!
tries=0
while ! grep -q '^measuring: ' err && [ $tries -lt 100 ]; do sleep 0.1 && tries=$((tries + 1)); done
kill $process 2> /dev/null
wait $process
check bench_says_what_it_measures grep -q '^measuring: a plan over 1 devices' err

end_of_checks
