#!/bin/sh
# Executables between tasks: workers on devices of `lagoon` (module/lagoon.c), whose executables are bytes with a random
# number. Each text is compiled once in a job, and all workers have the same number.
#   executables_test.sh MUSTER FOLDER: the path of the command, and the folder of the modules that only tests load
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
MUSTER_MODULE_PATH=$(cd "$2" && pwd)
export MUSTER_MODULE_PATH
here=$(cd "$(dirname "$0")/.." && pwd)
seed=1
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
write_data data

training="--data idx:data --hidden-units 16 --batch-size 40 --seed 3 --json --devices lagoon:1"
export MUSTER_LAGOON_BYTES="$folder/log"

# start_all WORKERS OPTION...: each has a disk of its own, cache-NUMBER
start_all() {
    workers=$1
    shift
    find_ports "$workers"
    make_hosts
    : > log
    for worker in $(seq 0 $((workers - 1))); do start "$worker" --compile-cache "cache-$worker" "$@"; done
}
# wait_all: 0 if all have ended well
wait_all() {
    wrong=0
    for worker in $(seq 0 $((workers - 1))); do
        wait_for "$worker"
        [ "$status" -eq 0 ] || wrong=1
    done
    return $wrong
}
compiled() { grep -c ^compiled log; }
texts() { awk '{ print $3 }' log | sort -u | wc -l; }
# numbers with their text: one for each text
numbers() { awk '{ print $2, $3 }' log | sort -u | wc -l; }
each_text_once() { [ "$(texts)" -gt 0 ] && [ "$(compiled)" -eq "$(texts)" ] && [ "$(numbers)" -eq "$(texts)" ]; }
# loads_of LOG: all that was loaded now was compiled then
loads_of() {
    sed -n 's/^compiled //p' "$1" | sort -u > known
    sed -n 's/^loaded //p' log | sort -u > loaded
    [ -s loaded ] && [ -z "$(comm -23 loaded known)" ]
}
all_have() { for k in $(seq 1 $((workers - 1))); do [ "$(sha out-$k)" = "$(sha out-0)" ] || return 1; done; }

for workers in 2 4; do
    for transport in zmq shm; do
        rm -rf cache-*
        start_all $workers --epochs 1 --transport $transport
        check "$workers workers over $transport train" wait_all
        cp err-1 err
        check "  each text is compiled once" each_text_once
        check "  and given to the others" [ "$(grep -c ^loaded log)" -ge "$workers" ]
        check "  and end with the same" all_have
        cp log first
        start_all $workers --epochs 1 --transport $transport
        check "  a second time" wait_all
        check "  nothing is compiled" [ "$(compiled)" -eq 0 ]
        check "  all load what was compiled before" loads_of first
    done
done

# ---- the one that compiles is lost -----------------------------------------------------------------------------------

# the disks have nothing: what the next one gives, it has in memory
training="$training --epochs 200 --shards 4 --log-every 1 --elastic 1 --timeout 2 --compile-cache off"
find_ports 3
make_hosts
: > log
slow_down
for worker in 0 1 2; do start "$worker"; done
check "three workers train" within 30 begun 0
sleep 1 # the next one gets what only the first has compiled for itself
signal 9 0
end_pace 0
wait_for 0
check "  two of them go on" within 30 grep -q "2 of 3 workers go on" err-1
start 0
check "  the third comes back" within 30 begun 0
speed_up
for worker in 0 1 2; do
    wait_for "$worker"
    check "  worker $worker ends well" [ "$status" -eq 0 ]
done
workers=3
check "  with the same" all_have
check "  each text is compiled once" each_text_once
end_of_checks
