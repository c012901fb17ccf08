"""tf.data on the files of `muster bench data`: one JSON line each for reading plain and gzip records, for decoding and
resizing JPEG files, and for parsing Examples in batches of 100 with parse_example on whole batches, the faster way.
Processor time is measured, as there."""

import argparse
import glob
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


def measure(what, run, seconds):
    run()
    best = 0.0
    for _ in range(3):
        passes, start = 0, time.process_time()
        while time.process_time() - start < seconds / 3:
            run()
            passes += 1
        best = max(best, passes / (time.process_time() - start))
    print(json.dumps({"what": what, "passes_per_sec": best}), flush=True)


def measure_dataset(what, dataset, seconds):
    dataset = one_thread(dataset)
    measure(what, lambda: consume(dataset), seconds)


def batches(path):
    def decode(images):
        return tf.io.decode_raw(images, tf.uint8, fixed_length=784)

    def parse_batch(records):
        parsed = tf.io.parse_example(records, FEATURES)
        return decode(parsed["image_raw"]), parsed["label"]

    return tf.data.TFRecordDataset(path).batch(100).map(parse_batch)


def pictures(folder, **options):
    """Reads, decodes and resizes all pictures: decode_jpeg with its fast transform, which is its default. Unrolled in one
    graph, which costs less than tf.data's map, map_fn or a call for each."""
    paths = tf.constant(sorted(glob.glob(os.path.join(folder, "class", "*"))))

    @tf.function
    def decode_all(paths):  # an argument: what follows from constants TensorFlow computes once
        total = 0.0
        for path in tf.unstack(paths):
            image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3, **options)
            total += tf.image.resize(image, (224, 224))[0, 0, 0]
        return total

    return lambda: decode_all(paths)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", required=True)
    parser.add_argument("--seconds", type=float, default=5.0)
    arguments = parser.parse_args()
    path = {name: os.path.join(arguments.folder, name) for name in ["plain", "gzip", "examples"]}
    measure_dataset("read", tf.data.TFRecordDataset(path["plain"]), arguments.seconds)
    measure_dataset("gzip", tf.data.TFRecordDataset(path["gzip"], "GZIP"), arguments.seconds)
    if os.path.exists(os.path.join(arguments.folder, "pictures")):
        folder = os.path.join(arguments.folder, "pictures")
        measure("jpeg", pictures(folder), arguments.seconds)
        measure("jpeg_half", pictures(folder, ratio=2), arguments.seconds)
    measure_dataset("parse", batches(path["examples"]), arguments.seconds)


if __name__ == "__main__":
    main()
