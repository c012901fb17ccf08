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

# ---- resumed --------------------------------------------------------------------------------------------------------

# A checkpoint notes the executables. It is said once that others go on, and only then.
# alone OPTION...: trains in the folder ck, and leaves the warnings in `err`, and the hash
alone() {
    : > log
    run train $training --checkpoint-dir ck "$@"
    [ "$status" -eq 0 ] || failed "a training alone"
}
noted() { grep -aoE '([0-9a-f]{64} ){2}[0-9a-f]{64}\\n' "$1" | sort -u | wc -l; }
newest() { find ck -name '*.data-*' | sort -V | tail -n 1; }
said_once() { [ "$(grep -c . err)" -eq 1 ] && grep -q "$1" err; }
rm -rf cache-*
alone --steps 4 --compile-cache cache-0
check "a training that begins says nothing" [ ! -s err ]
check "its checkpoint notes each executable" [ "$(noted "$(newest)")" -eq "$(texts)" ]
cp -r ck kept
whole=$(alone --steps 8 --compile-cache cache-0 && value weights_sha256)
check "one that is resumed with the same says nothing" [ ! -s err ]
check "  and has compiled nothing" [ "$(compiled)" -eq 0 ]
rm -r ck && cp -r kept ck
alone --steps 8 --compile-cache cache-1
check "one that compiles anew says so" said_once "^warning: .* ($(texts) of $(texts) were compiled anew): weights may"
check "  and has the same weights here" [ "$(value weights_sha256)" = "$whole" ]
alone --steps 12 --compile-cache cache-1
check "  whose executables then count" [ ! -s err ]
rm -r ck && cp -r kept ck
alone --steps 8 --compile-cache off --devices cpu:1
check "one on CPUs says so" said_once "^warning: .* had programs of another compiler or kind of device: "
check "  and notes nothing" [ "$(noted "$(newest)")" -eq 0 ]
alone --steps 12 --compile-cache off --devices cpu:1
check "  and then says nothing" [ ! -s err ]
rm -r ck && cp -r kept ck
alone --steps 4 --no-resume --compile-cache cache-2
check "one that begins anew says nothing" [ ! -s err ]
rm -rf ck kept
alone --steps 4 --compile-cache cache-0 --save model.npz
check "files of models note nothing" [ "$(noted model.npz)" -eq 0 ]
rm -r ck

# Of several workers the chief says it.
rm -rf cache-*
start_all 2 --steps 4 --checkpoint-dir ck
check "two workers keep a checkpoint" wait_all
for steps in 8 12; do
    [ $steps = 8 ] || rm -rf cache-* # then all is compiled anew
    start_all 2 --steps $steps --checkpoint-dir ck
    check "  and go on to step $steps" wait_all
    said=$(cat err-0 err-1 | grep -c 'were compiled anew')
    case $steps in
        8) check "  nothing is said" [ "$said" -eq 0 ] ;;
        *) check "  the chief says it" [ "$said$(grep -c 'were compiled anew' err-0)" = 11 ] ;;
    esac
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
