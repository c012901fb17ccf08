#!/bin/sh
# examples_test.sh PART MUSTER SHIM FOLDER: examples in FOLDER for GPUs and TPUs, as they are written, and what MUSTER, the
# command, does in their place. The plugin for CPUs stands in for two GPUs and for eight TPUs. PART: a function below.
# Examples and the command have equal programs of devices, so each is compiled once.
set -eu
part=$1 muster=$2 examples=$4
export MUSTER_SHIM_PLUGIN="$MUSTER_PJRT_PLUGIN" MUSTER_PJRT_PLUGIN="$3"
export MUSTER_SHIM_KIND="NVIDIA H200" MUSTER_SHIM_BYTES_LIMIT=151000000000
. "$(dirname "$0")/checks.sh"
task=/job:localhost/replica:0/task:0

# on PLATFORM NUMBER PROGRAM ARGUMENT...: runs it there.
on() {
    platform=$1 number=$2
    shift 2
    MUSTER_SHIM_PLATFORM=$platform MUSTER_SHIM_DEVICES=$number "$@" > "$folder/log" 2>&1 ||
        echo "exit status $?" >> "$folder/log"
}

# has NAME TEXT [TIMES]: the log has a line with TEXT; with TIMES so many of them.
has() {
    lines=$(grep -c -e "$2" "$folder/log" || true)
    check "$([ "$lines" -eq "${3:-$lines}" ] && [ "$lines" -gt 0 ] && ! grep -q '^exit status' "$folder/log" && echo yes)" "$1" \
        "$lines lines have '$2': $(cat "$folder/log")"
}

# mirrored TYPE NUMBER EPOCHS: the log names so many devices, how gradients are joined, and the validation of each epoch.
mirrored() {
    names=
    for i in $(seq 0 $(($2 - 1))); do names="$names${names:+, }'$task/device:$1:$i'"; done
    has "  the strategy names its devices" "^Using MirroredStrategy with devices ($names)\$" 1
    has "  it is said how gradients are joined" \
        '^gradients: 1 bucket with .* [KM]B.*, summed in one order on the devices and copied to all$' 1
    has "  each epoch ends with a validation" '^[0-9]*/[0-9]* \[=*\] - .* - val_loss: [0-9.]* - val_.*accuracy: [01]\.' "$3"
}

skip() {
    echo "skipped: $1"
    exit 77
}

placement() {
    on cuda 2 "$examples/placement" --small --device gpu --devices gpu:2
    has variables_are_on_the_cpu '^w: (VariableV2): .*/device:CPU:0$'
    has their_sum_is_on_the_first_gpu '^sum: (Add): .*/device:GPU:0$'
    has their_product_is_on_the_second '^product: (Mul): .*/device:GPU:1$'
    has the_sum_is_right '^w + b = \[7, 7; 7, 7\]$'
    has the_product_is_right '^w \* b = \[10, 10; 10, 10\]$'
    has a_large_product_is_timed '^/gpu:1 of gpu:2: sum 2\.2[0-9]*e+07 in [0-9.]* s$'
    sums=$(sed -n 's/^\/[cg]pu:. of .*: sum \([0-9.e+]*\) in .*/\1/p' "$folder/log" | tr '\n' ' ')
    # of 100,000 sums of 100 products of numbers from 0 to 3: 225 each
    printf '%s\n' "$sums" | awk '{ d = ($1 - $2) / $1; e = $1 / 2.25e7 - 1; exit !(NF == 2 && d * d < 1e-8 && e * e < 4e-4) }' ||
        sums="wrong: $sums"
    echo "$sums" >> "$folder/log"
    has its_sum_is_that_of_the_cpu '^2\.2'
    has logical_gpus_share_one "  $task/device:GPU:1, on physical device 0, NVIDIA H200\$"
    has a_gpu_has_a_limit_of_4096_mb '^gpu:1 with 4096 MB each: the step takes [0-9.]* MB$'
    has two_logical_gpus_have_1024_mb_each '^gpu:1x2 with 1024 MB each: the step takes [0-9.]* MB$'
    has a_limit_that_cannot_be_kept_is_one_line '^gpu:1 with 5 MB: device .*/device:GPU:0: the step needs .*, the limit is 5.0 MB'
    on cuda 2 "$examples/placement" --small --device gpu --devices cpu:2
    has without_gpus_it_is_on_cpus '^product: (Mul): .*/device:CPU:0, moved from /device:GPU:1$'
}

towers() {
    [ -e /usr/share/datasets/fashion-mnist ] || [ -n "${MUSTER_FASHION_MNIST:-}" ] || skip "there is no Fashion-MNIST"
    on cuda 2 "$examples/mnist_towers" --device gpu --max_steps 20 --log_device_placement
    has towers_are_on_gpus '^train/GPU_1/layer1/matmul: (MatMul): .*/device:GPU:1$'
    has towers_share_variables_of_the_cpu '^layer2/biases: (VariableV2): .*/device:CPU:0$'
    has towers_learn '^test/ loss = [0-9.]*, accuracy = 0\.[4-9]'
}

photos() {
    "$examples/pictures" "$folder/bars" > "$folder/log" 2>&1 || skip "$(cat "$folder/log")" # without the module png
    for devices in gpu:2 tpu:8; do
        type=$(echo ${devices%:*} | tr gptu GPTU) number=${devices#*:}
        case $type in GPU) platform=cuda ;; *) platform=tpu ;; esac
        on "$platform" "$number" "$examples/photos" "$folder/bars" --size 32 --alpha 0.35 --batch 20 --epochs 2 \
            --devices $devices
        has "photos on $devices" "^Number of devices: $number\$" 1
        mirrored "$type" "$number" 2
        on "$platform" "$number" "$muster" train --model mobilenet_v2:0.35 --data "images:$folder/bars" --image-size 32 \
            --validation-split 0.2 --batch-per-replica 20 --epochs 2 --learning-rate 0.001 --schedule none \
            --devices $devices
        has "photos with the command on $devices" "^mobilenet_v2:0.35 (.* mirrored over $devices, batch $((20 * number)) in" 1
        mirrored "$type" "$number" 2
    done
}

texts() {
    for devices in gpu:1x2 tpu:8; do
        type=$(echo ${devices%:*} | tr gptu GPTU) number=${devices#*[:x]}
        case $type in GPU) platform=cuda number=2 ;; *) platform=tpu ;; esac
        on "$platform" "$number" "$examples/text_cnn" "$folder/topics" 2 --devices $devices
        has "texts in a loop on $devices" '^Epoch=[12],Loss:[0-9.]*,Accuracy:[01][0-9.]*,Valid Loss:[0-9.]*,Valid Accuracy:[01]' 2
        has "  they are predicted" '" is of [a-z]* (0\.' 2
        on "$platform" "$number" "$examples/text_cnn" "$folder/topics" 2 --devices $devices --fit
        has "texts on $devices" "^$task/device:$type:[0-9]*\$" "$number"
        mirrored "$type" "$number" 2
        has "  with the best five" ' - sparse_top_k_categorical_accuracy: 1.0000 - val_loss: ' 2
        on "$platform" "$number" "$muster" train --model text_cnn --data "texts:$folder/topics" --validation-split 0.2 \
            --batch-size 32 --epochs 2 --optimizer nadam --learning-rate 0.001 --schedule none --pad front \
            --metrics sparse_categorical_accuracy,sparse_top_k_categorical_accuracy --devices $devices
        has "texts with the command on $devices" "^text_cnn (.* mirrored over $devices, batch 32 in $number shards, nadam" 1
        case $devices in *x*) has "  logical GPUs are counted" '^1 Physical GPU, 2 Logical GPUs$' 1 ;; esac
        mirrored "$type" "$number" 2
    done
}

$part
[ $failures -eq 0 ]
