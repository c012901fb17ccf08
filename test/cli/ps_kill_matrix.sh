#!/bin/sh
# The kill matrix of parameter servers: in jobs of two servers and two workers each task is killed, stopped and terminated
# at each kind of moment, and started again. A synchronous job must end with the weights of an undisturbed one, an
# asynchronous one after as many steps, and one of backup workers, each of whose gradients may make a step, with the same
# weights on both workers; and so must one whose cable is cut between two hosts, each with a server and a worker. Prints a
# table of seconds from the disturbance to the end of the job, for each transport. Usage: ps_kill_matrix.sh PATH_OF_MUSTER
# [WHAT...]: of KILL, STOP, TERM, CUT, of the moments, and of the transports those that are named, all where none is; CUT
# needs root, for network namespaces. MODES="synchronous asynchronous backup" are the jobs. MUSTER_TEST_SEED=N repeats the
# moments.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
shift
transports="shm zmq"
. "$here/support/kill_matrix.sh"

tasks="ps_0 ps_1 worker_0 worker_1"
epochs=60

# start_one TASK: with the options of the job, of the mode and of the moment
start_one() {
    # all are lists of words
    # shellcheck disable=SC2086
    start_task "$1" $job $updates --transport "$transport" $more
}

# There is one cable: its column is that of the last task.
can_be() { [ "$1" != CUT ] || [ "$2" = worker_1 ]; }

# disturb_or_cut SIGNAL TASK
disturb_or_cut() {
    if [ "$1" = CUT ]; then cut_cable 1.5; else disturb "$1" "$2" start_one; fi
}

# begin MOMENT TASK SIGNAL: starts the job, and returns at the moment when the task is to be disturbed
begin() {
    more=$(options_at "$1" $epochs)
    if [ "$3" = CUT ]; then make_networks; else make_hosts_with_servers 2 2; fi
    if [ "$1" = in_the_rendezvous ]; then
        start_one "$2"
        within 10 grep -q "waiting" "err-$2"
    else
        for one in $tasks; do start_one "$one"; done
    fi
    await_moment "$1" worker_1 200
    # the gradients of a step have come to one server, and not to the other
    [ "$1" != before_a_decision ] || stop_for 0.3 "$([ "$2" = ps_1 ] && echo ps_0 || echo ps_1)"
}

# is_right TASK: whether it has ended as it should
is_right() {
    wait_for "$1"
    [ "$status" -eq 0 ] || return 1
    case $1 in
        worker_*) ;;
        *) return 0 ;;
    esac
    case $mode in
        synchronous) wanted="\"weights_sha256\":\"$wanted_sha\"" ;;
        asynchronous) wanted="\"done\",\"step\":$all_steps," ;;
        backup) wanted="\"done\".*\"weights_sha256\":\"$(sha out-worker_0)\"" ;; # looked at first
    esac
    tail -n 1 "out-$1" | grep -q "$wanted"
}

# other TASK: one that is disturbed while the job recovers from the loss of TASK
other() { echo "ps_0 worker_1 ps_1 worker_0 ps_0" | sed "s/.*$1 \([a-z]*_[01]\).*/\1/"; }

# cell SIGNAL TASK: of $moment, $transport and $mode
cell() {
    rm -rf run
    begin "$moment" "$2" "$1"
    began=$(now)
    disturb_or_cut "$1" "$2"
    if [ "$moment" = in_the_rendezvous ]; then
        for one in $tasks; do [ "$one" = "$2" ] || start_one "$one"; done
    fi
    if [ "$moment" = in_a_recovery ]; then
        random_ms 100
        disturb_or_cut "$1" "$(other "$2")"
    fi
    good=yes
    for one in $tasks; do
        is_right "$one" && continue
        good='' wrong="$wrong
$transport, $mode, $moment, $1, $2: $one ended with status $status: $(tail -n 1 "out-$one" | cut -c 1-80) $(tail -n 1 "err-$one" | cut -c 1-300)"
    done
    [ -z "$networks" ] || end_networks
    [ -z "$good" ] || good=$(seconds_since "$began")
    printf '%15s' "${good:-wrong}"
}

# a list of words
# shellcheck disable=SC2046
alone $(options_at in_validation $epochs)
with_validation=$alone
alone --epochs $epochs
wrong=
for transport in $transports; do
    for mode in ${MODES:-synchronous asynchronous backup}; do
        case $mode in
            synchronous) updates="--issync 1" ;;
            asynchronous) updates="--issync 0" ;;
            backup) updates="--issync 1 --replicas-to-aggregate 1" ;;
            *) echo "'$mode' is none of: synchronous asynchronous backup" >&2 && exit 2 ;;
        esac
        printf '%-30s' "$transport, $mode"
        for s in $signals; do for task in $tasks; do can_be "$s" "$task" && printf '%15s' "$s $task"; done; done
        echo
        for moment in $moments; do
            printf '%-30s' "    $moment"
            wanted_sha=$alone all_steps=$((2 * 11 * epochs))
            [ "$moment" != in_validation ] || wanted_sha=$with_validation all_steps=$((2 * 3 * 5 * epochs))
            for s in $signals; do for victim in $tasks; do can_be "$s" "$victim" && cell "$s" "$victim"; done; done
            echo
        done
    done
done
end_of_matrix "not as the undisturbed job"
