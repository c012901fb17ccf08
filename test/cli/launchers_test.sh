#!/bin/sh
# The command under launchers that people have: mpiexec of Open MPI and of MPICH, srun and sbatch of a Slurm that is
# started here, torchrun. Each starts two workers, who find each other by what the launcher tells them and end with the
# weights of one process; and each ends the job where a worker is killed. What is not there is skipped, with a line that
# says so. Usage: launchers_test.sh PATH_OF_MUSTER [PATH_OF_TORCHRUN].
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
torchrun=${2:-torchrun}
[ ! -x "$torchrun" ] || torchrun=$(cd "$(dirname "$torchrun")" && pwd)/$(basename "$torchrun")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=$(date +%s)
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
write_data data
unset SLURM_CONF

skipped() { printf 'skipped: %s\n' "$*"; }
is_there() { command -v "$1" > /dev/null 2>&1; }
# is_mpi PROGRAM WORD: the mpiexec of this MPI
is_mpi() { is_there "$1" && "$1" --version 2>&1 | grep -q -i "$2"; }

# Open MPI's mpiexec does not start as root without these, and no more processes than there are cores without the last.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # of Open MPI 5

workers=2
options= # of the trainings, a list of words
patience=20 # seconds for workers to end that have lost one

# launched NAME COMMAND...: the launcher's command, before that of the training
launched() {
    name=$1
    shift
    # $training is a list of words
    # shellcheck disable=SC2086
    timeout -k 5 100 "$@" "$muster" train $training $options --epochs 3 --strategy multi-worker > out 2> err
    check "$name" [ "$? $(grep -o "\"weights_sha256\":\"$alone\"" out | wc -l)" = "0 $workers" ]
}

# kill_one NAME COMMAND...: a worker is killed, and none is left
kill_one() {
    killed=$1
    shift
    steps=100000000$$ # the workers are known by it
    # shellcheck disable=SC2086
    timeout -k 5 100 "$@" "$muster" train $training $options --steps "$steps" --log-every 1 --strategy multi-worker \
        > out 2> err &
    has_started launcher
    within 60 grep -q '"event":"step"' out
    kill -9 "$(last_worker)"
    check "${killed}_and_no_worker_is_left" within "$patience" no_worker_is_left
    wait_for launcher
}
# one_is_killed NAME COMMAND...: the same, and the launcher ends with an error
one_is_killed() {
    kill_one "$@"
    check "$killed" [ "$status" -ne 0 ]
}
last_worker() { pgrep -n -f "^$muster train .*--steps $steps"; }
no_worker_is_left() { ! last_worker > /dev/null; }

alone --epochs 3

# ---- mpiexec ------------------------------------------------------------------------------------------

# by_mpi NAME MPIEXEC FLAG: data go by the MPI itself, with the same weights; who has lost a worker ends, also where
# mpiexec, by FLAG, does not end it
by_mpi() {
    if [ ! -f "$(dirname "$muster")/libmuster-$1.so" ]; then
        skipped "this build has no module $1"
        return
    fi
    options='--transport mpi'
    for workers in 2 3 4; do launched "data_of_${workers}_workers_go_by_$1" "$2" -n "$workers"; done
    check "data_go_through_$1" grep -q 'worker:0: data go through MPI' err
    workers=2
    patience=2
    one_is_killed "$1_ends_a_job_that_has_lost_a_worker" "$2" -n 3
    kill_one "workers_end_that_$1_leaves_alone" "$2" "$3" -n 3
    # what MPICH uses below may end a process by itself that reads from one that is gone
    [ "$1" = mpich ] || check "they_say_what_they_lost_under_$1" grep -q '^error: .* was lost (connection closed' err
    # with ULFM (Open MPI 5) mpiexec does not end the others because of the one that was killed
    if "$2" --with-ft ulfm -n 1 true > out 2> err; then
        kill_one "workers_end_under_ulfm_of_$1" "$2" --with-ft ulfm -n 3
        check "each_notes_what_it_lost_under_ulfm_of_$1" [ "$(grep -c 'connection closed by the peer; .*the job had made' err)" = 2 ]
        check "they_say_what_they_lost_under_ulfm_of_$1" grep -q '^error: .* was lost (connection closed' err
    else
        skipped "this $2 has no ULFM"
    fi
    patience=20
    options=

    find_ports 2
    make_hosts
    # the ranks are in variables of the launcher
    # shellcheck disable=SC2016
    timeout -k 5 60 "$2" -n 2 sh -c 'index=$((1 - ${OMPI_COMM_WORLD_RANK:-$PMI_RANK})) &&
        export TF_CONFIG="{\"cluster\":{\"worker\":[$0]},\"task\":{\"type\":\"worker\",\"index\":$index}}" && exec "$@"' \
        "$hosts" "$muster" train $training --steps 1 --transport mpi > out 2> err
    check "numbers_of_tasks_are_ranks_of_$1" grep -q '^error: .*rank 0 of the 2 of MPI runs as task 1 of 2' err

    tests=$(dirname "$muster")/test/test_transport_transport
    if [ -x "$tests" ]; then
        MUSTER_MODULE_PATH=$(dirname "$muster") timeout -k 5 100 "$2" -n 1 "$tests" > out 2> err
        check "tests_of_transports_pass_under_$1" [ "$? $(cat out err | grep -c 'PASSED')" = "0 6" ]
    fi
}

mpi() {
    for mpiexec in "mpiexec.$1" mpiexec; do
        is_mpi "$mpiexec" "$2" || continue
        launched "mpiexec_of_$1_starts_workers" "$mpiexec" -n 2
        one_is_killed "mpiexec_of_$1_ends_a_job_that_has_lost_a_worker" "$mpiexec" -n 2
        by_mpi "$1" "$mpiexec" "$3"
        return
    done
    skipped "there is no mpiexec of $1"
}
mpi openmpi 'open mpi\|openrte' --enable-recovery
mpi mpich hydra -disable-auto-cleanup
fails without_several_workers_there_is_no_mpi 2 'needs several workers' train $training --steps 1 --transport mpi

# ---- an MPI that no launcher has started ----------------------------------------------------------------

# muster launch starts the workers, or nothing does: they become one MPI by themselves
together() {
    tests=$(dirname "$muster")/test/test_transport_mpi
    if [ -x "$tests" ]; then
        MUSTER_MODULE_PATH=$(dirname "$muster") timeout -k 5 100 "$tests" > out 2> err
        check last_words_of_a_process_arrive_by_mpi [ "$? $(cat out err | grep -c 'PASSED')" = "0 1" ]
    fi
    options='--transport mpi'
    for workers in 2 3; do launched "${workers}_workers_become_an_mpi" "$muster" launch --workers "$workers" --; done
    check their_data_go_through_mpi grep -q 'worker:0: data go through MPI' err
    workers=2
    one_is_killed launch_ends_an_mpi_that_has_lost_a_worker "$muster" launch --workers 3 --
    options=

    find_ports 3
    make_hosts
    start 2 --epochs 3 --transport mpi
    within 20 grep -q 'waiting for worker:0' err-2
    start 1 --epochs 3 --transport mpi
    start 0 --epochs 3 --transport mpi
    ended_alike workers_become_an_mpi_one_after_the_other "$alone" 0 1 2
    for n in 0 1 2; do start "$n" --steps 1000000000 --log-every 1 --transport mpi; done
    within 20 begun 1
    signal KILL 1
    wait_for 1
    patience_of_test=${MUSTER_TEST_PATIENCE:-}
    MUSTER_TEST_PATIENCE=20
    for n in 0 2; do wait_for "$n"; done
    MUSTER_TEST_PATIENCE=$patience_of_test
    # one that was just reading from the lost one is ended by UCX, below MPICH: maybe both
    for n in 0 2; do
        wait_for "$n"
        grep -q 'process_vm_readv' "err-$n" && continue
        check "worker_${n}_says_what_its_mpi_has_lost" grep -q '^error: .* MPI cannot take it back' "err-$n"
        check "worker_${n}_ends_with_an_error" [ "$status" -eq 1 ]
    done

    rm -rf run
    # $training is a list of words
    # shellcheck disable=SC2086
    timeout -k 5 300 "$muster" launch --workers 2 --restarts 8 -- "$muster" train $training --epochs 400 --log-every 1 \
        --checkpoint-dir run --save-every 50 --transport mpi > out 2> err &
    has_started launcher
    within 60 has_saved
    kill -9 "$(pgrep -n -f "^$muster train .*--epochs 400")"
    wait_for launcher
    alone --epochs 400
    check launch_starts_an_mpi_again_from_its_checkpoint \
        [ "$status $(grep -c 'killed by signal 9.* started again' out)" = "0 1" ]
    check and_goes_on_to_the_same_weights \
        [ "$(grep -o '"weights_sha256":"[^"]*"' out | sort -u)" = "\"weights_sha256\":\"$alone\"" ]
    alone --epochs 3
}
has_saved() { ls run/model.ckpt-*.index > /dev/null 2>&1; }
if [ -f "$(dirname "$muster")/libmuster-mpich.so" ]; then
    together
else
    skipped "this build has no module mpich"
fi

# ---- torchrun -----------------------------------------------------------------------------------------

if is_there "$torchrun"; then
    launched torchrun_starts_workers "$torchrun" --no-python --nproc-per-node 2 --master-port 0 --standalone
else
    skipped "there is no torchrun"
fi

# ---- Slurm --------------------------------------------------------------------------------------------

# A Slurm of one machine, in the foreground, with a munge of its own.
start_slurm() {
    mkdir -p slurm/state slurm/spool
    find_ports 2
    head -c 128 /dev/urandom > slurm/key
    chmod 600 slurm/key
    munged --foreground --force --key-file="$folder/slurm/key" --socket="$folder/slurm/munge" \
        --pid-file="$folder/slurm/munged.pid" --log-file="$folder/slurm/munged.log" --seed-file="$folder/slurm/seed" \
        > slurm/munged.out 2>&1 &
    has_started munged
    cat > slurm/slurm.conf << END
ClusterName=test
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=root
SlurmctldPort=$first
SlurmdPort=$((first + 1))
AuthType=auth/munge
AuthInfo=socket=$folder/slurm/munge
CredType=cred/munge
StateSaveLocation=$folder/slurm/state
SlurmdSpoolDir=$folder/slurm/spool
SlurmctldPidFile=$folder/slurm/slurmctld.pid
SlurmdPidFile=$folder/slurm/slurmd.pid
SlurmctldLogFile=$folder/slurm/slurmctld.log
SlurmdLogFile=$folder/slurm/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
MpiDefault=none
KillWait=2
NodeName=$(hostname) NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
END
    export SLURM_CONF="$folder/slurm/slurm.conf"
    within 10 test -S slurm/munge || return 1
    slurmctld -D > slurm/slurmctld.out 2>&1 &
    has_started slurmctld
    within 20 scontrol_answers || return 1
    slurmd -D > slurm/slurmd.out 2>&1 &
    has_started slurmd
    within 30 node_is_idle
}
scontrol_answers() { scontrol ping 2> /dev/null | grep -q UP; }
node_is_idle() { sinfo --noheader --format %T 2> /dev/null | grep -q idle; }

slurm_is_there() { is_there munged && is_there slurmctld && is_there slurmd && is_there srun; }
if [ "$(id -u)" -ne 0 ] || ! slurm_is_there; then
    skipped "there is no Slurm, or this is not root, who can start one"
elif ! start_slurm; then
    skipped "Slurm does not start here: $(cat slurm/*.out slurm/*.log 2> /dev/null | tail -n 3 | tr '\n' ' ')"
else
    launched srun_starts_workers srun --ntasks 2
    launched srun_with_pmi2_starts_workers srun --mpi=pmi2 --ntasks 2
    one_is_killed srun_ends_a_job_that_has_lost_a_worker srun --kill-on-bad-exit=1 --ntasks 2

    # $training is a list of words
    # shellcheck disable=SC2086
    "$muster" launch --print slurm --workers 2 -- "$muster" train $training --epochs 3 > script
    sbatch --wait --output out script > submitted 2> err
    check printed_script_can_be_submitted [ "$? $(grep -c "\"weights_sha256\":\"$alone\"" out)" = "0 2" ]
fi
for daemon in slurmd slurmctld munged; do
    eval "[ -n \"\${process_$daemon:-}\" ]" || continue
    signal TERM $daemon
    wait_for $daemon
done
end_of_checks
