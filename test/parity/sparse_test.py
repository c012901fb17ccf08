"""Sparse gradients, those of gather: every optimizer on rows of a table, against TensorFlow.

With .sparse = MST_SPARSE_TENSORFLOW sgd, adagrad, rmsprop and ftrl change only the rows that the gradient has, as TensorFlow's
kernels ResourceSparseApply... do (tensorflow/core/kernels/training_ops.cc), and rows that come several times are added
first; adam, adamw and nadam change all rows. The rule momentum is TensorFlow 1's. Else, and by default, all are Keras':
its optimizers get the rows as they come, as tf.IndexedSlices."""

import sys

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402

ROWS, COLUMNS, STEPS, TAKEN = 7, 3, 5, 4
RATE = 0.125

random = np.random.RandomState(5)
WEIGHTS = random.normal(0, 1, (ROWS, COLUMNS))
VALUES = [random.normal(0, 1, (TAKEN, COLUMNS)) for _ in range(STEPS)]
INDICES = [np.array(rows) for rows in ([1, 4, 1, 6], [0, 1, 2, 3], [6, 6, 6, 6], [2, 5, 2, 1], [3, 0, 3, 4])]


def added_up(values, indices):
    """Each row once, as tf.raw_ops want them."""
    rows, places = np.unique(indices, return_inverse=True)
    total = np.zeros((len(rows), COLUMNS))
    np.add.at(total, places, values)
    return tf.constant(total), tf.constant(rows)


def variable(value):
    return tf.Variable(np.full((ROWS, COLUMNS), value, np.float64))


def sgd(members, weights):
    def step(values, rows):
        weights.scatter_sub(tf.IndexedSlices(RATE * values, rows))
    return step


def momentum(members, weights):
    slot = variable(0)

    def step(values, rows):
        tf.raw_ops.ResourceSparseApplyKerasMomentum(
            var=weights.handle, accum=slot.handle, lr=tf.constant(RATE, tf.float64), grad=values, indices=rows,
            momentum=tf.constant(members["momentum"], tf.float64), use_nesterov=members.get("nesterov", False))
    return step


def momentum_1(members, weights):
    slot = variable(0)

    def step(values, rows):
        tf.raw_ops.ResourceSparseApplyMomentum(
            var=weights.handle, accum=slot.handle, lr=tf.constant(RATE, tf.float64), grad=values, indices=rows,
            momentum=tf.constant(members["momentum"], tf.float64), use_nesterov=members.get("nesterov", False))
    return step


def adagrad(members, weights):
    slot = variable(0.1)

    def step(values, rows):
        tf.raw_ops.ResourceSparseApplyAdagradV2(
            var=weights.handle, accum=slot.handle, lr=tf.constant(RATE, tf.float64),
            epsilon=tf.constant(1e-12, tf.float64), grad=values, indices=rows)
    return step


def rmsprop(members, weights):
    slots = [variable(0) for _ in range(3)]
    numbers = {name: tf.constant(value, tf.float64) for name, value in
               (("lr", RATE), ("rho", members["rho"]), ("momentum", members["momentum"]), ("epsilon", 1e-3))}

    def step(values, rows):
        if members.get("centered"):
            tf.raw_ops.ResourceSparseApplyCenteredRMSProp(var=weights.handle, mg=slots[2].handle, ms=slots[0].handle,
                                                          mom=slots[1].handle, grad=values, indices=rows, **numbers)
        else:
            tf.raw_ops.ResourceSparseApplyRMSProp(var=weights.handle, ms=slots[0].handle, mom=slots[1].handle,
                                                  grad=values, indices=rows, **numbers)
    return step


def ftrl(members, weights):
    accumulator, linear = variable(0.1), variable(0)
    numbers = {name: tf.constant(value, tf.float64) for name, value in
               (("lr", RATE), ("l1", 0.3), ("l2", 0.2), ("l2_shrinkage", 0.1), ("lr_power", -0.5))}

    def step(values, rows):
        tf.raw_ops.ResourceSparseApplyFtrlV2(var=weights.handle, accum=accumulator.handle, linear=linear.handle,
                                             grad=values, indices=rows, **numbers)
    return step


def of_keras(name):
    def make(members, weights):
        arguments = {KERAS_NAMES.get(key, key): value for key, value in members.items()
                     if key not in ("rule", "learning_rate", "sparse")}
        optimizer = getattr(keras.optimizers, name)(learning_rate=RATE, **arguments)
        holder = keras.Variable(weights.numpy(), dtype="float64")
        optimizer.build([holder])

        def step(values, rows):
            optimizer.apply([tf.IndexedSlices(values, rows, dense_shape=(ROWS, COLUMNS))], [holder])
            weights.assign(holder.value)
        return step
    return make


KERAS_NAMES = {"clip_value": "clipvalue", "clip_norm": "clipnorm", "clip_global_norm": "global_clipnorm",
               "l1_strength": "l1_regularization_strength", "l2_strength": "l2_regularization_strength",
               "l2_shrinkage": "l2_shrinkage_regularization_strength"}
TENSORFLOW = [
    (sgd, {"rule": "sgd"}),
    (momentum, {"rule": "sgd", "momentum": 0.9}),
    (momentum, {"rule": "sgd", "momentum": 0.9, "nesterov": True}),
    (momentum_1, {"rule": "momentum", "momentum": 0.9}),
    (momentum_1, {"rule": "momentum", "momentum": 0.9, "nesterov": True}),
    (adagrad, {"rule": "adagrad", "epsilon": 1e-12}),
    (rmsprop, {"rule": "rmsprop", "rho": 0.8, "momentum": 0.0, "epsilon": 1e-3}),
    (rmsprop, {"rule": "rmsprop", "rho": 0.8, "momentum": 0.5, "epsilon": 1e-3}),
    (rmsprop, {"rule": "rmsprop", "rho": 0.8, "momentum": 0.5, "centered": True, "epsilon": 1e-3}),
    (ftrl, {"rule": "ftrl", "l1_strength": 0.3, "l2_strength": 0.2, "l2_shrinkage": 0.1}),
    (of_keras("Adam"), {"rule": "adam"}),
    (of_keras("Adam"), {"rule": "adam", "amsgrad": True}),
    (of_keras("AdamW"), {"rule": "adamw", "weight_decay": 0.0625}),
    (of_keras("Nadam"), {"rule": "nadam"}),
]


KERAS = [
    (of_keras("SGD"), {"rule": "sgd"}),
    (of_keras("SGD"), {"rule": "sgd", "momentum": 0.9}),
    (of_keras("SGD"), {"rule": "sgd", "momentum": 0.9, "nesterov": True}),
    (of_keras("Adagrad"), {"rule": "adagrad"}),
    (of_keras("RMSprop"), {"rule": "rmsprop", "rho": 0.8, "epsilon": 1e-3}),
    (of_keras("RMSprop"), {"rule": "rmsprop", "rho": 0.8, "momentum": 0.5, "epsilon": 1e-3}),
    (of_keras("RMSprop"), {"rule": "rmsprop", "rho": 0.8, "momentum": 0.5, "centered": True, "epsilon": 1e-3}),
    (of_keras("Adam"), {"rule": "adam"}),
    (of_keras("Adam"), {"rule": "adam", "amsgrad": True}),
    (of_keras("AdamW"), {"rule": "adamw", "weight_decay": 0.0625}),
    (of_keras("Nadam"), {"rule": "nadam"}),
    (of_keras("Ftrl"), {"rule": "ftrl", "l1_strength": 0.3, "l2_strength": 0.2, "l2_shrinkage": 0.1}),
]
CLIPS = [{}, {"clip_value": 0.5}, {"clip_norm": 0.5}, {"clip_global_norm": 0.5}]


def compare(report, cases, added_first):
    answers = muster.evaluate({"kind": "update", "optimizer": members, "variables": [WEIGHTS],
                               "gradients": [[v] for v in VALUES], "indices": [[i] for i in INDICES]}
                              for _, members in cases)
    for (make, members), answer in zip(cases, answers):
        weights = tf.Variable(WEIGHTS)
        step = make(members, weights)
        for number, (values, indices) in enumerate(zip(VALUES, INDICES)):
            step(*(added_up(values, indices) if added_first else (tf.constant(values), tf.constant(indices))))
            report.values(f"{members}, step {number}", answer["outputs"][number][0], weights.numpy(), 5e-5, 0.1)


def main():
    report = muster.Report()
    compare(report, [(make, {**members, "learning_rate": RATE, "sparse": "tensorflow"})
                     for make, members in TENSORFLOW], True)
    compare(report, [(make, {**members, "learning_rate": RATE, **clip}) for make, members in KERAS for clip in CLIPS],
            False)
    # the sum of several steps is dense: all rows are updated, also where the option says those of the batch
    accumulation = {"learning_rate": RATE, "gradient_accumulation_steps": 2}
    compare(report, [(make, {**members, **accumulation, "sparse": sparse, **clip})
                     for make, members in KERAS for clip in CLIPS for sparse in ("keras", "tensorflow")], False)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
