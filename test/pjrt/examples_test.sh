#!/bin/sh
# examples_test.sh SHIM PLACEMENT TOWERS: examples for GPUs, as they are written. The plugin for CPUs stands in for two GPUs.
set -eu
export MUSTER_SHIM_PLUGIN="$MUSTER_PJRT_PLUGIN" MUSTER_PJRT_PLUGIN="$1" MUSTER_SHIM_PLATFORM=cuda MUSTER_SHIM_DEVICES=2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# has NAME TEXT: the log has a line with TEXT.
has() {
    if grep -q "$2" "$folder/log"; then
        echo "ok $1"
    else
        echo "FAIL $1: no line has '$2': $(cat "$folder/log")"
        failures=$((failures + 1))
    fi
}

"$2" --small --device gpu --devices gpu:2 > "$folder/log" 2>&1 || echo "exit status $?" >> "$folder/log"
has variables_are_on_the_cpu '^w: (VariableV2): .*/device:CPU:0$'
has their_sum_is_on_the_first_gpu '^sum: (Add): .*/device:GPU:0$'
has their_product_is_on_the_second '^product: (Mul): .*/device:GPU:1$'
has the_sum_is_right '^w + b = \[7, 7; 7, 7\]$'
has the_product_is_right '^w \* b = \[10, 10; 10, 10\]$'
has a_large_product_is_timed '^/gpu:1 of gpu:2: sum 2\.2[0-9]*e+07 in [0-9.]* s$'
"$2" --small --device gpu --devices cpu:2 > "$folder/log" 2>&1 || echo "exit status $?" >> "$folder/log"
has without_gpus_it_is_on_cpus '^product: (Mul): .*/device:CPU:0, moved from /device:GPU:1$'

if [ -e /usr/share/datasets/fashion-mnist ] || [ -n "${MUSTER_FASHION_MNIST:-}" ]; then
    "$3" --device gpu --max_steps 20 --log_device_placement > "$folder/log" 2>&1 || echo "exit status $?" >> "$folder/log"
    has towers_are_on_gpus '^train/GPU_1/layer1/matmul: (MatMul): .*/device:GPU:1$'
    has towers_share_variables_of_the_cpu '^layer2/biases: (VariableV2): .*/device:CPU:0$'
    has towers_learn '^test/ loss = [0-9.]*, accuracy = 0\.[4-9]'
fi
[ $failures -eq 0 ]
