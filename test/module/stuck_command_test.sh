#!/bin/sh
# A command whose device does not come back: a program of `lagoon` (module/lagoon.c) that never ends. The second Ctrl-C
# ends it, as ever, and what it has saved is whole.
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

options="--data idx:data --hidden-units 16 --batch-size 40 --seed 3 --json --devices lagoon:2"

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

run train $options --epochs 2
sha out > wanted
run train $options --epochs 2 --checkpoint-dir kept --resume
check "it goes on from what it has saved" [ "$status" -eq 0 ]
check "and ends as without" [ "$(sha out)" = "$(cat wanted)" ]
end_of_checks
