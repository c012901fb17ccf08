#!/bin/sh
# A worker or a parameter server whose port another program has taken: the others hear of it, before the job begins
# and in its middle. Usage: ps_ports_test.sh PATH_OF_MUSTER. MUSTER_TEST_SEED=N repeats the moments.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
. "$here/support/servers.sh"
echo "MUSTER_TEST_SEED=$seed"
write_data data

# busy TASK OTHER...: the port of a task of 2 servers and 2 workers is taken: the others hear of it
busy() {
    busy=$1
    shift
    make_hosts_with_servers 2 2
    case $busy in
        ps_*) port=$((first + ${busy#*_})) ;;
        *) port=$((first + 2 + ${busy#*_})) ;;
    esac
    hold $port
    start_job "$*" --epochs 3
    start_task "$busy" --epochs 3
    ended_in_error "port_of_${busy}_that_is_taken_is_an_error_on_it" "address 'localhost:$port': another program" "$busy"
    ended_in_error "port_of_${busy}_that_is_taken_is_an_error_on_every_task" \
        "${busy%_*}:${busy#*_} at localhost:$port: address 'localhost:$port': another program listens" "$@"
    let_go
}
busy worker_1 ps_0 ps_1 worker_0
busy ps_1 ps_0 worker_0 worker_1

# The job has begun: it waits until the task can join.
alone --epochs 80
for each in worker_1 ps_0; do
    make_hosts_with_servers 1 2
    start_job "ps_0 worker_0 worker_1" --epochs 80 --log-every 1 --issync 1
    within 20 begun worker_1
    kill -9 "$(pid_of $each)"
    wait_for $each
    [ $each = ps_0 ] && port=$first || port=$((first + 2))
    hold "$port"
    start_task $each --epochs 80 --log-every 1 --issync 1
    ended_in_error "${each}_that_finds_its_port_taken_ends" "another program listens on port $port" $each
    [ $each = ps_0 ] && other=worker_1 || other=ps_0
    check "others_hear_that_${each}_cannot_join" within 10 grep -q "cannot join, and the job goes on: " err-$other
    let_go
    start_task $each --epochs 80 --log-every 1 --issync 1
    ended_alike "${each}_joins_when_its_port_is_free" "$alone" worker_0 worker_1
    ended_well "and_the_server_ends_where_${each}_found_its_port_taken" ps_0
done

# A server that was started again has never seen the worker.
make_hosts_with_servers 1 2
start_job "ps_0 worker_0 worker_1" --epochs 80 --log-every 1 --issync 1
within 20 begun worker_1
for each in worker_1 ps_0; do kill -9 "$(pid_of $each)"; done
for each in worker_1 ps_0; do wait_for $each; done
start_task ps_0 --epochs 80 --log-every 1 --issync 1
within 20 grep -q "ps:0: keeps" err-ps_0
hold $((first + 2))
start_task worker_1 --epochs 80 --log-every 1 --issync 1
check server_that_was_started_again_goes_on \
    within 20 grep -q "worker:1 at localhost:$((first + 2)) cannot join, and the job goes on: " err-ps_0
let_go
wait_for worker_1
start_task worker_1 --epochs 80 --log-every 1 --issync 1
ended_alike worker_joins_when_its_port_is_free_and_the_server_was_started_again "$alone" worker_0 worker_1

no_task_is_left
end_of_checks
