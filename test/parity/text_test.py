"""Lines of text files are those of tf.data's TextLineDataset, plain and gzip, and in the order of its interleave; padded
batches of features of variable length, numbers and strings, are those of tf.data's padded_batch."""

import gzip
import json
import os
import subprocess
import tempfile

import muster
import numpy as np

tf = muster.tensorflow()
PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_text")


def call(*arguments):
    output = subprocess.run([PROGRAM, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def make_text(random):
    """Lines of any bytes; some files end without a line end. A "\\r" stands only before "\\n": in other places TensorFlow
    drops it, and Muster does not."""
    text = b""
    for _ in range(random.integers(0, 12)):
        line = random.integers(0, 256, random.integers(0, 30), np.uint8).tobytes()
        text += line.replace(b"\n", b"").replace(b"\r", b"") + (b"\r\n" if random.integers(2) else b"\n")
    return text + (b"the last" if random.integers(2) else b"")


def check_lines(report):
    random = np.random.default_rng(1)
    for case in range(20):
        compression = ["", "GZIP"][case % 2]
        paths = [os.path.join(folder, f"t{i}") for i in range(6)]
        for path in paths:
            with (gzip.open if compression else open)(path, "wb") as file:
                file.write(make_text(random))
        cycle, block = int(random.integers(1, 8)), int(random.integers(1, 5))
        data = tf.data.Dataset.from_tensor_slices(paths).interleave(
            lambda path: tf.data.TextLineDataset(path, compression), cycle_length=cycle, block_length=block)
        expected = [list(line) for line in data.as_numpy_iterator()]
        got = call("lines", cycle, block, *paths)
        report.check(f"lines, cycle {cycle}, block {block}, case {case}", got == expected, got, expected)


def feature(**values):
    return tf.train.Feature(**{kind: getattr(tf.train, name)(value=values[kind]) for kind, name in
                               [("int64_list", "Int64List"), ("bytes_list", "BytesList"), ("float_list", "FloatList")]
                               if kind in values})


def make_example(random, i):
    words = [f"{i}.{j}".encode() * j for j in range(random.integers(0, 5))]
    context = {"name": feature(bytes_list=[f"name {i}".encode()]),
               "tokens": feature(int64_list=random.integers(-5, 300, random.integers(0, 12)).tolist())}
    if words:
        context["words"] = feature(bytes_list=words)
    frames = tf.train.FeatureList(feature=[feature(float_list=random.normal(size=2))
                                           for _ in range(random.integers(0, 5))])
    return tf.train.SequenceExample(context=tf.train.Features(feature=context), feature_lists=tf.train.FeatureLists(
        feature_list={"frames": frames})).SerializeToString()


def parse(record):
    context, lists = tf.io.parse_single_sequence_example(
        record,
        context_features={"name": tf.io.FixedLenFeature([], tf.string), "tokens": tf.io.VarLenFeature(tf.int64),
                          "words": tf.io.VarLenFeature(tf.string)},
        sequence_features={"frames": tf.io.FixedLenSequenceFeature([2], tf.float32)})
    tokens, words, frames = context["tokens"].values, context["words"].values, lists["frames"]
    sizes = [tf.shape(x, tf.int64)[0] for x in (tokens, words, frames)]
    return context["name"], tokens, sizes[0], words, sizes[1], frames, sizes[2]


def plain(array):
    values = [list(x) for x in array.flat] if array.dtype == object else array.astype(np.float64).ravel().tolist()
    return [list(array.shape), values]


def check_padded(report):
    random = np.random.default_rng(2)
    path = os.path.join(folder, "e")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(50):
            writer.write(make_example(random, i))
    values = (b"", np.int64(-1), np.int64(0), b"-", np.int64(0), np.float32(0), np.int64(0))
    given = ([], [12], [], [None], [], [None, 3], [])
    for size in (1, 4, 7, 50, 64):
        for drop in (False, True):
            for to_given in (False, True):
                data = tf.data.TFRecordDataset(path).map(parse).padded_batch(
                    size, given if to_given else None,
                    values[:5] + (np.float32(0.5), np.int64(0)) if to_given else values, drop)
                expected = [[plain(component) for component in batch] for batch in data.as_numpy_iterator()]
                got = call("padded", size, int(drop), int(to_given), path)
                report.check(f"padded by {size}, {drop}, {to_given}", got == expected, got, expected)


if __name__ == "__main__":
    report = muster.Report()
    with tempfile.TemporaryDirectory() as folder:
        check_lines(report)
        check_padded(report)
    raise SystemExit(report.finish())
