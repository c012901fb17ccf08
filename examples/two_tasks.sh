#!/bin/sh
# two_tasks: task 0 waits and says for whom until task 1 comes; both end when both have done their work, and the weights
# of the network that lies on both are those of one process, bit for bit.
#   two_tasks.sh [PROGRAM]    default: ./two_tasks
set -u
. "$(dirname "$0")/local_tasks.sh"
program=${1:-./two_tasks}
find_ports 2
hosts=localhost:$port,localhost:$((port + 1))

start_task alone "$program"
wait_for_tasks
start_task task-0 "$program" --hosts "$hosts" --task_index 0
until grep -q -s "waits for local:1 at localhost:$((port + 1))" "$folder/task-0"; do sleep 0.1; done
start_task task-1 "$program" --hosts "$hosts" --task_index 1
wait_for_tasks
grep -q "^Hello, distributed TensorFlow!" "$folder/task-1" || failed "task 1 has not said hello"
grep -q "/job:local/replica:0/task:1/device:CPU:0" "$folder/task-0" || failed "task 0 does not tell where nodes are"
grep -h "^weights after" "$folder/alone" "$folder/task-0"
[ "$(grep "^weights after" "$folder/alone")" = "$(grep "^weights after" "$folder/task-0")" ] || failed "the weights differ"
echo "the weights are equal"
