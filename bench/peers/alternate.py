"""Muster and its peers on the network of `muster-bench mlp`, in alternating windows.

    alternate.py [--seconds 1] [--rounds 9] [--only PEER CONFIG] -- COMMAND...

COMMAND trains with Muster for about as long as a window, and its last line of output is the JSON object `done`. Each
variant of each peer has some windows first. Then the fastest variant of each peer, way, and kind (one model, or replicas
of it) takes turns with Muster, a window each, so that what else the machine does hits both. The contestants that wait
compute nothing. Prints a JSON line for each finalist, as soon as it is measured: the best and the median window of both,
the ratio of the best windows, and the median of the ratios of neighbouring windows. How long all will take is said on
standard error at the start.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing of ours lands beside the sources
import jax_mlp
import peer
import pytorch_mlp
import tensorflow_mlp

TRIALS = 3
# About what the start of a variant takes, with the import of its framework and 200 steps, and the start of Muster.
START_SECONDS, MUSTER_START_SECONDS = 8, 0.5
# The variants that --quick leaves out: each would be a process that is started and warmed up.
QUICK_CONFIGS = ("all-cores", "mirrored", "ddp")
QUICK_WAYS = ("guide", "step")
PEERS = {"tensorflow": tensorflow_mlp, "pytorch": pytorch_mlp, "jax": jax_mlp}
BESIDE_BUSY = {"tensorflow": "step", "pytorch": "eager-step", "jax": "inside-step"}  # variants that are measured so


# Measured only if asked for.
ASKED_CONFIGS = ("reading",)


class Finalist:
    """The fastest variant of a peer, way and kind, and its windows."""

    def __init__(self, name, config, variant):
        self.name, self.config, self.variant = name, config, variant
        self.way = next(way for way in peer.WAYS if variant.endswith(way))
        self.replicated = config.startswith(("mirrored", "ddp"))
        self.rate = 0.0
        self.rates, self.muster = [], []
        self.contestant = None

    def kind(self):
        return self.name, self.way, self.replicated

    def start(self, data):
        self.contestant = peer.Contestant(PEERS[self.name].__file__, self.config, self.variant, data)

    def line(self):
        best, muster = max(self.rates), max(self.muster)
        pairs = [ours / theirs for ours, theirs in zip(self.muster, self.rates)]
        return {"peer": self.name, "config": self.config, "way": self.way, "variant": self.variant,
                "replicated": self.replicated, "examples_per_sec": round(best, 1),
                "median_examples_per_sec": round(statistics.median(self.rates), 1), "muster": round(muster, 1),
                "median_muster": round(statistics.median(self.muster), 1), "ratio_best": round(muster / best, 4),
                "ratio_median": round(statistics.median(pairs), 4), "first_step_sec": round(self.first_step, 3)}


def is_there(name):
    module = {"pytorch": "torch"}.get(name, name)
    return subprocess.run([sys.executable, "-c", f"import importlib.util, sys; "
                           f"sys.exit(importlib.util.find_spec('{module}') is None)"], check=False).returncode == 0


def variants_of(name, arguments):
    """The pairs of configuration and variant of a peer that are to be measured."""
    for config, variants in PEERS[name].CONFIGS.items():
        if arguments.only != [name, config] if arguments.only else config in ASKED_CONFIGS:
            continue
        if arguments.quick and not arguments.only and not config.startswith(QUICK_CONFIGS):
            continue
        for variant in variants:
            if not arguments.quick or variant in QUICK_WAYS or variant.endswith("-step"):
                yield config, variant


def all_candidates(arguments):
    """All variants that are to be measured, of all peers that are installed."""
    candidates = []
    for name in PEERS:
        variants = list(variants_of(name, arguments))
        if variants and not is_there(name):
            print(f"{name} is not installed: it is left out", file=sys.stderr)
        elif variants:
            candidates += [Finalist(name, config, variant) for config, variant in variants]
    return candidates


def say_time(candidates, arguments):
    finalists = len({candidate.kind() for candidate in candidates})
    trials = len(candidates) * (START_SECONDS + number_of_trials(arguments) * arguments.seconds / 2)
    turns = finalists * arguments.rounds * (2 * arguments.seconds + MUSTER_START_SECONDS)
    print(f"{len(candidates)} variants of peers: about {(trials + turns) / 60:.1f} minutes", file=sys.stderr)


def number_of_trials(arguments):
    return 1 if arguments.quick else TRIALS


def find_finalists(candidates, arguments):
    """Gives each candidate some short windows, and returns the fastest of each kind, whose processes wait."""
    fastest, first_steps = {}, {}
    for candidate in candidates:
        try:
            candidate.start(arguments.data)
            candidate.rate = max(candidate.contestant.window(arguments.seconds / 2)["examples_per_sec"]
                                 for _ in range(number_of_trials(arguments)))
        except RuntimeError as error:
            print(error, file=sys.stderr)
            continue
        name, first = candidate.name, candidate.contestant.first_step
        first_steps[name] = min(first, first_steps.get(name, first))
        if arguments.verbose:
            print(f"{name}, {candidate.config}, {candidate.variant}: {candidate.rate:.0f} examples/s", file=sys.stderr)
        slower = fastest.get(candidate.kind())
        if slower and slower.rate >= candidate.rate:
            slower = candidate
        else:
            fastest[candidate.kind()] = candidate
        if slower:
            slower.contestant.close()
    for finalist in fastest.values():
        finalist.first_step = first_steps[finalist.name]
    return list(fastest.values())


def muster_window(command):
    """Examples a second of one run of Muster's command, without its start."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip().splitlines()[-1]
    return json.loads(done)["examples_per_sec"]


def take_turns(finalist, arguments):
    """Who is first changes from round to round."""

    def ours():
        finalist.muster.append(muster_window(arguments.command))

    def theirs():
        finalist.rates.append(finalist.contestant.window(arguments.seconds)["examples_per_sec"])

    for number in range(arguments.rounds):
        for window in (ours, theirs) if number % 2 == 0 else (theirs, ours):
            window()


def beside_busy(name, arguments):
    """Examples a second on all cores over those on one thread, while every core but one is busy with something else;
    None where that cannot be measured. As `muster-bench mlp` does it for itself."""
    cores = len(os.sched_getaffinity(0))
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cores - 1)]
    rates = []
    try:
        for config in ("all-cores", "one-thread"):
            contestant = peer.Contestant(PEERS[name].__file__, config, BESIDE_BUSY[name], arguments.data)
            rates.append(contestant.window(arguments.seconds)["examples_per_sec"])
            contestant.close()
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return None
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    return rates[0] / rates[1]


def main():
    parser = argparse.ArgumentParser(description="measures Muster and its peers in alternating windows")
    parser.add_argument("--data", default=peer.DATA, help="folder of the gzipped IDX files")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a window")
    parser.add_argument("--rounds", type=int, default=9, help="windows of each finalist, and of Muster beside each")
    parser.add_argument("--quick", action="store_true", help="fewer variants, and three windows of each finalist")
    parser.add_argument("--only", nargs=2, metavar=("PEER", "CONFIG"), help="one configuration of one peer")
    parser.add_argument("--verbose", action="store_true", help="the rate of each variant, to standard error")
    parser.add_argument("command", nargs="+", help="Muster's command, after --")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds = min(arguments.rounds, 3)
    candidates = all_candidates(arguments)
    say_time(candidates, arguments)
    finalists = find_finalists(candidates, arguments)
    if not finalists:
        print("no peer ran", file=sys.stderr)
        return 1
    try:
        for finalist in finalists:
            take_turns(finalist, arguments)
            finalist.contestant.close()
            print(json.dumps(finalist.line()), flush=True)
    finally:
        for finalist in finalists:
            finalist.contestant.close()
    for name in () if arguments.quick or arguments.only else dict.fromkeys(finalist.name for finalist in finalists):
        if ratio := beside_busy(name, arguments):
            print(json.dumps({"peer": name, "beside_busy": round(ratio, 3)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
