# Jobs with parameter servers: what their tests share. Sourced after cluster.sh.
# shellcheck shell=sh

# steps of an epoch: 430 rows in batches of 40
epoch=11

# start_job TASKS OPTION...: starts the tasks of a list, in its order
start_job() {
    tasks=$1
    shift
    for task_of_job in $tasks; do start_task "$task_of_job" "$@"; done
}
steps() { tail -n 1 "out-$1" | sed -n 's/.*"event":"done","step":\([0-9]*\).*/\1/p'; }
loss() { sed -n 's/.*"event":"epoch".*"loss":\([0-9.]*\).*/\1/p' "out-$1" | sed -n "$2"; }

# kill_and_restart TASK MILLISECONDS OPTION...: a job with the tasks $tasks. TASK is killed before that time has passed, and
# started again. The workers print more than a pipe has room for, and do not end before that.
kill_and_restart() {
    victim=$1 milliseconds=$2
    shift 2
    slow_down
    start_job "$tasks" --log-every 1 "$@"
    within 20 begun worker_1
    random_ms "$milliseconds"
    signal 9 "$victim"
    wait_for "$victim"
    check "${victim}_was_killed" [ "$status" -eq 137 ]
    speed_up
    start_task "$victim" --log-every 1 "$@"
}

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

# what is checked at the end of each test: all tasks that were started have ended
no_task_is_left() {
    left=
    for process in $started; do
        within 20 has_ended "$process" || left="$left $process"
    done
    check no_task_is_left [ -z "$left" ]
}
