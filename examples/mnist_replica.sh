#!/bin/sh
# mnist_replica with one parameter server and two workers on this machine, as it is started in three terminals: once each
# worker's gradients are applied when they come, once those of both together. All tasks must end with status 0, and both
# workers must print the same cross entropy of the images for validation, which 60 steps have made much smaller.
#   mnist_replica.sh [PROGRAM]    default: ./mnist_replica
set -u
. "$(dirname "$0")/local_tasks.sh"
program=${1:-./mnist_replica}
find_ports 3
ps_hosts=localhost:$port
two_workers=localhost:$((port + 1)),localhost:$((port + 2))
one_worker=localhost:$((port + 1))

# train MODE WORKER_HOSTS "TASK..." FLAG...: starts the tasks in this order, and waits until all have ended
train() {
    mode=$1 worker_hosts=$2 order=$3
    shift 3
    for task in $order; do
        start_task "$mode-$task" "$program" --ps_hosts="$ps_hosts" --worker_hosts="$worker_hosts" \
            --job_name "${task%:*}" --task_index "${task#*:}" --train_steps 60 --learning_rate 0.001 --log_steps 1 "$@"
    done
    wait_for_tasks
}

# has MODE TASK PATTERN...: the task has printed lines with these patterns, which begin at the beginning of a line
has() {
    printed=$1-$2
    shift 2
    for pattern in "$@"; do grep -q "^$pattern" "$folder/$printed" || failed "$printed: no line with '$pattern'"; done
}

# check_worker MODE INDEX BEGINNING: a worker has printed what the classic program prints, and the loss of its first step,
# summed over 100 images of 10 classes, is about 100 * log(10) = 230
check_worker() {
    has "$1" "worker:$2" "job_name : worker" "task_index : $2" "Worker $2: $3" \
        "Worker $2: Session initialization complete\." "Training begins @ [0-9]*\.[0-9]*" \
        "Training elapsed time: [0-9.]* s"
    awk -v worker="Worker $2" '
        / training step [0-9]+ done, loss: / { wrong += $2 " " $3 != worker ":" || $6 != ++step || $12 + 0 < step }
        /global step: 1\)/ { wrong += $9 < 200 || $9 > 260 }
        END { exit wrong > 0 }' "$folder/$1-worker:$2" || failed "$1-worker:$2: a wrong line of a step"
}

# cross_entropy MODE TASK
cross_entropy() { sed -n 's/^After 60 training step(s), validation cross entropy = //p' "$folder/$1-$2"; }
# holds CONDITION: one of awk, of the numbers x and y
holds() { awk -v x="$1" -v y="$2" "BEGIN { exit !($3) }"; }

# check MODE: both workers end with the same weights, which are better than chance, 5000 * log(10) = 11513 in sum
check() {
    check_worker "$1" 0 "Initializing session\.\.\."
    check_worker "$1" 1 "Waiting for session to be initialized\.\.\."
    x=$(cross_entropy "$1" worker:0) y=$(cross_entropy "$1" worker:1)
    echo "$1: validation cross entropy $x, $y"
    [ "$x" = "$y" ] || failed "$1: the workers differ"
    holds "$x" 0 "x > 1000 && x < 9000" || failed "$1: not the cross entropy of a network that has learned"
}

# steps MODE: those of both workers, each counted by itself
steps() { cat "$folder/$1-worker:0" "$folder/$1-worker:1" | grep -c ' training step [0-9]* done'; }

train asynchronous "$two_workers" "worker:1 worker:0 ps:0" --issync 0
check asynchronous
# each worker may be in the middle of a step when the last one is made
holds "$(steps asynchronous)" 0 "x >= 60 && x <= 62" || failed "asynchronous: $(steps asynchronous) steps, not 60 of both"

train synchronous "$two_workers" "ps:0 worker:0 worker:1" --issync=1
check synchronous
[ "$(steps synchronous)" -eq 120 ] || failed "synchronous: $(steps synchronous) steps of both workers, not 60 of each"
# one worker makes the same steps of 200 images: its sums are twice as large, which Adam hardly notices
train alone "$one_worker" "worker:0 ps:0" --issync=1 --batch_size=200
y=$(cross_entropy alone worker:0)
echo "one worker with their images: $y"
holds "$x" "$y" "x > 0.99 * y && x < 1.01 * y" || failed "two workers are not one with twice the images"

# refuses FLAG FLAGS...: with FLAGS alone it ends with status 2 and an error that says FLAG
refuses() {
    flag=$1
    shift
    "$program" "$@" 2> "$folder/refused"
    status=$?
    [ $status -eq 2 ] || failed "not refused, but status $status: $*"
    grep -q "^error: $flag: " "$folder/refused" || failed "refused without a word on $flag: $*"
}
refuses --job_name --task_index 0
refuses --task_index --job_name worker
