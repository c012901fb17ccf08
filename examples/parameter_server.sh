#!/bin/sh
# A parameter server and two workers on this machine, each started as scripts of TensorFlow 1 are: by flags that say who is
# there and which of them it is. Once each worker's gradients are applied when they come, once those of both together; of
# the latter the weights are those of one process, which then does the same work.
#   parameter_server.sh [COMMAND...]    COMMAND takes the flags, ends with status 0 on every task, and prints on workers
#                                       "weights sha256: ..."; default: muster train --steps 100 --seed 7
set -u
. "$(dirname "$0")/local_tasks.sh"
[ $# -gt 0 ] || set -- muster train --steps 100 --seed 7

find_ports 3
ps_hosts=localhost:$port
worker_hosts=localhost:$((port + 1)),localhost:$((port + 2))

# train MODE ISSYNC COMMAND...: the server is started last, which makes no difference
train() {
    mode=$1 is_sync=$2
    shift 2
    for task in worker:1 worker:0 ps:0; do
        start_task "$mode-$task" "$@" --ps_hosts="$ps_hosts" --worker_hosts="$worker_hosts" --job_name="${task%:*}" \
            --task_index="${task#*:}" --issync="$is_sync"
    done
    wait_for_tasks
}

train asynchronous 0 "$@"
train synchronous 1 "$@"
start_task alone "$@"
wait_for_tasks

same_weights asynchronous-worker:0 asynchronous-worker:1
same_weights synchronous-worker:0 synchronous-worker:1 alone
echo "the weights are equal"
