#!/bin/sh
# The kill matrix: each worker of a job is killed, stopped and terminated at each kind of moment, and started again, and
# the cable between them is cut. Every job must end with the weights of an undisturbed one, on both workers. Prints a table
# of seconds from the disturbance to the end of the job, for each transport; under MPI, where a lost worker ends the other
# one and both are started again, also those to the first error. Usage: kill_matrix.sh PATH_OF_MUSTER [WHAT...]:
# of KILL, STOP, TERM, CUT, of the moments, and of the transports those that are named, all where none is; CUT needs root,
# for network namespaces. MUSTER_TEST_SEED=N repeats the moments.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
shift
transports="shm zmq mpi" # the last where MPICH's module is
. "$here/support/kill_matrix.sh"

epochs=300
if [ ! -f "$(dirname "$muster")/libmuster-mpich.so" ]; then
    echo "skipped: this build has no module mpich"
    transports=$(echo "$transports" | sed 's/mpi//')
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
    await_moment "$1" "$2" 300
    # it has said that its part of a step is done, and does not know whether that of the other one is
    [ "$1" != before_a_decision ] || stop_for 0.3 $((1 - $2))
}

# start_again_under_mpi: whoever has ended with an error, as muster launch --restarts does, until both have done their
# work. $failed_after: seconds to the first error; those of who has lost the other one must say so
start_again_under_mpi() {
    failed_after=- looks=0 ended=0
    until [ $ended -eq 2 ] || [ $looks -eq 1000 ]; do
        ended=0 looks=$((looks + 1))
        for w in 0 1; do
            ! runs $w || continue
            wait_for $w
            if [ "$status" -eq 0 ]; then
                ended=$((ended + 1))
                continue
            fi
            [ "$failed_after" != - ] || failed_after=$(seconds_since "$began")
            # UCX, below MPICH, ends a process that just reads from one that is gone
            [ "$status" -gt 128 ] || tail -n 1 "err-$w" | grep -q 'MPI cannot take it back' || wrong="$wrong
mpi, $moment: worker:$w says $(tail -n 1 "err-$w" | cut -c 1-300)"
            start_worker $w
        done
        sleep 0.05
    done
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
    [ "$transport" != mpi ] || start_again_under_mpi
    good=yes
    for w in 0 1; do
        wait_for $w
        [ "$status" -eq 0 ] && [ "$(sha "out-$w")" = "$wanted" ] && continue
        good='' wrong="$wrong
$transport, $moment, $1, worker:$2: worker:$w ended with status $status: $(tail -n 1 "err-$w" | cut -c 1-300)"
    done
    [ -z "$networks" ] || end_networks
    [ -z "$good" ] || good=$(seconds_since "$began")
    [ "$transport" != mpi ] || good=${good:+$failed_after/$good}
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
end_of_matrix "not the weights of the undisturbed job"
