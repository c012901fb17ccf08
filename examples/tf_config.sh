#!/bin/sh
# Two workers on this machine, started by hand: each gets TF_CONFIG, as with TensorFlow, which says who is there and which
# of them it is. Then one process does the same work. All three end with the same weights.
#   tf_config.sh [COMMAND...]    COMMAND ends with a line "weights sha256: ..."; default: muster train --steps 100 --seed 7
set -u
. "$(dirname "$0")/local_tasks.sh"
[ $# -gt 0 ] || set -- muster train --steps 100 --seed 7

find_ports 2
for index in 0 1; do
    start_task worker-$index env TF_CONFIG='{
        "cluster": {"worker": ["localhost:'$port'", "localhost:'$((port + 1))'"]},
        "task":    {"type": "worker", "index": '$index'}
    }' "$@"
done
wait_for_tasks
start_task alone "$@"
wait_for_tasks

same_weights worker-0 worker-1 alone
echo "the weights are equal"
