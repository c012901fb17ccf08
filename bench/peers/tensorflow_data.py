"""tf.data on the files of `muster bench data`: one JSON line each for reading plain and gzip records, and for parsing
Examples in batches of 100 with parse_example on whole batches, the faster way.
Processor time is measured, as there."""

import argparse
import json
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import tensorflow as tf  # noqa: E402

FEATURES = {"image_raw": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}


def one_thread(dataset):
    options = tf.data.Options()
    options.threading.private_threadpool_size = 1
    options.threading.max_intra_op_parallelism = 1
    return dataset.with_options(options)


@tf.function
def consume(dataset):
    """Iterates inside a graph, so that no time is spent in Python."""
    count = tf.constant(0, tf.int64)
    for _ in dataset:
        count += 1
    return count


def measure(what, dataset, seconds):
    dataset = one_thread(dataset)
    consume(dataset)
    best = 0.0
    for _ in range(3):
        passes, start = 0, time.process_time()
        while time.process_time() - start < seconds / 3:
            consume(dataset)
            passes += 1
        best = max(best, passes / (time.process_time() - start))
    print(json.dumps({"what": what, "passes_per_sec": best}), flush=True)


def batches(path):
    def decode(images):
        return tf.io.decode_raw(images, tf.uint8, fixed_length=784)

    def parse_batch(records):
        parsed = tf.io.parse_example(records, FEATURES)
        return decode(parsed["image_raw"]), parsed["label"]

    return tf.data.TFRecordDataset(path).batch(100).map(parse_batch)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", required=True)
    parser.add_argument("--seconds", type=float, default=5.0)
    arguments = parser.parse_args()
    path = {name: os.path.join(arguments.folder, name) for name in ["plain", "gzip", "examples"]}
    measure("read", tf.data.TFRecordDataset(path["plain"]), arguments.seconds)
    measure("gzip", tf.data.TFRecordDataset(path["gzip"], "GZIP"), arguments.seconds)
    measure("parse", batches(path["examples"]), arguments.seconds)


if __name__ == "__main__":
    main()
