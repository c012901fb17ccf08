#!/bin/sh
# Workers on two hosts, which are network namespaces, that find each other by what a launcher tells them: torchrun the
# address of worker 0, MPICH's mpiexec nothing, but it speaks PMI. Each job ends with the weights of one process.
# Usage: hosts_test.sh PATH_OF_MUSTER
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
if ! can_make_networks; then
    echo "SKIPPED: workers on two hosts: this is not root, or there is no 'ip netns' here"
    exit 0
fi
write_data data
"$muster" keygen key > out 2> err
alone --epochs 3
make_networks

# by_torchrun NUMBER OPTION...: worker NUMBER, as torchrun starts it on the host of that number
by_torchrun() {
    n=$1
    shift
    new_output "$n"
    # $training is a list of words
    # shellcheck disable=SC2086
    ip netns exec "$networks-$n" env RANK="$n" WORLD_SIZE=2 LOCAL_WORLD_SIZE=1 MASTER_ADDR=10.77.77.1 MASTER_PORT=29500 \
        TORCHELASTIC_USE_AGENT_STORE=True "$muster" train $training --epochs 3 --strategy multi-worker "$@" \
        > "out-$n" 2> "err-$n" &
    has_started "$n"
}

by_torchrun 1 --cluster-key key
sleep 0.5
by_torchrun 0 --cluster-key key
ended_alike workers_of_torchrun_on_two_hosts_find_each_other "$alone" 0 1
for n in 0 1; do by_torchrun $n --insecure; done
ended_alike insecure_ones_too "$alone" 0 1
# by_pytorchjob NUMBER: the same, as Kubeflow's operator starts its pod
by_pytorchjob() {
    new_output "$1"
    # shellcheck disable=SC2086
    ip netns exec "$networks-$1" env PYTHONUNBUFFERED=0 MASTER_PORT=23456 MASTER_ADDR=10.77.77.1 WORLD_SIZE=2 RANK="$1" \
        PET_NNODES=2 PET_NPROC_PER_NODE=1 PET_NODE_RANK="$1" PET_MASTER_ADDR=10.77.77.1 PET_MASTER_PORT=23456 \
        "$muster" train $training --epochs 3 --strategy multi-worker --cluster-key key > "out-$1" 2> "err-$1" &
    has_started "$1"
}
for n in 1 0; do by_pytorchjob $n; done
ended_alike pods_of_a_PyTorchJob_find_each_other "$alone" 0 1
for n in 0 1; do by_torchrun $n; done
ended_in_error without_a_key_they_do_not_listen "give --cluster-key FILE.* or --insecure" 0 1

# hydra: mpiexec of MPICH reaches a host by ./reach in place of ssh
mpiexec=
for program in mpiexec.hydra mpiexec.mpich mpiexec; do
    [ -n "$mpiexec" ] || ! command -v $program > /dev/null 2>&1 || ! $program --version 2>&1 | grep -q -i hydra || mpiexec=$program
done
cat > reach << END
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done
host=\$1
shift
exec ip netns exec "$networks-\$((\${host##*.} - 1))" sh -c "\$*"
END
chmod +x reach
# by_mpiexec COMMAND...: on both hosts
by_mpiexec() {
    timeout -k 5 100 ip netns exec "$networks-0" "$mpiexec" -launcher ssh -launcher-exec "$folder/reach" -iface cable \
        -hosts 10.77.77.1,10.77.77.2 -n 2 -ppn 1 "$@"
}
if [ -z "$mpiexec" ]; then
    echo "SKIPPED: mpiexec on two hosts: there is no mpiexec of MPICH"
elif ! by_mpiexec ip -o address show dev cable > out 2> err || ! grep -q 10.77.77.2 out; then
    echo "SKIPPED: mpiexec on two hosts: it does not start processes there: $(tail -n 1 err)"
else
    # shellcheck disable=SC2086
    by_mpiexec "$muster" train $training --epochs 3 --strategy multi-worker --cluster-key key > out 2> err
    check workers_of_mpiexec_on_two_hosts_find_each_other [ "$? $(grep -c "\"weights_sha256\":\"$alone\"" out)" = "0 2" ]
fi

end_of_checks
