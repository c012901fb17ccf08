#!/bin/sh
# Two workers on this machine, started by hand: each gets TF_CONFIG, as with TensorFlow, which says who is there and which
# of them it is. Then one process does the same work. All three end with the same weights.
#   tf_config.sh [COMMAND...]    COMMAND ends with a line "weights sha256: ..."; default: muster train --steps 100 --seed 7
set -u
. "$(dirname "$0")/free_ports.sh"
[ $# -gt 0 ] || set -- muster train --steps 100 --seed 7
folder=$(mktemp -d) || exit 1
workers=
# shellcheck disable=SC2086
trap '[ -z "$workers" ] || kill $workers 2> /dev/null; rm -rf "$folder"' EXIT
unset TF_CONFIG

find_ports 2
for index in 0 1; do
    TF_CONFIG='{
        "cluster": {"worker": ["localhost:'$port'", "localhost:'$((port + 1))'"]},
        "task":    {"type": "worker", "index": '$index'}
    }' "$@" > "$folder/worker-$index" &
    workers="$workers $!"
done
for worker in $workers; do wait "$worker" || exit 1; done
workers=
"$@" > "$folder/alone" || exit 1

cd "$folder" || exit 1
grep -H '^weights sha256: ' worker-0 worker-1 alone
[ "$(grep -h '^weights sha256: ' worker-0 worker-1 alone | sort | uniq -c | awk '{ print $1 }')" = 3 ] || {
    echo "the weights differ"
    exit 1
}
echo "the weights are equal"
