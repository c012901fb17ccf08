#!/bin/sh
# top_test.sh MUSTER SHIM: `muster top` beside workers that train on devices of the PJRT plugin that MUSTER_PJRT_PLUGIN
# names, for which the plugin shim stands in as GPUs with memory.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
muster=$1 shim=$2 seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
write_data data
export XDG_CACHE_HOME="$PWD/cache"

# shows PATTERN ARGUMENT...: a table, or JSON, has a line like this
shows() {
    pattern=$1
    shift
    run top "$@"
    [ "$status" -eq 0 ] && [ ! -s err ] && grep -q -e "$pattern" out
}
# told NAME PATTERN ARGUMENT...: so does one that comes
told() {
    name=$1
    shift
    if within 60 shows "$@"; then ok "$name"; else failed "$name" "the output does not have: $1"; fi
}
stop_both() {
    for n in 0 1; do
        kill -INT "$(pid_of $n)"
        wait_for $n
    done
}

# The plugin for CPUs says nothing of its memory: what Muster has counted is shown, and no limit.
find_ports 2
make_hosts
start 0 --epochs 1000000 --devices xla:2 --shards 4
start 1 --epochs 1000000 --devices xla:2 --shards 4
told a_worker_on_xla_has_devices_memory_and_rate \
    '^worker:1  *[1-9][0-9]*  *[1-9][0-9.]* .*  2 x cpu  *[1-9][0-9.]* .B  training$' "localhost:$first"
told memory_has_no_limit_that_nobody_has_said \
    '"task":"worker:0".*"step":[1-9].*"examples_per_sec":[1-9].*"devices":\[{"name":"XLA:0","kind":"cpu","memory_in_use":[1-9][0-9]*,"memory":null},{"name":"XLA:1"' \
    --json "localhost:$first"
check lines_are_JSON json_lines out
stop_both

# Two GPUs, and what their plugin says of them.
export MUSTER_SHIM_PLUGIN="$MUSTER_PJRT_PLUGIN" MUSTER_PJRT_PLUGIN="$shim" MUSTER_SHIM_PLATFORM=cuda MUSTER_SHIM_DEVICES=2
export MUSTER_SHIM_KIND="NVIDIA H200" MUSTER_SHIM_BYTES_LIMIT=151000000000 MUSTER_SHIM_BYTES_IN_USE=2147483648
find_ports 2
make_hosts
start 0 --epochs 1000000 --devices gpu --shards 4
start 1 --epochs 1000000 --devices gpu:1 --shards 4
told a_worker_on_GPUs_has_their_kind_and_memory \
    '^worker:0  *[1-9][0-9]*  *[1-9][0-9.]* .*  2 x NVIDIA H200  *2.0 GB of 140.6 GB  training$' "localhost:$first"
check so_has_the_one_with_one grep -q '^worker:1 .*  1 x NVIDIA H200  *2.0 GB of 140.6 GB  ' out
told JSON_has_each \
    '"task":"worker:0".*"devices":\[{"name":"GPU:0","kind":"NVIDIA H200","memory_in_use":2147483648,"memory":151000000000},{"name":"GPU:1","kind":"NVIDIA H200",' \
    --json "localhost:$first"
for column in data compute network wait; do
    check "the_share_${column}_is_a_part_of_the_time" [ "$(sed -n "s/.*\"$column\":\([0-9.e-]*\).*/\1/p" out |
        awk '$1 >= 0 && $1 <= 1' | grep -c .)" -eq 2 ]
done
stop_both

end_of_checks
