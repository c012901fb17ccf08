#!/bin/sh
# Workers and parameter servers: started in any order, killed, stopped and started again, told different things. A
# synchronous job ends with the weights of one process, an asynchronous one has made each step of each worker once; or all
# tasks end with one error. Usage: ps_test.sh PATH_OF_MUSTER. MUSTER_TEST_SEED=N repeats the moments.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
echo "MUSTER_TEST_SEED=$seed"
write_data data

epoch=11 # steps: 430 rows in batches of 40

# start_job TASKS OPTION...: starts the tasks of a list, in its order
start_job() {
    tasks=$1
    shift
    for task_of_job in $tasks; do start_task "$task_of_job" "$@"; done
}
steps() { tail -n 1 "out-$1" | sed -n 's/.*"event":"done","step":\([0-9]*\).*/\1/p'; }
loss() { sed -n 's/.*"event":"epoch".*"loss":\([0-9.]*\).*/\1/p' "out-$1" | sed -n "$2"; }

# ended_well NAME TASK...: these end with status 0
ended_well() {
    name=$1 wrong=
    shift
    for n in "$@"; do
        wait_for "$n"
        [ "$status" -eq 0 ] || wrong="$n: exit status $status: $(tail -n 1 "err-$n")"
    done
    if [ -n "$wrong" ]; then failed "$name" "$wrong"; else ok "$name"; fi
}

# ended_after NAME STEPS WORKER...: these end with status 0, after so many steps of all, with the same weights
ended_after() {
    name=$1 wanted=$2 wrong=
    shift 2
    for n in "$@"; do
        wait_for "$n"
        [ "$status" -eq 0 ] && [ "$(steps "$n")" = "$wanted" ] && [ "$(sha "out-$n")" = "$(sha "out-$1")" ] && continue
        wrong="$n: exit status $status, '$(steps "$n")' steps, not $wanted, hash '$(sha "out-$n")': $(tail -n 1 "err-$n")"
    done
    if [ -n "$wrong" ]; then failed "$name" "$wrong"; else ok "$name"; fi
}

# like_one NAME SERVERS WORKERS OPTION...: a synchronous job gives the hash of one process, which does not get the options
# in $of_servers
of_servers=
like_one() {
    like=$1 servers=$2 workers=$3
    shift 3
    alone "$@"
    make_hosts_with_servers "$servers" "$workers"
    names=$(for i in $(seq 0 $((workers - 1))); do printf 'worker_%d ' "$i"; done)
    # lists of words
    # shellcheck disable=SC2086
    start_job "$(for i in $(seq 0 $((servers - 1))); do printf 'ps_%d ' "$i"; done) $names" --issync 1 $of_servers "$@"
    # shellcheck disable=SC2086
    ended_alike "$like" "$alone" $names
}

# ---- synchronous --------------------------------------------------------------------------------------

alone --epochs 3
make_hosts_with_servers 1 2
start_job "worker_0 worker_1" --epochs 3 --issync 1
within 10 grep -q "waiting for ps:0 at localhost:$first" err-worker_0
start_task ps_0 --epochs 3 --issync 1
ended_alike server_that_comes_last_is_waited_for "$alone" worker_0 worker_1
check worker_that_was_first_says_for_whom_it_waits grep -q "waiting for ps:0 at localhost:$first" err-worker_0
ended_well server_ends_when_the_workers_have_done_their_work ps_0

make_hosts_with_servers 1 2
start_job "ps_0 worker_1" --epochs 3 --issync 1
within 10 grep -q "waiting for worker:0" err-ps_0
start_task worker_0 --epochs 3 --issync 1
ended_alike chief_that_comes_last_is_waited_for "$alone" worker_0 worker_1
check server_that_was_first_says_for_whom_it_waits grep -q "waiting for worker:0 at localhost:$((first + 1))" err-ps_0

like_one one_worker_gives_the_weights_of_one_process 1 1 --epochs 3
like_one three_servers_and_three_workers_give_the_weights_of_one_process 3 3 --epochs 3
like_one data_over_TCP_give_the_weights_of_one_process 1 2 --epochs 3 --transport zmq
like_one uneven_shards_give_the_weights_of_one_process 1 3 --epochs 3 --shards 7
like_one averages_of_adam_are_those_of_one_process 3 2 --epochs 3 --optimizer adam --ema 0.99
like_one clipping_by_the_global_norm_is_that_of_one_process 1 2 --epochs 3 --optimizer momentum --learning-rate 0.05 \
    --clip-global-norm 0.5
like_one schedule_is_that_of_one_process 2 2 --epochs 3 --optimizer sgd --learning-rate 0.1 --schedule cosine
like_one number_of_steps_is_that_of_one_process 2 2 --steps 17
of_servers="--ps-placement greedy"
like_one greedy_placement_gives_the_weights_of_one_process 2 2 --epochs 3 --optimizer momentum --learning-rate 0.05
check greedy_placement_gives_the_largest_variable_a_server_of_its_own grep -q 'keeps 1 variables' err-ps_0
check and_the_others_to_the_server_with_fewer_bytes grep -q 'keeps 3 variables' err-ps_1
of_servers="--ps-part-bytes 1000"
like_one variables_in_parts_give_the_weights_of_one_process 3 2 --epochs 3 --optimizer adam --ema 0.99
check server_without_biases_keeps_a_part_of_both_weights grep -q 'keeps 2 variables' err-ps_2
of_servers="--ps-part-bytes 40"
like_one more_servers_than_variables_share_what_is_in_parts 5 2 --epochs 3 --optimizer momentum --learning-rate 0.05
of_servers=
like_one penalties_are_those_of_one_process 2 2 --epochs 3 --l2 0.001

alone --epochs 3
make_hosts_with_servers 2 2
for i in 0 1; do
    "$muster" server --ps_hosts "$ps_hosts" --worker_hosts "$worker_hosts" --task_index $i > "out-ps_$i" 2> "err-ps_$i" &
    has_started ps_$i
done
start_job "worker_0 worker_1" --epochs 3 --issync 1
ended_alike muster_server_is_a_parameter_server "$alone" worker_0 worker_1
ended_well muster_server_ends_with_the_job ps_0 ps_1

# The same cluster as TF_CONFIG says it.
make_hosts_with_servers 1 2
quoted() { echo "\"$1\"" | sed 's/,/","/g'; }
for each in ps_0 worker_0 worker_1; do
    # $training is a list of words
    # shellcheck disable=SC2086
    TF_CONFIG="{\"cluster\":{\"ps\":[$(quoted "$ps_hosts")],\"worker\":[$(quoted "$worker_hosts")]},
        \"task\":{\"type\":\"${each%_*}\",\"index\":${each#*_}}}" \
        "$muster" train $training --epochs 3 --issync 1 > "out-$each" 2> "err-$each" &
    has_started "$each"
done
ended_alike tasks_of_TF_CONFIG_give_the_weights_of_one_process "$alone" worker_0 worker_1
ended_well server_of_TF_CONFIG_ends_with_the_job ps_0

find_ports 3
# $training is a list of words
# shellcheck disable=SC2086
"$muster" launch --ps 1 --workers 2 --port "$first" -- "$muster" train $training --epochs 3 --issync 1 > out 2> err
status=$?
check launched_job_ends_without_error [ "$status" -eq 0 ]
check launched_workers_have_the_weights_of_one_process [ "$(grep -c "\"weights_sha256\":\"$alone\"" out)" -eq 2 ]

# ---- asynchronous -------------------------------------------------------------------------------------

make_hosts_with_servers 2 3
start_job "worker_0 worker_2 ps_1 ps_0 worker_1" --epochs 4
ended_after each_worker_makes_each_of_its_steps_once $((3 * epoch * 4)) worker_0 worker_1 worker_2
ended_well servers_end_with_the_asynchronous_job ps_0 ps_1
check loss_falls awk -v a="$(loss worker_0 1p)" -v b="$(loss worker_0 '$p')" 'BEGIN { exit !(b < a) }'

make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --steps 37
ended_after number_of_steps_is_that_of_all_workers 37 worker_0 worker_1

# no gradients are older than that, and with three workers who compute at once some are as old
make_hosts_with_servers 1 3
start_job "ps_0 worker_0 worker_1 worker_2" --epochs 20 --max-staleness 2
ended_after bounded_staleness_makes_each_step_once $((3 * epoch * 20)) worker_0 worker_1 worker_2
ended_well server_of_bounded_staleness_ends_with_the_job ps_0
check gradients_are_no_older_than_is_allowed grep -q "steps old on average, and [012] at most" err-ps_0

for epochs in 2 4; do
    make_hosts_with_servers 1 2
    start_job "ps_0 worker_0 worker_1" --epochs $epochs --logdir log --checkpoint-dir run-log --resume
    ended_well "job_of_${epochs}_epochs_with_a_log_ends" ps_0 worker_0 worker_1
done
"$muster" inspect log > out 2> err
check each_epoch_has_one_histogram_of_staleness_also_where_the_job_goes_on grep -q \
    'staleness  *histogram  *4 points, steps 0 to 3' out

make_hosts_with_servers 1 3
start_job "ps_0 worker_0" --max-staleness 1
ended_in_error bound_that_is_too_small_is_named "max_staleness 1 is too small for 3 workers" worker_0 ps_0

# The first two of three make a step, and the gradients of the third are dropped; a worker that begins when the others have
# ended makes its steps alone.
make_hosts_with_servers 1 3
start_job "ps_0 worker_0 worker_1 worker_2" --epochs 20 --issync 1 --replicas-to-aggregate 2
ended_well backup_workers_end_with_the_others worker_0 worker_1 worker_2 ps_0
check steps_are_made_of_two_gradients awk -v text="$(grep "came too late" err-ps_0)" -v each=$((epoch * 20)) \
    'BEGIN { split(text, word, " "); exit !(word[2] >= each && word[2] <= 2 * each) }'

# ---- lost and found -----------------------------------------------------------------------------------

# kill_one NAME TASK ENDED OPTION...: the task is killed in the middle of a job of 2 servers and 2 workers and started again;
# ENDED, a list of words, says how the workers end
kill_one() {
    name_of_kill=$1 victim=$2 ended=$3
    shift 3
    make_hosts_with_servers 2 2
    start_job "ps_0 ps_1 worker_0 worker_1" --log-every 1 "$@"
    within 20 begun worker_1
    random_ms 150
    signal 9 "$victim"
    wait_for "$victim"
    [ "$status" -eq 137 ] && start_task "$victim" --log-every 1 "$@"
    # a list of words
    # shellcheck disable=SC2086
    $ended "$name_of_kill" $wanted_of_kill worker_0 worker_1
    ended_well "and_the_servers_end_where_${victim}_was_killed" ps_0 ps_1
}
alone --epochs 80
wanted_of_kill=$alone
for each in ps_0 ps_1 worker_0 worker_1; do
    kill_one "${each}_killed_and_started_again_changes_no_weight" $each ended_alike --epochs 80 --issync 1
done
kill_one server_of_parts_killed_and_started_again_changes_no_weight ps_1 ended_alike --epochs 80 --issync 1 \
    --ps-part-bytes 1000
wanted_of_kill=$((2 * epoch * 80))
for each in ps_0 ps_1 worker_0 worker_1; do
    kill_one "${each}_killed_and_started_again_changes_no_number_of_steps" $each ended_after --epochs 80
done

# Worker 0 has made its last step when a server loses it, and makes it again.
make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 300 --log-every 1
within 20 begun worker_1
signal STOP worker_1
within 20 grep -q '"event":"epoch","epoch":300' out-worker_0
signal 9 ps_1
wait_for ps_1
start_task ps_1 --epochs 300 --log-every 1
signal CONT worker_1
ended_after worker_that_has_finished_makes_steps_again_that_a_server_loses $((2 * epoch * 300)) worker_0 worker_1
ended_well and_the_servers_end_then ps_0 ps_1

# Two at once: the chief waits for the other server, which waits for worker 1, which waits for what the first server gets
# from the chief.
make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 80 --log-every 1 --issync 1
within 20 begun worker_1
random_ms 150
for each in ps_0 worker_1; do signal 9 "$each"; done
for each in ps_0 worker_1; do
    wait_for $each
    [ "$status" -eq 137 ] && start_task $each --epochs 80 --log-every 1 --issync 1
done
ended_alike server_and_worker_killed_at_once_change_no_weight "$alone" worker_0 worker_1
ended_well and_the_servers_of_that_job_end ps_0 ps_1

for each in worker_1 ps_1; do
    make_hosts_with_servers 2 2
    start_job "ps_0 ps_1 worker_0 worker_1" --epochs 80 --log-every 1 --issync 1 --timeout 1
    within 20 begun worker_1
    signal STOP "$each"
    sleep 2.5
    signal CONT "$each"
    ended_alike "${each}_stopped_for_longer_than_the_timeout_goes_on" "$alone" worker_0 worker_1
done

make_hosts_with_servers 1 2
start_job "ps_0 worker_0 worker_1" --epochs 800 --log-every 1 --issync 1 --recovery-timeout 0.5
within 20 begun worker_1
signal 9 worker_1
ended_in_error worker_that_does_not_come_back_is_named_on_all "worker:1 at localhost:$((first + 2))" ps_0 worker_0

for each in ps_0 ps_1; do
    make_hosts_with_servers 2 2
    start_job "ps_0 ps_1 worker_0 worker_1" --epochs 800 --log-every 1 --recovery-timeout 0.5
    within 20 begun worker_1
    signal 9 "$each"
    ended_in_error "${each}_that_does_not_come_back_is_named_on_all" "ps:${each#*_} at localhost" worker_0 worker_1
done

make_hosts_with_servers 1 2
start_job "ps_0 worker_0 worker_1" --epochs 20 --log-every 1 --recovery-timeout 0.5
within 20 begun worker_1
signal 9 worker_1
wait_for worker_0
check others_go_on_without_an_asynchronous_worker [ "$status" -eq 0 ]
ended_well and_so_does_the_server ps_0

# ---- checkpoints --------------------------------------------------------------------------------------

# All tasks end in the middle and are started again. Slots of Adam, too, go on from where they were. Checkpoints have whole
# variables, also of servers that keep parts.
alone --epochs 250
make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 250 --log-every 1 --issync 1 --checkpoint-dir run --save-every 9 \
    --ps-part-bytes 1000
within 20 test -s run/checkpoint
for each in ps_0 ps_1 worker_0 worker_1; do signal 9 "$each"; done
for each in ps_0 ps_1 worker_0 worker_1; do wait_for $each; done
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 250 --log-every 1 --issync 1 --checkpoint-dir run --save-every 9 --resume
ended_alike job_resumed_from_its_checkpoint_has_the_weights_of_the_undisturbed_one "$alone" worker_0 worker_1
check it_goes_on_from_the_checkpoint sh -c '! grep -q "\"event\":\"step\",.*\"step\":1," out-worker_0'

# ---- what is wrong ------------------------------------------------------------------------------------

# differs NAME PATTERN OPTION...: worker 1 has these options
differs() {
    name_of_difference=$1 pattern_of_difference=$2
    shift 2
    make_hosts_with_servers 1 2
    start_job "ps_0 worker_0" --epochs 3 --issync 1
    start_task worker_1 --epochs 3 --issync 1 "$@"
    ended_in_error "$name_of_difference" "$pattern_of_difference" ps_0 worker_0 worker_1
}
differs other_options_are_an_error_on_every_task "learning rate or another option differs" --learning-rate 0.5 --optimizer sgd
differs another_model_is_an_error_on_every_task "the program.s graph differs" --hidden-units 65
differs asynchronous_worker_in_a_synchronous_job_is_an_error_on_every_task "another option differs" --issync 0
differs another_size_of_parts_is_an_error_on_every_task "another option differs" --ps-part-bytes 1000
differs another_placement_is_an_error_on_every_task "another option differs" --ps-placement greedy

make_hosts_with_servers 1 2
start_job "ps_0 worker_0 worker_1" --epochs 800 --log-every 1
within 20 begun worker_1
cp -r data wrong
printf '\177' | dd of=wrong/train-labels-idx1-ubyte bs=1 seek=400 conv=notrunc 2> /dev/null
signal 9 worker_1
wait_for worker_1
start_task worker_1 --epochs 800 --hidden-units 65
ended_in_error newcomer_that_differs_is_refused "the program.s graph differs" worker_1
check and_the_job_goes_on runs worker_0
start_task worker_1 --epochs 800 --data idx:wrong
ended_in_error error_of_one_task_is_that_of_all "label 127" ps_0 worker_0 worker_1

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

make_hosts_with_servers 5 2
start_job "ps_0 ps_1 ps_2 ps_3 ps_4 worker_0 worker_1" --epochs 3
ended_in_error more_servers_than_variables_are_an_error "5 parameter servers for 4 variables" worker_0 worker_1
ended_in_error and_the_servers_hear_of_it "5 parameter servers for 4 variables" ps_0 ps_1 ps_2 ps_3 ps_4

make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 3 --clip-norm 1 --ps-part-bytes 1000
ended_in_error norm_of_a_variable_in_parts_is_refused "clip_norm needs all of the gradient of a variable in one place" \
    ps_0 worker_0

make_hosts_with_servers 2 2
start_job "ps_0 ps_1 worker_0 worker_1" --epochs 3 --clip-global-norm 1
ended_in_error global_norm_over_several_servers_is_refused "clip_global_norm needs all gradients in one place" ps_0 worker_0

make_hosts_with_servers 1 2
start_task ps_0
within 10 test -s out-ps_0
signal TERM ps_0
wait_for ps_0
check server_that_waits_ends_by_a_signal [ "$status" -eq 143 ]
start_job "ps_0 worker_0 worker_1" --epochs 800 --log-every 1
within 20 begun worker_1
signal TERM ps_0
wait_for ps_0
check server_in_the_middle_of_a_job_ends_by_a_signal [ "$status" -eq 143 ]
ended_in_error and_the_workers_hear_of_it "ps:0 at localhost:$first was stopped" worker_0 worker_1

"$muster" keygen key > out 2> err
"$muster" keygen other > out 2> err
alone --epochs 3
make_hosts_with_servers 1 2
start_job "ps_0 worker_0" --epochs 3 --issync 1 --cluster-key key
start_task worker_1 --epochs 3 --issync 1 --cluster-key other --recovery-timeout 0.5
ended_in_error worker_with_another_key_is_told_so "another cluster key or none does: give all tasks the same" worker_1
start_task worker_1 --epochs 3 --issync 1 --cluster-key key
ended_alike tasks_with_a_key_give_the_weights_of_one_process "$alone" worker_0 worker_1
ended_well and_so_ends_their_server ps_0

fails server_needs_a_cluster_with_servers 2 "give --ps-hosts and --worker-hosts" server
fails strategy_without_servers_says_how_to_start_them 2 "muster launch --ps 1" train --data idx:data --strategy parameter-server

left=
for process in $started; do
    within 20 has_ended "$process" || left="$left $process"
done
check no_task_is_left [ -z "$left" ]
end_of_checks
