#!/bin/sh
# A command whose device does not come back: a program of `lagoon` (module/lagoon.c) that never ends. The second Ctrl-C
# ends it, as ever, or the limit of a step, and what it has saved is whole.
#   stuck_command_test.sh MUSTER FOLDER: the path of the command, and the folder of the modules that only tests load
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

options="--data idx:data --hidden-units 16 --batch-size 40 --seed 3 --json --devices lagoon:2 --shards 4"

# Its 100th program is in a step between the 4th and the last of the epoch: some programs of each are on both devices.
MUSTER_LAGOON_STUCK=100 "$muster" train $options --epochs 2 --checkpoint-dir kept --save-every 1 > out-stuck 2> err-stuck &
has_started stuck
is_stuck() { has_saved && before=$(ls kept) && sleep 1 && [ "$(ls kept)" = "$before" ]; }
has_saved() { [ -n "$(ls kept 2> /dev/null)" ]; }
check "a program is stuck" within 60 is_stuck
signal INT stuck
sleep 0.5
check "the first Ctrl-C waits for the step" runs stuck
signal INT stuck
wait_for stuck
cp out-stuck out
cp err-stuck err
check "the second Ctrl-C ends the command" [ "$status" -eq 130 ]

# A step has a limit of time, with one error at its end. Nothing that was saved is lost, and nothing of the step is seen.
run_timed() {
    began=$(date +%s)
    run train $options --epochs 2 --step-timeout 2 --checkpoint-dir "$@"
    took=$(($(date +%s) - began))
}
MUSTER_LAGOON_STUCK=100 run_timed timed --save-every 1
check "a step that never ends is an error" [ "$status" -eq 1 ]
check "in one line" [ "$(wc -l < err)" -eq 1 ]
check "which names the program" grep -q "^error: .*the run did not end in 2 s: '.*' (compiled) on .*LAGOON" err
check "soon after the limit" [ $took -le 10 ]
MUSTER_LAGOON_COMPILE_STUCK=3 run_timed uncompiled
check "a program that is never compiled is an error" [ "$status" -eq 1 ]
check "in one line that names it" grep -q "^error: .*program_[0-9]" err

run train $options --epochs 2
sha out > wanted
run_timed timed --resume
check "the training goes on from what was saved" [ "$status" -eq 0 ]
check "and ends as one that was not stopped" [ "$(sha out)" = "$(cat wanted)" ]
run train $options --epochs 2 --checkpoint-dir kept --resume
check "it goes on from what it has saved" [ "$status" -eq 0 ]
check "and ends as without" [ "$(sha out)" = "$(cat wanted)" ]

# One SIGTERM is enough while a program is compiled, for which nobody waits on then: in the first step, in that of the
# last batch of an epoch, which is smaller, and in the validation after it.
options="$options --epochs 2 --validation-split 0.2"
MUSTER_LAGOON_TEXTS=texts run train $options
sha out > wanted
is_over() { ! runs stuck; }
texts=$(grep -c '^// ----' texts)
compiles_stuck() { waits stuck && sleep 0.3 && waits stuck; }
sleeps() { [ "$(stat_of "$(pid_of "$1")" | cut -c 1)" = S ]; }
waits() { runs "$1" && sleeps "$1"; }
for text in $(seq "$texts"); do
    rm -rf kept
    MUSTER_LAGOON_COMPILE_STUCK=$text "$muster" train $options --checkpoint-dir kept > out-stuck 2> err-stuck &
    has_started stuck
    within 30 compiles_stuck
    signal TERM stuck
    check "text $text of $texts: SIGTERM ends the wait for the compiler" within 2 is_over
    wait_for stuck
    cp out-stuck out
    cp err-stuck err
    check "text $text: with its exit status" [ "$status" -eq 143 ]
    check "text $text: and without an error" [ ! -s err ]
    check "text $text: the state of the last step is kept" has_saved
    run train $options --checkpoint-dir kept --resume
    check "text $text: training goes on" [ "$status" -eq 0 ]
    check "text $text: and ends as one that was not stopped" [ "$(sha out)" = "$(cat wanted)" ]
done
end_of_checks
