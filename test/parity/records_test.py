"""TFRecord files and Examples, both ways: Muster reads what TensorFlow writes, plain and compressed, in the order of
tf.data's interleave, and parses Examples and SequenceExamples to the same values; TensorFlow reads what `muster convert`
writes, which has the bytes that TensorFlow would write; a training on TensorFlow's files gives the weights of one on the
arrays."""

import json
import os
import subprocess
import tempfile

import muster
import numpy as np

tf = muster.tensorflow()
PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_records")
COMMAND = os.environ["MUSTER"]
COMPRESSIONS = {"": "none", "GZIP": "gzip", "ZLIB": "zlib"}


def call(*arguments):
    output = subprocess.run([PROGRAM, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def masked_crc(data):
    """The last four bytes of a record that TensorFlow wrote."""
    path = os.path.join(folder, "one")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(data)
    with open(path, "rb") as file:
        return int.from_bytes(file.read()[-4:], "little")


def write(name, records, compression=""):
    path = os.path.join(folder, name)
    with tf.io.TFRecordWriter(path, compression) as writer:
        for record in records:
            writer.write(record)
    return path


def check_records(report):
    random = np.random.default_rng(1)
    records = [random.integers(0, 256, size, np.uint8).tobytes() for size in [0, 1, 3, 1000, 70000, 300000, 0, 17]]
    for compression in COMPRESSIONS:
        got = call("records", write("a", records, compression))
        expected = [{"size": len(r), "crc": masked_crc(r)} for r in records]
        report.check(f"records, {compression or 'plain'}", got == expected, got, expected)


def check_interleave(report):
    random = np.random.default_rng(2)
    for case in range(20):
        paths = [write(f"i{i}", [f"{i}.{n}".encode() for n in range(random.integers(0, 9))]) for i in range(6)]
        cycle, block = int(random.integers(1, 8)), int(random.integers(1, 5))
        data = tf.data.Dataset.from_tensor_slices(paths).interleave(
            tf.data.TFRecordDataset, cycle_length=cycle, block_length=block)
        expected = [t.numpy().decode() for t in data]
        got = [line["text"] for line in call("interleave", cycle, block, *paths)]
        report.check(f"interleave with cycle {cycle}, block {block}, case {case}", got == expected, got, expected)


def check_interleave_of_datasets(report):
    random = np.random.default_rng(5)
    for _ in range(30):
        sizes = random.integers(0, 9, random.integers(1, 9)).tolist()
        cycle, block = int(random.integers(1, 10)), int(random.integers(1, 6))
        data = tf.data.Dataset.range(len(sizes)).interleave(
            lambda i: tf.data.Dataset.range(1000 * i, 1000 * i + tf.gather(np.int64(sizes), i)), cycle_length=cycle,
            block_length=block)
        expected = [int(t) for t in data.as_numpy_iterator()]
        got = call("ranges", cycle, block, *sizes)
        report.check(f"interleave of datasets of {sizes} rows with cycle {cycle}, block {block}", got == expected, got,
                     expected)


def integers(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def floats(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def texts(values):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def make_example(random):
    context = {"image": texts([random.integers(0, 256, 5, np.uint8).tobytes()]),
               "label": integers([int(random.integers(-2**62, 2**62)) // 2**10 * 2**10]),
               "tokens": integers([int(t) for t in random.integers(-5, 300, random.integers(0, 9))]),
               "unused": texts([b"x" * int(random.integers(0, 300)), b""])}
    if random.integers(2):
        context["weights"] = floats(random.normal(size=4))
    lists = {"frames": tf.train.FeatureList(feature=[floats(random.normal(size=2))
                                                     for _ in range(random.integers(0, 5))])}
    if random.integers(2):
        lists["marks"] = tf.train.FeatureList(feature=[integers([int(random.integers(9))])
                                                       for _ in range(random.integers(0, 5))])
    return tf.train.SequenceExample(context=tf.train.Features(feature=context),
                                    feature_lists=tf.train.FeatureLists(feature_list=lists)).SerializeToString()


def pad(values, shape, fill):
    out = np.full(shape, fill, np.float64)
    values = np.asarray(values)
    out[:len(values)] = values
    return out.ravel().tolist()


def parse(record):
    context, lists = tf.io.parse_single_sequence_example(
        record,
        context_features={"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64),
                          "weights": tf.io.FixedLenFeature([2, 2], tf.float32, default_value=[[0.25] * 2] * 2),
                          "tokens": tf.io.VarLenFeature(tf.int64)},
        sequence_features={"frames": tf.io.FixedLenSequenceFeature([2], tf.float32),
                           "marks": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)})
    tokens = context["tokens"].values.numpy()
    frames, marks = lists["frames"].numpy(), lists["marks"].numpy()
    return [tf.io.decode_raw(context["image"], tf.uint8).numpy().tolist(), [float(context["label"].numpy())],
            context["weights"].numpy().astype(np.float64).ravel().tolist(), pad(tokens, [8], -1), [len(tokens)],
            pad(frames, [4, 2], 0), [len(frames)], pad(marks, [4], 0), [len(marks)]]


def check_examples(report):
    random = np.random.default_rng(3)
    records = [make_example(random) for _ in range(200)]
    for i, (got, record) in enumerate(zip(call("examples", write("e", records, "GZIP")), records)):
        expected = parse(record)
        report.check(f"SequenceExample {i}", got == expected, got, expected)


def arrays(random, rows):
    images = random.integers(0, 256, [rows, 6, 4], np.uint8)
    return images, (images.reshape(rows, -1).sum(1) % 10).astype(np.int64)


def parse_converted(record):
    return tf.io.parse_single_example(record, {"image_raw": tf.io.FixedLenFeature([], tf.string),
                                               "pixels": tf.io.FixedLenFeature([], tf.int64),
                                               "label": tf.io.FixedLenFeature([], tf.int64),
                                               "shape": tf.io.FixedLenFeature([2], tf.int64)})


def check_converted(report):
    random = np.random.default_rng(4)
    images, labels = arrays(random, 103)
    source = os.path.join(folder, "a.npz")
    np.savez(source, x_train=images, y_train=labels, x_test=images[:7], y_test=labels[:7])
    for compression, option in COMPRESSIONS.items():
        prefix = os.path.join(folder, "made" + option)
        subprocess.run([COMMAND, "convert", f"npz:{source}", f"tfrecord:{prefix}", "--shards", "4", "--compression",
                        option], check=True, stdout=subprocess.DEVNULL)
        paths = [f"{prefix}-train-{i:05d}-of-00004" for i in range(4)]
        records = list(tf.data.TFRecordDataset(paths, compression).as_numpy_iterator())
        parsed = [parse_converted(r) for r in records]
        got = np.array([tf.io.decode_raw(p["image_raw"], tf.uint8).numpy().reshape(p["shape"].numpy()) for p in parsed])
        report.check(f"images, {option}", np.array_equal(got, images), got.shape, images.shape)
        got = [int(p["label"].numpy()) for p in parsed]
        report.check(f"labels, {option}", got == labels.tolist(), got, labels.tolist())
        got = [int(p["pixels"].numpy()) for p in parsed]
        report.check(f"pixels, {option}", got == [24] * len(parsed), got, 24)
        same = [tf.train.Example.FromString(r).SerializeToString(deterministic=True) == r for r in records]
        report.check(f"bytes, {option}", all(same), same.count(True), len(same))


def train(spec):
    command = [COMMAND, "train", "--data", spec, "--hidden-units", "8", "--batch-size", "20", "--epochs", "2", "--seed", "7",
               "--devices", "cpu:2", "--json"]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output.splitlines()[-1])["weights_sha256"]


def check_training(report):
    random = np.random.default_rng(5)
    images, labels = arrays(random, 90)
    source = os.path.join(folder, "b.npz")
    np.savez(source, x=images, y=labels)
    expected = train(f"npz:{source}")
    examples = [tf.train.Example(features=tf.train.Features(feature={
        "image": texts([image.tobytes()]), "label": integers([int(label)]), "height": integers([6]),
        "width": integers([4]), "depth": integers([1])})).SerializeToString() for image, label in zip(images, labels)]
    for compression in COMPRESSIONS:
        for i in range(3):
            write(f"tf{compression}-train-{i:05d}-of-00003", examples[30 * i:30 * i + 30], compression)
        got = train("tfrecord:" + os.path.join(folder, "tf" + compression))
        report.check(f"weights of a training on files of TensorFlow, {compression or 'plain'}", got == expected, got,
                     expected)


if __name__ == "__main__":
    report = muster.Report()
    with tempfile.TemporaryDirectory() as folder:
        check_records(report)
        check_interleave(report)
        check_interleave_of_datasets(report)
        check_examples(report)
        check_converted(report)
        check_training(report)
    raise SystemExit(report.finish())
