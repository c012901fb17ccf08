#!/bin/sh
# Trainings that get SIGINT, SIGTERM or SIGHUP at random moments: of dense layers, texts and pictures, on one device and
# several, by the command and by a program with handlers and timers. None dies of memory that a handler has overwritten
# (base/signal_mask.h), and each that had made a step has saved its checkpoint.
# Usage: many_signals_test.sh PATH_OF_MUSTER PATH_OF_INTERRUPTED [SIGNALS]; SIGNALS is 18 where not given.
# MUSTER_TEST_SEED=N repeats the moments.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
program=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
here=$(cd "$(dirname "$0")/.." && pwd)
signals=${3:-18}
seed=${MUSTER_TEST_SEED:-$(date +%s)}
echo "MUSTER_TEST_SEED=$seed, $signals signals"
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
write_data data
mkdir texts
for topic in sea land sky; do
    awk -v t=$topic 'BEGIN { for (i = 0; i < 80; i++) { for (j = 0; j < 12; j++) printf "%s%d ", t, i * j % 7; print ".\n%" } }' \
        > texts/$topic
done

# pick NAME WORD...: one of the words, in the variable NAME
pick() {
    name=$1
    shift
    random $#
    shift "$drawn"
    eval "$name=\$1"
}

# The data of $model, and the size of a batch.
options_of() {
    case $model in
        mlp) echo "--data idx:data --hidden-units 500,500 --batch-size 40" ;;
        text_cnn) echo "--model text_cnn --data texts:texts --batch-size 20" ;;
        mobilenet_v2) echo "--model mobilenet_v2:0.35 --data idx:data --batch-size 20" ;;
    esac
}

start_training() {
    rm -rf run
    if [ "$by" = command ]; then
        # options_of makes a list of words
        # shellcheck disable=SC2046
        "$muster" train $(options_of) --devices "$devices" --epochs 1000000 --checkpoint-dir run --json > out 2> err &
    else
        "$program" "$model" "$devices" run > out 2> err &
    fi
    has_started training
}
has_stepped() { grep -q '"event":"step"\|^trains' out || ! runs training; }

# Whether the training has ended as it was told, with its checkpoint where it had made a step.
ended_well() {
    if [ "$by" = command ]; then wanted=$((128 + code)) word='"interrupted":true'; else wanted=0 word='^saved'; fi
    if [ "$early" = yes ]; then # a program without its handlers yet ends by the signal
        [ "$status" -eq "$wanted" ] || [ "$status" -eq $((128 + code)) ]
        return
    fi
    [ "$status" -eq "$wanted" ] && grep -q "$word" out && "$muster" inspect run > inspected 2>&1
}

sent=0 lost=0
while [ "$sent" -lt "$signals" ]; do
    pick by command program
    pick model mlp mlp text_cnn mobilenet_v2
    pick devices cpu:1/1 cpu:2/1 cpu:1/2
    pick early no no no yes
    pick signal INT:2 TERM:15 HUP:1
    # what a shell starts in the background ignores SIGINT until it asks for it
    if [ "$early" = yes ]; then pick signal TERM:15 HUP:1; fi
    code=${signal#*:}
    start_training
    if [ "$early" = no ] && ! within 60 has_stepped; then
        failed "$by, $model, $devices" "no step within a minute"
        break
    fi
    random_ms 300
    signal "${signal%:*}" training
    wait_for training
    sent=$((sent + 1))
    ended_well && continue
    lost=$((lost + 1))
    failed "signal $sent: ${signal%:*}, early: $early, $by, $model, $devices" "exit status $status; $(tail -n 1 err)"
done
echo "$sent signals, $lost trainings lost"
check "each training ends as it is told" [ "$lost" -eq 0 ]
end_of_checks
