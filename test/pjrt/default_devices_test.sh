#!/bin/sh
# default_devices_test.sh MUSTER SHIM: the devices of the command without --devices, where MUSTER_PJRT_PLUGIN names a
# plugin. The plugin shim stands in for two GPUs, and for TPUs.
set -eu
muster=$1 shim=$2
. "$(dirname "$0")/checks.sh"

# expect NAME TEXT COMMAND OPTION...: the command ends well, and a line has TEXT.
expect() {
    name=$1 text=$2 status=0
    shift 2
    "$muster" "$@" > "$folder/log" 2>&1 || status=$?
    check "$([ $status -eq 0 ] && grep -qF -e "$text" "$folder/log" && echo yes)" "$name" \
        "'$text' is not there, or the status $status is not 0: $(cat "$folder/log")"
}
without() { check "$(grep -qF -e "$2" "$folder/log" || echo yes)" "$1" "$(cat "$folder/log")"; }
small="--data fashion-mnist --steps 4 --batch-size 24 --hidden-units 8"

# shellcheck disable=SC2086
{
    expect "the plugin for CPUs is no reason to leave CPUs" " over cpu:" train $small --strategy mirrored
    without "and no note" "note: MUSTER_PJRT_PLUGIN"
    MUSTER_PJRT_PLUGIN=$folder/nowhere expect "a plugin that is not there is a note, and training goes on" \
        "nowhere': No such file or directory: name a plugin of PJRT; the training is on CPUs" train $small

    export MUSTER_SHIM_PLUGIN="$MUSTER_PJRT_PLUGIN"
    export MUSTER_PJRT_PLUGIN="$shim" MUSTER_SHIM_PLATFORM=cuda MUSTER_SHIM_KIND="NVIDIA H200" MUSTER_SHIM_DEVICES=2
    expect "all GPUs are taken" "mirrored over gpu, batch 24 in 2 shards" train $small --checkpoint-dir "$folder/two"
    expect "as many as divide the shards" "one over gpu:1, batch 24 in 3 shards" train $small --shards 3
    expect "one, if the strategy is for one" "one over gpu:1, batch 24 in 1 shard" train $small --strategy one
    expect "those that are visible" "one over gpu, batch 24 in 1 shard" train $small --visible-devices 1
    expect "CPUs, if they are asked for" "mirrored over cpu:2" train $small --devices cpu:2
    expect "a training is evaluated on one" "(10000 examples)" evaluate --checkpoint-dir "$folder/two"
    without "and that is no matter of a note" "is used"
    expect "which is said to be untested" "note: devices of the type gpu are untested on hardware" evaluate \
        --checkpoint-dir "$folder/two"
    for command in evaluate predict; do
        expect "$command says in JSON on what it ran" '"devices":["/job:localhost/replica:0/task:0/device:GPU:0"],"untested_devices":"gpu"' \
            $command --checkpoint-dir "$folder/two" --json
    done
    MUSTER_SHIM_DEVICES=3 expect "a training of two shards goes on with two of three GPUs" "mirrored over gpu:2" \
        train $small --steps 8 --checkpoint-dir "$folder/two"
    status=0
    MUSTER_SHIM_DEVICES=3 "$muster" train $small --devices gpu:3 --checkpoint-dir "$folder/two" > "$folder/log" 2>&1 ||
        status=$?
    if [ $status -eq 2 ] && grep -qF "which 3 devices do not divide: give --devices gpu:2, --shards N" "$folder/log"; then
        echo "ok but three cannot be given, and the error says how many can"
    else
        echo "FAIL three GPUs for two shards: status $status, $(cat "$folder/log")"
        failures=$((failures + 1))
    fi

    export MUSTER_SHIM_FAULTS="PJRT_Client_Create 1+ fail NOT_FOUND no driver"
    expect "without a driver CPUs are taken, and the cause is said" \
        "no driver: see to the driver (nvidia-smi or rocm-smi lists the GPUs that it finds), or use cpu; the training is on CPUs" \
        train $small
    expect "also where nothing else is printed" "the training is on CPUs" train $small --progress none
    expect "in JSON too" '"accelerators_error":"loading the plugin: ' train $small --json
    expect "evaluate says so too" "or use cpu; the CPU is used" evaluate --checkpoint-dir "$folder/two"
    for command in evaluate predict; do
        expect "$command says so in JSON" '"devices":["/job:localhost/replica:0/task:0/device:CPU:0"],"accelerators_error":"' \
            $command --checkpoint-dir "$folder/two" --json
    done
    unset MUSTER_SHIM_FAULTS

    MUSTER_SHIM_PLATFORM=tpu expect "all TPUs are taken" "mirrored over tpu, batch 24 in 2 shards" train $small
}

[ $failures -eq 0 ]
