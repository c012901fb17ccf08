#!/bin/sh
# gpu_check_test.sh SCRIPT BUILD SHIM: scripts/gpu-check, packed and run on the plugin for CPUs that MUSTER_PJRT_PLUGIN names;
# then it stands in for a GPU.
set -eu
script=$1 build=$2 shim=$3
. "$(dirname "$0")/checks.sh"
# A PyTorch that nobody is as fast as, and that has no text CNN. There is no JAX.
cat > "$folder/python" << 'END'
#!/bin/sh
case $* in
    -c*torch*) exit 0 ;;
    -c*) exit 1 ;;
    *text_cnn*) echo "a text CNN is too much" >&2 && exit 1 ;;
esac
echo '{"unit":"examples/s","windows":[1e12],"median":1e12,"first_step":0.001}'
END
chmod +x "$folder/python"
export PYTHON="$folder/python"

# run OPTION...: sets status; the results are in $folder/out/results.jsonl.
run() {
    status=0
    "$folder/muster-gpu-check/gpu-check" run --quick --out "$folder/out" "$@" > "$folder/log" 2> "$folder/errors" || status=$?
}
said() { cat "$folder/log" "$folder/errors"; }
has() { # NAME TEXT
    check "$(grep -qF -e "$2" "$folder/out/results.jsonl" && echo yes)" "$1" "$(said)"
}

status=0
"$script" --build "$build" pack "$folder/small.tar.gz" --limit 1 > "$folder/log" 2> "$folder/errors" || status=$?
check "$([ $status -eq 2 ] && [ "$(wc -l < "$folder/errors")" -eq 1 ] && [ ! -e "$folder/small.tar.gz" ] &&
    grep -q 'at most 1 MiB are allowed. The biggest files are: .*libdnnl' "$folder/errors" && echo yes)" \
    "an archive that is too large is refused, with its biggest files" "$status, $(said)"
"$script" --build "$build" pack "$folder/gpu-check.tar.gz" > "$folder/log" 2>&1 || said
tar -C "$folder" -xzf "$folder/gpu-check.tar.gz"

(unset MUSTER_PJRT_PLUGIN && run --device xla && echo $status > "$folder/status")
check "$([ "$(cat "$folder/status")" -eq 2 ] && grep -q '^error: .*no plugin of PJRT for xla' "$folder/errors" &&
    [ "$(wc -l < "$folder/errors")" -eq 1 ] && [ ! -e "$folder/out" ] && echo yes)" \
    "without a plugin nothing runs" "$(cat "$folder/status"), $(said)"

run --device xla
check "$([ $status -eq 0 ] && echo yes)" "all is well on xla" "$status, $(said)"
sections='one_step equal_weights out_of_memory speed ops'
for section in $sections; do has "$section ran" "{\"section\":\"$section\",\"ok\":true,\"ran_out\":false,"; done
has "what is missing is named before" '"missing":"jax"}'
has "the devices are kept" '"devices":{"event":"devices",'
has "a network has equal weights" '"check":"text_cnn: xla:2 gives the weights of xla:1","ok":true}'
has "it is said whether bits differ" '"compiled_twice":"text_cnn","bits_differ":false}'
for row in stand_in text_cnn product_float32 product_tensorfloat32 mlp mlp_recorded from_memory four_shards; do
    check "$(grep -qE "\"row\":\"$row\",\"by\":\"muster\",\"unit\":.*\"median\":[0-9.e+-]*[1-9]" "$folder/out/results.jsonl" &&
        echo yes)" "the speed of $row is measured" "$(said)"
done
has "what was measured is compared" '"compared":"mlp: idle between steps, us","value":'
check "$(grep -qE '"by":"jax' "$folder/out/results.jsonl" || echo yes)" "without a peer its rows are empty" "$(said)"
has "a peer is measured beside" '"row":"product_float32","by":"pytorch","unit":'
has "one that fails is told" '"row":"text_cnn","by":"pytorch","failed":"a text CNN is too much"}'
missed='"compared":"product in float32: Muster / PyTorch","value":[0-9.e-]*,"at_least":0.95,"reached":false,"cause":"a step of'
check "$(grep -q "$missed [1-9][0-9]* us: .*program on programs of XLA:0 [1-9]" "$folder/out/results.jsonl" &&
    [ -s "$folder/out/product_float32-later.json" ] && echo yes)" "what is missed has its cause, a profile of a step" "$(said)"
has "what has no aim is not judged" '"compared":"stand_in: 4 shards / 1 shard","value":'
check "$(grep -q '4 shards.*reached' "$folder/out/results.jsonl" || echo yes)" "nor said to be reached" "$(said)"
check "$(grep -qvE '^\{"section":"[a-z_]+",.*\}$' "$folder/out/results.jsonl" || echo yes)" "each line is an object" "$(said)"
check "$(cmp -s "$folder/log" "$folder/out/results.jsonl" && echo yes)" "standard output has the same lines" "$(said)"
check "$([ "$(grep -cE '^[a-z_]+ +good, ' "$folder/errors")" -eq "$(echo "$sections" | wc -w)" ] && echo yes)" \
    "a table for people has each section" "$(said)"

export MUSTER_SHIM_PLUGIN="$MUSTER_PJRT_PLUGIN" MUSTER_PJRT_PLUGIN="$shim" MUSTER_SHIM_PLATFORM=cuda MUSTER_SHIM_DEVICES=1 \
    MUSTER_SHIM_KIND="NVIDIA H200"
PYTHON=/nowhere/python3 run --only one_step,out_of_memory
check "$([ $status -eq 0 ] && echo yes)" "all is well on a device of the type gpu" "$status, $(said)"
check "$(grep -q '"missing":".*jax torch"}' "$folder/out/results.jsonl" && echo yes)" "no Python is no peer" "$(said)"
has "its kind is known" '"kind":"NVIDIA H200"'
MUSTER_SHIM_FAULTS="PJRT_LoadedExecutable_Execute 1+ fail" run --only one_step,out_of_memory
check "$([ $status -eq 1 ] && echo yes)" "a step that fails is a failure" "$status, $(said)"
has "its error is kept" '"check":"one step","ok":false,"detail":"error: '
has "its section is named" '{"section":"one_step","ok":false,"ran_out":false,'
check "$(grep -q '^  one_step  *MISSED  one step: error: ' "$folder/errors" && echo yes)" "the table for people says so" "$(said)"
# Only equal_weights loads programs.
MUSTER_SHIM_FAULTS="PJRT_Executable_DeserializeAndLoad 1+ delay 600" run --only equal_weights,out_of_memory --limit 25
check "$([ $status -eq 1 ] && echo yes)" "a section that runs out of its limit is a failure" "$status, $(said)"
has "what it knew before is kept" '{"section":"equal_weights","check":"mlp: gpu:1 trains","ok":true}'
has "it is said that it ran out" '{"section":"equal_weights","ok":false,"ran_out":true,"limit":25,'
has "the next section runs" '{"section":"out_of_memory","ok":true,'
run --only one_step,nonsense
check "$([ $status -eq 2 ] && grep -q "^error: .*there is no section 'nonsense'" "$folder/errors" && echo yes)" \
    "a section that is not there is refused" "$status, $(said)"

[ $failures -eq 0 ]
