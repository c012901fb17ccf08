# Jobs of several workers: starts them, waits for them, compares what they end with. Sourced after checks.sh by tests that
# have set $seed, a number, and written the folder data (small_data.sh). All processes are killed at the end.
# shellcheck shell=sh
trap 'end_all; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM
unset TF_CONFIG

# $drawn: the next number below $1 of a generator of its own, the same for the same seed
random() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 65536 % $1))
}

# sleeps for a random time below $1 milliseconds
random_ms() {
    random "$1"
    sleep "$(awk -v x="$drawn" 'BEGIN { printf "%.3f", x / 1000 }')"
}

# nanoseconds
now() { date +%s%N; }
seconds_since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.2f", (b - a) / 1e9 }'; }

# sets $ports to $1 ports in a row that nobody uses, first among the 50 of this process. Of 120 blocks of 50 a process has
# one to itself, by a lock on a file beside the command, until it and all tasks that it has started have ended. All are
# below 10000, from where on `muster launch` looks for free ports: it knows nothing of these locks.
block=$(($$ % 120))
locks=$(dirname "$muster")/test-ports
has_block=
take_block() {
    mkdir -p "$locks" || exit 1
    until exec 9> "$locks/$block" && flock -n 9; do block=$(((block + 1) % 120)); done
    has_block=yes
}
find_ports() {
    while :; do
        [ -n "$has_block" ] || take_block
        for i in 1 2 3 4 5 6 7 8 9 10; do
            random $((51 - $1))
            first=$((4000 + block * 50 + drawn))
            ports=$(seq $first $((first + $1 - 1)))
            no_port_is_taken && return
        done
        block=$(((block + 1) % 120))
        has_block=
    done
}
no_port_is_taken() {
    for port in $ports; do
        ! grep -q -i ":$(printf %04X "$port") " /proc/net/tcp /proc/net/tcp6 2> /dev/null || return 1
    done
}

# hold PORT: a program that is of no job listens there, until `let_go`
hold() {
    "$(dirname "$muster")/test/listener" "$1" > held.out 2> held.err &
    has_started holder
    within 20 is_held "$1"
}
is_held() { grep -q -i ":$(printf %04X "$1") [0-9a-f]*:0000 0A" /proc/net/tcp /proc/net/tcp6 2> /dev/null; }
let_go() {
    kill -9 "$(pid_of holder)"
    wait_for holder
}

# new_output NAME: out-NAME and err-NAME are new files, and empty. A process of an earlier job that had the same name, and has
# not ended yet, goes on writing to its own files, and not into these.
new_output() {
    rm -f "out-$1" "err-$1"
    : > "out-$1"
    : > "err-$1"
}

# $hosts: the list of workers at $ports
make_hosts() {
    hosts=
    for port in $ports; do hosts="$hosts${hosts:+,}\"localhost:$port\""; done
}

# options of all trainings: a list of words
training="--data idx:data --hidden-units 64 --batch-size 40 --seed 3 --dropout 0.2 --json --devices cpu:1/1"

# start NUMBER OPTION...: worker NUMBER, by that name; out-NUMBER and err-NUMBER are what it prints. With
# make_networks it is on a host of its own.
networks=
start() {
    number_of=$1
    shift
    new_output "$number_of"
    on=${networks:+ip netns exec $networks-$number_of}
    to=out-$number_of
    [ -z "$is_slow" ] || pace "$number_of"
    # $on and $training are lists of words
    # shellcheck disable=SC2086
    TF_CONFIG="{\"cluster\":{\"worker\":[$hosts]},\"task\":{\"type\":\"worker\",\"index\":$number_of}}" \
        $on "$muster" train $training "$@" > "$to" 2> "err-$number_of" &
    has_started "$number_of"
}

# After slow_down a worker whose steps are logged makes some hundred, as many as a pipe has room for, and then about fifty
# a second, until speed_up: so a job does not end before a test has done with it what it wants to.
is_slow=
slow_down() {
    is_slow=yes
    rm -f fast
}
speed_up() { : > fast; }
# pace NUMBER: what that worker is to print goes to $to, and from there to its file
pace() {
    to=pipe-$1
    end_pace "$1"
    rm -f "$to"
    mkfifo "$to"
    {
        while [ ! -e fast ] && IFS= read -r line; do
            printf '%s\n' "$line"
            sleep 0.02
        done
        exec cat
    } < "$to" > "out-$1" &
    eval "pace_of_$1=$!"
}
# A process that was killed leaves lines in its pipe, which nobody wants.
end_pace() {
    eval "paced=\${pace_of_$1:-}"
    [ -z "$paced" ] || kill -9 "$paced" 2> /dev/null
    unset "pace_of_$1"
}

# has_started NAME: the process that has just been started is that of NAME. A process is its number and the time at which
# it began, since the number of one that has ended may be another program's. $started: all that have not been waited for.
started=
has_started() {
    eval "process_$1=$!/$(begin_of $!)"
    unset "status_of_$1"
    started="$started $!/$(begin_of $!)"
}
process_of() { eval "echo \"\$process_$1\""; }
# state and time at which it began, of process $1
stat_of() { sed -n 's/.*) \([A-Z]\) \([^ ]* \)\{18\}\([0-9]*\) .*/\1 \3/p' "/proc/$1/stat" 2> /dev/null; }
begin_of() { stat_of "$1" | sed 's/.* //'; }
has_ended() {
    case $(stat_of "${1%/*}") in
        [RSDTt]" ${1#*/}") return 1 ;;
        *) return 0 ;;
    esac
}
runs() { ! has_ended "$(process_of "$1")"; }
# signal SIGNAL NAME: where it has not ended
signal() {
    ! runs "$2" || kill "-$1" "$(pid_of "$2")" 2> /dev/null || : # it has ended just now
}

# make_hosts_with_servers SERVERS WORKERS: $ps_hosts and $worker_hosts, at ports that nobody listens on
make_hosts_with_servers() {
    find_ports $(($1 + $2))
    ps_hosts= worker_hosts=
    for port in $ports; do
        if [ $((port - first)) -lt "$1" ]; then
            ps_hosts="$ps_hosts${ps_hosts:+,}localhost:$port"
        else
            worker_hosts="$worker_hosts${worker_hosts:+,}localhost:$port"
        fi
    done
}

# start_task JOB_NUMBER OPTION...: task NUMBER, whose JOB is ps or worker, by the flags of TensorFlow 1; its name is
# JOB_NUMBER, and out-JOB_NUMBER and err-JOB_NUMBER are what it prints. With make_networks it is on host NUMBER.
start_task() {
    task=$1
    shift
    new_output "$task"
    on=${networks:+ip netns exec $networks-${task#*_}}
    to=out-$task
    [ -z "$is_slow" ] || pace "$task"
    # $on and $training are lists of words
    # shellcheck disable=SC2086
    $on "$muster" train $training --ps_hosts "$ps_hosts" --worker_hosts "$worker_hosts" --job_name "${task%_*}" \
        --task_index "${task#*_}" "$@" > "$to" 2> "err-$task" &
    has_started "$task"
}
end_all() {
    for process in $started; do has_ended "$process" || kill -9 "${process%/*}" 2> /dev/null; done
    [ -z "$networks" ] || end_networks
}
pid_of() { process_of "$1" | sed 's,/.*,,'; }

# wait_for NAME: its exit status in $status, as often as one asks. A process that does not end is killed after
# $MUSTER_TEST_PATIENCE seconds, 100 where that is not set.
wait_for() {
    eval "status=\${status_of_$1:-}"
    [ -z "$status" ] || return 0
    waited=$(process_of "$1")
    within "${MUSTER_TEST_PATIENCE:-100}" has_ended "$waited" || kill -9 "${waited%/*}"
    wait "${waited%/*}" 2> /dev/null
    status=$?
    eval "paced=\${pace_of_$1:-}"
    [ -z "$paced" ] || wait "$paced" 2> /dev/null
    unset "pace_of_$1"
    eval "status_of_$1=$status"
    started=$(echo "$started " | sed "s, $waited , ,; s/ $//")
}
# disturb SIGNAL TASK START: the task, whose --timeout is 1 second at most, is stopped for a while; or it is ended, and
# `START TASK` starts it again
disturb() {
    signal "$1" "$2"
    if [ "$1" = STOP ]; then
        sleep 1.5
        signal CONT "$2"
    else
        wait_for "$2"
        [ "$status" -eq 0 ] || "$3" "$2"
    fi
}
# stop_for SECONDS TASK: returns when the task stands still, which then goes on by itself
stop_for() {
    signal STOP "$2"
    process_that_stands=$(pid_of "$2")
    { sleep "$1" && kill -CONT "$process_that_stands" 2> /dev/null; } &
    sleep 0.05
}
# options_at MOMENT EPOCHS: those of a training that is disturbed then. With validation an epoch has 3 steps in place of
# 11, and three times as many batches are validated: most of the time it does that.
options_at() {
    case $1 in
        in_a_save) echo "--epochs $2 --checkpoint-dir run --save-every 3" ;;
        in_validation) echo "--epochs $((5 * $2)) --validation-split 0.8" ;;
        *) echo "--epochs $2" ;;
    esac
}
sha() { tail -n 1 "$1" | sed -n 's/.*"weights_sha256":"\([0-9a-f]*\)".*/\1/p'; }

# ended_alike NAME WANTED NUMBER...: these workers end with status 0 and the hash WANTED
ended_alike() {
    name=$1 wanted=$2 wrong=
    shift 2
    for n in "$@"; do
        wait_for "$n"
        [ "$status" -eq 0 ] && [ "$(sha "out-$n")" = "$wanted" ] && continue
        wrong="worker $n: exit status $status, hash '$(sha "out-$n")', not $wanted: $(tail -n 1 "err-$n")"
    done
    if [ -n "$wrong" ]; then failed "$name" "$wrong$(last_errors)"; else ok "$name"; fi
}

# The last line that each task has written to standard error, servers among them, which may tell what a worker waits for.
last_errors() {
    for file in err-*; do printf '\n    %s: %s' "$file" "$(tail -n 1 "$file")"; done
}

# ended_in_error NAME PATTERN NUMBER...: these workers end with status 1 and one error line with the pattern
ended_in_error() {
    name=$1 pattern=$2 wrong=
    shift 2
    for n in "$@"; do
        wait_for "$n"
        [ "$status" -eq 1 ] && tail -n 1 "err-$n" | grep -q "^error: .*$pattern" && continue
        wrong="worker $n: exit status $status, and not '$pattern': $(tail -n 1 "err-$n")"
    done
    if [ -n "$wrong" ]; then failed "$name" "$wrong"; else ok "$name"; fi
}

# alone OPTION...: the hash of one process, in $alone
alone() {
    # $training is a list of words
    # shellcheck disable=SC2086
    "$muster" train $training "$@" > alone.out 2> alone.err || failed "one process trains" "$(cat alone.err)"
    alone=$(sha alone.out)
}

begun() { grep -q '"event":"step"' "out-$1" 2> /dev/null; }
within() {
    tries=$(($1 * 20))
    shift
    until "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || return 1
        sleep 0.05
    done
}

# ---- hosts of their own -------------------------------------------------------------------------------

can_make_networks() { [ "$(id -u)" -eq 0 ] && ip netns add "muster-$$-try" 2> /dev/null && ip netns del "muster-$$-try"; }

# Two network namespaces, joined by a cable: the workers that are started from now on are 10.77.77.1 and 10.77.77.2. Of a
# job with servers each has one server and one worker.
make_networks() {
    networks=muster-$$
    for n in 0 1; do
        ip netns add $networks-$n
        ip -n $networks-$n link set lo up
    done
    ip link add cable netns $networks-0 type veth peer name cable netns $networks-1
    for n in 0 1; do
        ip -n $networks-$n address add 10.77.77.$((n + 1))/24 dev cable
        ip -n $networks-$n link set cable up
    done
    hosts='"10.77.77.1:2222","10.77.77.2:2222"'
    ps_hosts=10.77.77.1:2221,10.77.77.2:2221 worker_hosts=10.77.77.1:2222,10.77.77.2:2222
}

end_networks() {
    for n in 0 1; do ip netns del "$networks-$n" 2> /dev/null; done
    networks=
}

# cut_cable SECONDS: nothing goes through it for so long
cut_cable() {
    ip -n "$networks-0" link set cable down
    sleep "$1"
    ip -n "$networks-0" link set cable up
}
