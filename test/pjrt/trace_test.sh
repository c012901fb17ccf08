#!/bin/sh
# trace_test.sh MUSTER SHIM: traces of a training on two devices of the PJRT plugin that MUSTER_PJRT_PLUGIN names. The
# plugin shim stands in for GPUs, and makes compilations and programs take long.
set -eu
muster=$1
. "$(dirname "$0")/checks.sh"
export MUSTER_SHIM_PLUGIN="$MUSTER_PJRT_PLUGIN" MUSTER_PJRT_PLUGIN="$2"

# trace DEVICES STEPS OPTION...: the events of the trace of these steps, one per line, are in events
trace() {
    devices=$1 steps=$2
    shift 2
    "$muster" train --data fashion-mnist --steps 4 --hidden-units 16 --seed 3 --devices "$devices" --logdir "$folder/$devices" \
        --profile "$steps" "$@" > "$folder/log" 2>&1 || cat "$folder/log"
    sed 's/{"ph"/\n&/g' "$folder/$devices"/trace-*.json > "$folder/events"
}
# lane NAME: the number of the lane of that name; none if there is none
lane() { sed -n "s/.*\"thread_name\".*\"tid\":\([0-9]*\),\"args\":{\"name\":\"$1\"}.*/\1/p" "$folder/events"; }
# lengths LANE CATEGORY PATTERN: the microseconds of the slices with such a name, the shortest first
lengths() {
    sed -n "s/.*\"ph\":\"X\",\"name\":\"$3\",\"cat\":\"$2\",.*\"tid\":$(lane "$1"),\"ts\":[0-9.e+-]*,\"dur\":\([0-9.e+-]*\),.*/\1/p" \
        "$folder/events" | sort -g
}
longest() { lengths "$@" | tail -n 1; }
shortest() { lengths "$@" | head -n 1; }
# between NAME LOW HIGH VALUE: VALUE is a number from LOW to HIGH
between() {
    check "$(awk -v low="$2" -v high="$3" -v x="$4" 'BEGIN { print (x != "" && x >= low && x <= high) ? "yes" : "no" }')" "$1" \
        "'$4', $(cat "$folder/events")"
}

# Programs and compilations that take 0.5 s. The machine may be busy, so there are hardly any upper bounds.
export MUSTER_SHIM_FAULTS="PJRT_LoadedExecutable_Execute 1+ event_delay 0.5;PJRT_Client_Compile 1+ delay 0.5"
trace xla:2 1:2 --compile-cache off
for device in 0 1; do
    between "programs of XLA:$device have the time that they take" 490000 600000000 \
        "$(longest "programs of XLA:$device" program "shard_$device\/program_[0-9]*")"
    between "the lane of XLA:$device has only their starts" 0 400000 "$(shortest XLA:$device start "shard_$device\/program_[0-9]*")"
    between "the wait for the compiler is shown" 300000 600000000 \
        "$(longest XLA:$device compile "compile shard_$device\/program_[0-9]*")"
    between "feeds are copied to XLA:$device" 0 600000000 "$(longest XLA:$device copy "replica_$device\/inputs\/receive")"
    between "XLA:$device waits at the gate" 490000 600000000 "$(longest XLA:$device wait "wait for all")"
done
check "$([ -n "$(lane CPU:0)" ] && [ -z "$(lane "programs of CPU:0")" ] && echo yes)" "the CPU has one lane" \
    "$(grep thread_name "$folder/events")"
between "the CPU has kernels" 0 600000000 "$(longest CPU:0 kernel "update\/learning_rate\/mul")"
check "$(grep '"cat":"program"' "$folder/events" | grep -q '"run":1}' && echo yes)" "both steps are there" \
    "$(cat "$folder/events")"
check "$(awk -F '"tid":|,"ts":|,"dur":|,"args"' '/"cat":"program"/ { if ($3 < end[$2] - 0.01) bad = 1; end[$2] = $3 + $4 }
    END { print bad ? "no" : "yes" }' "$folder/events")" "programs of one device follow each other" "$(cat "$folder/events")"

# A step whose programs are there waits for no compiler. GPUs have their names.
export MUSTER_SHIM_PLATFORM=cuda MUSTER_SHIM_DEVICES=2 MUSTER_SHIM_KIND="NVIDIA H200"
unset MUSTER_SHIM_FAULTS
trace gpu:2 3:4
for name in GPU:0 GPU:1 "programs of GPU:0" "programs of GPU:1" CPU:0; do
    check "$([ -n "$(lane "$name")" ] && echo yes)" "there is a lane: $name" "$(grep thread_name "$folder/events")"
done
check "$(grep -q '"cat":"compile"' "$folder/events" || echo yes)" "nothing is compiled in later steps" "$(cat "$folder/events")"

# TensorBoard's events have the programs of the last step.
check "$(cat "$folder"/gpu:2/train/events.* "$folder"/gpu:2/events.* | tr -c '[:print:]' '\n' | grep -q 'shard_1/program_' && echo yes)" \
    "TensorBoard gets the programs" "$(ls "$folder"/gpu:2/*)"

[ $failures -eq 0 ]
