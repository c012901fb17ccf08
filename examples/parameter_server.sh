#!/bin/sh
# A parameter server and two workers on this machine, each started as scripts of TensorFlow 1 are: by flags that say who is
# there and which of them it is. Once each worker's gradients are applied when they come, once those of both together; of
# the latter the weights are those of one process, which then does the same work.
#   parameter_server.sh [COMMAND...]    COMMAND takes the flags, ends with status 0 on every task, and prints on workers
#                                       "weights sha256: ..."; default: muster train --steps 100 --seed 7
set -u
. "$(dirname "$0")/free_ports.sh"
[ $# -gt 0 ] || set -- muster train --steps 100 --seed 7
folder=$(mktemp -d) || exit 1
tasks=
# shellcheck disable=SC2086
trap '[ -z "$tasks" ] || kill $tasks 2> /dev/null; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
unset TF_CONFIG

find_ports 3
ps_hosts=localhost:$port
worker_hosts=localhost:$((port + 1)),localhost:$((port + 2))

# train MODE ISSYNC COMMAND...: the server is started last, which makes no difference
train() {
    mode=$1 is_sync=$2
    shift 2
    for task in worker:1 worker:0 ps:0; do
        "$@" --ps_hosts="$ps_hosts" --worker_hosts="$worker_hosts" --job_name="${task%:*}" --task_index="${task#*:}" \
            --issync="$is_sync" > "$folder/$mode-$task" &
        tasks="$tasks $!"
    done
    for task in $tasks; do wait "$task" || exit 1; done
    tasks=
}

# equal FILE...: all have the same weights
equal() {
    grep -H '^weights sha256: ' "$@"
    [ "$(grep -h '^weights sha256: ' "$@" | sort | uniq -c | awk '{ print $1 }')" = $# ] && return
    echo "the weights differ"
    exit 1
}

train asynchronous 0 "$@"
train synchronous 1 "$@"
"$@" > "$folder/alone" || exit 1
cd "$folder" || exit 1
equal asynchronous-worker:0 asynchronous-worker:1
equal synchronous-worker:0 synchronous-worker:1 alone
echo "the weights are equal"
