#!/bin/sh
# muster launch: processes, their output, signals, restarts, ends. Usage: launch_test.sh PATH_OF_MUSTER
# The programs that it starts are scripts of this test; $me is expanded by them, not here.
# shellcheck disable=SC2016,SC1003
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"

# Begins every script: $me is worker-0, $starts how often this task has been started, $pid_of_TASK holds its process.
cat > begin.sh << 'END'
me=$(printf '%s' "$TF_CONFIG" | sed 's/.*"index":\([0-9]*\),"type":"\([a-z]*\)".*/\2-\1/')
echo x >> starts-$me
starts=$(grep -c . starts-$me)
echo $$ > pid-$me
END

# launch OPTION... SCRIPT: runs the text SCRIPT in each task; leaves `out`, `err` and $status
launch() {
    rm -f starts-* pid-* ready-*
    script='. ./begin.sh;'
    while [ $# -gt 1 ]; do
        script="$script
$1"
        shift
    done
    # shellcheck disable=SC2086
    "$muster" launch $options -- sh -c "$script
$1" > out 2> err
    status=$?
}

# ended NAME STATUS PATTERN: of the last launch; the error line has the pattern, where the status is not 0
ended() {
    if [ "$status" -ne "$2" ]; then
        failed "$1" "exit status $status, not $2"
    elif ! tail -n 1 "$([ "$2" -eq 0 ] && echo out || echo err)" | grep -q -e "$3"; then
        failed "$1" "the last line does not say: $3"
    else
        ok "$1"
    fi
}

# within SECONDS COMMAND...: it succeeds at last
within() {
    tries=$(($1 * 20))
    shift
    until "$@" 2> /dev/null; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.05
    done
}

# A process that has ended, and may be waited for by a first process of a container that does not.
is_gone() { [ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status"; }
all_gone() { for file in pid-*; do is_gone "$(cat "$file")" || return 1; done; }
count_of() { grep -c . "starts-$1" 2> /dev/null || echo 0; }

# ---- what is wrong ------------------------------------------------------------------------------------

fails program_must_be_given 2 "which program.*-- PROGRAM" launch --workers 2
fails zero_workers_are_refused 2 "--workers 0: .*at least 1" launch --workers 0 -- true
fails program_that_is_not_there_is_named 1 "worker:0.*no program 'no-such-program' in the folders of PATH" launch -- no-such-program
fails path_that_is_not_there_is_named 1 "no program './nothing'$" launch -- ./nothing
echo text > text
fails file_that_is_no_program_is_named 1 "'./text': Permission denied: is it a program" launch -- ./text
fails ports_past_the_last_are_refused 1 "not enough ports up to 65535 for 3 tasks" launch --port 65535 --workers 3 -- true
fails time_of_an_evaluator_needs_one 2 "no effect without --evaluator" launch --evaluator-timeout 3 -- true
fails flags_do_not_know_a_chief 2 "leave out --chief" launch --flags --chief -- true
fails folder_of_logs_that_cannot_be_is_named 1 "log-dir: .*text" launch --log-dir text -- true
works help_behind_the_dashes_is_the_programs '^worker:0 | --help$' launch -- sh -c 'echo $1' sh --help
works options_before_the_program_need_no_dashes '^worker:0 | plain$' launch echo plain

# ---- what tasks are told --------------------------------------------------------------------------------

run launch --ps 1 --workers 2 --chief --evaluator --port 2222 -- sh -c 'echo "$TF_CONFIG"'
check first_line_says_what_is_started grep -q '^1 ps, 1 chief, 2 workers and 1 evaluator on this machine.*: ps:0 localhost:2222, chief:0 localhost:2223, worker:0 localhost:2224, worker:1 localhost:2225, evaluator:0$' out
check last_line_says_how_it_ended sh -c 'tail -n 1 out | grep -q "^all tasks done in [0-9.]* s$"'
cluster='{"cluster":{"chief":["localhost:2223"],"ps":["localhost:2222"],"worker":["localhost:2224","localhost:2225"]},"task":'
for task in ps:0 chief:0 worker:0 worker:1 evaluator:0; do
    line=$(sed -n "s/^$task *| //p" out)
    check "TF_CONFIG_of_${task}_is_that_of_kubeflow" [ "$line" = "$cluster{\"index\":${task#*:},\"type\":\"${task%:*}\"}}" ]
    printf '%s\n' "$line" > config.json
    check "TF_CONFIG_of_${task}_is_JSON" json_lines config.json
done
works flags_of_tensorflow_1_come_last '^worker:1 | in put --ps_hosts=localhost:3000 --worker_hosts=localhost:3001,localhost:3002 --job_name=worker --task_index=1$' \
    launch --ps 1 --workers 2 --port 3000 --flags -- echo in put
run launch --workers 3 -- sh -c 'echo "$TF_CONFIG"'
check free_ports_are_different [ "$(grep -o 'localhost:[0-9]*' out | sort -u | grep -c .)" -eq 3 ]
works arguments_arrive_as_they_are "^worker:0 | <a b><'><\"\\\$(x)><><--><\\*>$" \
    launch -- sh -c 'printf "<%s>" "$@"; echo' sh 'a b' "'" '"$(x)' '' -- '*'
run launch -- cat
check standard_input_is_empty [ "$status" -eq 0 ]

# ---- output -------------------------------------------------------------------------------------------

options="--workers 2 --log-dir logs"
launch 'for i in 1 2 3; do echo line $i; done; echo wrong >&2; [ $me = worker-1 ] || printf "no end"'
check every_line_has_the_name_of_its_task [ "$(grep -c '^worker:[01] | line [123]$' out)" -eq 6 ]
check standard_error_stays_standard_error [ "$(sort err | tr '\n' ' ')" = "worker:0 | wrong worker:1 | wrong " ]
check line_without_an_end_comes_out_at_the_end grep -q '^worker:0 | no end$' out
check logs_have_both_streams_without_names [ "$(sort logs/worker-0.log | tr '\n' ' ')" = "line 1 line 2 line 3 no end wrong " ]
launch 'exit 0'
check logs_of_earlier_jobs_stay [ "$(grep -c . logs/worker-0.log)" -eq 5 ]
options="--workers 2"
launch 'for i in 1 2 3 4 5 6; do head -c 70000 /dev/zero | tr "\0" $i; echo; done'
check long_lines_come_out_whole [ "$(awk 'length($0) == 70011 && /^worker:[01] \| (1+|2+|3+|4+|5+|6+)$/' out | grep -c .)" -eq 12 ]
options=
launch 'head -c 1500000 /dev/zero | tr "\0" y'
check line_of_more_than_a_megabyte_comes_in_pieces [ "$(sed -n 's/^worker:0 | //p' out | tr -d '\n' | wc -c)" -eq 1500000 ]
options="--workers 11"
launch 'echo done'
check names_have_one_width grep -q '^worker:1  | done$' out
check output_has_no_colour_where_it_is_a_file sh -c '! grep -q "$(printf "\033")" out err'
if command -v script > /dev/null 2>&1 && script -qec true /dev/null > /dev/null 2>&1 < /dev/null; then
    color=$(printf '\033')
    script -qec "env -u NO_COLOR '$muster' launch -- echo hue" /dev/null < /dev/null > typed
    check output_has_colour_on_a_terminal grep -q "$color\[36mworker:0 |$color\[0m hue" typed
    script -qec "env NO_COLOR=1 '$muster' launch -- echo hue" /dev/null < /dev/null > typed
    check NO_COLOR_is_respected sh -c "! grep -q '$color' typed && grep -q '^worker:0 | hue' typed"
fi
"$muster" launch --workers 2 -- sh -c 'trap "echo told >> told; exit 0" TERM
    : > trapped-$$; until [ "$(ls trapped-* | grep -c .)" -eq 2 ]; do sleep 0.02; done; while :; do echo y; done' 2> err | head -n 5 > out
check job_whose_output_nobody_reads_ends grep -q "^error: standard output: Broken pipe" err
check tasks_are_told_to_end_then [ "$(grep -c . told)" -eq 2 ]

# ---- cores --------------------------------------------------------------------------------------------

if command -v taskset > /dev/null 2>&1 && [ "$(taskset -p $$ | sed 's/.*: //')" = 3 ]; then
    launch_cores() { "$muster" launch --workers "$1" --ps 1 -- sh -c 'taskset -p $$ | sed "s/.*: //"' > out; }
    launch_cores 2
    if grep -q 'one core for each worker' out; then
        check workers_have_cores_of_their_own [ "$(grep -c 'worker:0 | 1$\|worker:1 | 2$' out)" -eq 2 ]
        check ps_may_run_on_all_cores grep -q '^ps:0     | 3$' out
    fi
    launch_cores 3
    check more_workers_than_cores_share_them [ "$(grep -c ' | 3$' out)" -eq 4 ]
fi

# ---- ends ---------------------------------------------------------------------------------------------

wait_for_ever='while :; do sleep 0.05; done'
options="--workers 2 --ps 1"
launch 'case $me in ps-0) trap "echo told; exit 1" TERM; : > ready-ps; '"$wait_for_ever"' ;; esac
until [ -e ready-ps ]; do sleep 0.02; done'
ended ps_are_ended_when_all_workers_have_ended 0 "all tasks done"
check ps_are_told_by_SIGTERM grep -q '^ps:0     | told$' out
options="--workers 2 --ps 1 --restarts 5"
launch 'case $me in worker-1) until [ -s pid-ps-0 ]; do sleep 0.02; done; while kill -0 $(cat pid-ps-0); do sleep 0.02; done 2> /dev/null; sleep 0.2; kill -9 $$ ;; ps-0) sleep 0.2 ;; esac'
ended worker_is_not_restarted_when_the_servers_have_ended 137 "worker:1 was killed by signal 9 (Killed), and is not started again, since the parameter servers have ended"
launch 'case $me in worker-1) [ ! -e lost-1 ] || : > lost-2; : > lost-1; exit 1 ;; ps-0) until [ -e lost-2 ]; do sleep 0.02; done; sleep 0.3 ;; esac'
ended nor_one_that_was_to_be_started_later 1 "worker:1 is not started again, since the parameter servers have ended"
options="--evaluator --ps 1 --restarts 1"
launch 'case $me in worker-0) until [ -e pid-evaluator-0 ]; do sleep 0.02; done; exit ;; ps-0) '"$wait_for_ever"' ;; esac
while kill -0 $(cat pid-worker-0); do sleep 0.02; done 2> /dev/null
[ -e lost ] || { : > lost; exit 1; }
while kill -0 $(cat pid-ps-0); do sleep 0.02; done 2> /dev/null'
ended evaluator_may_go_on_and_be_restarted_when_the_others_have_ended 0 "evaluator:0 was started again once"
options="--evaluator --evaluator-timeout 0.2"
launch '[ $me = worker-0 ] || '"$wait_for_ever"
ended evaluator_that_does_not_end_is_a_failure 1 "^error: evaluator:0 has not ended in the 0.2 s after all workers had: .*--evaluator-timeout"
check it_is_ended_then all_gone
options="--workers 2 --grace 0.2"
launch 'case $me in worker-0) trap "" TERM; : > ready-0; ('"$wait_for_ever"') & echo $! > pid-child; '"$wait_for_ever"' ;; esac
until [ -e ready-0 ]; do sleep 0.02; done; echo first >&2; echo "error: cannot read it" >&2; echo later >&2; exit 3'
ended failed_task_gives_status_and_error_line 3 "^error: worker:1 failed with exit status 3: cannot read it$"
check task_that_ignores_SIGTERM_is_killed_with_its_children all_gone
options="--workers 2"
launch '[ $me = worker-1 ] && { until [ -s pid-worker-0 ]; do sleep 0.02; done; kill -9 $$; }; '"$wait_for_ever"
ended signal_that_killed_a_task_is_named 137 "^error: worker:1 was killed by signal 9 (Killed)$"
check the_others_are_ended_with_it all_gone
options=
launch 'sleep 60 & echo $! > pid-child'
ended task_may_leave_a_child 0 "all tasks done"
check child_that_a_task_left_is_killed within 10 all_gone

# ---- restarts -----------------------------------------------------------------------------------------

options="--workers 2 --restarts 2 --port 4000"
launch '[ $me = worker-1 ] || exit 0; echo $TF_CONFIG >> configs; [ $starts = 2 ] || kill -9 $$'
ended killed_task_is_started_again 0 "^all tasks done in .* s; worker:1 was started again once$"
check restart_is_told_when_it_happens grep -q '^worker:1 was killed by signal 9 (Killed): it is started again (1 restart left)$' out
check restarted_task_has_the_same_TF_CONFIG [ "$(sort -u configs | grep -c .)" -eq 1 ]
check only_the_lost_task_is_started_again [ "$(count_of worker-0)" -eq 1 ]
options="--workers 2 --restarts 2"
launch 'echo "${MUSTER_RESTARTED-no}" > told-$me-$starts
case $me-$starts in
    worker-0-1) until [ -e told-worker-1-2 ]; do sleep 0.02; done ;;
    worker-1-1) kill -9 $$ ;;
    worker-1-2) until [ -s pid-worker-0 ]; do sleep 0.02; done; while kill -0 $(cat pid-worker-0); do sleep 0.02; done 2> /dev/null; sleep 0.2; kill -9 $$ ;;
esac'
ended restarted_task_may_end_well 0 "worker:1 was started again 2 times$"
check restarted_task_knows_that_it_is_one_and_who_has_ended [ "$(cat told-worker-1-1 told-worker-1-2 told-worker-1-3 | tr '\n' ,)" = no,,worker:0, ]
options="--workers 2 --restarts 1"
launch '[ $me = worker-1 ] && exit 7; '"$wait_for_ever"
ended restarts_are_counted 7 "^error: worker:1 failed with exit status 7, having been started again 1 time$"
check task_runs_once_more_than_it_is_restarted [ "$(count_of worker-1)" -eq 2 ]
options="--restarts 5 --restarts-without-progress 1"
launch 'exit 1'
ended restarts_without_progress_end 1 "started again 2 times"
check pause_is_told grep -q 'started again in 1 s (3 restarts left)$' out
options="--restarts 5"
launch 'exit 2'
ended usage_error_is_not_tried_again 2 "exit status 2"
check it_ran_once [ "$(count_of worker-0)" -eq 1 ]

# ---- signals ------------------------------------------------------------------------------------------

# background OPTION... SCRIPT: the same as launch, in the background; $launcher is its process. Returns when all tasks
# have made their file ready-TASK.
background() {
    rm -f starts-* pid-* ready-* got-*
    # shellcheck disable=SC2086
    "$muster" launch $options -- sh -c ". ./begin.sh
$2" > out 2> err &
    launcher=$!
    wanted=$1
    within 10 sh -c "[ \$(ls ready-* | grep -c .) -eq $wanted ]" || failed "tasks_of_a_background_launch_start"
}
finish() {
    wait "$launcher"
    status=$?
}

options="--workers 2 --ps 1"
for number in 1 2 15; do
    signal=$(kill -l $number)
    background 3 "trap 'echo x >> got-\$me; exit 5' $signal; : > ready-\$me; $wait_for_ever"
    kill -s "$signal" $launcher
    finish
    ended "SIG${signal}_gives_the_status_of_the_signal" $((128 + number)) "^error: ended by signal $number "
    check "SIG${signal}_reaches_each_task_once" [ "$(cat got-* | grep -c .)" -eq 3 ]
done
options="--workers 2 --grace 100"
background 2 "trap 'echo x >> got-\$me' INT TERM; : > ready-\$me; $wait_for_ever"
kill -s INT $launcher
within 10 sh -c '[ -e got-worker-0 ] && [ -e got-worker-1 ]'
check tasks_may_take_their_time_after_a_signal kill -0 $launcher
kill -s INT $launcher
finish
ended second_SIGINT_ends_hard 130 "signal 2"
check nothing_is_left_then all_gone
options="--workers 2 --ps 1"
background 3 "trap '' TERM INT HUP; sh -c 'echo \$\$ > pid-child-'\$me'; : > ready-'\$me'; while :; do sleep 0.05; done'; :"
kill -9 $launcher
finish 2> /dev/null
check killed_launcher_leaves_nothing within 10 all_gone

# ---- other machines -----------------------------------------------------------------------------------

printf '# ours\nanna@node1 slots=2\n\n  node2 # small\n' > hosts
fails workers_need_slots 1 "4 workers need as many slots, and there are 3" launch --hosts hosts --workers 4 -- true
fails file_of_hosts_that_is_not_there_is_named 1 "hosts: .*'nowhere'" launch --hosts nowhere -- true
printf 'node1\nnode2 slot=2\n' > wrong
fails word_that_is_no_slots_is_named 1 "'wrong', line 2: 'slot=2': .*slots=N" launch --hosts wrong -- true
echo 'node1 slots=0' > wrong
fails zero_slots_are_refused 1 "'slots=0'" launch --hosts wrong -- true
echo '-oProxyCommand=x' > wrong
fails option_in_place_of_a_host_is_refused 1 "'-oProxyCommand=x' is no name of a host" launch --hosts wrong -- true
printf 'a\nanna@a\n' > wrong
fails host_in_two_lines_is_refused 1 "line 2: host 'a' stands in a line before" launch --hosts wrong -- true
echo '# none' > wrong
fails file_without_hosts_is_refused 1 "has no host" launch --hosts wrong -- true
fails ssh_needs_hosts 2 "--ssh: has no effect without --hosts" launch --ssh rsh -- true
run launch --hosts hosts --ssh no-such-ssh -- true
ended ssh_that_is_not_there_ends_the_job 127 "worker:0 failed with exit status 127: .*no-such-ssh: not found$"

# In place of ssh: the command gets a session of its own, and standard input through another process, so that it hears of
# signals and of the end of the connection as on another machine. It ends with the status of the command.
cat > connect << 'END'
#!/bin/sh
echo "$1 $2" >> connections
pipe=pipe-$$
mkfifo $pipe
exec 3<&0
cat <&3 > $pipe &
shift 2
setsid -w sh -c "$*" < $pipe
status=$?
kill $! 2> /dev/null
exit $status
END
chmod +x connect
if command -v setsid > /dev/null 2>&1; then
    cluster='{"cluster":{"ps":["node1:2222"],"worker":["node1:2223","node1:2224","node2:2222"]},"task":'
    run launch --hosts hosts --ssh './connect -4' --workers 3 --ps 1 -- sh -c 'printf "<%s>" "$TF_CONFIG" "$@"; echo' sh 'a  b' "'" '"$(x)' '' -- '*' '~' '!\' '#'
    check arguments_arrive_over_ssh_as_they_are grep -q -F -x \
        "worker:2 | <$cluster{\"index\":2,\"type\":\"worker\"}}><a  b><'><\"\$(x)><><--><*><~><!\\><#>" out
    check first_line_names_the_machines grep -q '^1 ps and 3 workers on 2 machines: ps:0 node1:2222, worker:0 node1:2223, worker:1 node1:2224, worker:2 node2:2222$' out
    check slots_are_filled_in_order [ "$(sort connections | tr '\n' ' ')" = "-4 anna@node1 -4 anna@node1 -4 anna@node1 -4 node2 " ]
    options="--hosts hosts --ssh=$folder/connect4 --workers 3 --restarts 1"
    printf '#!/bin/sh\nexec "%s/connect" -4 "$@"\n' "$folder" > connect4
    chmod +x connect4
    launch 'pwd > folder; echo "${MUSTER_RESTARTED-no}" > told-$starts; [ $me = worker-1 ] || { until [ -e pid-worker-1 ]; do sleep 0.02; done; exit 0; }
[ $starts = 1 ] && { until [ -s pid-worker-0 ] && [ -s pid-worker-2 ]; do sleep 0.02; done; while kill -0 $(cat pid-worker-0) || kill -0 $(cat pid-worker-2); do sleep 0.02; done 2> /dev/null; sleep 0.3; exit 6; }; exit 0'
    ended task_of_another_machine_is_started_again 0 "worker:1 was started again once$"
    check there_too_it_knows_who_has_ended [ "$(cat told-1 told-2 | tr '\n' ,)" = no,worker:0, ]
    check it_runs_in_the_same_folder [ "$(cat folder)" = "$(pwd -P)" ]
    background 3 "trap 'echo x >> got-\$me; exit 5' TERM; : > ready-\$me; $wait_for_ever"
    kill -s TERM $launcher
    finish
    ended signals_go_to_other_machines 143 "signal 15"
    check each_task_there_gets_it_once [ "$(cat got-* | grep -c .)" -eq 3 ]
    options="$options --grace 0.2"
    launch 'trap "" TERM; : > ready-$me; [ $me = worker-1 ] || { '"$wait_for_ever"'; }
        until [ -e ready-worker-0 ] && [ -e ready-worker-2 ]; do sleep 0.02; done; exit 2'
    ended failure_there_ends_all 2 "worker:1 failed with exit status 2"
    check nothing_is_left_on_other_machines within 10 all_gone
    background 3 "trap '' TERM INT HUP; sh -c 'echo \$\$ > pid-child-'\$me'; : > ready-'\$me'; while :; do sleep 0.05; done'; :"
    kill -9 $launcher
    finish 2> /dev/null
    check killed_launcher_leaves_nothing_on_other_machines within 10 all_gone
else
    echo 'skip tasks_on_other_machines: there is no setsid'
fi

# ---- printed ------------------------------------------------------------------------------------------

word="it's \"\$x\" \$(y)"
run launch --print shell --workers 2 --ps 1 -- printf '<%s>' "$word"
check shell_has_a_line_for_each_task [ "$(grep -c . out)" -eq 3 ]
check shell_lines_are_read_by_a_shell sh -n out
check shell_lines_run_the_program [ "$(sh out)" = "<$word><$word><$word>" ]
run launch --print shell --hosts hosts --ssh ./there --workers 3 -- sh -c 'echo "$TF_CONFIG" "$1"' sh "$word"
printf '#!/bin/sh\necho to $1\nshift\nexec sh -c "$*"\n' > there
chmod +x there
sh out > got
check shell_lines_start_tasks_elsewhere [ "$(grep -c '^to anna@node1$' got)$(grep -c '^to node2$' got)" = 21 ]
check arguments_of_shell_lines_arrive_there [ "$(grep -c -F -e "\"worker\"}} $word" got)" -eq 3 ]

run launch --print slurm --workers 2 --ps 1 --evaluator -- printf '<%s>\n' "$word"
check slurm_script_is_read_by_a_shell sh -n out
check slurm_script_asks_for_all_tasks grep -q '^#SBATCH --ntasks=4$' out
run launch --print slurm --workers 2 --ps 1 --evaluator -- sh -c 'echo "$TF_CONFIG $1"' sh "$word"
cat > srun << 'END'
#!/bin/sh
# four tasks on two machines
while case $1 in --label) label=1 ;; --*) ;; *) false ;; esac do shift; done
for SLURM_PROCID in 3 0 2 1; do
    export SLURM_PROCID
    if [ -n "${label:-}" ]; then echo "$SLURM_PROCID: node$((SLURM_PROCID / 2))"; else "$@"; fi
done
END
chmod +x srun
PATH=.:$PATH SLURM_JOB_ID=20007 sh out > got
cluster='{"cluster":{"ps":["node0:10007"],"worker":["node0:10008","node1:10009"]},"task":'
for task in ps:0 worker:0 worker:1 evaluator:0; do
    check "slurm_script_gives_${task}_its_TF_CONFIG" grep -q -F -x -e "$cluster{\"index\":${task#*:},\"type\":\"${task%:*}\"}} $word" got
done

run launch --print kubernetes --workers 3 --ps 2 --chief --evaluator --restarts 4 --image ours:3 -- train --name "$word" 'é'
for line in 'kind: TFJob' 'apiVersion: kubeflow.org/v1' '    backoffLimit: 4' '              image: ours:3' \
    '              command: ["train", "--name", "it'\''s \"$$x\" $$(y)", "\u00E9"]'; do
    check "manifest_has:$line" grep -q -F -x -e "$line" out
done
kinds=$(sed -n 's/^    \([A-Z][A-Za-z]*\):$/\1/p; s/^      replicas: //p' out | tr '\n' ' ')
check manifest_has_the_replicas_of_each_kind [ "$kinds" = "PS 2 Chief 1 Worker 3 Evaluator 1 " ]

check manifest_says_that_a_key_is_missing grep -q '^# --cluster-key FILE and print this again' out
for kind in kubernetes mpijob; do
    run launch --print $kind --workers 2 -- train --cluster-key /run/muster/key
    check "${kind}_takes_the_key_from_a_Secret" [ "$(grep -c -F -x -e '                  mountPath: "/run/muster/key"' \
        -e '                  subPath: cluster.key' -e '                secretName: muster-key' out)" -eq 3 ]
    check "${kind}_says_how_to_make_it" grep -q '^#     kubectl create secret generic muster-key --from-file=cluster.key=FILE$' out
    if command -v python3 > /dev/null 2>&1 && python3 -c 'import yaml' 2> /dev/null; then
        check "${kind}_is_YAML" python3 -c 'import sys, yaml; assert yaml.safe_load(open("out"))["spec"]'
    fi
    run launch --print $kind --workers 2 -- train --insecure
    check "${kind}_without_a_key_that_is_wanted_has_no_Secret" sh -c '! grep -q -i -e muster-key -e cluster-key out'
    fails "${kind}_needs_to_know_where_the_key_is" 1 "--cluster-key 'key': write where it is to be in the containers" \
        launch --print $kind -- train --cluster_key=key
done
run launch --print slurm --workers 2 -- train
check slurm_script_says_that_a_key_is_missing grep -q '^# --cluster-key FILE, a file that is on each of them' out
run launch --print slurm --workers 2 -- train --cluster-key key
check slurm_script_with_a_key_does_not sh -c '! grep -q "^# --cluster-key" out'

# Of an MPIJob the launcher's command is run here, with an mpirun that shows what it is given.
run launch --print mpijob --workers 3 --restarts 2 --port 2300 --image ours:3 -- train --name "$word"
for line in 'kind: MPIJob' 'apiVersion: kubeflow.org/v2beta1' '    backoffLimit: 2' '              image: ours:3' \
    '              args: ["train", "--name", "it'\''s \"$$x\" $$(y)"]' '      replicas: 3'; do
    check "mpijob_has:$line" grep -q -F -x -e "$line" out
done
printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' > mpirun
chmod +x mpirun
printf 'muster-worker-0.muster.default.svc slots=1\nmuster-worker-1.muster.default.svc slots=1\n' > hostfile
line=$(sed -n 's/^ *read -r/read -r/p; s/^ *exec mpirun/exec mpirun/p' out)
PATH=.:$PATH OMPI_MCA_orte_default_hostfile=hostfile sh -c "$line" mpirun train "$word" > got
printf '%s\n' --allow-run-as-root -n 3 -x MASTER_ADDR=muster-worker-0.muster.default.svc -x MASTER_PORT=2300 train "$word" > wanted
check mpijob_tells_where_worker_0_is cmp got wanted
fails mpijob_has_workers_only 2 "an MPIJob has workers only: leave out --ps" launch --print mpijob --ps 1 -- train
fails manifest_cannot_have_other_bytes 1 "is no UTF-8" launch --print kubernetes -- train "$(printf '\377')"
fails option_without_effect_is_refused 2 "--log-dir: has no effect with --print slurm" launch --print slurm --log-dir x -- train
fails image_is_for_manifests 2 "--image: has no effect without --print kubernetes or mpijob" launch --image x -- train

end_of_checks
