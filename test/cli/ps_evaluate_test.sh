#!/bin/sh
# A worker of parameter servers that is killed in its final evaluation and started again. Usage: ps_evaluate_test.sh
# PATH_OF_MUSTER.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
. "$here/support/servers.sh"
write_data data

# A worker is killed as it evaluates, after its last step: started again it still finds the servers, and evaluates.
mkdir large
for part in train-images-idx3 train-labels-idx1; do ln -s "../data/$part-ubyte" "large/$part-ubyte"; done
{ printf '\000\000\010\003\000\000' && word 60000 && printf '\000\000\000\010\000\000\000\010' && head -c 3840000 /dev/zero; } \
    > large/t10k-images-idx3-ubyte
{ printf '\000\000\010\001\000\000' && word 60000 && head -c 60000 /dev/zero; } > large/t10k-labels-idx1-ubyte
at_the_end="--data idx:large --hidden-units 20000 --epochs 2 --evaluate"
has_trained() { [ "$(grep -c '"event":"epoch"' "out-$1")" = 2 ]; }
make_hosts_with_servers 1 2
# both are lists of words
# shellcheck disable=SC2086
start_job "ps_0 worker_0 worker_1" $at_the_end
within 200 has_trained worker_1
signal STOP worker_1 # or it might be done before it is killed
within 7 has_ended "$(process_of ps_0)" # it must not
signal 9 worker_1
wait_for worker_1
check worker_is_killed_as_it_evaluates [ "$status" -eq 137 ]
# shellcheck disable=SC2086
start_task worker_1 $at_the_end
ended_well and_all_end_well worker_0 worker_1 ps_0
for each in worker_0 worker_1; do check "${each}_has_evaluated" grep -q '"test_loss"' "out-$each"; done
check with_one_result [ "$(sha out-worker_0)" = "$(sha out-worker_1)" ]

no_task_is_left
end_of_checks
