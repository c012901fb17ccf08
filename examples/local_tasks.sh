# Tasks of a cluster on this machine. Sourced by the scripts beside it. What tasks print is in $folder, which is removed
# at the end; tasks that have not ended then are killed.
# shellcheck shell=sh
folder=$(mktemp -d) || exit 1
tasks=
# $tasks is a list of words
# shellcheck disable=SC2086
trap '[ -z "$tasks" ] || kill $tasks 2> /dev/null; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
unset TF_CONFIG

# find_ports COUNT: sets $port to the first of COUNT ports in a row at which nothing listens. Scripts that are started at
# the same time begin to look at different ports.
find_ports() {
    port=$((16000 + $$ % (4000 / $1) * $1))
    until are_free "$port" "$1"; do port=$((port + $1)); done
}
are_free() {
    for candidate in $(seq "$1" $(($1 + $2 - 1))); do
        ! grep -q -i ":$(printf %04X "$candidate") " /proc/net/tcp /proc/net/tcp6 2> /dev/null || return 1
    done
}

# start_task NAME COMMAND...: what it prints goes to $folder/NAME
start_task() {
    printed=$folder/$1
    shift
    "$@" > "$printed" 2>&1 &
    tasks="$tasks $!"
}

# wait_for_tasks: until all have ended; each must end with status 0
wait_for_tasks() {
    for task in $tasks; do wait "$task" || failed "a task has ended with status $?"; done
    tasks=
}

failed() {
    echo "$1"
    tail -n 20 "$folder"/*
    exit 1
}

# same_weights NAME...: these have printed the same line "weights sha256: ..."
same_weights() {
    cd "$folder" || exit 1
    grep -H '^weights sha256: ' "$@"
    [ "$(grep -h '^weights sha256: ' "$@" | sort | uniq -c | awk '{ print $1 }')" = $# ] || failed "the weights differ"
}
