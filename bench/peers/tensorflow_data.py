"""tf.data on the files of `muster-bench data`: reads plain and gzip records, decodes and resizes JPEG files, and parses
Examples in batches of 100 with parse_example on whole batches, the faster way.

Standard input has a line for each measurement, "WHAT SECONDS"; of each, the passes over its files a second of processor
time are printed.
"""

import argparse
import glob
import os
import sys
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
    """Iterates inside a graph, so that no time is spent in Python. An element costs 50 us: records come in batches."""
    count = tf.constant(0, tf.int64)
    for _ in dataset:
        count += 1
    return count


def reader(dataset):
    dataset = one_thread(dataset)
    return lambda: consume(dataset)


def rate(run, seconds):
    passes, start = 0, time.process_time()
    while time.process_time() - start < seconds:
        run()
        passes += 1
    return passes / (time.process_time() - start)


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
    folder = parser.parse_args().folder
    path = {name: os.path.join(folder, name) for name in ["plain", "gzip", "examples", "pictures"]}
    runs = {
        "read": reader(tf.data.TFRecordDataset(path["plain"]).batch(1000)),
        "gzip": reader(tf.data.TFRecordDataset(path["gzip"], "GZIP").batch(1000)),
        "parse": reader(batches(path["examples"])),
    }
    if os.path.exists(path["pictures"]):
        runs["jpeg"] = pictures(path["pictures"])
        runs["jpeg_half"] = pictures(path["pictures"], ratio=2)
    for run in runs.values():
        run()  # builds its graph
    for line in sys.stdin:
        what, seconds = line.split()
        print(rate(runs[what], float(seconds)), flush=True)


if __name__ == "__main__":
    main()
