#!/bin/sh
# between_graph: two programs train the same variables over three task servers. Each of the five processes is killed and
# started again while they train; the job goes on by itself, and the variables are learned.
#   between_graph.sh [PROGRAM [COMMAND]]    default: ./between_graph muster
set -u
. "$(dirname "$0")/local_tasks.sh"
program=${1:-./between_graph} muster=${2:-muster}

find_ports 3
servers="--sessions --devices cpu:1/1 --ps_hosts=localhost:$port --worker_hosts=localhost:$((port + 1)),localhost:$((port + 2))"

# start NAME: ps_0, worker_0, worker_1 are servers, program_0 and program_1 the programs; the process is $process_NAME
start() {
    case $1 in
        program_*)
            start_task "$1-$2" "$program" --target "tcp://localhost:$((port + 1 + ${1#*_}))" --task_index "${1#*_}" \
                --steps $steps --checkpoint_dir "$folder/run"
            ;;
        *)
            # $servers is a list of words
            # shellcheck disable=SC2086
            start_task "$1-$2" "$muster" server $servers --job_name "${1%_*}" --task_index "${1#*_}"
            ;;
    esac
    eval "process_$1=$!"
}

# has NAME PATTERN: NAME has printed such a line, within a minute
has() {
    for _ in $(seq 600); do
        grep -q "$2" "$folder/$1" && return
        sleep 0.1
    done
    failed "$1 has not printed: $2"
}

# process NAME: sets $process to that of NAME
process() {
    eval "process=\$process_$1"
}

# end_by SIGNAL NAME: ends the process of NAME, which is no task any more
end_by() {
    process "$2"
    kill "-$1" "$process"
    wait "$process" 2> /dev/null
    tasks=$(echo "$tasks" | sed "s/ $process\b//")
}

for each in worker_1 ps_0 worker_0; do start $each first; done
for killed in none ps_0 worker_1 worker_0 program_1 program_0; do
    steps=1000000
    if [ $killed = none ]; then
        steps=5000
        # the other one looks for the chief's values once a second, in which the chief might make all steps
        start program_0 $killed
        has program_0-$killed "steps of its own"
        start program_1 $killed
    else
        start program_1 $killed
        start program_0 $killed
    fi
    has program_1-$killed "steps of its own"
    has program_0-$killed "steps of its own"
    if [ $killed != none ]; then
        end_by KILL $killed
        began=$(date +%s%N)
        start $killed again-$killed
        # both go on, the one that was started again too
        for each in program_0 program_1; do
            log=$each-$killed
            [ $each = $killed ] && log=$each-again-$killed
            lines=$(grep -c "steps of its own" "$folder/$log")
            for _ in $(seq 600); do
                [ "$(grep -c "steps of its own" "$folder/$log")" -gt $((lines + 1)) ] && break
                sleep 0.1
            done
            [ "$(grep -c "steps of its own" "$folder/$log")" -gt $((lines + 1)) ] ||
                failed "$each does not go on after $killed was killed"
        done
        echo "$killed killed: both go on after $((($(date +%s%N) - began) / 1000000)) ms"
        end_by TERM program_1
        end_by TERM program_0
    else
        for each in program_0 program_1; do
            process $each
            wait "$process" || failed "$each has ended with status $?"
            tasks=$(echo "$tasks" | sed "s/ $process\b//")
            grep "done at global step" "$folder/$each-none" || failed "$each is not done"
            grep -q "done at global step [0-9]*, loss 0.0" "$folder/$each-none" || failed "$each has not learned"
        done
    fi
done
for task in $tasks; do
    kill "$task"
    wait "$task"
    [ $? -eq 143 ] || failed "a server does not end as it is asked to"
done
tasks=
echo "all went on"
