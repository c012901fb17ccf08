#!/bin/sh
# Programs near the end of memory and of threads: each works (exit status 0) or says what is missing in one line that
# begins with "error: " (exit status 1). What a signal ends, what hangs and what ends without that line is a failure.
#   limits_test.sh BUILD          a few hundred runs, some seconds
#   limits_test.sh BUILD long     thousands of runs, some minutes, also of larger data and of the examples
# BUILD is the folder of a build. Prints `ok NAME` or `FAIL NAME` with the number of runs that ended in each way.
# lists of options are split on purpose; the shells that there are know ulimit -v
# shellcheck disable=SC2086,SC3045,SC2015,SC1091
set -u
build=$(cd "$1" && pwd)
length=${2:-short}
here=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
. "$here/support/small_data.sh"
LC_ALL=C
export LC_ALL
failures=0

SECONDS_OF_A_RUN=20
percent=0 # of the memory with which a program works, where a sweep of limits begins
[ "$length" = long ] && RUNS=120 || RUNS=40

# ---- one run, and what becomes of it -----------------------------------------------------------------

begin() { worked=0 told=0 wrong=0; }

# judge LIMIT STATUS: of the run that wrote `out` and `err`
judge() {
    if [ "$2" -eq 0 ]; then
        worked=$((worked + 1))
    elif [ "$2" -eq 1 ] && [ "$(wc -l < err)" -eq 1 ] && grep -q '^error: ' err; then
        told=$((told + 1))
    else
        wrong=$((wrong + 1))
        [ $wrong -gt 5 ] || printf '    %s: exit status %s: %s\n' "$1" "$2" "$(head -n 2 err | cut -c 1-150)"
    fi
}

# end NAME
end() {
    word=ok
    [ $wrong -eq 0 ] && [ $worked -gt 0 ] && [ $told -gt 0 ] || { word=FAIL failures=$((failures + 1)); }
    printf '%s %s: %d worked, %d told what is missing, %d did neither\n' $word "$1" $worked $told $wrong
}

# ---- address space -----------------------------------------------------------------------------------

# within KILOBYTES COMMAND...
within() {
    kilobytes=$1
    shift
    (ulimit -c 0 && ulimit -v "$kilobytes" && exec timeout -k 1 $SECONDS_OF_A_RUN "$@") > out 2> err
}

# The least at which the libraries load; what they do below it is the matter of the loader.
least() {
    kilobytes=20000
    until within $kilobytes "$build/muster" version || [ $kilobytes -gt 1000000 ]; do kilobytes=$((kilobytes + 500)); done
    echo $((kilobytes + 500))
}

# sweep_memory NAME COMMAND...: from the least limit, or `percent` of the highest, to one at which the command works
sweep_memory() {
    name=$1
    shift
    begin
    most=$first
    until within $most "$@" || [ $most -gt 2000000 ]; do most=$((most * 11 / 10)); done
    from=$((most * percent / 100))
    [ $from -gt "$first" ] || from=$first
    run=0
    while [ $run -le $RUNS ]; do
        limit=$((from + (most - from) * run / RUNS))
        within $limit "$@"
        judge "$limit KB" $?
        run=$((run + 1))
    done
    end "$name"
}

# ---- threads -----------------------------------------------------------------------------------------

# sweep_threads NAME COMMAND...: the system gives 0 threads, 1, and so on
sweep_threads() {
    name=$1
    shift
    begin
    for threads in 0 1 2 3 4 5 6; do
        (ulimit -c 0 && LD_PRELOAD=$build/modules/few_threads.so FEW_THREADS=$threads \
            exec timeout -k 1 $SECONDS_OF_A_RUN "$@") > out 2> err
        judge "$threads threads" $?
    done
    end "$name"
}

# ---- all of it ---------------------------------------------------------------------------------------

first=$(least)
if [ "$first" -gt 1000000 ]; then
    printf 'skip: no limit of memory can be set for this build\n'
    exit 0
fi
write_data data
train="$build/muster train --progress none --steps 2"
small="$train --data idx:data --hidden-units 16 --batch-size 40"

sweep_memory mirrored_over_two_devices_near_the_end_of_memory $small --devices cpu:2
sweep_memory one_device_of_two_threads_near_the_end_of_memory $small --strategy one --devices cpu:1/2
sweep_memory two_devices_of_two_threads_near_the_end_of_memory $small --devices cpu:2/2 --evaluate
sweep_threads mirrored_over_two_devices_with_few_threads $small --devices cpu:2
sweep_threads one_device_of_four_threads_with_few_threads $small --strategy one --devices cpu:1/4 --evaluate
sweep_threads two_devices_of_two_threads_with_few_threads $small --devices cpu:2/2

images="$train --data fashion-mnist"
if [ "$length" = long ] && ! $images > out 2> err; then
    printf 'skip larger data: %s\n' "$(cat err)"
elif [ "$length" = long ]; then
    percent=75 # below it the data have no room
    for devices in cpu:2 cpu:1/2 cpu:2/2; do
        sweep_memory "fashion_mnist_on_${devices}_near_the_end_of_memory" $images --devices $devices
    done
    percent=0
    sweep_memory loop_of_ones_own_near_the_end_of_memory "$build/examples/custom_loop" 1
    percent=75
    sweep_memory towers_by_hand_near_the_end_of_memory "$build/examples/mnist_towers" --num_gpus 2 --max_steps 2
    sweep_threads towers_by_hand_with_few_threads "$build/examples/mnist_towers" --num_gpus 2 --max_steps 2
fi

printf '%d failed\n' $failures
[ $failures -eq 0 ]
