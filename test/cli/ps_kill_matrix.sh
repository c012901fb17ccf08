#!/bin/sh
# The kill matrix of parameter servers: in jobs of two servers and two workers each task is killed, stopped and terminated
# at each kind of moment, and started again. A synchronous job must end with the weights of an undisturbed one, an
# asynchronous one after as many steps; and so must one whose cable is cut between two hosts, each with a server and a
# worker. Prints a table of seconds from the disturbance to the end of the job. Usage: ps_kill_matrix.sh PATH_OF_MUSTER
# [WHAT...]: KILL, STOP, TERM, CUT, all where none is given; CUT needs root, for network namespaces. MUSTER_TEST_SEED=N
# repeats the moments.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
shift
signals=${*:-KILL STOP TERM CUT}
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
echo "MUSTER_TEST_SEED=$seed"
write_data data

moments="at_once after_5_ms after_50_ms in_the_rendezvous in_a_step in_a_save in_a_recovery"
tasks="ps_0 ps_1 worker_0 worker_1"
epochs=60 all_steps=1320 # of both workers: 430 rows in batches of 40
job="--epochs $epochs --log-every 1 --timeout 1 --recovery-timeout 30 --insecure"

if ! can_make_networks; then
    echo "skipped: the cut cable needs root and 'ip netns'"
    signals=$(echo "$signals" | sed 's/CUT//')
fi

# start_one TASK: with the options of the job, of the mode and of the moment
start_one() {
    # all are lists of words
    # shellcheck disable=SC2086
    start_task "$1" $job --issync "$synchronous" $more
}

# A server ends a job by a signal, and a worker its own part: SIGTERM is for workers. There is one cable: its column is
# that of the last task.
can_be() {
    case $1 in
        TERM) [ "${2%_*}" = worker ] ;;
        CUT) [ "$2" = worker_1 ] ;;
    esac
}

# disturb_or_cut SIGNAL TASK
disturb_or_cut() {
    if [ "$1" = CUT ]; then cut_cable 1.5; else disturb "$1" "$2" start_one; fi
}

# begin MOMENT TASK SIGNAL: starts the job, and returns at the moment when the task is to be disturbed
begin() {
    more=
    [ "$1" != in_a_save ] || more="--checkpoint-dir run --save-every 3"
    if [ "$3" = CUT ]; then make_networks; else make_hosts_with_servers 2 2; fi
    if [ "$1" = in_the_rendezvous ]; then
        start_one "$2"
        within 10 grep -q "waiting" "err-$2"
    else
        for one in $tasks; do start_one "$one"; done
    fi
    case $1 in
        after_5_ms) sleep 0.005 ;;
        after_50_ms) sleep 0.05 ;;
        in_a_step | in_a_save | in_a_recovery)
            within 20 begun worker_1
            random_ms 200
            ;;
    esac
}

# is_right TASK: whether it has ended as it should
is_right() {
    wait_for "$1"
    [ "$status" -eq 0 ] || return 1
    case $1 in
        worker_*) [ "$synchronous" = 1 ] && wanted="\"weights_sha256\":\"$alone\"" || wanted="\"done\",\"step\":$all_steps," ;;
        *) return 0 ;;
    esac
    tail -n 1 "out-$1" | grep -q "$wanted"
}

# other TASK: one that is disturbed while the job recovers from the loss of TASK
other() { echo "ps_0 worker_1 ps_1 worker_0 ps_0" | sed "s/.*$1 \([a-z]*_[01]\).*/\1/"; }

alone --epochs $epochs
wrong=
for synchronous in 1 0; do
    printf '%-30s' "$([ $synchronous = 1 ] && echo synchronous || echo asynchronous)"
    for s in $signals; do for task in $tasks; do can_be "$s" "$task" && printf '%15s' "$s $task"; done; done
    echo
    for moment in $moments; do
        printf '%-30s' "    $moment"
        for s in $signals; do
            for victim in $tasks; do
                can_be "$s" "$victim" || continue
                rm -rf run
                begin "$moment" "$victim" "$s"
                began=$(now)
                disturb_or_cut "$s" "$victim"
                if [ "$moment" = in_the_rendezvous ]; then
                    for one in $tasks; do [ "$one" = "$victim" ] || start_one "$one"; done
                fi
                if [ "$moment" = in_a_recovery ]; then
                    random_ms 100
                    if [ "$s" = CUT ]; then cut_cable 1.5; else can_be "$s" "$(other "$victim")" && disturb "$s" "$(other "$victim")" start_one; fi
                fi
                good=yes
                for one in $tasks; do
                    is_right "$one" && continue
                    good='' wrong="$wrong
$synchronous, $moment, $s, $victim: $one ended with status $status: $(tail -n 1 "out-$one" | cut -c 1-80) $(tail -n 1 "err-$one" | cut -c 1-300)"
                done
                [ -z "$networks" ] || end_networks
                [ -z "$good" ] || good=$(seconds_since "$began")
                printf '%15s' "${good:-wrong}"
            done
        done
        echo
    done
done
[ -z "$wrong" ] && exit
echo "not as the undisturbed job:$wrong"
exit 1
