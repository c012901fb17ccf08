#!/bin/sh
# A worker that is alive and does not come: the others say so after ten seconds, and that they go on when it has come. A
# server may end the job earlier. And one that comes when the job has ended.
# Usage: late_worker_test.sh PATH_OF_MUSTER
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
. "$here/support/servers.sh"
write_data data

find_ports 2
make_hosts
for i in 0 1; do start $i --epochs 100000 --log-every 1 --timeout 60; done
make_hosts_with_servers 1 2
start_job "ps_0 worker_0 worker_1" --epochs 100000 --log-every 1 --timeout 60 --issync 1
within 20 begun 1
within 20 begun worker_1
for each in 1 worker_1; do signal STOP $each; done
check worker_says_for_whom_it_waits within 30 grep -q "^worker:0: warning: has waited for the other workers for 1[0-9] s: it trained, had made step [0-9]*, and had come to exchange .*; worker:1 at localhost:[0-9]*, when last heard, " err-0
check server_says_for_whom_it_waits within 30 grep -q "^ps:0: warning: step [0-9]* has waited for 1[0-9] s for worker:1 at localhost:[0-9]*, when last heard, " err-ps_0
for each in 1 worker_1; do signal CONT $each; done
check worker_says_that_it_goes_on within 20 grep -q "^worker:0: goes on, having waited for [0-9]* s" err-0
check server_says_that_it_goes_on within 20 grep -q "^ps:0: goes on, having waited for [0-9]* s" err-ps_0
check each_says_it_once [ "$(cat err-0 err-1 err-ps_0 err-worker_0 err-worker_1 | grep -c 'warning: .*has waited')" = 2 ]
for each in 0 1 worker_1 worker_0 ps_0; do
    signal 15 $each
    wait_for $each
done

make_hosts_with_servers 1 2
"$muster" server --ps_hosts "$ps_hosts" --worker_hosts "$worker_hosts" --job_name ps --task_index 0 --step-timeout 2 --timeout 60 > out-ps_0 2> err-ps_0 &
has_started ps_0
start_job "worker_0 worker_1" --epochs 100000 --log-every 1 --timeout 60 --issync 1
within 20 begun worker_1
signal STOP worker_1
wait_for worker_0
signal CONT worker_1
ended_in_error timeout_of_a_step_says_for_whom_it_has_waited \
    "step [0-9]* has waited for 2 s for worker:1 at localhost:[0-9]*, when last heard, " ps_0 worker_0 worker_1

# Worker 1 is killed after its training, when the others are gone: started again it would wait for them for ever.
# $training is a list of words; the rest is for the shell of each task
# shellcheck disable=SC2016,SC2086
timeout 60 "$muster" launch --workers 2 --restarts 1 -- sh -c '"$@" && case $TF_CONFIG in
    *index*:1,*) [ -e ended ] || { : > ended; sleep 1; kill -9 $$; } ;;
esac' sh "$muster" train $training --epochs 2 > out 2> err
check worker_that_is_started_again_when_the_job_has_ended_fails [ $? -eq 1 ]
check it_says_so grep -q "^error: worker:1 .*: worker:1 was started again when worker:0 had done its work, and with it the job" err

no_task_is_left
end_of_checks
