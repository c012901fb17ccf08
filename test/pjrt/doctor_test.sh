#!/bin/sh
# doctor_test.sh MUSTER SHIM: `muster doctor --devices` with the PJRT plugin that MUSTER_PJRT_PLUGIN names, and with the
# plugin shim, which stands in for two GPUs and makes faults.
set -eu
muster=$1 shim=$2
. "$(dirname "$0")/checks.sh"
plugin=$MUSTER_PJRT_PLUGIN

# examine STATUS OPTION...: the rows are in log, standard error in errors; the exit status must be STATUS
examine() {
    wanted=$1 status=0
    shift
    "$muster" doctor "$@" > "$folder/log" 2> "$folder/errors" || status=$?
    check "$([ "$status" -eq "$wanted" ] && echo yes)" "muster doctor $*: exit status $wanted" \
        "$status, $(cat "$folder/log" "$folder/errors")"
}
# has NAME PATTERN: a row is like this
has() { check "$(grep -q -e "$2" "$folder/log" && echo yes)" "$1" "$(cat "$folder/log" "$folder/errors")"; }
# found NAME CHECK PATTERN FIX: there is one finding, of one line, and below it what to do
found() {
    line=$(grep -n "^finding  *$2  *localhost  *$3" "$folder/log" | cut -d : -f 1)
    check "$([ -n "$line" ] && [ "$(grep -c '^finding' "$folder/log")" -eq 1 ] &&
        sed -n "$((line + 1))p" "$folder/log" | grep -q "^ *fix: .*$4" && echo yes)" "$1" \
        "$(cat "$folder/log" "$folder/errors")"
    check "$([ "$(cat "$folder/errors")" = "error: localhost: 1 finding" ] && echo yes)" "$1: one line of error" \
        "$(cat "$folder/errors")"
}

# The plugin for CPUs.
examine 0 --devices xla:2
has "the plugin and its versions are shown" '^ok  *plugin  *localhost  *cpu: .*PJRT API 0\.[0-9]*, StableHLO 1\.'
has "the devices are" '^ok  *accelerator  *localhost  *xla:2: 2 of [0-9]* x '
has "a plugin need not say its memory" '^note  *accelerator .*the plugin does not say how much memory'
has "a program is compiled and gives the values of CPUs" \
    '^ok  *program .*compiled and run in [0-9.]* m*s, then run in [0-9.]* [mu]*s; its values are within [0-9]e-0[678] of those of CPUs$'
has "copies are equal" '^ok  *copies .*1 MB to each device and back is the same; [0-9.]* [mu]*s$'
has "the program is compiled twice" '^ok  *same bits .*compiled anew in another process: the same bits$'
has "the folder of programs is looked at" "^ok  *programs  *localhost  *$folder/cache/muster/executables will be made$"
check "$([ ! -e "$folder/cache" ] && echo yes)" "nothing is left behind" "$(ls "$folder")"
examine 0
check "$(grep -q 'plugin\|programs' "$folder/log" || echo yes)" "without --devices no plugin is looked at" \
    "$(cat "$folder/log")"

# The folder of compiled programs.
"$muster" train --data fashion-mnist --steps 1 --hidden-units 8 --devices xla:1 > "$folder/log"
examine 0 --devices xla:1
has "the programs in the folder are counted" \
    '^ok  *programs .*executables is this user.s alone: [1-9][0-9]* compiled programs, [0-9.]* .B of at most 1.0 GB$'
chmod 755 "$folder/cache/muster/executables"
examine 1 --devices xla:1
found "a folder that others can read is a finding" programs ".*executables' can be used by others: run 'chmod 700" \
    --compile-cache
chmod 700 "$folder/cache/muster/executables"
examine 1 --devices xla:1 --compile-cache "$folder/log/programs"
found "so is one that cannot be made" programs ".*/log. is a file, where a folder is needed" --compile-cache
examine 0 --devices xla:1 --compile-cache off
has "none need be kept" '^note  *programs .*none are kept: each process compiles anew$'

# No plugin, and other lists.
unset MUSTER_PJRT_PLUGIN
examine 1 --devices gpu
found "without a plugin it is said what to install" plugin "devices of the type 'gpu' need a plugin of PJRT" \
    "pip install jax.cuda13. .*MUSTER_PJRT_PLUGIN=ENVIRONMENT; docs/accelerators.md"
export MUSTER_PJRT_PLUGIN="$plugin"
examine 1 --devices gpu
found "a plugin for other devices is a finding" plugin ".*is for the platform 'cpu', and 'gpu' needs" "docs/accelerators.md"
examine 1 --devices cpu:2
found "CPUs are no accelerators" plugin "devices 'cpu:2': CPU:0 is no accelerator" "docs/accelerators.md"

# Two GPUs and their faults.
export MUSTER_SHIM_PLUGIN="$plugin" MUSTER_PJRT_PLUGIN="$shim" MUSTER_SHIM_PLATFORM=cuda MUSTER_SHIM_DEVICES=2
export MUSTER_SHIM_KIND="NVIDIA H200" MUSTER_SHIM_BYTES_LIMIT=151000000000 MUSTER_SHIM_BYTES_IN_USE=1048576
examine 0 --devices gpu
has "GPUs are shown with their kind" '^ok  *accelerator  *localhost  *gpu: 2 of 2 x NVIDIA H200$'
has "and their memory" '^ok  *accelerator  *localhost  *memory: 140.6 GB each, 1.0 MB of the first in use$'
examine 0 --devices gpu --visible-devices 1
has "only those that are visible are looked at" '^ok  *accelerator  *localhost  *gpu: 1 of [12] x NVIDIA H200$'
examine 1 --devices gpu:2 --visible-devices 5
found "a place that is not there is a finding" plugin ".*visible devices '5': name places from 0 to 1" "muster devices"
examine 0 --devices gpu:1x2
has "so are logical ones" 'gpu:1x2: 2 logical devices on 1 of 2 x NVIDIA H200$'
MUSTER_SHIM_PLATFORM=tpu examine 0 --devices tpu:2 --json
has "and TPUs, in JSON" '"check":"accelerator","task":"localhost","state":"ok","text":"tpu:2: 2 of 2 x NVIDIA H200"}$'
has "JSON ends with the number of findings" '^{"event":"done","task":"localhost","findings":0}$'
examine 1 --devices gpu --memory-limit 200GB
found "a limit that the device does not have is a finding" accelerator \
    "--memory-limit is 200.0 GB, and the plugin takes at most 140.6 GB" "smaller --memory-limit"
examine 1 --devices gpu:3
found "so is a list with more devices than there are" plugin ".*there are 2 GPUs here, not 3: use gpu:2" "muster devices lists what is here"
MUSTER_SHIM_API=0.30 examine 1 --devices gpu
found "a plugin that is too old is a finding" plugin ".*too old" "docs/accelerators.md"

# faulty FAULT NAME CHECK PATTERN FIX OPTION...
faulty() {
    faults=$1 name=$2 row=$3 pattern=$4 fix=$5
    shift 5
    MUSTER_SHIM_FAULTS="$faults" examine 1 --devices gpu "$@"
    found "$name" "$row" "$pattern" "$fix"
}
faulty "PJRT_Client_Create 1 fail UNKNOWN no driver" "a driver that is not there is a finding" plugin ".*no driver" \
    "docs/accelerators.md"
faulty "PJRT_Client_Compile 1 fail" "so is a program that is not compiled" program "compiling .*this call was to fail" \
    "version of the plugin"
faulty "PJRT_LoadedExecutable_Execute 2 event_fail 0.01" "one that fails" program ".*was to fail" "do not train"
# Bits 61 and 62 are of the exponent of the second element, whose value is between 1 and 2.
faulty "PJRT_Buffer_ToHostBuffer 1+ flip 61" "one with other values than those of CPUs" program \
    "GPU:0: a product has other values than on CPUs, by 0\.[0-9]* of the largest" "do not train"
faulty "PJRT_Buffer_ToHostBuffer 1+ flip 62" "one with values that are no numbers" program "GPU:0: .*Inf or NaN" "do not train"
faulty "PJRT_Buffer_ToHostBuffer 4 flip 0" "one whose runs differ" program \
    "GPU:[01]: a program gave other bits than in its first run, on GPU:0" "do not train"
faulty "PJRT_Buffer_ToHostBuffer 14 flip 77" "copies that are not equal" copies \
    "GPU:[01]: 1 MB was copied there and back, and is not the same" "do not train"
faulty "PJRT_Client_Create 1 stuck" "a plugin that never answers" accelerator \
    "gpu: loading the plugin has not ended within 2 s" "--device-timeout" --device-timeout 2
faulty "PJRT_Client_Compile 1 die" "and one that ends the process" accelerator \
    "gpu: the plugin ended the process by signal 6 .* while compiling and running a program" "another version"

# Another compilation gives other bits, which is only told.
MUSTER_SHIM_SPARED="$folder/spared" MUSTER_SHIM_FAULTS="PJRT_Buffer_ToHostBuffer 1 flip 0" examine 0 --devices gpu:1
has "other bits of another compilation are told" '^note  *same bits .*other bits: .*--compile-cache'
MUSTER_SHIM_SPARED="$folder/once more" MUSTER_SHIM_FAULTS="PJRT_Client_Compile 1 fail" examine 1 --devices gpu:1
found "a second compilation that fails is a finding" program "compiling .*this call was to fail" "version of the plugin"

# SIGTERM ends it at once, and no process stays.
MUSTER_SHIM_FAULTS="PJRT_Client_Create 1 stuck" "$muster" doctor --devices gpu > "$folder/log" 2> "$folder/errors" &
process=$! status=0
sleep 1
began=$(date +%s)
kill -TERM $process
wait $process || status=$?
check "$([ $status -eq 143 ] && [ $(($(date +%s) - began)) -le 20 ] && echo yes)" "SIGTERM ends it" \
    "$status, $(cat "$folder/log" "$folder/errors")"

# Tasks with two kinds of devices.
# shellcheck disable=SC2016
"$muster" launch --workers 2 -- sh -c 'case $TF_CONFIG in *\"index\":*1*) export MUSTER_SHIM_KIND=A100 ;; esac
    exec "$1" doctor --devices gpu:1 --wait 120' sh "$muster" > "$folder/log" 2> "$folder/errors" || true
has "tasks with two kinds of devices are told" \
    'finding  *accelerator  *worker:1  *the kind of device or its plugin differs from that of worker:0: A100, .*NVIDIA H200'

[ $failures -eq 0 ]
