#!/bin/sh
# in_graph on three task servers, each of which is killed once and started again while it trains: its weights are those of
# one process, bit for bit. A task that is lost is told within two seconds.
#   in_graph.sh [PROGRAM [COMMAND]]    default: ./in_graph muster
set -u
. "$(dirname "$0")/local_tasks.sh"
program=${1:-./in_graph} muster=${2:-muster}
steps=2000

find_ports 3
servers="--sessions --devices cpu:1/1 --ps_hosts=localhost:$port --worker_hosts=localhost:$((port + 1)),localhost:$((port + 2))"
target=tcp://localhost:$((port + 1))

# start_server TASK: its process is $server_JOB_INDEX
start_server() {
    # $servers is a list of words
    # shellcheck disable=SC2086
    start_task "server-$1" "$muster" server $servers --job_name "${1%_*}" --task_index "${1#*_}"
    eval "server_$1=$!"
}

# has NAME PATTERN: NAME has printed such a line, within a minute
has() {
    for _ in $(seq 600); do
        grep -q "$2" "$folder/$1" && return
        sleep 0.1
    done
    failed "$1 has not printed: $2"
}

# how often worker 0, which leads, has said that ps 0 is there
returns() {
    grep -c "ps:0 at localhost:[0-9]* is there" "$folder/server-worker_0"
}

start_task alone "$program" --steps $steps
wait_for_tasks
for each in worker_1 ps_0 worker_0; do start_server $each; done

# worker 0 leads: when it is lost, the program loses its session
for killed in worker_1 worker_0 ps_0; do
    "$program" --target "$target" --steps $steps > "$folder/killed-$killed" 2>&1 &
    client=$!
    has "killed-$killed" "^step 50,"
    eval "server=\$server_$killed"
    # shellcheck disable=SC2154 # by eval
    kill -KILL "$server"
    began=$(date +%s%N)
    has "killed-$killed" "${killed%_*}:${killed#*_} at localhost:[0-9]*"
    lost=$((($(date +%s%N) - began) / 1000000))
    tasks=$(echo "$tasks" | sed "s/ $server\b//")
    start_server $killed
    wait $client || failed "the program has ended with status $? when $killed was killed"
    echo "$killed killed: told after $lost ms; $(tail -n 1 "$folder/killed-$killed")"
    [ $lost -lt 2000 ] || failed "the program was told too late"
    grep -q "^going on from step" "$folder/killed-$killed" || failed "the program has not noticed"
    [ "$(tail -n 1 "$folder/alone")" = "$(tail -n 1 "$folder/killed-$killed")" ] || failed "the weights differ"
    # the next one begins anew: all variables are gone with the server that has them
    before=$(returns)
    kill -KILL "$server_ps_0"
    tasks=$(echo "$tasks" | sed "s/ $server_ps_0\b//")
    start_server ps_0
    for _ in $(seq 600); do
        [ "$(returns)" -gt "$before" ] && break
        sleep 0.1
    done
done
for task in $tasks; do
    kill "$task"
    wait "$task"
    [ $? -eq 143 ] || failed "a server does not end as it is asked to"
done
tasks=
echo "the weights are equal"
