#!/bin/sh
# Trainings that are killed with SIGKILL at random moments, saves included, and started again: each ends with the weights
# of one that was not disturbed. Usage: kill_test.sh PATH_OF_MUSTER [KILLS]; KILLS is $MUSTER_KILLS or 6 where not given.
# MUSTER_TEST_SEED=N repeats the moments.
# $best is an option or nothing
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
kills=${2:-${MUSTER_KILLS:-6}}
seed=${MUSTER_TEST_SEED:-$(date +%s)}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
echo "MUSTER_TEST_SEED=$seed, $kills kills"

# 400 images of 8 x 8 and their labels, as IDX
image() { printf '\000\000\010\003\000\000\001\220\000\000\000\010\000\000\000\010'; }
label() { printf '\000\000\010\001\000\000\001\220'; }
pixels() { awk 'BEGIN { for (i = 0; i < 25600; i++) printf "%c", 33 + (i * 7 + int(i / 64) * 13) % 90 }'; }
digits() { awk 'BEGIN { for (i = 0; i < 400; i++) printf "%c", 65 + i % 8 }' | tr ABCDEFGH '\000\001\002\003\004\005\006\007'; }
mkdir data
for part in train t10k; do
    { image && pixels; } > data/$part-images-idx3-ubyte
    { label && digits; } > data/$part-labels-idx1-ubyte
done

train() {
    exec "$muster" train --data idx:data --hidden-units 64 --batch-size 40 --epochs 300 --ema 0.99 --dropout 0.2 --json "$@"
}
sha() { tail -n 1 "$1" | sed -n 's/.*"weights_sha256":"\([0-9a-f]*\)".*/\1/p'; }
test_loss() { sed -n 's/.*"test_loss":\([0-9.]*\).*/\1/p'; }

# milliseconds from 20 to 620, by a generator of its own: the same moments for the same seed
next_moment() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    awk -v x="$((seed / 65536 % 600 + 20))" 'BEGIN { printf "%.3f", x / 1000 }'
}

fail() {
    echo "FAIL $1"
    [ ! -s err ] || cat err
    exit 1
}

# The checkpoint of the best epoch has the weights that the training ended with.
check_best() {
    kept=$("$muster" evaluate --checkpoint-dir run/best --json | test_loss)
    last=$("$muster" evaluate --checkpoint-dir run --json | test_loss)
    [ -n "$kept" ] && [ "$kept" = "$last" ] || fail "the best checkpoint has the loss '$kept', the training '$last'"
}

# survive KILLS OPTION...: a training with these options is killed so often, and at last ends as an undisturbed one
survive() {
    due=$1 done_kills=0 finished=0 best=
    shift
    case "$*" in *--restore-best-weights*) best=--best ;; esac
    (train "$@" > undisturbed) || exit 1
    wanted=$(sha undisturbed)
    [ -n "$wanted" ] || fail "no hash of the undisturbed training"
    while [ "$done_kills" -lt "$due" ] || [ "$finished" -eq 0 ] || [ -d run ]; do
        (train --checkpoint-dir run --save-every 20 --keep 2 $best "$@" > out 2> err) &
        process=$!
        if [ "$done_kills" -lt "$due" ]; then
            next_moment > moment
            sleep "$(cat moment)"
            kill -9 $process 2> /dev/null && done_kills=$((done_kills + 1))
        fi
        wait $process 2> /dev/null
        status=$?
        [ $status -eq 137 ] && continue
        if [ $status -ne 0 ] || [ "$(sha out)" != "$wanted" ]; then
            fail "after $done_kills kills: exit status $status, hash '$(sha out)', not $wanted"
        fi
        [ ! -d run/best ] || check_best
        finished=$((finished + 1))
        rm -r run
    done
    echo "ok: $done_kills kills, $finished trainings ended with the weights of the undisturbed one: $*"
}

survive "$kills"
survive $(((kills + 1) / 2)) --validation-split 0.2 --learning-rate 0.0001 --patience 150 --restore-best-weights
