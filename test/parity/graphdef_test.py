"""Graph files: TensorFlow's parser reads what Muster writes, reports the same nodes, and what it writes again is the same
graph to Muster; a graph of ops that both have computes the same values in both, whichever wrote it; TensorBoard's reader
takes it from an event file."""

import json
import os
import subprocess
import sys
import tempfile

import muster
import numpy as np

tf = muster.tensorflow()
PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_graphdef")


def call(*arguments, task=None):
    text = None if task is None else json.dumps(task)
    return subprocess.run([PROGRAM, *arguments], input=text, check=True, stdout=subprocess.PIPE, text=True).stdout


def run(path, feeds, fetches):
    """Values that Muster computes from a graph file."""
    task = {"feeds": {name: muster.tensor(array) for name, array in feeds.items()}, "fetches": fetches}
    answers = [json.loads(line) for line in call("run", path, task=task).splitlines()]
    return [array_of(answer["values"]).reshape(answer["shape"]) for answer in answers]


def array_of(values):
    """Numbers, or strings as lists of their bytes."""
    if values and isinstance(values[0], list):
        return np.array([bytes(value) for value in values], dtype=object)
    return np.array(values)


def parse(path):
    graph = tf.compat.v1.GraphDef()
    with open(path, "rb") as file:
        graph.ParseFromString(file.read())
    return graph


def shapes_of(node):
    if "_output_shapes" not in node.attr:
        return []
    return [[dim.size for dim in shape.dim] for shape in node.attr["_output_shapes"].list.shape]


def inputs_of(node):
    """Sources, and what must run before."""
    if "_muster_sources" not in node.attr:
        return list(node.input)
    sources = [name.decode() for name in node.attr["_muster_sources"].list.s]
    before = [name for name in node.input if name.startswith("^")]
    return sources + [name for name in before if name[1:] not in [source.split(":")[0] for source in sources]]


def check_nodes(report, graph, wanted, reader):
    got = [
        {"name": n.name, "op": n.attr["_muster_op"].s.decode(), "inputs": inputs_of(n), "device": n.device,
         "shapes": shapes_of(n)}
        for n in graph.node if "_muster_part" not in n.attr
    ]
    report.check(f"{wanted['file']}: number of nodes, {reader}", len(got) == len(wanted["nodes"]), len(got),
                 len(wanted["nodes"]))
    for have, want in zip(got, wanted["nodes"]):
        report.check(f"{wanted['file']}: node {want['name']}, {reader}", have == want, want, have)


def check_close(report, name, got, expected):
    good = np.shape(got) == np.shape(expected) and np.allclose(got, expected, rtol=1e-5, atol=1e-5)
    report.check(name, good, np.asarray(got).tolist(), np.asarray(expected).tolist())


FETCHES = ["elementwise/sum", "elementwise/products", "elementwise/quotient", "chosen/select", "gram", "stacked",
           "parts:1", "softmax", "after", "l2"]


def check_imported(report, path):
    """TensorFlow runs a graph of ops that it has."""
    x = np.array([[1, 0.5, -1], [0.25, 2, 0]], np.float32)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(parse(path), name="")
        with tf.compat.v1.Session(graph=graph) as session:
            session.run("w/assign")
            names = [fetch if ":" in fetch else fetch + ":0" for fetch in FETCHES]
            expected = session.run(names, {"x:0": x})
    for name, got, want in zip(FETCHES, run(path, {"x": x}, FETCHES), expected):
        check_close(report, f"imported {name}", got, want)


def check_exported(report, folder):
    """Muster runs a graph that TensorFlow wrote."""
    x = np.array([[1, -2], [3, 0.5], [0, 1]], np.float32)
    path = os.path.join(folder, "tensorflow")
    with tf.Graph().as_default() as graph:
        fed = tf.compat.v1.placeholder(tf.float32, [None, 2], name="x")
        filled = tf.constant(0.5, tf.float32, [2, 3], name="filled")
        listed = tf.constant([[1, 2, 3]], tf.int32, name="listed")
        product = tf.matmul(fed, filled, name="product")
        with tf.control_dependencies([listed]):
            hidden = tf.nn.relu(product, name="hidden")
        tf.nn.softmax(tf.tanh(hidden), name="softmax")
        tf.add_n([hidden, product, product], name="sum")
        tf.raw_ops.Mul(x=listed, y=listed, name="squares")
        tf.stack([fed, fed], axis=1, name="stacked")
        fetches = ["softmax", "sum", "squares", "stacked"]
        with tf.compat.v1.Session(graph=graph) as session:
            expected = session.run([name + ":0" for name in fetches], {"x:0": x})
        with open(path, "wb") as file:
            file.write(graph.as_graph_def(add_shapes=True).SerializeToString())
    for name, got, want in zip(fetches, run(path, {"x": x}, fetches), expected):
        check_close(report, f"exported {name}", got, want)


def check_strings(report, imported, folder):
    """Strings of any bytes: TensorFlow runs the graph that Muster wrote, and Muster one that TensorFlow wrote."""
    words = np.array([b"same", b"", b"\x00\xff\n"], dtype=object)
    fetches = ["fixed", "stacked", "equal", "not_equal", "first"]
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(parse(imported), name="")
        with tf.compat.v1.Session(graph=graph) as session:
            expected = session.run([name + ":0" for name in fetches], {"words:0": words})
    compare_strings(report, "imported", imported, words, fetches, expected)
    path = os.path.join(folder, "tensorflow_strings")
    fetches = ["fixed", "filled", "stacked", "parts:1"]
    with tf.Graph().as_default() as graph:
        fed = tf.compat.v1.placeholder(tf.string, [None], name="words")
        fixed = tf.constant([b"Hello, distributed TensorFlow!", b"", b"\x00\xff\n"], name="fixed")
        tf.constant("same", shape=[2, 2], name="filled")
        stacked = tf.stack([fed, fixed], name="stacked")
        tf.unstack(tf.identity(stacked), axis=1, name="parts")
        with tf.compat.v1.Session(graph=graph) as session:
            expected = session.run([name if ":" in name else name + ":0" for name in fetches], {"words:0": words})
        with open(path, "wb") as file:
            file.write(graph.as_graph_def(add_shapes=True).SerializeToString())
    compare_strings(report, "exported", path, words, fetches, expected)


def compare_strings(report, title, path, words, fetches, expected):
    for name, got, want in zip(fetches, run(path, {"words": words}, fetches), expected):
        good = np.shape(got) == np.shape(want) and np.array_equal(got, want)
        report.check(f"strings {title} {name}", good, got.tolist(), want.tolist())


def check_tensorboard(report, path, wanted, folder):
    try:
        from tensorboard.backend import process_graph
        from tensorboard.backend.event_processing import event_accumulator
        from tensorboard.compat.proto import event_pb2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError as error:
        report.check("TensorBoard is installed", False, "", str(error))
        return
    logs = os.path.join(folder, "logs_" + wanted["file"])
    writer = EventFileWriter(logs)
    with open(path, "rb") as file:
        writer.add_event(event_pb2.Event(wall_time=1.0, graph_def=file.read()))
    writer.close()
    accumulator = event_accumulator.EventAccumulator(logs)
    accumulator.Reload()
    graph = accumulator.Graph()
    check_nodes(report, graph, wanted, "TensorBoard")
    # what its server does before it sends the graph to the browser
    process_graph.prepare_graph_for_ui(graph, limit_attr_size=1024, large_attrs_key="_too_large_attrs")
    report.check(f"{wanted['file']}: as text for the browser", len(str(graph)) > 0, "", "")


def main():
    report = muster.Report()
    with tempfile.TemporaryDirectory() as folder:
        graphs = [json.loads(line) for line in call("write", folder).splitlines()]
        for wanted in graphs:
            path = os.path.join(folder, wanted["file"])
            graph = parse(path)
            check_nodes(report, graph, wanted, "TensorFlow")
            again = path + "_again"
            with open(again, "wb") as file:
                file.write(graph.SerializeToString())
            report.check(f"{wanted['file']}: written again by TensorFlow", call("print", again) == call("print", path),
                         call("print", again), call("print", path))
            check_tensorboard(report, path, wanted, folder)
        check_imported(report, os.path.join(folder, "same"))
        check_exported(report, folder)
        check_strings(report, os.path.join(folder, "strings"), folder)
    return report.finish()


sys.exit(main())
