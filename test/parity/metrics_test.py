"""Metrics against Keras over batches of different sizes: ties, NaN and infinite predictions, labels that are no class;
the confusion matrix against tf.math."""

import sys

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402

CLASSES = 6
SIZES = (9, 1, 12, 7)

random = np.random.RandomState(4)


def scores(rows):
    """In f32; with ties, NaN and infinities where there are rows enough."""
    x = random.normal(0, 1, (rows, CLASSES)).astype(np.float32)
    if rows > 6:
        x[0] = 1
        x[1, 2] = np.nan
        x[2, :3] = x[2].max()
        x[3, 1] = np.inf
        x[4, 2] = -np.inf
        x[5] = np.nan
        x[6, 0] = np.nan
    return x


def cases():
    """(metric, options, Keras's metric, batches of labels and predictions)"""
    predictions = [scores(rows) for rows in SIZES]
    # Labels of the largest number are common: that is where it shows how NaN is ranked.
    labels = [np.where(random.uniform(size=len(p)) < 0.6, np.argmax(np.nan_to_num(p, nan=-9), 1),
                       random.randint(0, CLASSES, len(p))) for p in predictions]
    no_class = [t.copy() for t in labels]
    no_class[0][0], no_class[2][1] = CLASSES + 3, -1
    for t in (labels, no_class):
        batches = list(zip(t, predictions))
        for k in (1, 2, 3, CLASSES, CLASSES + 1):
            yield "top_k_accuracy", {"k": k}, keras.metrics.SparseTopKCategoricalAccuracy(k=k), batches
        yield "top_k_accuracy", {}, keras.metrics.SparseTopKCategoricalAccuracy(), batches
        yield "sparse_accuracy", {}, keras.metrics.SparseCategoricalAccuracy(), batches
        yield "accuracy", {}, keras.metrics.SparseCategoricalAccuracy(), batches
    columns = [(t[:, None].astype(np.float32), p) for t, p in zip(labels, predictions)]
    yield "sparse_accuracy", {}, keras.metrics.SparseCategoricalAccuracy(), columns
    one_hot = [(np.eye(CLASSES, dtype=np.float32)[t], p) for t, p in zip(labels, predictions)]
    yield "categorical_accuracy", {}, keras.metrics.CategoricalAccuracy(), one_hot
    yield "accuracy", {}, keras.metrics.CategoricalAccuracy(), one_hot
    tied = [(np.round(random.uniform(size=p.shape), 1).astype(np.float32), p) for p in predictions]
    yield "categorical_accuracy", {}, keras.metrics.CategoricalAccuracy(), tied

    whole = [random.uniform(size=(rows, CLASSES)).astype(np.float32) for rows in SIZES]
    yield ("mean_io_u", {}, keras.metrics.MeanIoU(num_classes=CLASSES, sparse_y_pred=False), list(zip(labels, whole)))
    yield ("mean_io_u", {}, keras.metrics.OneHotMeanIoU(num_classes=CLASSES),
           [(np.eye(CLASSES, dtype=np.float32)[t], p) for t, p in zip(labels, whole)])
    bits = [(random.uniform(size=(rows, 3)) > 0.5).astype(np.float32) for rows in SIZES]
    probabilities = [random.uniform(size=(rows, 3)).astype(np.float32) for rows in SIZES]
    for p in probabilities:
        p[0, :2] = 0.5, 0.3
    finite = list(zip(bits, probabilities))
    yield "mean_squared_error", {}, keras.metrics.MeanSquaredError(), finite
    yield "mean_absolute_error", {}, keras.metrics.MeanAbsoluteError(), finite
    yield "rmse", {}, keras.metrics.RootMeanSquaredError(), finite
    yield "r2", {}, keras.metrics.R2Score(), finite[:1] + finite[2:]  # Keras gives NaN for a single row at first
    yield "f1", {}, keras.metrics.F1Score(average="micro", threshold=0.5), finite
    special = [p.copy() for p in probabilities]
    special[0][1] = np.nan, np.inf, -np.inf
    for threshold in (0.5, 0.3, 0.9):
        yield ("binary_accuracy", {"threshold": threshold}, keras.metrics.BinaryAccuracy(threshold=threshold),
               list(zip(bits, special)))
    for threshold in (0.5, 0.3):
        yield "precision", {"threshold": threshold}, keras.metrics.Precision(thresholds=threshold), finite
        yield "recall", {"threshold": threshold}, keras.metrics.Recall(thresholds=threshold), finite
    for name, curve in (("auc", "ROC"), ("pr_auc", "PR")):
        yield name, {}, keras.metrics.AUC(curve=curve), finite
        yield name, {"num_thresholds": 11}, keras.metrics.AUC(curve=curve, num_thresholds=11), finite
    column = [(t[:, 0], p[:, :1]) for t, p in zip(bits, special)]
    yield "binary_accuracy", {}, keras.metrics.BinaryAccuracy(), column
    yield "accuracy", {}, keras.metrics.BinaryAccuracy(), column


def main():
    report = muster.Report()
    all_cases = list(cases())
    answers = muster.evaluate({"kind": "metric", "metric": metric, "batches": batches, **options}
                              for metric, options, _, batches in all_cases)
    for (metric, options, other, batches), answer in zip(all_cases, answers):
        expected = []
        for labels, predictions in batches:
            other.update_state(labels, predictions)
            expected.append(float(other.result()))
        report.values(f"{metric} {options} against {other.name}", answer["outputs"], expected, 1e-6)
    labels, predictions = random.randint(0, 4, 30), random.randint(0, 4, 30)
    answer = muster.evaluate([{"kind": "op", "op": "confusion_matrix", "inputs": [labels, predictions],
                               "options": {"num_classes": 5}}])[0]
    report.values("confusion matrix", answer["outputs"][0], tf.math.confusion_matrix(labels, predictions, 5), 0)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
