#!/bin/sh
# What a task takes does not grow with the number of tasks, or as little as is said here: threads, connections and memory
# of each task of jobs of 4 and of 16 workers that train, and compare their weights after each step. Usage: many_workers_test.sh PATH_OF_MUSTER.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
write_data data
unset OMPI_COMM_WORLD_SIZE PMI_SIZE

field() { sed -n "s/^$2:[[:space:]]*\([0-9]*\).*/\1/p" "/proc/$(pid_of "$1")/status"; }
sockets() { find "/proc/$(pid_of "$1")/fd" -lname 'socket:*' 2> /dev/null | wc -l; }

# measure COUNT TRANSPORT: lines of sizes-COUNT, for each worker of such a job: threads, sockets, KiB of memory of its own
measure() {
    find_ports "$1"
    make_hosts
    for i in $(seq 0 $(($1 - 1))); do start "$i" --epochs 1000000 --shards 16 --log-every 1 --check-replicas 1 --transport "$2"; done
    for i in $(seq 0 $(($1 - 1))); do within 60 begun "$i"; done
    for i in $(seq 0 $(($1 - 1))); do echo "$(field "$i" Threads) $(sockets "$i") $(field "$i" RssAnon)"; done > "sizes-$1"
    for i in $(seq 0 $(($1 - 1))); do signal 9 "$i"; done
    for i in $(seq 0 $(($1 - 1))); do wait_for "$i"; done
}
# most FIELD COUNT [first]: the greatest number of all workers but the first, or that of the first
most() {
    if [ "${3:-}" ]; then head -n 1 "sizes-$2"; else tail -n +2 "sizes-$2"; fi | cut -d ' ' -f "$1" | sort -n | tail -n 1
}

# compare TRANSPORT PEER OWN: where each connection with a peer takes PEER sockets, and a task OWN for itself
compare() {
    measure 4 "$1"
    measure 16 "$1"
    check "$1_threads_stay" [ "$(cut -d ' ' -f 1 sizes-4 sizes-16 | sort -u | wc -l)" -eq 1 ]
    # Sums of more than 8 workers are made in stages, each with one other, and weights are compared in rounds: those of 16
    # are with the workers 1, 2, 4 and 8 before and after; and there is the leader.
    check "$1_a_worker_has_few_connections" [ "$(most 2 16)" -le $((8 * $2 + $3)) ]
    check "$1_the_leader_has_one_with_each" [ "$(most 2 16 first)" -le $((15 * $2 + $3)) ]
    # in percent
    check "$1_memory_stays" [ $((100 * $(most 3 16))) -le $((125 * $(most 3 4))) ]
    check "$1_that_of_the_leader_too" [ $((100 * $(most 3 16 first))) -le $((130 * $(most 3 4 first))) ]
}

compare shm 4 2
compare zmq 2 1
end_of_checks
