"""What both peers share: the data, the numbers of the network, and how a configuration is measured.

The job is that of `muster-bench mlp`: 784-500-10 with relu, weights truncated normal with standard deviation 0.1,
biases 0, batch 100 a replica, mean softmax cross entropy plus 1e-4 * sum(w^2) / 2 of both weights, SGD with the
learning rate 0.001 * 0.99^(step / 600), and a moving average of all variables with decay
min(0.99, (1 + step) / (10 + step)).

A peer's script, run with --config and --variant, is one contestant. It prints "first step done" when it is, so that the
time from its start can be taken outside, warms up, and then measures a window for each line of its standard input, which
holds the window's seconds. Of each window it prints one JSON line. Between windows it waits and computes nothing, so that
several contestants can take turns; alternate.py makes them do so.

A variant's name ends in its way: "guide" as the peer's own guide does (Keras' fit; DataLoader, optimizer, scheduler and
AveragedModel), "step" for the least code a step that could be found, "loop" for many such steps in
one compiled call.
"""

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HIDDEN = 500
BATCH = 100
LEARNING_RATE = 0.001
DECAY_RATE = 0.99
DECAY_STEPS = 600.0
L2 = 1e-4
AVERAGE_DECAY = 0.99
FIRST_STEP = "first step done"
WARM_UP_STEPS = 200
STEPS_A_CALL = 100
GUIDE_STEPS_A_CALL = 600  # an epoch, so that what is done before and after one weighs as little as for its users
WAYS = ["guide", "step", "loop"]
DATA = "/usr/share/datasets/fashion-mnist"


def load(directory):
    """Training pixels as float32 [60000, 784], 0 to 255, and labels as int64 [60000], from gzipped IDX files."""
    import numpy as np

    with gzip.open(os.path.join(directory, "train-images-idx3-ubyte.gz")) as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float32)
    with gzip.open(os.path.join(directory, "train-labels-idx1-ubyte.gz")) as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)
    return pixels, labels


def measure(run, examples_a_step, version, steps_a_call=STEPS_A_CALL, warm_up_steps=WARM_UP_STEPS):
    """Measures windows as standard input asks for them. run(n) does n steps, and returns when they are done."""
    run(1)
    print(FIRST_STEP, flush=True)
    run(warm_up_steps)
    for line in sys.stdin:
        seconds = float(line)
        steps = 0
        start = time.perf_counter()
        while (elapsed := time.perf_counter() - start) < seconds:
            run(steps_a_call)
            steps += steps_a_call
        peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps({"version": version, "examples_per_sec": steps * examples_a_step / elapsed,
                          "peak_mb": peak_kib / 1024.0}), flush=True)


class Contestant:
    """A variant of a peer in a process of its own. Raises RuntimeError where it fails."""

    def __init__(self, script, config, variant, data):
        self.name = f"{os.path.basename(script)}, {config}, {variant}"
        self.errors = tempfile.TemporaryFile("w+")
        started = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, script, "--config", config, "--variant", variant, "--data", data], text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors)
        self._read(lambda line: line.strip() == FIRST_STEP)
        self.first_step = time.perf_counter() - started

    def window(self, seconds):
        """What it printed of a window of so many seconds."""
        try:
            self.process.stdin.write(f"{seconds}\n")
        except OSError:
            self._fail()
        return json.loads(self._read(lambda line: line.startswith("{")))

    def close(self):
        """Ends it. May be called again."""
        if not self.process.stdin.closed:
            try:
                self.process.stdin.close()
            except OSError:
                pass
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()

    def _read(self, wanted):
        for line in self.process.stdout:
            if wanted(line):
                return line
        self._fail()

    def _fail(self):
        self.errors.seek(0)
        last = self.errors.read().strip().splitlines()[-1:] or ["no message"]
        self.close()
        raise RuntimeError(f"{self.name}: failed: {last[0]}")


def main(peer, configs, run_config):
    """configs: {configuration: [variant, ...]}; run_config(config, variant, arguments) calls measure()."""
    parser = argparse.ArgumentParser(description=f"measures {peer} on the network of `muster-bench mlp`")
    parser.add_argument("--config", choices=sorted(configs), required=True)
    parser.add_argument("--variant", required=True, help="one of the configuration's")
    parser.add_argument("--data", default=DATA, help="folder of the gzipped IDX files")
    arguments = parser.parse_args()
    if arguments.variant not in configs[arguments.config]:
        parser.error(f"--variant: {arguments.config} has {', '.join(configs[arguments.config])}")
    run_config(arguments.config, arguments.variant, arguments)
    return 0
