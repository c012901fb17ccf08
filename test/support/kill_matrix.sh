# What the kill matrices share: which signals, moments and transports there are and are chosen, and when a moment is.
# Sourced with the arguments of the script, after $muster, $here and $transports are set.
# shellcheck shell=sh
signals="KILL STOP TERM CUT"
moments="at_once after_5_ms after_50_ms in_the_rendezvous in_a_step before_a_decision in_validation in_a_save in_a_recovery"
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"

# choose ARGUMENT...: which cells of a matrix are made: those of $signals, $moments and $transports that are named; of what
# none is named all
choose() {
    chosen_signals= chosen_moments= chosen_transports=
    for word in "$@"; do
        case " $signals | $moments | $transports " in
            *" $word "*"|"*"|"*) chosen_signals="$chosen_signals $word" ;;
            *"|"*" $word "*"|"*) chosen_moments="$chosen_moments $word" ;;
            *"|"*"|"*" $word "*) chosen_transports="$chosen_transports $word" ;;
            *) echo "'$word' is none of: $signals; $moments; $transports" >&2 && exit 2 ;;
        esac
    done
    signals=${chosen_signals:-$signals} moments=${chosen_moments:-$moments}
    transports=${chosen_transports:-$transports}
}
choose "$@"
echo "MUSTER_TEST_SEED=$seed"
write_data data
job="--log-every 1 --timeout 1 --recovery-timeout 30 --insecure"
if ! can_make_networks; then
    echo "skipped: the cut cable needs root and 'ip netns'"
    signals=$(echo "$signals" | sed 's/CUT//')
fi

# await_moment MOMENT TASK MILLISECONDS: of a job that has been started; TASK is one that logs its steps, and what happens
# in some step happens within so many milliseconds after the first
await_moment() {
    case $1 in
        after_5_ms) sleep 0.005 ;;
        after_50_ms) sleep 0.05 ;;
        in_a_step | before_a_decision | in_validation | in_a_save | in_a_recovery)
            within 20 begun "$2"
            random_ms "$3"
            ;;
    esac
}

# end_of_matrix TITLE: $wrong has a line for each cell that is
end_of_matrix() {
    [ -z "$wrong" ] && exit
    echo "$1:$wrong"
    exit 1
}
