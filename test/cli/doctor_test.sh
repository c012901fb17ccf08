#!/bin/sh
# `muster doctor` over two tasks: all is well, and each thing that can be wrong is told by the task that sees it, with what
# to do, and within the time that was given. Usage: doctor_test.sh PATH_OF_MUSTER.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=$(date +%s)
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"

# examine NAME NUMBER OPTION...: worker NUMBER of $hosts, in the background; out-NAME-NUMBER and err-NAME-NUMBER
examine() {
    at=$1-$2 number_of=$2
    shift 2
    new_output "$at"
    TF_CONFIG="{\"cluster\":{\"worker\":[$hosts]},\"task\":{\"type\":\"worker\",\"index\":$number_of}}" \
        ${on:-} "$muster" doctor "$@" > "out-$at" 2> "err-$at" &
    has_started "$(echo "$at" | tr - _)"
}

# ended NAME-NUMBER: waits for it; its exit status in $status
ended() { wait_for "$(echo "$1" | tr - _)"; }

# found TEST NAME-NUMBER CHECK TASK PATTERN: that worker has ended with status 1, a row "finding CHECK TASK PATTERN", and
# a fix
found() {
    ended "$2"
    line=$(grep -n "^finding *$3 *$4 .*$5" "out-$2" | head -n 1 | cut -d : -f 1)
    cp "out-$2" out
    cp "err-$2" err
    if [ "$status" -ne 1 ]; then
        failed "$1" "exit status $status, not 1"
    elif [ -z "$line" ]; then
        failed "$1" "no finding: $3 $4 $5"
    elif ! sed -n "$((line + 1))p" out | grep -q '^ *fix: ....'; then
        failed "$1" "no fix below the finding"
    elif ! grep -q "^error: worker:${2##*-}: [0-9]* finding" err; then
        failed "$1" "no error line"
    else
        ok "$1"
    fi
}

# Clusters are looked over at once, so each takes the next three ports. The third one is for --bind.
find_ports 48
next_port=$first
two_tasks() {
    first=$next_port
    next_port=$((next_port + 3))
    ports="$first $((first + 1))"
    make_hosts
}

listens() { grep -q -i "$(printf ':%04X' "$1") .* 0A " /proc/net/tcp; }

# ---- all is well --------------------------------------------------------------------------------------

write_data data
works one_machine_alone "no findings" doctor --data idx:data --checkpoint-dir new/folder
check a_folder_that_is_missing_is_not_made test ! -e new

works the_memory_of_a_step_is_looked_at 'ok *memory *localhost *mlp 64-500-8 with 200 rows a step takes [0-9.]* MB of' \
    doctor --data idx:data
works as_the_options_of_the_training_say 'mlp 64-30-20-8 with 20 rows' \
    doctor --data idx:data --hidden-units 30,20 --batch-size 20 --optimizer sgd
works the_memory_of_other_networks_too 'ok *memory *localhost *lenet of .28, 28. with 20 rows a step takes [0-9.]* MB of' \
    doctor --data fashion-mnist --model lenet --batch-size 20 --optimizer sgd
printf '{"class_name": "Sequential", "config": {"layers": [{"class_name": "InputLayer", "config": {"batch_shape": [null, 8, 8],
    "name": "in"}}, {"class_name": "Flatten", "config": {"name": "flat"}}, {"class_name": "Dense", "config": {"name": "end",
    "units": 8, "activation": "softmax"}}]}}' > network.json
works and_of_those_of_files 'ok *memory *localhost *network.json of .8, 8. with 20 rows' doctor --data idx:data --model network.json \
    --batch-size 20
"$muster" doctor --data idx:data --model lent > out 2> err
check a_network_that_is_not_there_is_a_finding grep -q "finding *memory *localhost.*there is no 'lent': did you mean 'lenet'" out
"$muster" doctor --data idx:data --hidden-units 5000 --memory-limit 1MiB > out 2> err
check a_model_that_is_too_large_is_a_finding test $? -eq 1
check and_says_what_takes_the_memory grep -q 'finding *memory.*mlp 64-5000-8: .*variables need 1.4 MB, the limit is 1.0 MB' out

two_tasks
for i in 0 1; do examine well $i --data idx:data --checkpoint-dir .; done
for i in 0 1; do
    ended well-$i
    check "worker_${i}_has_no_findings" test "$status" -eq 0
done
for row in 'port *worker:0 *listens at localhost' 'port *worker:1' 'names *worker:0 *all 2 are known' 'names *worker:1' \
    'devices *worker:0 *.* cores' 'devices *worker:1' 'checkpoints *worker:0 *. can be written' 'data *worker:0' \
    'memory *worker:1 *mlp 64-500-8 with 100 rows a step' 'data *all *430 rows of u8 \[8, 8\]' 'reach *worker:1 .*both ways' 'tasks *all' 'version *all *Muster [0-9]' \
    'processor *all' 'clock *all' 'link *worker:0 *worker:1, through shared memory: 1 byte .*s, 1 MB .*GB/s'; do
    check "the_chief_shows: $row" grep -q "^ok *$row" out-well-0
done
check the_other_worker_says_where_the_rows_are \
    grep -q '^worker:1: no findings; the rows are on the screen of worker:0' out-well-1

run launch --workers 2 -- "$muster" doctor --json --transport zmq
sed -n 's/^worker:0 | //p' out > json
check json_has_one_object_on_each_line json_lines json
check json_says_that_data_go_over_tcp grep -q '"check":"link",.*"state":"ok","text":"worker:1, over TCP' json
check json_ends_with_the_number_of_findings grep -q '^{"event":"done","task":"worker:0","findings":0}$' json

# ---- findings: most of the time tasks wait, so many clusters are looked over at once ----------------------

"$muster" keygen one.key > keygen.out
"$muster" keygen two.key > keygen.out
touch file
cp -r data other
printf 'x' | dd of=other/train-images-idx3-ubyte bs=1 seek=100 conv=notrunc 2> dd.err

two_tasks
examine no-worker 0 --wait 0.5
two_tasks
examine no-chief 1 --wait 0.5
two_tasks
stopped=$hosts
examine stopped 1 --wait 20
within 5 listens $((first + 1))
signal STOP stopped_1
examine stopped 0 --wait 1
two_tasks
examine behind 0 --wait 5
examine behind 1 --wait 5 --bind "localhost:$((first + 2))"
two_tasks
for i in 0 1; do examine one-key $i --cluster-key one.key; done
two_tasks
examine other-key 0 --cluster-key one.key --wait 5
examine other-key 1 --cluster-key two.key --wait 5
two_tasks
examine lists 0
hosts="\"127.0.0.1:$first\",\"localhost:$((first + 1))\""
examine lists 1
two_tasks
for i in 0 1; do examine folder $i --checkpoint-dir file/folder; done
two_tasks
examine contents 0 --data idx:data
examine contents 1 --data idx:other
two_tasks
examine no-data 0 --data idx:data
examine no-data 1 --data idx:missing
two_tasks
# another machine, as far as files say
{ cat /etc/hosts && echo '127.0.1.1 node0.example'; } > hosts
sed 's/^model name.*/model name : Another Processor/' /proc/cpuinfo > processor
# shellcheck disable=SC2016
echo 'mount --bind hosts /etc/hosts && mount --bind processor /proc/cpuinfo && exec "$@"' > other-machine
if [ "$(id -u)" -eq 0 ] && unshare -m sh other-machine true 2> unshare.err; then
    examine processor 0
    on='unshare -m sh other-machine'
    examine processor 1
    found another_processor_is_told processor-0 processor worker:1 'the processor differs .*Another Processor'
    two_tasks
    hosts="\"node0.example:$first\",\"nowhere.invalid:$first\""
    examine names 0 --wait 0.2
    on=
    found a_loopback_address_among_several_hosts_is_told names-0 names worker:0 'is 127.0.1.1:'
    found an_unknown_host_is_told names-0 names worker:0 'nowhere.invalid:.* is not known'
fi
two_tasks
examine first 0 --wait 20
within 5 listens "$first"
examine second 0 --wait 1
found a_busy_port_is_told second-0 port worker:0 "another program listens on port $first"
signal TERM first_0
ended first-0
check sigterm_ends_the_wait test "$status" -eq 143

found a_missing_worker_is_named no-worker-0 reach worker:1 'did not come (--wait 0.5)'
found a_missing_chief_is_named no-chief-1 reach worker:0 'did not come (--wait 0.5)'
found a_stopped_worker_is_told_and_not_waited_for stopped-0 reach worker:1 .
signal 9 stopped_1
found a_task_that_cannot_be_reached_is_told_by_the_other behind-0 reach worker:1 'cannot connect to it'
found and_by_itself behind-1 reach worker:0 'nothing of it has come here'
for i in 0 1; do ended one-key-$i; done
check one_key_is_fine grep -q '^ok *port *worker:1 .* for those who have its cluster key' out-one-key-0
found another_key_is_told_by_one_task other-key-0 key worker:1 'cluster key'
found another_key_is_told_by_the_other_task other-key-1 key worker:0 'cluster key'
found another_list_of_tasks_is_told lists-0 tasks worker:1 'the list of tasks differs'
found a_folder_that_cannot_be_written_is_told folder-0 checkpoints worker:0 'file/folder'
ended folder-1
check only_the_chief_writes_checkpoints test "$status" -eq 0
found other_data_are_told_by_one_task contents-0 data worker:1 'the data differs'
found other_data_are_told_by_the_other_task contents-1 data worker:0 'the data differs'
found missing_data_are_told_by_the_task no-data-1 data worker:1 missing
found missing_data_are_told_by_the_chief no-data-0 data worker:1 missing

# ---- what makes no cluster ----------------------------------------------------------------------------

TF_CONFIG='{"cluster":{"worker":["localhost:1","localhost:1"]},"task":{"type":"worker","index":0}}'
export TF_CONFIG
fails two_tasks_with_one_address 2 "have one address" doctor
TF_CONFIG='{"cluster"'
fails text_that_is_no_tf_config 2 TF_CONFIG doctor
unset TF_CONFIG
fails hosts_without_a_job 2 "job_name" doctor --worker-hosts localhost:1,localhost:2

end_of_checks
