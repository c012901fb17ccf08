#!/bin/sh
# `muster top` beside jobs of workers, and of workers with parameter servers: all tasks are found from the address of one,
# those that wait say for whom, those that do not answer have a line, and the job does not notice. Usage: top_test.sh
# PATH_OF_MUSTER.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
write_data data

# shows PATTERN ARGUMENT...: a table, or JSON, has a line like this
shows() {
    pattern=$1
    shift
    run top "$@"
    [ "$status" -eq 0 ] && [ ! -s err ] && grep -q -e "$pattern" out
}
# told NAME PATTERN ARGUMENT...: so does one that comes
told() {
    name=$1
    shift
    if within 60 shows "$@"; then ok "$name"; else failed "$name" "the output does not have: $1"; fi
}
trains='^{.*"task":"%s".*"state":"training","step":[1-9][0-9]*,"examples_per_sec":[1-9].*"compute":[01].*"network":[01].*"wait":[01].*}$'
# trained NAME TASK ADDRESS...: TASK trains
# shellcheck disable=SC2059 # the pattern is the format
trained() {
    name=$1 pattern=$(printf "$trains" "$2")
    shift 2
    told "$name" "$pattern" --json "$@"
}

# ---- workers ------------------------------------------------------------------------------------------

find_ports 2
make_hosts
start 0 --epochs 1000000
told worker_that_is_alone_says_for_whom_it_waits "worker:0 .* waiting for worker:1 at localhost:$((first + 1)) (connection refused: nothing listens there)$" "localhost:$first"
check task_that_is_not_there_has_a_line grep -q "worker:1 .* lost: nothing listens there$" out
start 1 --epochs 1000000
trained all_are_found_from_the_address_of_one worker:1 "localhost:$first"
check one_line_for_each_task [ "$(grep -c . out)" -eq 2 ]
check lines_are_JSON json_lines out
part() { sed -n "s/.*\"$1\":\([0-9.e-]*\).*/\1/p" out | sed -n "$2"; }
for line in 1p 2p; do
    check "parts_of_the_time_are_all_of_it_$line" [ "$(echo "$(part data $line) $(part compute $line) $(part network $line) $(part wait $line)" |
        awk '{ printf "%.3f", $1 + $2 + $3 + $4 }')" = 1.000 ]
done
check one_waits_for_messages_alone grep -q '"wait":0\.0[,}]' out
for address in "tcp://localhost:$first" "grpc://localhost:$((first + 1))"; do
    told "address_may_have_a_scheme_$address" "worker:0 .* training$" --once "$address"
done
check table_has_a_head grep -q '^task  *step  *examples/s  *data  *compute  *network  *wait  *heard  *devices  *memory  *state$' out
check workers_name_their_devices_and_memory grep -q '^worker:0 .*  1 x CPU  *[0-9.]* .B  *training$' out
trained lists_of_hosts_are_asked worker:0 --worker_hosts "localhost:$first,localhost:$((first + 1))"
TF_CONFIG="{\"cluster\":{\"worker\":[$hosts]},\"task\":{\"type\":\"worker\",\"index\":0}}"
export TF_CONFIG
trained hosts_of_TF_CONFIG_are_asked worker:1
unset TF_CONFIG

"$muster" keygen key > out 2> err
"$muster" keygen other > out 2> err
fails key_where_there_is_none 1 "it has no cluster key\|cluster key or none does" top --cluster-key key "localhost:$first"
check job_goes_on [ "$(cat err-0 err-1 | grep -c -e "is lost")" -eq 0 ]
check who_asks_with_a_key_is_noted_once [ "$(cat err-0 err-1 | grep -c "refuses a connection: it does not have this user's token")" -le 1 ]

kill -STOP "$(pid_of 1)"
told task_that_is_stopped_has_a_line "worker:1 .* lost: no answer within 2 s$" "localhost:$first"
told others_wait_for_it 'worker:0 .* waiting' "localhost:$first"
kill -CONT "$(pid_of 1)"
trained task_that_goes_on_is_there_again worker:1 "localhost:$first"

for n in 0 1; do
    kill -INT "$(pid_of $n)"
    wait_for $n
done

# ---- parameter servers, with a key --------------------------------------------------------------------

make_hosts_with_servers 1 2
for each in ps_0 worker_0 worker_1; do start_task $each --epochs 1000000 --cluster-key key; done
trained workers_of_servers_train worker:1 --cluster-key key "localhost:$first"
told server_has_a_line '"task":"ps:0",.*"state":"serving","step":[1-9].*"examples_per_sec":null,"data":null' \
    --json --cluster-key key "localhost:$first"
check three_lines [ "$(grep -c . out)" -eq 3 ]
trained lists_with_servers_are_asked worker:0 --cluster-key key --ps_hosts "$ps_hosts" --worker_hosts "$worker_hosts"
fails wrong_key 1 "localhost:$first does not answer: it ends all connections, as a task with a different cluster key" \
    top --cluster-key other "localhost:$first"
fails no_key 1 "localhost:$first does not answer: .*\(a cluster key.*: give --cluster-key FILE\|another HOME, --cluster-key\)" top "localhost:$first"
fails wrong_key_of_a_list 1 "as a task with a different cluster key" \
    top --cluster-key other --ps_hosts "$ps_hosts" --worker_hosts "$worker_hosts"
fails key_that_is_missing 1 "muster keygen missing" top --cluster-key missing "localhost:$first"

# ---- what cannot be asked -----------------------------------------------------------------------------

find_ports 1
fails address_where_nothing_listens 1 "localhost:$first does not answer: nothing listens there" top "localhost:$first"
fails what_is_no_address 2 "no port" top localhost
fails no_address 2 "write the address of one of its tasks" top
fails address_and_lists 2 "not both" top "localhost:$first" --worker_hosts "localhost:$first"

end_of_checks
