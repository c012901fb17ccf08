#!/bin/sh
# Weights with constraints over workers, with sharded state, and over parameter servers, which keep norms together: the
# weights of one process. Usage: constraints_test.sh PATH_OF_MUSTER. MUSTER_TEST_SEED=N repeats the ports.
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
seed=${MUSTER_TEST_SEED:-$(date +%s)}
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
. "$here/support/cluster.sh"
. "$here/support/servers.sh"
echo "MUSTER_TEST_SEED=$seed"
write_data data

constraint() { printf '{"class_name": "%s", "config": {%s}}' "$1" "$2"; }
cat > net.json << END
{"class_name": "Sequential", "config": {"name": "net", "layers": [
    {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [null, 8, 8]}},
    {"class_name": "Flatten", "config": {"name": "flat"}},
    {"class_name": "Dense", "config": {"name": "a", "units": 20,
        "kernel_constraint": $(constraint MaxNorm '"max_value": 0.4, "axis": 0'),
        "bias_constraint": $(constraint NonNeg "")}},
    {"class_name": "BatchNormalization", "config": {"name": "norm",
        "gamma_constraint": $(constraint MinMaxNorm '"min_value": 1, "max_value": 3, "rate": 0.5')}},
    {"class_name": "Dense", "config": {"name": "b", "units": 16,
        "kernel_constraint": $(constraint UnitNorm '"axis": 1')}},
    {"class_name": "Dense", "config": {"name": "end", "units": 8, "kernel_constraint": $(constraint NonNeg "")}}]}}
END
sed 's/_constraint"/_free"/' net.json > free.json
plain=$training
training=$(echo "$plain" | sed 's/--hidden-units [0-9]*/--model net.json/; s/--dropout [0-9.]*//')

# The same without constraints has other weights.
training=$(echo "$training" | sed 's/net.json/free.json/')
alone --epochs 2
free=$alone
training=$(echo "$training" | sed 's/free.json/net.json/')
alone --epochs 2
check constraints_change_the_weights test "$alone" != "$free"

# workers NAME OPTION...: two workers give the hash of one process
workers() {
    name=$1
    shift
    find_ports 2
    make_hosts
    for i in 0 1; do start $i --epochs 2 "$@"; done
    ended_alike "$name" "$alone" 0 1
}
workers two_workers_give_the_weights_of_one_process
workers also_with_two_devices_each --devices cpu:2/1
workers also_with_sharded_state --sharded-state

# with_servers NUMBER WORKERS OPTION...: starts a job
with_servers() {
    tasks=$(seq -f ps_%g 0 $(($1 - 1)) && seq -f worker_%g 0 $(($2 - 1)))
    make_hosts_with_servers "$1" "$2"
    shift 2
    start_job "$tasks" --epochs 2 "$@"
}

# servers NAME NUMBER OPTION...: two workers with so many servers do too
servers() {
    of_servers=$1 servers=$2
    shift 2
    with_servers "$servers" 2 --issync 1 "$@"
    ended_alike "$of_servers" "$alone" worker_0 worker_1
}
servers one_server_gives_them 1
servers two_servers_give_them 2
servers servers_do_not_cut_what_shares_a_norm 2 --ps-part-bytes 40

# An asynchronous worker that is alone has nobody's updates between its own: its weights are the same. Only moving
# statistics may be rounded in another way, as it sends their changes. What several workers make of the weights depends
# on their order, and obeys the constraints in each.
cat > alike.py << 'END'
import struct, sys, zipfile

first, second = [zipfile.ZipFile(name) for name in sys.argv[1:]]
names = [name for name in first.namelist() if not name.startswith("_MUSTER")]
assert len(names) > 5
for name in names:
    a, b = first.read(name), second.read(name)
    if "moving_" in name:
        start = 10 + struct.unpack("<H", a[8:10])[0]
        a, b = [struct.unpack("<%df" % ((len(x) - start) // 4), x[start:]) for x in (a, b)]
        assert all(abs(x - y) <= 1e-6 for x, y in zip(a, b)), name
    else:
        assert a == b, name
END
alone --epochs 2 --save alone.npz
with_servers 2 1 --issync 0 --ps-part-bytes 40 --save one.npz
ended_well an_asynchronous_worker_ends worker_0
check and_gives_them python3 alike.py alone.npz one.npz
cat > obeyed.py << 'END'
import math, struct, sys, zipfile

def values(name):  # (shape, floats) of a float32 array of an npz file
    data = zipfile.ZipFile(sys.argv[1]).read(name + ".npy")
    start = 10 + struct.unpack("<H", data[8:10])[0]
    shape = eval(data[10:start])["shape"]
    return shape, struct.unpack("<%df" % math.prod(shape), data[start:])

def norms(name, axis):
    (rows, columns), x = values(name)
    if axis: return [math.hypot(*x[i * columns:(i + 1) * columns]) for i in range(rows)]
    return [math.hypot(*x[i::columns]) for i in range(columns)]

assert max(norms("a/kernel", 0)) < 0.4001 and max(norms("a/kernel", 0)) > 0.3, norms("a/kernel", 0)
assert min(values("a/bias")[1]) >= 0
assert all(abs(norm - 1) < 1e-4 for norm in norms("b/kernel", 1)), norms("b/kernel", 1)
assert min(values("end/kernel")[1]) >= 0 and max(values("end/kernel")[1]) > 0
END
with_servers 2 3 --issync 0 --ps-part-bytes 40 --save async.npz
ended_well asynchronous_workers_end worker_0 worker_1 worker_2
check and_their_weights_obey_the_constraints python3 obeyed.py async.npz
training=$(echo "$training" | sed 's/net.json/free.json/')
with_servers 2 3 --issync 0 --save async.npz
ended_well without_constraints_too worker_0 worker_1 worker_2
check and_then_their_weights_do_not sh -c '! python3 obeyed.py async.npz 2> /dev/null'
training=$(echo "$training" | sed 's/free.json/net.json/')

# All rows of an embedding are constrained, of which a gradient has some. Norms of rows let the servers cut it.
for axis in 0 1; do
    cat > "rows$axis.json" << END
{"class_name": "Sequential", "config": {"name": "rows", "layers": [
    {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [null, 8, 8]}},
    {"class_name": "Flatten", "config": {"name": "flat"}},
    {"class_name": "Embedding", "config": {"name": "table", "input_dim": 300, "output_dim": 4,
        "embeddings_constraint": $(constraint MaxNorm "\"max_value\": 0.05, \"axis\": $axis")}},
    {"class_name": "GlobalAveragePooling1D", "config": {"name": "mean"}},
    {"class_name": "Dense", "config": {"name": "end", "units": 8}}]}}
END
    training=$(echo "$plain" | sed "s/--hidden-units [0-9]*/--model rows$axis.json --pixels raw/; s/--dropout [0-9.]*//")
    alone --epochs 2
    workers "embedding_with_axis_${axis}_over_workers"
    servers "embedding_with_axis_${axis}_over_servers" 2 --ps-part-bytes 400
done
training=$(echo "$plain" | sed 's/--hidden-units [0-9]*/--model net.json/; s/--dropout [0-9.]*//')

# Another constraint on one worker is another program.
sed 's/0\.4/0.3/' net.json > other.json
find_ports 2
make_hosts
start 0 --epochs 2
training=$(echo "$training" | sed 's/net.json/other.json/')
start 1 --epochs 2
ended_in_error another_constraint_is_another_program "" 0 1

end_of_checks
