"""Schedules against Keras, in the graph (f32) and at once (mst_schedule_at), at the steps around their corners."""

import sys

import muster

tf = muster.tensorflow()
from keras.optimizers import schedules as keras  # noqa: E402

HUGE = [10**6, 2**24 + 1, 10**9, 10**12]  # f32 does not count all steps from 2^24 on


def around(*corners):
    """The first steps, those beside and at each corner, and huge ones."""
    return sorted({step + k for step in (1, *corners) for k in (-1, 0, 1)} | set(HUGE))


def decays():
    """(name, members of mst_schedule, Keras's schedule, corners)"""
    for rate, decay, every in ((0.1, 0.96, 7), (0.001, 0.99, 600), (0.1, 0.25, 10)):
        for stairs in (False, True):
            members = {"rate": rate, "decay_rate": decay, "decay_steps": every, "staircase": stairs}
            corners = (every, 2 * every, 10 * every)
            yield ("exponential", {"kind": "exponential", **members},
                   keras.ExponentialDecay(rate, every, decay, staircase=stairs), corners)
            yield ("inverse time", {"kind": "inverse_time", **members},
                   keras.InverseTimeDecay(rate, every, decay, staircase=stairs), corners)
    yield "polynomial", {"kind": "polynomial", "rate": 0.1, "decay_steps": 10}, keras.PolynomialDecay(0.1, 10), (10, 20)
    for cycle in (False, True):
        for power in (1.0, 2.0, 3.7):
            for end in (0.01, 0.2):
                members = {"rate": 0.1, "decay_steps": 10, "power": power, "end": end, "cycle": cycle}
                yield ("polynomial", {"kind": "polynomial", **members},
                       keras.PolynomialDecay(0.1, 10, end, power, cycle=cycle), (10, 20, 100))
    for alpha in (0.0, 0.1, 1.0):
        cosine = {"kind": "cosine", "rate": 0.1, "decay_steps": 10, "alpha": alpha}
        yield "cosine", cosine, keras.CosineDecay(0.1, 10, alpha=alpha), (10, 20)
        for warmup in (1, 5):
            for first in (0.0, 0.02, 0.2):
                yield ("cosine, warm-up", {**cosine, "warmup_steps": warmup, "warmup_from": first},
                       keras.CosineDecay(first, 10, alpha=alpha, warmup_target=0.1, warmup_steps=warmup),
                       (warmup, warmup + 10))
    for boundaries, rates in (([5, 10, 100], [1.0, 0.5, 0.1, 0.01]), ([0], [1.0, 0.5])):
        yield ("piecewise", {"kind": "piecewise", "boundary": boundaries, "value": rates},
               keras.PiecewiseConstantDecay(boundaries, rates), [b + 1 for b in boundaries])


def main():
    report = muster.Report()
    cases = list(decays())
    answers = muster.evaluate({"kind": "schedule", "schedule": members, "steps": around(*corners)}
                              for _, members, _, corners in cases)
    for (name, members, schedule, corners), answer in zip(cases, answers):
        for step, in_graph, at_once in zip(around(*corners), answer["outputs"], answer["at"]):
            expected = float(schedule(tf.constant(step, tf.int64)))
            report.values(f"{name} {members}, step {step}", [in_graph], [expected], 3e-6)
            report.values(f"{name} {members}, step {step}, at once", [at_once], [expected], 3e-4, 1e-6)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
