#!/bin/sh
# The towers example on TFRecord files, with checkpoints and summaries: killed with SIGKILL at random moments and started
# again, it ends with the checkpoint, byte for byte, of a training that was not killed.
#   towers_killed_test.sh MNIST_TOWERS MUSTER [KILLS]
set -u
# $options is a list of words
# shellcheck disable=SC2086
towers=$1 muster=$2 kills=${3:-4}
folder=$(mktemp -d) || exit 1
process=
trap '[ -z "$process" ] || kill -9 "$process"; rm -rf "$folder"' EXIT
cd "$folder" || exit 1

fail() {
    echo "FAIL: $*"
    exit 1
}

"$muster" convert fashion-mnist tfrecord:fm --shards 10 > /dev/null || fail "data cannot be converted"
options='--data tfrecord:fm --max_steps 400 --save_steps 50 --summary_steps 100'

mkdir whole killed
"$towers" $options --train_dir whole --log_dir whole/log > whole.out 2>&1 || fail "$(tail -1 whole.out)"
done=0
while [ $done -lt "$kills" ]; do
    "$towers" $options --train_dir killed --log_dir killed/log > killed.out 2>&1 &
    process=$!
    sleep "$(awk -v seed="$$$done" 'BEGIN { srand(seed); print 0.1 + rand() * 0.7 }')"
    kill -9 $process 2> /dev/null
    wait $process 2> /dev/null
    process=
    done=$((done + 1))
done
"$towers" $options --train_dir killed --log_dir killed/log > killed.out 2>&1 || fail "$(tail -1 killed.out)"
for file in model.ckpt-400.data-00000-of-00001 model.ckpt-400.index; do
    cmp "whole/$file" "killed/$file" || fail "$file differs after $kills kills"
done
grep '^test/' whole.out > want
grep '^test/' killed.out | cmp - want || fail "the test loss differs"
echo "the same checkpoint after $kills kills"
