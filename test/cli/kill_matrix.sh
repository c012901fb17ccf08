#!/bin/sh
# The kill matrix: each worker of a job is killed, stopped and terminated at each kind of moment, and started again, and
# the cable between them is cut. Every job must end with the weights of an undisturbed one, on both workers. Prints a table
# of seconds from the disturbance to the end of the job, for each transport. Usage: kill_matrix.sh PATH_OF_MUSTER [WHAT...]:
# of KILL, STOP, TERM, CUT, of the moments, and of the transports those that are named, all where none is; CUT needs root,
# for network namespaces. MUSTER_TEST_SEED=N repeats the moments.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
shift
signals="KILL STOP TERM CUT" transports="shm zmq"
moments="at_once after_5_ms after_50_ms in_the_rendezvous in_a_step before_a_decision in_validation in_a_save in_a_recovery"
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
choose "$@"
echo "MUSTER_TEST_SEED=$seed"
write_data data

epochs=300
job="--log-every 1 --timeout 1 --recovery-timeout 30 --insecure"
if ! can_make_networks; then
    echo "skipped: the cut cable needs root and 'ip netns'"
    signals=$(echo "$signals" | sed 's/CUT//')
fi

# start_worker NUMBER: with the options of the job and of the moment
start_worker() {
    # both are lists of words
    # shellcheck disable=SC2086
    start "$1" $job --transport "$transport" $more
}

# disturb_or_cut SIGNAL NUMBER
disturb_or_cut() {
    if [ "$1" = CUT ]; then cut_cable 1.5; else disturb "$1" "$2" start_worker; fi
}

# begin MOMENT NUMBER: starts the job, and returns at the moment when worker NUMBER is to be disturbed
begin() {
    more=$(options_at "$1" $epochs)
    case $1 in
        in_the_rendezvous)
            start_worker "$2"
            within 10 grep -q waiting "err-$2"
            ;;
        *) for n in 0 1; do start_worker $n; done ;;
    esac
    case $1 in
        after_5_ms) sleep 0.005 ;;
        after_50_ms) sleep 0.05 ;;
        in_a_step | before_a_decision | in_validation | in_a_save | in_a_recovery)
            within 20 begun "$2"
            random_ms 300
            ;;
    esac
    # it has said that its part of a step is done, and does not know whether that of the other one is
    [ "$1" != before_a_decision ] || stop_for 0.3 $((1 - $2))
}

# cell SIGNAL NUMBER: of $moment and $transport
cell() {
    rm -rf run
    if [ "$1" = CUT ]; then
        make_networks
    else
        find_ports 2
        make_hosts
    fi
    begin "$moment" "$2"
    began=$(now)
    disturb_or_cut "$1" "$2"
    [ "$moment" != in_the_rendezvous ] || start_worker $((1 - $2))
    if [ "$moment" = in_a_recovery ]; then
        random_ms 100
        disturb_or_cut "$1" $((1 - $2))
    fi
    good=yes
    for w in 0 1; do
        wait_for $w
        [ "$status" -eq 0 ] && [ "$(sha "out-$w")" = "$wanted" ] && continue
        good='' wrong="$wrong
$transport, $moment, $1, worker:$2: worker:$w ended with status $status: $(tail -n 1 "err-$w" | cut -c 1-300)"
    done
    [ -z "$networks" ] || end_networks
    [ -z "$good" ] || good=$(seconds_since "$began")
    printf '%14s' "${good:-wrong}"
}

# a list of words
# shellcheck disable=SC2046
alone $(options_at in_validation $epochs)
wanted_with_validation=$alone
alone --epochs $epochs
wrong=
for transport in $transports; do
    printf '%-20s' "$transport"
    for s in $signals; do for n in 0 1; do printf '%14s' "$s worker:$n"; done; done
    echo
    for moment in $moments; do
        printf '%-20s' "$moment"
        [ "$moment" = in_validation ] && wanted=$wanted_with_validation || wanted=$alone
        for s in $signals; do for n in 0 1; do cell "$s" $n; done; done
        echo
    done
done
[ -z "$wrong" ] && exit
echo "not the weights of the undisturbed job:$wrong"
exit 1
