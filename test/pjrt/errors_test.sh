#!/bin/sh
# errors_test.sh MUSTER SHIM: what is wrong with devices is one line, which says what to do, and the exit status is 1 or 2:
# by the whole command. The plugin for CPUs stands in for two GPUs of 140.6 GB, or for eight TPUs.
set -eu
muster=$1 shim=$2
real=$MUSTER_PJRT_PLUGIN
. "$(dirname "$0")/checks.sh"

# From now on these devices are there.
stand_in() { # PLATFORM NUMBER KIND
    export MUSTER_PJRT_PLUGIN="$shim" MUSTER_SHIM_PLUGIN="$real" MUSTER_SHIM_PLATFORM="$1" MUSTER_SHIM_DEVICES="$2" \
        MUSTER_SHIM_KIND="$3" MUSTER_SHIM_BYTES_LIMIT=151000000000
}
gpus() { stand_in cuda 2 "NVIDIA H200"; }
tpus() { stand_in tpu 8 "TPU v5 lite"; }

# refused STATUS TEXT ARGUMENT...: the command with these ends with STATUS and one line of error that has TEXT.
refused() {
    wanted=$1 text=$2 status=0
    shift 2
    "$muster" "$@" > "$folder/log" 2> "$folder/errors" || status=$?
    check "$([ "$status" -eq "$wanted" ] && [ "$(wc -l < "$folder/errors")" -eq 1 ] &&
        grep -q '^error: ' "$folder/errors" && grep -qF -e "$text" "$folder/errors" && echo yes)" \
        "$*${MUSTER_SHIM_FAULTS:+, if $MUSTER_SHIM_FAULTS}" "status $status, not '$text' but: $(cat "$folder/errors")"
}
train="train --data fashion-mnist --hidden-units 8"

# ---- no GPU, no TPU --------------------------------------------------------------------------------------------------

unset MUSTER_PJRT_PLUGIN
for type in gpu tpu; do
    for command in "$train --steps 1" devices; do
        # shellcheck disable=SC2086 # options
        refused 2 "devices of the type '$type' need a plugin of PJRT: set MUSTER_PJRT_PLUGIN to its file" \
            $command --devices $type:2
    done
done
export MUSTER_PJRT_PLUGIN="$folder/none"
refused 2 "MUSTER_PJRT_PLUGIN: '$folder/none': No such file or directory" train --steps 1 --devices gpu
export MUSTER_PJRT_PLUGIN="$folder"
refused 2 "has no plugin for devices of the type 'tpu'" train --steps 1 --devices tpu:8
export MUSTER_PJRT_PLUGIN="$real"
refused 2 "is for the platform 'cpu', and 'gpu' needs one for cuda or rocm: set MUSTER_PJRT_PLUGIN to such a plugin" \
    train --steps 1 --devices gpu:2
refused 2 "is for the platform 'cpu', and 'tpu' needs one for tpu" train --steps 1 --devices tpu:8
gpus
MUSTER_SHIM_DEVICES=0
for devices in gpu gpu:1 gpu:1x2; do
    refused 2 "finds no device for 'gpu' here: see to the driver" train --steps 1 --devices $devices
done
tpus
MUSTER_SHIM_DEVICES=0
refused 2 "finds no device for 'tpu' here: run it on a host with TPUs" train --steps 1 --devices tpu:8
gpus
export MUSTER_SHIM_FAULTS="PJRT_Client_Create 1+ fail INTERNAL the driver is too old"
refused 2 "the plugin says: shim: PJRT_Client_Create: the driver is too old: see to the driver" \
    train --steps 1 --devices gpu
unset MUSTER_SHIM_FAULTS

# ---- devices that are not there, and numbers that are none -----------------------------------------------------------

listed() { refused 2 "$2" train --steps 1 --devices "$1"; }
listed gpu:7 "there are 2 GPUs here, not 7: use gpu:2"
listed gpu:1,gpu:7 "there are 2 GPUs here, not 8: use gpu:2"
listed gpu:3x2 "there are 2 GPUs here, not 3: use gpu:2"
listed gpu:0 "counts begin at 1: gpu:1 is one GPU; /gpu:0 is a device's name"
listed gpu:00 "counts begin at 1"
listed /gpu:7 "names of devices begin with '/'; this is a list of types and counts"
for count in -1 +1 two "" 0x2 4097 99999999999999999999; do
    listed "gpu:$count" "a count must be a number from 1 to 4096, as in gpu:2"
done
for count in 0 -2 65 99999999999; do
    listed "gpu:1x$count" "a count must be a number from 1 to 64, as in gpu:1x2"
done
listed gpu:2x2x2 "'x2' is not understood"
listed gpu:1.5 "'.5' is not understood"
for place in 2 -1 0,0 x; do
    refused 2 "visible devices '$place': name places from 0 to 1, each once" \
        train --steps 1 --devices gpu:2 --visible-devices $place
done
refused 2 "there are 2 GPUs here, not 7: use gpu:2" devices --devices gpu:7
tpus
listed tpu:9 "there are 8 TPUs here, not 9: use tpu:8"
for devices in grpc://10.0.0.2:8470 tpu:grpc://10.0.0.2:8470; do
    listed $devices "Muster drives the TPUs of its own host only: run it on that host with tpu:8"
done

# ---- devices that are not for each other -----------------------------------------------------------------------------

gpus
for devices in gpu:2x2,cpu:1 cpu:1,gpu:1; do
    listed $devices "round differently, so their copies of the variables would drift apart: list devices of one type"
done
listed gpu:1,tpu:1 "is for the platform 'cuda', and 'tpu' needs one for tpu"
MUSTER_SHIM_KIND="NVIDIA H200;NVIDIA A100"
listed gpu:2 "finds devices of two kinds, 'NVIDIA H200' and 'NVIDIA A100', and all must be of one: hide others from it"
gpus

# ---- memory ----------------------------------------------------------------------------------------------------------

# shellcheck disable=SC2086 # options
limited() { refused "$3" "$4" $train --steps 1 --devices "$1" --memory-limit "$2"; }
limited gpu:2 200GB 1 "the memory limit of 200.0 GB is more than GPU:0 has, which is 140.6 GB: take a lower one"
limited gpu:1x2 100GB 1 "2 logical devices with a memory limit of 100.0 GB each need more than their GPU has"
limited gpu:2 10KB 1 "need 74.6 KB, the limit of a device (--memory-limit) is 10.0 KB: raise it"
limited gpu:2 200KB 1 "the limit is 200.0 KB; largest: "
for size in 0 -5 much 99999999999999999999GB; do
    limited gpu:2 $size 2 "--memory-limit $size: must be a size such as 512MB or 2GB"
done
# What the device itself has no room for is said once, whichever call needs it.
full="RESOURCE_EXHAUSTED Out of memory while trying to allocate 107374182400 bytes"
for call in "PJRT_LoadedExecutable_Execute 4+" "PJRT_Client_BufferFromHostBuffer 3+" "PJRT_Buffer_CopyToDevice 3+"; do
    export MUSTER_SHIM_FAULTS="$call fail $full"
    # shellcheck disable=SC2086 # options
    refused 1 "Out of memory while trying to allocate 107374182400 bytes: take smaller batches, more devices" \
        $train --steps 20 --devices gpu:2
done
unset MUSTER_SHIM_FAULTS

# ---- workers ---------------------------------------------------------------------------------------------------------

# shellcheck disable=SC2016
"$muster" launch --workers 2 -- sh -c 'case $TF_CONFIG in *\"index\":*1*) count=2 ;; *) count=1 ;; esac
    exec "$1" train --data fashion-mnist --hidden-units 8 --steps 2 --devices gpu:$count' sh "$muster" \
    > "$folder/log" 2>&1 && status=0 || status=$?
check "$([ $status -eq 1 ] && grep -q "error: options differ between .*: num_shards 2 and 4: .* with --shards N if they have" \
    "$folder/log" && echo yes)" "workers with different numbers of devices are told to take --shards" \
    "status $status, $(cat "$folder/log")"
[ $failures -eq 0 ]
