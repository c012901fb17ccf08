#!/bin/sh
# Workers that train together, killed at random moments and started again, stopped, or unable to listen when they come
# back. Each job ends with the weights of one process, or with one error on every task. Usage: cluster_lost_test.sh
# PATH_OF_MUSTER [KILLS]; KILLS is $MUSTER_KILLS or 2 where not given. MUSTER_TEST_SEED=N repeats the moments.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
kills=${2:-${MUSTER_KILLS:-2}}
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
echo "MUSTER_TEST_SEED=$seed, $kills kills"
write_data data

epochs=$((kills > 2 ? 200 * kills : 400)) # long enough for all kills
alone --epochs "$epochs" --history alone.csv
# what does not depend on the time
rows() { sed 's/,[^,]*$//' "$1"; }
# kill_one NUMBER: a job of two workers; worker NUMBER is killed $kills times. The chief writes each epoch to a file
kill_one() {
    find_ports 2
    make_hosts
    rm -f history.csv
    for i in 0 1; do start $i --epochs "$epochs" --log-every 1 --history history.csv; done
    for kill in $(seq "$kills"); do
        within 20 begun "$1" || break
        random 400
        sleep "$(awk -v x="$drawn" 'BEGIN { printf "%.3f", x / 1000 }')"
        signal 9 "$1"
        wait_for "$1"
        [ "$status" -eq 137 ] || break
        start "$1" --epochs "$epochs" --log-every 1 --history history.csv
    done
    ended_alike "worker_$1_killed_and_started_again_changes_nothing" "$alone" 0 1
    rows history.csv > got.csv
    check "the_chief_writes_each_epoch_once_where_worker_$1_is_killed" cmp got.csv wanted.csv
}
rows alone.csv > wanted.csv
kill_one 1
kill_one 0
[ "$epochs" -eq 400 ] || alone --epochs 400

# Stopped for longer than the timeout, and going on then.
find_ports 2
make_hosts
for i in 0 1; do start $i --epochs 400 --log-every 1 --timeout 1; done
within 20 begun 1
signal STOP 1
sleep 3
signal CONT 1
ended_alike worker_stopped_for_longer_than_the_timeout_goes_on "$alone" 0 1
check the_other_says_what_it_did_last grep -q "worker:1 at .*: silent for 1 s: .*; when last heard it [a-z]*.*; the job had made" err-0

# Its port is taken by another program when it comes back.
for lost in 0 1; do
    find_ports 2
    make_hosts
    for i in 0 1; do start $i --epochs 400 --log-every 1; done
    within 20 begun 1
    kill -9 "$(pid_of $lost)"
    wait_for $lost
    hold $((first + lost))
    start $lost --epochs 400 --log-every 1
    ended_in_error "worker_${lost}_that_finds_its_port_taken_ends" "another program listens on port $((first + lost))" $lost
    check "the_other_goes_on_without_worker_$lost" \
        within 10 grep -q "worker:$lost cannot join, and the job goes on: address" err-$((1 - lost))
    let_go
    start $lost --epochs 400 --log-every 1
    ended_alike "worker_${lost}_joins_when_its_port_is_free" "$alone" 0 1
done

find_ports 2
make_hosts
for i in 0 1; do start $i --epochs 400 --log-every 1 --recovery-timeout 1 --checkpoint-dir run; done
within 20 begun 1
signal 9 1
ended_in_error lost_worker_that_does_not_come_back_is_named "worker:1" 0
wait_for 1
check the_chief_has_saved_all_steps sh -c "ls run | grep -q 'ckpt-[1-9].*index'"
for i in 0 1; do start $i --epochs 400 --log-every 1 --checkpoint-dir run; done
ended_alike job_that_is_started_again_goes_on_from_there "$alone" 0 1

end_of_checks
