#!/bin/sh
# A command that gets SIGTERM, SIGINT or SIGHUP while it waits for others ends with 128 + the signal's number, whatever it
# waits for: a launcher tells a preemption by that from a failure. One thread of a command waits for these signals, and no
# other handles them.
# Usage: signals_test.sh PATH_OF_MUSTER
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=$(date +%s)
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
write_data data

# begin NAME COMMAND...: in the background, by that name; out-NAME and err-NAME are what it prints
begin() {
    at=$1
    shift
    new_output "$at"
    "$@" > "out-$at" 2> "err-$at" < /dev/null &
    has_started "$at"
}

# Of the threads of process $1, one waits for SIGTERM, which its mask shows as not blocked, and all others block it. The
# masks are hexadecimal; that signal is 4 in the fourth digit from the right.
blocks_in_all_threads() {
    [ "$(sed -n 's/^SigBlk:.*\(.\)...$/\1/p' /proc/"$1"/task/*/status 2> /dev/null | grep -c '[012389ab]')" -le 1 ] &&
        grep -q '^SigBlk:.*[4567cdef]...$' /proc/"$1"/status
}

# ends_by MOMENT NAME: begin_NAME starts the process NAME; is_at_NAME says that it is at the moment. Each of the signals
# ends it with its status, and with one error line at most.
ends_by() {
    for signal in TERM:143 INT:130 HUP:129; do
        "begin_$2"
        if ! within 30 "is_at_$2"; then
            cp "out-$2" out
            cp "err-$2" err
            failed "$1: ${signal%:*}" "it never got there"
            end_all
            continue
        fi
        check "$1: all threads block the signals" blocks_in_all_threads "$(pid_of "$2")"
        signal "${signal%:*}" "$2"
        wait_for "$2"
        cp "out-$2" out
        cp "err-$2" err
        if [ "$status" -ne "${signal#*:}" ]; then
            failed "$1: ${signal%:*}" "exit status $status, not ${signal#*:}"
        elif [ "$(grep -c '^error' "err-$2")" -gt 1 ]; then
            failed "$1: ${signal%:*}" "more than one error line"
        else
            ok "$1: ${signal%:*}"
        fi
        end_all
        started=
    done
}
sleeps() { [ "$(stat_of "$(pid_of "$1")" | cut -c 1)" = S ]; }
# The process has the thread that waits for signals, and waits itself.
waits() { runs "$1" && blocks_in_all_threads "$(pid_of "$1")" && sleeps "$1" && sleep 0.3 && sleeps "$1"; }

# ---- a worker ----

cluster() { echo "{\"cluster\":{\"worker\":[$hosts]},\"task\":{\"type\":\"worker\",\"index\":$1}}"; }
# $training is a list of words
# shellcheck disable=SC2086
work() { begin "$1" env TF_CONFIG="$(cluster "$2")" "$muster" train $training --epochs 2000 --timeout 1; }
begin_joining() {
    find_ports 2
    make_hosts
    work joining 0
}
is_at_joining() { grep -q 'waiting for' err-joining; }
ends_by "a worker waits for one that never comes" joining

begin_meeting() {
    find_ports 1
    # $training is a list of words
    # shellcheck disable=SC2086
    begin meeting env WORLD_SIZE=2 RANK=0 LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT="$first" \
        "$muster" train $training --strategy multi_worker
}
is_at_meeting() { grep -q 'waiting for' err-meeting; }
ends_by "a worker waits in the rendezvous" meeting

begin_visiting() {
    find_ports 1
    # $training is a list of words
    # shellcheck disable=SC2086
    begin visiting env WORLD_SIZE=2 RANK=1 LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT="$first" \
        "$muster" train $training --strategy multi_worker
}
is_at_visiting() { grep -q 'waiting for' err-visiting; }
ends_by "a worker looks for the first one" visiting

# A step waits for the other worker, which stands still.
begin_stepping() {
    find_ports 2
    make_hosts
    work other 1
    work stepping 0
    within 30 begun stepping || return 0
    signal STOP other
    sleep 0.5
}
is_at_stepping() { begun stepping; }
ends_by "a step waits for another worker" stepping

# The other one is gone, and nobody comes in its place.
begin_recovering() {
    begin_stepping_of recovering
    signal KILL other
    sleep 1
}
begin_stepping_of() {
    find_ports 2
    make_hosts
    work other 1
    work "$1" 0
    within 30 begun "$1" || return 0
}
is_at_recovering() { begun recovering; }
ends_by "a worker waits for one that was lost" recovering

# ---- parameter servers ----

# $training is a list of words
# shellcheck disable=SC2086
serve_or_work() {
    begin "$1" "$muster" "$3" ${4:-} --ps_hosts "$ps_hosts" --worker_hosts "$worker_hosts" --job_name "${2%_*}" \
        --task_index "${2#*_}"
}
begin_served() {
    make_hosts_with_servers 1 1
    serve_or_work served worker_0 train "$training"
}
is_at_served() { grep -q 'waiting for' err-served; }
ends_by "a worker waits for its parameter server" served

begin_training_served() {
    make_hosts_with_servers 1 1
    begin ps "$muster" server --ps_hosts "$ps_hosts" --worker_hosts "$worker_hosts" --task_index 0 --timeout 1
    serve_or_work training_served worker_0 train "$training --epochs 2000 --timeout 1"
    within 30 begun training_served || return 0
    signal STOP ps
    sleep 0.5
}
is_at_training_served() { begun training_served; }
ends_by "a step waits for its parameter server" training_served

begin_server() {
    make_hosts_with_servers 1 1
    begin server "$muster" server --ps_hosts "$ps_hosts" --worker_hosts "$worker_hosts" --task_index 0
}
is_at_server() { waits server; }
ends_by "a parameter server waits for workers" server

begin_sessions() {
    find_ports 1
    begin sessions "$muster" server --cluster "local=localhost:$first"
}
is_at_sessions() { waits sessions && grep -q 'serves sessions' out-sessions; }
ends_by "a task server waits for sessions" sessions

# ---- others ----

begin_doctor() {
    find_ports 2
    make_hosts
    begin doctor env TF_CONFIG="$(cluster 0)" "$muster" doctor
}
is_at_doctor() { waits doctor; }
ends_by "doctor waits for the other tasks" doctor

# $training is a list of words
# shellcheck disable=SC2086
"$muster" train $training --epochs 1 --checkpoint-dir followed > out 2> err || failed "a checkpoint to follow"
begin_following() { begin following "$muster" evaluate --checkpoint-dir followed --data idx:data --follow; }
is_at_following() { [ -s out-following ] && waits following; }
ends_by "evaluate waits for the next checkpoint" following

begin_evaluator() {
    find_ports 2
    task="\"task\":{\"type\":\"evaluator\",\"index\":0}"
    begin evaluator env TF_CONFIG="{\"cluster\":{\"worker\":[\"localhost:$first\"]},$task}" \
        "$muster" train --data idx:data --hidden-units 64 --checkpoint-dir none_yet
}
is_at_evaluator() { waits evaluator; }
ends_by "an evaluator waits for a checkpoint" evaluator

end_of_checks
