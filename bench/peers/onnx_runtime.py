"""ONNX Runtime on a file of ONNX, one picture at a time: asked by `muster-bench inference` on standard input for "one"
or "all" and a number of seconds, answers with pictures a second.

    onnx_runtime.py FILE
"""
import os
import sys
import time

import numpy
import onnxruntime

WARM_RUNS = 5


def session(path, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def rate(of, picture, seconds):
    feeds = {of.get_inputs()[0].name: picture}
    for _ in range(WARM_RUNS):
        of.run(None, feeds)
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        of.run(None, feeds)
        count += 1
    return count / (time.perf_counter() - began)


def main(path):
    of = {"one": session(path, 1), "all": session(path, len(os.sched_getaffinity(0)))}
    shape = [1, *of["one"].get_inputs()[0].shape[1:]]
    picture = (numpy.arange(numpy.prod(shape)) % 97 / 97).astype(numpy.float32).reshape(shape)
    for line in sys.stdin:
        name, seconds = line.split()
        print(rate(of[name], picture, float(seconds)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
