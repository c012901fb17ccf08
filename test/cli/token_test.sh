#!/bin/sh
# Tasks of this machine without a cluster key: programs of the same user work together with no option, those of another
# user are kept out. Usage: token_test.sh PATH_OF_MUSTER. MUSTER_TEST_SEED=N repeats the ports.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
echo "MUSTER_TEST_SEED=$seed"
write_data data
mkdir other
chmod 777 other
chmod 755 .
missing="does not have this user's token"

alone --epochs 3

# stranger NAME COMMAND...: COMMAND runs muster as another user. It tries to be worker 1 and asks worker 0 what it does, and
# the job goes on as if nothing were
stranger() {
    name=$1
    shift
    find_ports 2
    make_hosts
    start 0 --epochs 3
    within 20 is_held "$first"
    # $training is a list of words
    # shellcheck disable=SC2086
    TF_CONFIG="{\"cluster\":{\"worker\":[$hosts]},\"task\":{\"type\":\"worker\",\"index\":1}}" \
        "$@" train $training --timeout 1 > out 2> err
    status=$?
    if [ "$status" -eq 1 ] && tail -n 1 err | grep -q "$missing"; then ok "${name}_cannot_be_a_task"; else failed "${name}_cannot_be_a_task" "status $status"; fi
    "$@" top --once "localhost:$first" > out 2> err
    if grep -q "$missing" err; then ok "${name}_is_told_nothing"; else failed "${name}_is_told_nothing"; fi
    check "${name}_is_noted_once" [ "$(grep -c "refuses a connection from 127.0.0.1: it $missing" err-0)" = 1 ]
    works the_user_himself_is_answered "worker:0" top --once "localhost:$first"
    start 1 --epochs 3
    ended_alike "${name}_changes_nothing" "$alone" 0 1
}

stranger program_with_another_state_folder env XDG_STATE_HOME="$folder/other" "$muster"
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
if [ "$(id -u)" -ne 0 ] || ! as_nobody "$muster" version > out 2> err; then
    echo "SKIPPED: another user of this machine, since this test is not root's or others cannot run $muster"
else
    stranger other_user setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$folder/other" XDG_STATE_HOME= "$muster"
    check token_of_another_user_is_his_own [ "$(stat -c %u:%a other/.local/state/muster/token)" = 65534:600 ]
    XDG_STATE_HOME=$folder/other/.local/state
    fails token_of_another_user_is_not_taken 1 "belongs to user 65534, not to you" top --once "localhost:$first"
    XDG_STATE_HOME=$folder
fi

# Connections that say nothing, more than a process may have descriptors for, and one that says what no task says.
if command -v python3 > /dev/null 2>&1; then
    find_ports 2
    make_hosts
    unlimited=$muster
    printf '#!/bin/sh\nulimit -n 400\nexec "%s" "$@"\n' "$unlimited" > limited
    chmod +x limited
    muster=$folder/limited
    slow_down # so that it lasts as long as the connections
    for i in 0 1; do start $i --epochs 1200 --log-every 1 --checkpoint-dir kept --save-every 11; done
    muster=$unlimited
    within 20 begun 1
    python3 -c '
import socket, sys, time
socks = []
for burst in range(3):  # none alone takes all descriptors before the task has looked
    socks += [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for i in range(200)]
    time.sleep(0.5)
other = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
time.sleep(0.5)  # the address of one that is closed before the task has looked is not known
other.sendall(b"GET / HTTP/1.1\r\nHost: muster\r\n\r\n")
time.sleep(2)' "$first" "$((first + 1))" 2> silent
    speed_up
    check six_hundred_connect [ ! -s silent ]
    check who_says_nothing_is_noted_once [ "$(grep -c "refuses a connection from 127.0.0.1: too many connections" err-0)" = 1 ]
    check other_protocol_is_noted_once [ "$(grep -c "refuses a connection from 127.0.0.1: it does not speak" err-1)" = 1 ]
    alone --epochs 1200
    ended_alike connections_that_say_nothing_change_nothing "$alone" 0 1
else
    echo "SKIPPED: connections that say nothing, which python3 makes"
fi

find_ports 1
"$muster" server --sessions --cluster "local=localhost:$first" --insecure > out-s 2> err-s &
has_started s
within 20 is_held "$first"
# the other protocol first: of all that one host does, a task notes what it did first
if command -v python3 > /dev/null 2>&1; then
    python3 -c '
import socket, sys, time
other = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
time.sleep(0.5)
other.sendall(b"GET / HTTP/1.1\r\nHost: muster\r\n\r\n")
time.sleep(0.5)' "$first"
    check other_protocol_is_noted_by_an_insecure_task within 10 grep -q "refuses a connection from 127.0.0.1: it does not speak the protocol of Muster's tasks" err-s
fi
fails insecure_task_is_named 1 "it has a cluster key or --insecure: give\|or --insecure: start both in the same way" top --once "localhost:$first"
works insecure_task_is_asked_as_such "local:0" top --once --insecure "localhost:$first"
kill "$(pid_of s)"
wait_for s

end_of_checks
