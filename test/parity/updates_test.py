"""Updates against Keras, from the same weights and gradients: every optimizer and hyperparameter, penalties, clipping,
decoupled decay, gradients that are 0, NaN or infinite, or add up over several steps; moving averages against tf.train;
and all default values."""

import sys

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402

CLASSES = {"sgd": "SGD", "adagrad": "Adagrad", "rmsprop": "RMSprop", "adam": "Adam", "adamw": "AdamW", "nadam": "Nadam",
           "ftrl": "Ftrl"}
KERAS_NAMES = {"clip_value": "clipvalue", "clip_norm": "clipnorm", "clip_global_norm": "global_clipnorm",
               "initial_accumulator": "initial_accumulator_value", "l1_strength": "l1_regularization_strength",
               "l2_strength": "l2_regularization_strength", "l2_shrinkage": "l2_shrinkage_regularization_strength"}
CLIPS = ("clip_value", "clip_norm", "clip_global_norm")
SHAPES = [(3, 4), (5,), (1,)]
STEPS = 6

random = np.random.RandomState(3)
WEIGHTS = [random.normal(0, 1, shape) for shape in SHAPES]
GRADIENTS = [[random.normal(0, 1, shape) for shape in SHAPES] for _ in range(STEPS)]


def with_element(value):
    """The gradients with one element of the second step replaced."""
    gradients = [[g.copy() for g in step] for step in GRADIENTS[:4]]
    gradients[1][0].flat[1] = value
    return gradients


def formulas():
    """(optimizer, l1, l2): l1 * sum |w| + l2 / 2 * sum w^2 is added to the loss."""
    for rule in CLASSES:
        yield {"rule": rule}, 0, 0
        yield {"rule": rule, "learning_rate": 0.125}, 0, 0
        yield {"rule": rule, "learning_rate": 0.125, "weight_decay": 0.0625}, 0, 0
        yield {"rule": rule, "learning_rate": 0.125, "weight_decay": 0.0625}, 0.125, 0.25
        for clip in CLIPS:
            for limit in (0.5, 2.0, 100.0):
                yield {"rule": rule, "learning_rate": 0.125, clip: limit}, 0, 0
                yield {"rule": rule, "learning_rate": 0.125, clip: limit, "weight_decay": 0.0625}, 0.125, 0.25
    for nesterov in (False, True):
        yield {"rule": "sgd", "momentum": 0.9, "nesterov": nesterov}, 0, 0
        yield {"rule": "sgd", "nesterov": nesterov}, 0, 0.25
    for momentum in (0.0, 0.5):
        for centered in (False, True):
            yield {"rule": "rmsprop", "rho": 0.8, "momentum": momentum, "centered": centered, "epsilon": 1e-3}, 0, 0
    for rule in ("adam", "adamw"):
        for amsgrad in (False, True):
            yield {"rule": rule, "amsgrad": amsgrad, "beta_1": 0.5, "beta_2": 0.9, "epsilon": 0.1}, 0, 0
    yield {"rule": "nadam", "beta_1": 0.5, "beta_2": 0.9, "epsilon": 0.1}, 0, 0
    yield {"rule": "adagrad", "initial_accumulator": 2.0, "epsilon": 0.1}, 0, 0
    for power in (-0.5, -0.3, -1.0):
        yield {"rule": "ftrl", "learning_rate": 0.125, "learning_rate_power": power, "l1_strength": 0.3,
               "l2_strength": 0.2, "l2_shrinkage": 0.1, "beta": 0.3, "initial_accumulator": 0.5}, 0, 0


LONG = 26
MANY = [[random.normal(0, 1, shape) for shape in SHAPES] for _ in range(LONG)]
DECAY = {"initial_learning_rate": 0.25, "decay_steps": 5, "decay_rate": 0.75}


def accumulated():
    """(optimizer, l1, l2): an update every 2, 3 or 5 of 26 steps. The schedule sees each step."""
    for number in (2, 3, 5):
        accumulation = {"learning_rate": 0.125, "gradient_accumulation_steps": number}
        for rule in CLASSES:
            yield {"rule": rule, **accumulation}, 0, 0
            yield {"rule": rule, **accumulation, "weight_decay": 0.0625}, 0.125, 0.25
        for clip in CLIPS:
            yield {"rule": "adam", **accumulation, clip: 0.5}, 0.125, 0.25
        for rule in ("sgd", "adam"):
            yield {"rule": rule, "gradient_accumulation_steps": number, "schedule": {
                "kind": "exponential", "rate": 0.25, "decay_steps": 5, "decay_rate": 0.75}}, 0, 0
        yield {"rule": "sgd", "momentum": 0.9, **accumulation}, 0, 0
        yield {"rule": "sgd", "momentum": 0.9, "nesterov": True, **accumulation}, 0, 0.25


def specials():
    """(optimizer, gradients) whose gradients are 0, NaN or infinite."""
    nothing = [[np.zeros_like(g) for g in step] for step in GRADIENTS[:2]]
    for rule in CLASSES:
        yield {"rule": rule}, nothing
        for value in (np.nan, np.inf, -np.inf):
            yield {"rule": rule}, with_element(value)
    for clip in CLIPS:
        yield {"rule": "sgd", clip: 0.5}, nothing
        for value in (np.nan, np.inf, -np.inf):
            yield {"rule": "sgd", clip: 0.5}, with_element(value)


def keras_weights(members, gradients, l1, l2, dtype):
    """The weights after each step: a list of arrays."""
    arguments = {KERAS_NAMES.get(name, name): value for name, value in members.items()
                 if name not in ("rule", "schedule")}
    if "schedule" in members:
        arguments["learning_rate"] = keras.optimizers.schedules.ExponentialDecay(**DECAY)
    optimizer = getattr(keras.optimizers, CLASSES[members["rule"]])(**arguments)
    variables = [keras.Variable(w.astype(dtype), dtype=dtype) for w in WEIGHTS]
    optimizer.build(variables)
    weights = []
    for step in gradients:
        given = [tf.constant(g, dtype) for g in step]
        if l1 or l2:
            given = [g + l2 * v.value + l1 * tf.sign(v.value) for g, v in zip(given, variables)]
        optimizer.apply(given, variables)
        weights.append([v.numpy() for v in variables])
    return weights


def compare_weights(report, cases, dtype, tolerance):
    """CASES: (optimizer, gradients, l1, l2)"""
    answers = muster.evaluate(
        {"kind": "update", "optimizer": members, "variables": [w.astype(dtype) for w in WEIGHTS],
         "gradients": [[g.astype(dtype) for g in step] for step in gradients], "l1": l1, "l2": l2}
        for members, gradients, l1, l2 in cases)
    for (members, gradients, l1, l2), answer in zip(cases, answers):
        expected = keras_weights(members, gradients, l1, l2, dtype)
        for step, weights in enumerate(expected):
            for v, weight in enumerate(weights):
                name = f"{members}, l1 {l1}, l2 {l2}, {dtype}, step {step}, variable {v}"
                report.values(name, answer["outputs"][step][v], weight, tolerance, 0.1)


def compare_averages(report):
    """In f64, where it shows that TensorFlow takes the decay in f32."""
    for decay in (0.99, 0.9999, 0.25):
        for counted in (False, True):
            optimizer = {"rule": "sgd", "learning_rate": 0.5, "ema_decay": decay, "ema_num_updates": counted}
            answer = muster.evaluate([{"kind": "update", "optimizer": optimizer, "variables": WEIGHTS,
                                       "gradients": GRADIENTS}])[0]
            number = tf.Variable(0, dtype=tf.int64)
            average = tf.train.ExponentialMovingAverage(decay, num_updates=number if counted else None)
            variables = [tf.Variable(w) for w in WEIGHTS]
            average.apply(variables)  # makes the averages: without it they begin after the first update
            for step, gradients in enumerate(GRADIENTS):
                for variable, gradient in zip(variables, gradients):
                    variable.assign_sub(0.5 * gradient)
                number.assign(step)
                average.apply(variables)
                for v, variable in enumerate(variables):
                    report.values(f"average {decay}, num_updates {counted}, step {step}, variable {v}",
                                  answer["averages"][step][v], average.average(variable).numpy(), 1e-12)


def compare_defaults(report):
    """Every member that Keras has too; what Keras calls None or has no name for must be 0."""
    answers = muster.evaluate({"kind": "defaults", "optimizer": rule} for rule in CLASSES)
    others = {"ema_decay", "ema_num_updates"}  # Keras's use_ema is another average
    for rule, answer in zip(CLASSES, answers):
        config = getattr(keras.optimizers, CLASSES[rule])().get_config()
        for name, value in answer.items():
            expected = config.get(KERAS_NAMES.get(name, name)) or 0
            if name not in others:
                report.values(f"default {name} of {rule}", [value], [expected], 1e-7)


def main():
    report = muster.Report()
    # In f64 rounding does not hide what differs, but Keras takes most hyperparameters in f32 there too.
    compare_weights(report, [(members, GRADIENTS, l1, l2) for members, l1, l2 in formulas()], "float64", 5e-5)
    compare_weights(report, [(members, gradients, 0, 0) for members, gradients in specials()], "float32", 1e-5)
    compare_weights(report, [(members, MANY, l1, l2) for members, l1, l2 in accumulated()], "float64", 5e-5)
    compare_weights(report, [(members, MANY, l1, l2) for members, l1, l2 in accumulated()][-2:], "float32", 1e-4)
    compare_averages(report)
    compare_defaults(report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
