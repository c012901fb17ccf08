"""What both peers share: the data, the numbers of the network, and how a configuration is measured.

The job is that of `muster bench mlp`: 784-500-10 with relu, weights truncated normal with standard deviation 0.1,
biases 0, batch 100 a replica, mean softmax cross entropy plus 1e-4 * sum(w^2) / 2 of both weights, SGD with the
learning rate 0.001 * 0.99^(step / 600), and a moving average of all variables with decay
min(0.99, (1 + step) / (10 + step)).

A script run without --variant measures each configuration in processes of its own, one for each variant of the program,
and prints one JSON line for each configuration and way of writing it: "guide" as the peer's own guide does (Keras' fit;
DataLoader, optimizer, scheduler and AveragedModel), "step" for the least code a step that could be found, "loop" for
many such steps in one compiled call. A variant's name ends in its way. Each number in a line is
the best of any variant: what the peer can do at its best that way. A process prints "first step done" when it is, so
that the time from its start can be taken outside.
"""

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
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


def load(directory):
    """Training pixels as float32 [60000, 784], 0 to 255, and labels as int64 [60000], from gzipped IDX files."""
    import numpy as np

    with gzip.open(os.path.join(directory, "train-images-idx3-ubyte.gz")) as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784).astype(np.float32)
    with gzip.open(os.path.join(directory, "train-labels-idx1-ubyte.gz")) as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8).astype(np.int64)
    return pixels, labels


def measure(run, seconds, examples_a_step, version, steps_a_call=STEPS_A_CALL):
    """Prints the line of the first step and returns the result. run(n) does n steps, and returns when they are done."""
    run(1)
    print(FIRST_STEP, flush=True)
    run(WARM_UP_STEPS)
    steps = 0
    busy = time.process_time()
    start = time.perf_counter()
    while True:
        run(steps_a_call)
        steps += steps_a_call
        elapsed = time.perf_counter() - start
        if elapsed >= seconds:
            break
    busy = time.process_time() - busy
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"version": version, "examples_per_sec": steps * examples_a_step / elapsed, "peak_mb": peak_kib / 1024.0,
            "cores_busy": busy / elapsed}


def run_variant(script, config, variant, arguments):
    """One process: its result with the seconds from its start to its first step, or None where it failed."""
    command = [sys.executable, script, "--config", config, "--variant", variant, "--data", arguments.data, "--seconds",
               str(arguments.seconds)]
    start = time.perf_counter()
    errors = None if arguments.verbose else subprocess.PIPE
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    first_step = None
    result = None
    for line in process.stdout:
        if line.strip() == FIRST_STEP:
            first_step = time.perf_counter() - start
        elif line.startswith("{"):
            result = json.loads(line)
    error = process.stderr.read() if process.stderr else ""
    if process.wait() != 0 or result is None or first_step is None:
        last = error.strip().splitlines()[-1:] or ["no message"]
        print(f"{config}, {variant}: failed: {last[0]}", file=sys.stderr)
        return None
    result["first_step_sec"] = first_step
    if arguments.verbose:
        print(f"{config}, {variant}: {json.dumps(result)}", file=sys.stderr)
    return result


def beside_busy(script, arguments):
    """Examples a second on all cores over those on one thread, while every core but one is busy with something else;
    None where that cannot be measured. As `muster bench mlp` does it for itself."""
    cores = len(os.sched_getaffinity(0))
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores - 1)]
    try:
        rates = [result["examples_per_sec"] for config in ["all-cores", "one-thread"]
                 if (result := run_variant(script, config, "step", arguments))]
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    return rates[0] / rates[1] if len(rates) == 2 else None


def main(peer, script, configs, run_config):
    """configs: {configuration: [variant, ...]}; run_config(config, variant, arguments) returns what measure() does."""
    parser = argparse.ArgumentParser(description=f"measures {peer} on the network of `muster bench mlp`")
    parser.add_argument("--config", choices=sorted(configs), help="measure only this one")
    parser.add_argument("--variant", help="measure only this one of --config, in this process")
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist", help="folder of the gzipped IDX files")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each variant is measured")
    parser.add_argument("--verbose", action="store_true", help="numbers and messages of variants, to standard error")
    arguments = parser.parse_args()
    if arguments.variant and not arguments.config:
        parser.error("--variant needs --config")
    if arguments.variant:
        print(json.dumps(run_config(arguments.config, arguments.variant, arguments)), flush=True)
        return 0
    failed = 0
    for config, variants in configs.items():
        if arguments.config not in (None, config):
            continue
        results = {v: r for v in variants if (r := run_variant(script, config, v, arguments))}
        if not results:
            failed += 1
        for way in WAYS:
            print_best(peer, config, way, {v: r for v, r in results.items() if v.endswith(way)})
    if not arguments.config and (ratio := beside_busy(script, arguments)):
        print(json.dumps({"peer": peer, "beside_busy": round(ratio, 3)}), flush=True)
    return 1 if failed else 0


def print_best(peer, config, way, results):
    if not results:
        return
    fastest = max(results, key=lambda v: results[v]["examples_per_sec"])
    print(json.dumps({
        "peer": peer,
        "version": results[fastest]["version"],
        "config": config,
        "way": way,
        "variant": fastest,
        "examples_per_sec": round(results[fastest]["examples_per_sec"], 1),
        "first_step_sec": round(min(r["first_step_sec"] for r in results.values()), 3),
        "peak_mb": round(min(r["peak_mb"] for r in results.values()), 1),
    }), flush=True)
