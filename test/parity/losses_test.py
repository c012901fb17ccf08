"""Losses against Keras: values and gradients of all kinds, from probabilities, from logits and through the activations
that they recover logits from, at extreme and special values; reductions with sample weights; L1 and L2 penalties."""

import sys

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402

random = np.random.RandomState(3)
ROWS, CLASSES = 5, 4
NAN, INF = np.nan, np.inf


def f32(rows):
    return np.array(rows, np.float32)


NUMBERS = np.array([0, 2, 1, 3, 0])
ONE_HOT = np.eye(CLASSES, dtype=np.float32)[NUMBERS]
SPREAD = f32(random.dirichlet(np.ones(CLASSES), ROWS))
BITS = f32(random.uniform(size=(ROWS, CLASSES)) > 0.5)
REALS = f32(random.normal(0, 3, (ROWS, CLASSES)))

LOGITS = {
    "usual": REALS,
    "extreme": f32([[1e30, 0, -1e30, 1], [1000, 1000, -1000, 999], [-1e5] * 4, [88, 89, -104, 0], [0] * 4]),
    "special": f32([[INF, 0, 1, 2], [0, INF, 1, INF], [-INF] * 4, [NAN, 0, 1, 2], [0, 1, 2, 3]]),
}
_some = SPREAD.copy()
_some[:3] = [[1, 0, 0, 0], [0, 0, 1, 0], [0.2, 0.2, 0.2, 0.4]]
PROBABILITIES = {
    "usual": _some,
    "not scaled": _some * 3,
    "zero": _some * 0,
    "at the limits": np.clip(_some, np.float32(1e-7), np.float32(1 - 1e-7)),
    "outside": _some * 4 - 1,
    "special": np.where(_some == 1, np.float32(NAN), _some),
}
GRID = f32([[0, 1, -1, 2], [0.5, 1, 1.5, -2], [1, -1, 3, 0], [1e30, -1e30, 1e-30, 1], [INF, -INF, NAN, 0]])


def cases():
    """(loss, labels, predictions, from_logits, activation)"""
    sparse, categorical, binary = "sparse_categorical_crossentropy", "categorical_crossentropy", "binary_crossentropy"
    for logits in LOGITS.values():
        for labels in (NUMBERS, NUMBERS.astype(np.int32), NUMBERS.astype(np.uint8), f32(NUMBERS)[:, None]):
            yield sparse, labels, logits, True, None
        # Where labels do not add up to 1 TensorFlow's gradient is not that of its loss; where a label 0 meets a logit
        # -inf its loss is NaN. Muster's are the gradient, and 0.
        for labels in (ONE_HOT, SPREAD):
            yield categorical, labels, logits, True, None
        for labels in (BITS, SPREAD):
            yield binary, labels, logits, True, None
        yield sparse, NUMBERS, logits, False, "softmax"
        yield categorical, ONE_HOT, logits, False, "softmax"
        yield binary, BITS, logits, False, "sigmoid"
    yield sparse, np.array([[0, 1, 2], [3, 3, 0]]), f32(random.normal(size=(2, 3, 4))), True, None
    for probabilities in PROBABILITIES.values():
        yield sparse, NUMBERS, probabilities, False, None
        for labels in (ONE_HOT, SPREAD, SPREAD * 0):
            yield categorical, labels, probabilities, False, None
            yield "kl_divergence", labels, probabilities, False, None
            yield "poisson", labels, probabilities, False, None
        for labels in (BITS, SPREAD):
            yield binary, labels, probabilities, False, None
    for loss in ("mean_squared_error", "mean_absolute_error", "huber", "hinge", "poisson"):
        for labels, predictions in ((np.zeros_like(GRID), GRID), (GRID, GRID), (BITS, REALS), (2 * BITS - 1, REALS),
                                    (2 * BITS - 1, GRID), (BITS.astype(np.int32), REALS), (3 * SPREAD - 1, REALS),
                                    (f32(random.normal(size=(2, 3, 4))), f32(random.normal(size=(2, 3, 4))))):
            yield loss, labels, predictions, False, None


def with_gradient(function, predictions):
    """The value of FUNCTION, and the gradient of its sum, as arrays."""
    source = tf.constant(predictions)
    with tf.GradientTape() as tape:
        tape.watch(source)
        value = function(source)
    return value.numpy(), tape.gradient(value, source).numpy()


def compare(report, name, answer, expected):
    value, gradient = expected
    report.values(f"{name}: value", answer["outputs"][0], value, 1e-5, 1e-6)
    report.values(f"{name}: gradient", answer["gradients"][0], gradient, 1e-5, 2e-2)


def compare_losses(report):
    all_cases = list(cases())
    answers = muster.evaluate(
        {"kind": "loss", "loss": loss, "labels": labels, "predictions": predictions, "from_logits": from_logits,
         **({"activation": activation} if activation else {})}
        for loss, labels, predictions, from_logits, activation in all_cases)
    for (loss, labels, predictions, from_logits, activation), answer in zip(all_cases, answers):

        def per_example(source):
            output = keras.activations.get(activation)(source)
            arguments = {"from_logits": from_logits} if "crossentropy" in loss else {}
            value = getattr(keras.losses, loss)(labels, output, **arguments)
            return tf.reduce_mean(value, range(1, value.ndim)) if value.ndim > 1 else value

        name = f"{loss} {labels.tolist()} {predictions.tolist()}, from_logits {from_logits}, {activation}"
        compare(report, name, answer, with_gradient(per_example, predictions))


def compare_reductions(report):
    for weights in (None, f32(random.uniform(size=ROWS)), f32([0] * ROWS), np.array([1, 0, 2, 0, 1]),
                    f32([1, -1, 0, 0, 0])):
        for number, reduction in enumerate(("sum_over_batch_size", "sum", None, "mean_with_sample_weight")):
            loss = keras.losses.Huber(reduction=reduction)
            case = {"kind": "loss", "loss": "huber", "labels": SPREAD, "predictions": REALS, "reduction": number}
            if weights is not None:
                case["weights"] = weights
            expected = with_gradient(lambda source: loss(SPREAD, source, sample_weight=weights), REALS)
            compare(report, f"reduction {reduction}, weights {weights}", muster.evaluate([case])[0], expected)


def compare_penalties(report):
    """Keras's factors, and with half those of tf.nn.l2_loss."""
    weights = f32([0, 1, -2, 0.5, -0.0])
    for l1, l2 in ((0.1, 0.0), (0.0, 0.1), (0.1, 0.2)):
        case = {"kind": "loss", "loss": "penalty", "predictions": weights, "l1": l1, "l2": l2}
        answers = muster.evaluate([case, {**case, "half": True}])
        compare(report, f"penalty {l1} {l2}", answers[0], with_gradient(keras.regularizers.L1L2(l1, l2), weights))
        half = with_gradient(lambda w: l1 * tf.reduce_sum(tf.abs(w)) + l2 * tf.nn.l2_loss(w), weights)
        compare(report, f"penalty {l1} {l2}, half", answers[1], half)


def main():
    report = muster.Report()
    compare_losses(report)
    compare_reductions(report)
    compare_penalties(report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
