#!/bin/sh
# The number of shards on devices that compile, those of `lagoon` (module/lagoon.c): as many as there are devices, or those
# of the training that is resumed; and what is said of them.
#   shards_test.sh MUSTER FOLDER: the path of the command, and the folder of the modules that only tests load
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

options="--data idx:data --hidden-units 16 --batch-size 40 --seed 3 --schedule none --steps"
# hash: of the weights, from `out`
hash() { sed -n 's/^weights sha256: //p' out; }
# says PATTERN: one line of `out` has it
says() { [ "$(grep -c -e "$1" out)" -eq 1 ]; }
says_nothing_of() { ! grep -q -e "$1" out; }

# ---- a training that begins ------------------------------------------------------------------------------------------

begins() { # DEVICES SHARDS OPTION...
    devices=$1 wanted=$2
    shift 2
    works "on $devices${*:+ with $*}: $wanted" " over $devices, batch 40 in $wanted, " \
        train $options 2 --devices $devices "$@"
}
begins lagoon:1 "1 shard"
begins lagoon:2 "2 shards" --shards 2
two=$(hash)
begins lagoon:2 "2 shards"
check "  which are those of --shards 2" [ "$(hash)" = "$two" ]
begins lagoon:3 "3 shards"
begins lagoon:2 "1 shard" --strategy one
begins lagoon:2 "2 shards" --strategy towers
begins island:2 "4 shards"
begins cpu:2/1 "4 shards"
begins cpu:3/1 "3 shards"

# Workers have as many shards as all of them have devices.
options_of_all=$options
for devices in 1 2; do
    training="$options_of_all 2 --json --devices lagoon:$devices"
    find_ports 2
    make_hosts
    start 0
    start 1
    wait_for 0
    first=$status
    wait_for 1
    cp err-0 err
    check "two workers with lagoon:$devices train" [ "$first$status" = 00 ]
    check "  in $((2 * devices)) shards" [ "$(cat out-0 out-1 | grep -c "\"shards\":$((2 * devices)),")" -eq 2 ]
done

# ---- what is said of the mirrored strategy ---------------------------------------------------------------------------

task=/job:localhost/replica:0/task:0
# joins WHAT: gradients are joined in these parts
joins() { says "^gradients: $1, summed in one order on the devices and copied to all$"; }
run train $options 2 --devices lagoon:2
check "the mirrored strategy names its devices" \
    says "^Using MirroredStrategy with devices ('$task/device:LAGOON:0', '$task/device:LAGOON:1')$"
check "  and says how gradients are joined" joins "1 bucket with 4.6 KB"
run train $options 2 --devices lagoon:1 --strategy mirrored
check "with one device too" says "^Using MirroredStrategy with devices ('$task/device:LAGOON:0',)$"
check "  whose single shard joins nothing" says_nothing_of "gradients:"
run train --data idx:data --hidden-units 2000,2000 --batch-size 4 --steps 2 --devices lagoon:2
check "large gradients go in several buckets" joins "2 buckets with 15.8 MB in all"
awk 'BEGIN { print "city,size,label"; for (i = 0; i < 200; i++) printf "c%d,%d,%d\n", i % 30, i % 7, i % 2 }' > table.csv
run train --data csv:table.csv --hidden-units 8 --embed-above 4 --batch-size 20 --steps 2 --devices lagoon:2
check "rows of an embedding are in none" joins "1 bucket with 488 bytes, and rows of 1 variable"
for other in "lagoon:2 --strategy towers" lagoon:1 cpu:2/1 "island:2 --strategy mirrored"; do
    run train $options 2 --devices $other
    check "nothing of it is said on $other" says_nothing_of "MirroredStrategy\|gradients:"
done
run train $options 2 --devices lagoon:2 --progress none
check "  nor with --progress none" says_nothing_of "MirroredStrategy\|gradients:"

# ---- a training that is resumed --------------------------------------------------------------------------------------

# resumes DEVICES OPTION...: from a copy of the checkpoint in `begun`
resumes() {
    devices=$1
    shift
    rm -rf ck && cp -r begun ck
    run train $options 6 --checkpoint-dir ck --devices $devices "$@"
    check "resumed on $devices${*:+ with $*}" [ "$status" -eq 0 ]
}
run train $options 6 --devices lagoon:2
whole=$(hash)
run train $options 3 --devices lagoon:2 --checkpoint-dir begun
check "a training that begins says nothing of a checkpoint" says_nothing_of checkpoint
resumes lagoon:1
check "  says which shards are kept" says "^the checkpoint has 2 shards: they are kept, and run on 1 device$"
check "  and has the weights of two devices" [ "$(hash)" = "$whole" ]
resumes cpu:1/1
check "  says it too, for its default is another" says "^the checkpoint has 2 shards: they are kept, and run on 1 device$"
resumes lagoon:2
check "  has the default, of which nothing is said" says_nothing_of "kept"
check "  and has the same weights" [ "$(hash)" = "$whole" ]
resumes lagoon:1 --shards 2
check "  says nothing of what was asked for" says_nothing_of "kept"
check "  and has the same weights" [ "$(hash)" = "$whole" ]
resumes lagoon:1 --no-resume
check "  begins anew with the default" says "in 1 shard, "
check "  of which nothing is said" says_nothing_of "kept"
rm -rf ck && cp -r begun ck
fails "devices that do not divide the shards are an error" 2 \
    "the training in 'ck' has 2 shards, which 4 devices do not divide: give --devices lagoon:2, --shards N" \
    train $options 6 --checkpoint-dir ck --devices lagoon:4
rm -rf begun
run train $options 3 --devices lagoon:1 --checkpoint-dir begun
rm -rf ck && cp -r begun ck
fails "nor do two devices divide one shard" 2 "the training in 'ck' has 1 shard, which 2 devices do not divide" \
    train $options 6 --checkpoint-dir ck --devices lagoon:2
rm -rf begun
run train $options 3 --devices cpu:2/1 --checkpoint-dir begun
resumes lagoon:2
check "  keeps the shards of CPUs" says "^the checkpoint has 4 shards: they are kept, and run on 2 devices$"

# Two workers go on with the shards of one process.
rm -rf ck && cp -r begun ck
training="$options_of_all 6 --no-json --devices lagoon:1"
find_ports 2
make_hosts
start 0 --checkpoint-dir ck
start 1
wait_for 0
first=$status
wait_for 1
cp err-0 err
cp out-0 out
check "two workers resume" [ "$first$status" = 00 ]
check "  and say what they keep" \
    says "^the checkpoint has 4 shards: they are kept, and this worker runs 2 of them on 1 device$"

end_of_checks
