#!/bin/sh
# command_test.sh MUSTER SHIM: the command on devices of the PJRT plugin that MUSTER_PJRT_PLUGIN names.
set -eu
muster=$1 shim=$2
. "$(dirname "$0")/checks.sh"

# train DEVICES OPTION...: the loss of the last step, and the hash of the weights.
train() {
    devices=$1
    shift
    "$muster" train --data fashion-mnist --steps 50 --seed 3 --devices "$devices" "$@" > "$folder/log" 2>&1 || {
        cat "$folder/log"
        exit 1
    }
    loss=$(sed -n 's/^done: step 50, loss = \([0-9.e+-]*\),.*/\1/p' "$folder/log")
    weights=$(sed -n 's/^weights sha256: //p' "$folder/log")
    [ -n "$loss" ] && [ -n "$weights" ] || {
        cat "$folder/log"
        exit 1
    }
}

train cpu:2 --shards 2
cpu=$loss
train xla:2 --shards 2
xla=$loss two=$weights
check "$(awk -v a="$cpu" -v b="$xla" 'BEGIN { d = a - b; print (d < 0 ? -d : d) <= 1e-4 * a ? "yes" : "no" }')" \
    "the loss of 50 steps on two devices is that of CPUs" "$xla on xla:2, $cpu on cpu:2"
train xla:1 --shards 2
check "$([ "$weights" = "$two" ] && echo yes)" "one device gives the weights of two" "$weights, and $two on xla:2"
train xla:3 --shards 6
three=$weights
train xla:2 --shards 6
check "$([ "$weights" = "$three" ] && echo yes)" "three devices that share two give the weights of two" \
    "$weights, and $three on xla:3"

# Programs that were compiled with other flags are others.
programs() { find "$folder/flags" -name '*.executable' | wc -l; }
own_flags=${XLA_FLAGS:-}
# flagged FLAGS: the number of compiled programs after a training with these flags in XLA_FLAGS
flagged() {
    XLA_FLAGS=$1
    export XLA_FLAGS
    train xla:1 --shards 2 --compile-cache "$folder/flags"
    programs
}
first=$(flagged --xla_cpu_use_xnnpack=false)
again=$(flagged --xla_cpu_use_xnnpack=false)
other=$(flagged --xla_cpu_use_xnnpack=true)
echo --xla_cpu_use_xnnpack=false > "$folder/flag_file"
in_file=$(flagged "$folder/flag_file")
echo --xla_cpu_use_xnnpack=true > "$folder/flag_file"
changed=$(flagged "$folder/flag_file")
XLA_FLAGS=$own_flags
[ -n "$own_flags" ] || unset XLA_FLAGS
check "$([ "$first" -gt 0 ] && [ "$again" -eq "$first" ] && echo yes)" "the same flags find the programs on disk" "$first, then $again"
check "$([ "$other" -eq $((2 * first)) ] && echo yes)" "other flags find none of them" "$first, then $other"
check "$([ "$in_file" -eq $((3 * first)) ] && [ "$changed" -eq $((4 * first)) ] && echo yes)" "nor do other flags in a file" \
    "$first a run, then $in_file and $changed"

# Where the limit has no room for variables before and after a step, the plugin takes the memory of the old ones.
for limit in 1700K 4M; do
    train xla:2 --shards 2 --hidden-units 64 --optimizer adam --memory-limit $limit
    said=$(grep -c '^memory: ' "$folder/log" || true)
    case $limit in
        4M) check "$([ "$said" -eq 0 ] && [ "$weights" = "$in_place" ] && echo yes)" \
            "variables updated in place get the bits of those that are not" "$weights, and $in_place in place" ;;
        *) check "$([ "$said" -eq 1 ] && echo yes)" "it is said that variables are updated in place" "$(cat "$folder/log")" ;;
    esac
    in_place=$weights
done

# The limit counts what the plugin says of the inside of programs. From a plugin that does not say it, nothing is known.
limited() {
    status=0
    "$muster" train --data fashion-mnist --steps 2 --devices xla:1 --model lenet --memory-limit 3M \
        > "$folder/log" 2> "$folder/errors" || status=$?
}
for times in first second; do # the second one loads the programs
    limited
    check "$([ $status -eq 1 ] && grep -q '^error: .* needs .* MB of it inside its programs, the limit is 3.0 MB' \
        "$folder/errors" && [ "$(wc -l < "$folder/errors")" -eq 1 ] && echo yes)" \
        "a limit has no room for the inside of programs: $times run" "$status, $(cat "$folder/errors")"
done
MUSTER_SHIM_PLUGIN="$MUSTER_PJRT_PLUGIN" MUSTER_SHIM_LEFT_OUT=PJRT_Executable_GetCompiledMemoryStats \
    MUSTER_PJRT_PLUGIN="$shim" limited
check "$([ $status -eq 0 ] && echo yes)" "a plugin need not say what is inside of programs" \
    "$status, $(cat "$folder/errors")"

# Two processes with a device each, where there are sockets.
"$muster" launch --workers 2 -- "$muster" train --data fashion-mnist --steps 50 --seed 3 --devices xla:1 --shards 2 \
    > "$folder/log" 2>&1 || cat "$folder/log"
workers=$(sed -n 's/^worker:[01] | weights sha256: //p' "$folder/log" | sort | uniq -c | tr -s ' ')
check "$([ "$workers" = " 2 $two" ] && echo yes)" "two workers give the weights of two devices" "$workers, and $two on xla:2"

# What products may be rounded to is the plugin's affair; one precision has one answer, and the first line names it.
train xla:2 --shards 2 --precision tensorfloat32
rounded=$weights
check "$(sed -n '1s/.*, products in tensorfloat32$/yes/p' "$folder/log")" "the first line names the precision" \
    "$(sed -n 1p "$folder/log")"
train xla:1 --shards 2 --precision tensorfloat32
check "$([ "$weights" = "$rounded" ] && echo yes)" "one device gives the weights of two in tensorfloat32" \
    "$weights, and $rounded on xla:2"
# shellcheck disable=SC2016
"$muster" launch --workers 2 -- sh -c 'mkdir "$1" 2> /dev/null && precision=tensorfloat32
    exec "$2" train --data fashion-mnist --steps 5 --seed 3 --devices xla:1 --shards 2 --precision "${precision:-float32}"' \
    sh "$folder/first" "$muster" > "$folder/log" 2>&1 && status=0 || status=$?
check "$([ $status -ne 0 ] && grep -q "error: options differ between .*: tensorfloat32 " "$folder/log" && echo yes)" \
    "workers of two precisions are refused" "status $status, $(cat "$folder/log")"

# The next process compiles nothing. The plugin shim, which hands calls on, counts them.
plugin=$MUSTER_PJRT_PLUGIN
export MUSTER_SHIM_PLUGIN="$plugin" MUSTER_SHIM_COUNTS="$folder/counts" MUSTER_PJRT_PLUGIN="$shim"
train xla:2 --shards 2 # the shim is another file
for cache in "$XDG_CACHE_HOME/muster/executables" off; do
    train xla:2 --shards 2 --compile-cache "$cache"
    compiled=$(awk '$1 == "PJRT_Client_Compile" { print $2 }' "$folder/counts")
    loaded=$(awk '$1 == "PJRT_Executable_DeserializeAndLoad" { print $2 }' "$folder/counts")
    case $cache in
        off) good=$([ "${compiled:-0}" -gt 0 ] && [ "${loaded:-0}" -eq 0 ] && echo yes) ;;
        *) good=$([ "${compiled:-0}" -eq 0 ] && [ "${loaded:-0}" -gt 0 ] && echo yes) ;;
    esac
    check "$good" "programs are compiled once, or each time if the cache is off" "$compiled compiled, $loaded loaded"
    check "$([ "$weights" = "$two" ] && echo yes)" "and the weights are the same" "$weights, and $two before"
done

# A checkpoint notes the programs: a training that goes on with others says so, once, and no other does.
# The CPU plugin gives other bytes each time, but the same bits.
run_epochs() { # DEVICES EPOCHS CACHE
    "$muster" train --data fashion-mnist --epochs "$2" --batch-size 5000 --seed 3 --shards 2 --devices "$1" \
        --checkpoint-dir "$folder/run" --compile-cache "$3" > "$folder/log" 2> "$folder/errors" || cat "$folder/errors"
    weights=$(sed -n 's/^weights sha256: //p' "$folder/log")
    said=$(grep -c "^warning: the training that is resumed had .*: weights may differ" "$folder/errors" || true)
    entry=$(cat "$folder"/run/*.data-* | grep -ac 'muster/executables' || true)
}
run_epochs xla:2 2 "$folder/programs"
check "$([ "$said" -eq 0 ] && [ "$entry" -gt 0 ] && echo yes)" "a checkpoint notes its programs" "$(cat "$folder/errors")"
cp -r "$folder/run" "$folder/kept"
whole=
for cache in "$folder/programs" "$folder/empty" off; do
    rm -r "$folder/run" && cp -r "$folder/kept" "$folder/run"
    run_epochs xla:2 3 "$cache"
    case $cache in
        */programs) wanted=0 whole=$weights ;;
        *) wanted=1 ;;
    esac
    check "$([ "$said" -eq $wanted ] && echo yes)" "it is said that programs were compiled anew if they were" \
        "$cache: $(cat "$folder/errors")"
    check "$([ -n "$weights" ] && [ "$weights" = "$whole" ] && echo yes)" "and the weights are the same" "$weights, $whole"
done
rm -r "$folder/run"
for epochs in 2 3; do
    run_epochs cpu:2 $epochs "$folder/programs"
    check "$([ "$said$entry" = 00 ] && [ ! -s "$folder/errors" ] && echo yes)" "CPUs note and say nothing" \
        "$(cat "$folder/errors")"
done

# Of two workers one compiles, and the other gets the programs from it.
# shellcheck disable=SC2016
"$muster" launch --workers 2 -- sh -c 'MUSTER_SHIM_COUNTS=$1.$$ exec "$2" train --data fashion-mnist --steps 50 --seed 3 \
    --devices xla:1 --shards 2 --compile-cache off' sh "$folder/worker" "$muster" > "$folder/log" 2>&1 || cat "$folder/log"
counted() { awk -v name="$1" '$1 == name { print $2 }' "$folder"/worker.* | sort -n | tr '\n' ' '; }
compiled=$(counted PJRT_Client_Compile) loaded=$(counted PJRT_Executable_DeserializeAndLoad)
# A worker that compiles a text because the other has asked for it loads it as well.
case "$compiled/$loaded" in
    "0 0 "* | */"0 0 "*) good=no ;;
    "0 "*) good=yes ;;
    *) good=no ;;
esac
check $good "one of two workers compiles all, and the other loads it" "compiled: $compiled, loaded: $loaded"
workers=$(sed -n 's/^worker:[01] | weights sha256: //p' "$folder/log" | sort | uniq -c | tr -s ' ')
check "$([ "$workers" = " 2 $two" ] && echo yes)" "and their weights are those of two devices" "$workers, and $two on xla:2"

# A process that is killed goes on from its last checkpoint, compiles nothing, and has the same weights. It becomes slow, so
# that it is killed in time.
MUSTER_SHIM_FAULTS="PJRT_LoadedExecutable_Execute 150+ delay 0.1" "$muster" train --data fashion-mnist --steps 50 --seed 3 --devices xla:2 --shards 2 --checkpoint-dir "$folder/killed" \
    --save-every 20 --log-every 1 > "$folder/log" 2>&1 &
process=$! tries=0
until [ -e "$folder/killed/checkpoint" ] || [ $tries -eq 600 ]; do
    tries=$((tries + 1))
    sleep 0.01
done
kill -KILL $process 2> /dev/null || true
wait $process || true
train xla:2 --shards 2 --checkpoint-dir "$folder/killed" --resume
compiled=$(awk '$1 == "PJRT_Client_Compile" { print $2 }' "$folder/counts")
check "$(grep -q '^restored ' "$folder/log" && [ "$weights" = "$two" ] && [ "${compiled:-0}" -eq 0 ] && echo yes)" \
    "what was killed goes on to the same weights, and compiles nothing" "$weights, and $two before; $compiled compiled"

# Two GPUs, which the plugin shim makes of the devices of CPUs: what TensorFlow's users look for, and the shards.
on_gpus() { # DEVICES STEPS OPTION...
    devices=$1 steps=$2
    shift 2
    MUSTER_SHIM_PLATFORM=${platform:-cuda} MUSTER_SHIM_DEVICES=2 MUSTER_SHIM_KIND="NVIDIA H200" "$muster" train --data fashion-mnist \
        --schedule none --seed 3 --devices "$devices" --steps "$steps" "$@" > "$folder/log" 2>&1 || cat "$folder/log"
    weights=$(sed -n 's/^weights sha256: //p' "$folder/log")
}
says() { check "$(grep -qxF -e "$2" "$folder/log" && echo yes)" "$1" "$(cat "$folder/log")"; }
task=/job:localhost/replica:0/task:0
on_gpus gpu:2 30
of_gpus=$weights
says "GPUs are named as TensorFlow does" \
    "Using MirroredStrategy with devices ('$task/device:GPU:0', '$task/device:GPU:1')"
says "it is said how gradients are joined" \
    "gradients: 1 bucket with 1.5 MB, summed in one order on the devices and copied to all"
check "$(grep -q ' over gpu:2, batch 200 in 2 shards, ' "$folder/log" && echo yes)" "there are as many shards as GPUs" \
    "$(cat "$folder/log")"
on_gpus gpu:2 15 --checkpoint-dir "$folder/gpus"
on_gpus gpu:1 30 --checkpoint-dir "$folder/gpus"
says "a training that goes on with one GPU keeps the shards of two" \
    "the checkpoint has 2 shards: they are kept, and run on 1 device"
check "$([ -n "$weights" ] && [ "$weights" = "$of_gpus" ] && echo yes)" "and has their weights" "$weights, and $of_gpus"
platform=cpu
on_gpus xla:4 30
of_four=$weights
on_gpus xla:4 15 --checkpoint-dir "$folder/four"
on_gpus xla:1 15 --shards 4 --checkpoint-dir "$folder/one"
for begun in four one; do # on fewer devices, and on more
    on_gpus xla:2 30 --checkpoint-dir "$folder/$begun"
    says "a training that goes on with other devices than $begun keeps the shards" \
        "the checkpoint has 4 shards: they are kept, and run on 2 devices"
    check "$([ -n "$weights" ] && [ "$weights" = "$of_four" ] && echo yes)" "and has their weights" "$weights, and $of_four"
done
unset platform

# What the plugin cannot load is compiled anew, which is said once.
MUSTER_SHIM_FAULTS="PJRT_Executable_DeserializeAndLoad 1+ refuse" train xla:2 --shards 2
compiled=$(awk '$1 == "PJRT_Client_Compile" { print $2 }' "$folder/counts")
check "$([ "${compiled:-0}" -gt 0 ] && [ "$weights" = "$two" ] && echo yes)" \
    "what the plugin cannot load is compiled anew" "$compiled compiled, $weights, and $two before"
said=$(grep -c "^warning: '.*\.executable': cannot be loaded: .*: the program is compiled anew" "$folder/log" || true)
check "$([ "$said" -eq 1 ] && echo yes)" "that is said once" "$(cat "$folder/log")"

# Workers in step need the same plugin and kind of device.
# shellcheck disable=SC2016
"$muster" launch --workers 2 -- sh -c 'case $TF_CONFIG in *\"index\":*1*) export MUSTER_SHIM_KIND=other ;; esac
    exec "$1" train --data fashion-mnist --steps 5 --devices xla:1 --shards 2' sh "$muster" > "$folder/log" 2>&1 || true
check "$(grep -q 'error: .*XLA' "$folder/log" && echo yes)" "workers with two kinds of devices are refused" \
    "$(cat "$folder/log")"

# A process that ends while the plugin still compiles has an error and no crash.
for fault in "PJRT_Buffer_CopyToDevice 3" "PJRT_Buffer_CopyToDevice 5" "PJRT_Client_Compile 2"; do
    status=0
    MUSTER_SHIM_FAULTS="$fault fail" "$muster" train --data fashion-mnist --steps 5 --hidden-units 32 --devices xla:2 \
        --compile-cache off > "$folder/log" 2> "$folder/errors" || status=$?
    check "$([ "$status" -eq 1 ] && [ "$(grep -c '^error: .*this call was to fail' "$folder/errors")" -eq 1 ] &&
        [ "$(wc -l < "$folder/errors")" -eq 1 ] && echo yes)" \
        "an error while programs are compiled ends the process with one line" "$fault: $status, $(cat "$folder/errors")"
done

# One SIGTERM ends the wait for a program that is compiled. The training goes on from the step before it.
MUSTER_SHIM_FAULTS="PJRT_Client_Compile 1+ delay 30" "$muster" train --data fashion-mnist --steps 50 --seed 3 --devices xla:2 \
    --shards 2 --compile-cache off --checkpoint-dir "$folder/stopped" > "$folder/log" 2> "$folder/errors" &
process=$! tries=0
until grep -q '^mlp ' "$folder/log" || [ $tries -eq 1200 ]; do # what is printed before the first step
    tries=$((tries + 1))
    sleep 0.1
done
sleep 3
began=$(date +%s) status=0
kill -TERM $process
wait $process || status=$?
took=$(($(date +%s) - began))
check "$([ $status -eq 143 ] && [ $took -le 20 ] && [ ! -s "$folder/errors" ] && echo yes)" \
    "SIGTERM ends the wait for a program that is compiled" "$status after $took s, $(cat "$folder/errors")"
check "$(grep -q '^interrupted after step 0, kept in ' "$folder/log" && echo yes)" "the state is kept" "$(cat "$folder/log")"
train xla:2 --shards 2 --checkpoint-dir "$folder/stopped" --resume
check "$([ "$weights" = "$two" ] && echo yes)" "the training that goes on has the same weights" "$weights, and $two before"

# Two GPUs, for which the shim stands in: all, some, and logical ones.
export MUSTER_SHIM_PLATFORM=cuda MUSTER_SHIM_KIND="NVIDIA H200" MUSTER_SHIM_DEVICES=2
for devices in gpu gpu:2 gpu:1x2; do
    train $devices --shards 2
    check "$([ "$weights" = "$two" ] && echo yes)" "$devices gives the weights of two devices" "$weights, and $two on xla:2"
    said=$(sed -n '3s/^\(.* Physical GPU.*\)$/\1/p' "$folder/log")
    case $devices in
        *x*) wanted="1 Physical GPU, 2 Logical GPUs" ;;
        *) wanted= ;;
    esac
    check "$([ "$said" = "$wanted" ] && [ "$(grep -c Physical "$folder/log")" -eq "$([ -n "$wanted" ] && echo 1 || echo 0)" ] &&
        echo yes)" "$devices: logical devices are counted, and no others" "$(head -n 4 "$folder/log")"
done
count=$("$muster" devices --devices gpu --json | tr ',' '\n' | grep -c 'device:GPU:' || true)
check "$([ "$count" -eq 2 ] && echo yes)" "gpu is all GPUs" "$count"

# visible DEVICES PLACES: the devices that there are, and the lists that the plugin was given.
visible() {
    rm -f "$folder/options"
    count=$(MUSTER_SHIM_OPTIONS="$folder/options" "$muster" devices --devices "$1" --visible-devices "$2" --json |
        tr ',' '\n' | grep -c 'device:GPU:' || true)
    lists=$(sed -n 's/^visible_devices //p' "$folder/options")
}
for there in 1 2; do # a plugin that takes the option, and one that does not
    MUSTER_SHIM_DEVICES=$there visible gpu:2 1
    check "$([ "$count/$lists" = 1/1 ] && echo yes)" "the plugin is told which GPUs are visible: it has $there" "$count/$lists"
done
visible gpu 5,3
check "$([ "$count/$lists" = 2/3,5 ] && echo yes)" "all places are told" "$count/$lists"
visible gpu:1x2 1
check "$([ "$count/$lists" = 1/ ] && echo yes)" "logical GPUs need their physical one" "$count/$lists"
MUSTER_SHIM_DEVICES=1 train gpu:2 --visible-devices 1 --shards 2
check "$([ "$weights" = "$two" ] && echo yes)" "a GPU that is chosen so trains" "$weights, and $two on xla:2"
said=$(MUSTER_SHIM_OPTIONS="$folder/refused" MUSTER_SHIM_FAULTS="PJRT_Client_Create 1+ fail INVALID_ARGUMENT no such GPU" \
    "$muster" devices --devices gpu --visible-devices 7 2>&1 || true)
case $said in
    "error: devices: visible devices '7': "*"no such GPU: see to the driver"*) found=yes ;;
    *) found=no ;;
esac
check $found "a GPU that is not there is refused" "$said"

unset MUSTER_SHIM_PLATFORM MUSTER_SHIM_KIND MUSTER_SHIM_DEVICES

# The list of devices, as if the plugin were for two GPUs.
list() { # OPTION...
    status=0
    MUSTER_SHIM_PLATFORM=${platform:-cuda} MUSTER_SHIM_DEVICES=2 MUSTER_SHIM_KIND="NVIDIA H200" \
        MUSTER_SHIM_BYTES_LIMIT=151000000000 MUSTER_SHIM_BYTES_IN_USE=1048576 "$muster" devices "$@" \
        > "$folder/log" 2> "$folder/errors" || status=$?
}
listed() { # NAME PATTERN
    check "$([ $status -eq 0 ] && [ ! -s "$folder/errors" ] && grep -q "$2" "$folder/log" && echo yes)" "$1" \
        "$status, $(cat "$folder/log" "$folder/errors")"
}
list
listed "GPUs are listed with their kind" '^GPUs: 2 x NVIDIA H200$'
listed "with their memory" '^  memory   140.6 GB each, 1.0 MB of the first in use$'
listed "with the versions of the plugin" '^  plugin   cuda: .*, PJRT API 0\.[0-9]*'
check "$([ "$(grep -c 'device:CPU:' "$folder/log")" -ge 1 ] && echo yes)" "CPUs are listed too" "$(cat "$folder/log")"
list --devices gpu:2
listed "the devices of a list have kind and memory" 'device:GPU:1  *1  NVIDIA H200, 140.6 GB, 1.0 MB in use$'
list --devices gpu:2 --json
listed "so do they in JSON" '"devices":\[{"name":"[^"]*GPU:0",[^}]*"kind":"NVIDIA H200","memory":151000000000,"memory_in_use":1048576}'
listed "as do all accelerators" '"accelerators":{"type":"gpu","count":2,"platform":"cuda",.*PJRT API.*"use":"gpu:2"'
listed "JSON has the physical devices" '"physical_devices":2,"logical_devices":2,.*GPU:1",[^}]*"physical":1,'
list --devices gpu:1x2 --json
listed "and those of logical ones" '"physical_devices":1,"logical_devices":2,.*GPU:1",[^}]*"physical":0,'
list --json
listed "CPUs are on none" '"physical_devices":0,"logical_devices":0,.*CPU:0",[^}]*"physical":null}'
platform=tpu list
listed "TPUs are listed, whatever the name of the plugin" '^TPUs: 2 x'
platform=metal list
listed "a plugin for another platform is one line of the list" "^accelerators: .*is for the platform 'metal'"
alive=$(awk '$1 == "PJRT_Client" { print $2 }' "$folder/counts")
check "$([ "$alive" = 0 ] && echo yes)" "its clients are destroyed" "$alive"
export MUSTER_SHIM_FAULTS="PJRT_Client_Create 1+ fail UNKNOWN no driver"
list
unset MUSTER_SHIM_FAULTS
listed "so is a driver that is not there" '^accelerators: .*no driver'
MUSTER_SHIM_LEFT_OUT="PJRT_Device_MemoryStats;PJRT_Plugin_Attributes;PJRT_Client_PlatformVersion" list
listed "a plugin need not say its memory and versions" '^  plugin   cuda: PJRT API'

# The first line of a run on what no test has run on.
for platform in cuda tpu; do
    case $platform in cuda) type=gpu ;; *) type=tpu ;; esac
    MUSTER_SHIM_PLATFORM=$platform train $type:1 --shards 1 --hidden-units 8
    check "$([ "$(head -n 1 "$folder/log")" = "note: devices of the type $type are untested on hardware: please report what you see" ] &&
        [ "$(grep -c untested "$folder/log")" -eq 1 ] && echo yes)" "a run says first that $type is untested" "$(cat "$folder/log")"
done
train xla:1 --shards 1 --hidden-units 8
check "$(grep -q untested "$folder/log" || echo yes)" "a run on xla does not" "$(cat "$folder/log")"

export MUSTER_PJRT_PLUGIN="$plugin"
said=$("$muster" devices)
check "$(printf '%s\n' "$said" | grep -q '^XLA devices: ' && echo yes)" "the plugin for CPUs is listed" "$said"

[ $failures -eq 0 ]
