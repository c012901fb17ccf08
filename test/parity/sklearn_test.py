"""scikit-learn's models as skl2onnx writes them: what Muster computes are scikit-learn's own probabilities, scores, labels
and features within 1e-5 of the largest. Labels that are texts are the numbers of their classes. What is no network, such
as trees, is refused by an error that names the operator."""

import json
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np

SKIPPED = 77
try:
    import onnx
    import skl2onnx
    import sklearn
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(SKIPPED)

from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (ElasticNet, LinearRegression, LogisticRegression, Perceptron, Ridge, RidgeClassifier,
                                  SGDClassifier, SGDRegressor)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (Binarizer, KBinsDiscretizer, MaxAbsScaler, MinMaxScaler, Normalizer, OneHotEncoder,
                                   PolynomialFeatures, RobustScaler, StandardScaler)
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_onnx")
TOLERANCE = 1e-5
DTYPES = {"f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64"}
NAMES = np.array(["setosa", "versicolor", "virginica"])


def data():
    """Three overlapping groups of 150 rows with four features."""
    random = np.random.RandomState(5)
    y = np.arange(150) % 3
    x = random.randn(150, 4) * [1, 2, 0.5, 3] + y[:, None] * [1, -1, 0.5, 2] + [5, 3, 4, 1]
    return x.astype("float32"), y


def classifiers(y):
    """By name: a model, its labels."""
    two = (y > 0).astype(int)
    mlp = {"hidden_layer_sizes": (12,), "max_iter": 150, "random_state": 0}
    sgd = {"random_state": 0}
    return {
        "logistic": (make_pipeline(StandardScaler(), LogisticRegression()), y),
        "logistic_names": (make_pipeline(StandardScaler(), LogisticRegression()), NAMES[y]),
        "logistic_numbers": (make_pipeline(StandardScaler(with_mean=False), LogisticRegression()), 3 * y - 2),
        "logistic_two": (make_pipeline(MinMaxScaler(), LogisticRegression()), two),
        "logistic_two_names": (make_pipeline(MinMaxScaler(clip=True), LogisticRegression()), NAMES[two]),
        "logistic_bools": (make_pipeline(MaxAbsScaler(), LogisticRegression()), two > 0),
        "one_vs_rest": (make_pipeline(MaxAbsScaler(), OneVsRestClassifier(LogisticRegression())), y),
        "linear_svc": (make_pipeline(RobustScaler(), LinearSVC()), y),
        "linear_svc_two": (make_pipeline(RobustScaler(), LinearSVC()), two),
        "linear_svc_names": (make_pipeline(RobustScaler(), LinearSVC()), NAMES[y]),
        "mlp": (make_pipeline(PCA(2), MLPClassifier(**mlp)), y),
        "mlp_two": (make_pipeline(PCA(3, whiten=True), MLPClassifier(activation="tanh", **mlp)), two),
        "mlp_names": (make_pipeline(StandardScaler(), MLPClassifier(activation="logistic", **mlp)), NAMES[y]),
        "mlp_two_names": (make_pipeline(StandardScaler(), MLPClassifier(activation="identity", **mlp)), NAMES[two]),
        "sgd_log": (make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", **sgd)), y),
        "sgd_log_two": (make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", **sgd)), two),
        "sgd_log_names": (make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", **sgd)), NAMES[y]),
        "sgd_hinge": (make_pipeline(StandardScaler(), SGDClassifier(**sgd)), y),
        "sgd_huber": (make_pipeline(StandardScaler(), SGDClassifier(loss="modified_huber", **sgd)), y),
        "ridge_classifier": (make_pipeline(StandardScaler(), RidgeClassifier()), y),
        "perceptron": (make_pipeline(StandardScaler(), Perceptron()), y),
        "binarizer": (make_pipeline(Binarizer(threshold=3.5), LogisticRegression()), y),
        "imputer": (make_pipeline(SimpleImputer(), LogisticRegression()), y),
        "normalizer_l1": (make_pipeline(Normalizer("l1"), LogisticRegression()), y),
        "normalizer_max": (make_pipeline(Normalizer("max"), LogisticRegression()), y),
        "polynomial": (make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression()), y),
        "bins": (make_pipeline(KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"),
                               LogisticRegression()), y),
        "union": (make_pipeline(make_union(StandardScaler(), PCA(2)), LogisticRegression()), y),
        "calibrated": (CalibratedClassifierCV(LinearSVC()), y),
        "naive_bayes": (GaussianNB(), y),
        "discriminant": (LinearDiscriminantAnalysis(), y),
    }


def regressors(x):
    """By name: a model, its targets."""
    one = x @ [0.5, -1, 2, 0.25] + np.sin(x[:, 0])
    two = np.stack([one, x[:, 1] * x[:, 2]], 1)
    mlp = {"hidden_layer_sizes": (12, 5), "max_iter": 150, "random_state": 0}
    return {
        "linear": (make_pipeline(StandardScaler(), LinearRegression()), one),
        "linear_targets": (make_pipeline(MinMaxScaler(), LinearRegression()), two),
        "ridge": (make_pipeline(Normalizer(), Ridge()), one),
        "elastic_net": (make_pipeline(RobustScaler(), ElasticNet(alpha=0.1)), one),
        "sgd": (make_pipeline(StandardScaler(), SGDRegressor(random_state=0)), one),
        "linear_svr": (make_pipeline(StandardScaler(), LinearSVR()), one),
        "mlp_regressor": (make_pipeline(StandardScaler(), MLPRegressor(**mlp)), one),
        "mlp_targets": (make_pipeline(PCA(3), MLPRegressor(activation="tanh", **mlp)), two),
    }


def transformers():
    return {
        "standard": StandardScaler(),
        "minmax": MinMaxScaler((-1, 1)),
        "maxabs": MaxAbsScaler(),
        "robust": RobustScaler(),
        "normalizer": Normalizer(),
        "pca": PCA(2, whiten=True),
    }


def refused(y):
    """By name: a model, its labels, and the operator that is no network."""
    return {
        "tree": (DecisionTreeClassifier(), y, "TreeEnsembleClassifier"),
        "tree_regressor": (DecisionTreeRegressor(), y, "TreeEnsembleRegressor"),
        "forest": (RandomForestClassifier(5), y, "TreeEnsembleClassifier"),
        "svc": (SVC(), y, "SVM"),
        "svr": (SVR(), y, "SVMRegressor"),
    }


def write(folder, name, model, x):
    """A line for the program. Without the number of examples."""
    features = skl2onnx.common.data_types.FloatTensorType([None, x.shape[1]])
    if x.dtype == np.int64:
        features = skl2onnx.common.data_types.Int64TensorType([None, x.shape[1]])
    path = os.path.join(folder, name)
    # without an option, skl2onnx 1.20 fails for a pipeline that ends in LinearSVC
    options = {LinearSVC: {"nocl": False}} if "svc" in name else None
    written = skl2onnx.convert_sklearn(model, initial_types=[("X", features)], options=options, target_opset=21)
    written.ir_version = 8
    onnx.save(written, path + ".onnx")
    with open(path + ".pb", "wb") as file:
        file.write(onnx.numpy_helper.from_array(x).SerializeToString())
    return f"{path}.onnx {path}.pb"


def run(lines):
    process = subprocess.run([PROGRAM], input="\n".join(lines) + "\n", check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in process.stdout.splitlines()]


def result(output):
    return np.frombuffer(bytes.fromhex(output["bytes"]), DTYPES[output["dtype"]]).reshape(output["shape"])


def scores_of(model, x):
    if hasattr(model, "predict_proba"):
        return model.predict_proba(x)
    scores = model.decision_function(x)
    return np.stack([-scores, scores], 1) if scores.ndim == 1 else scores


def differs(got, want):
    want = np.asarray(want, "float64")
    if got.shape != want.shape and got.size == want.size:
        got = got.reshape(want.shape)
    if got.shape != want.shape:
        return f"has the shape {list(got.shape)}, must have {list(want.shape)}"
    off = np.abs(got - want).max() / max(1, np.abs(want).max())
    return None if off < TOLERANCE else f"off by {off:.2g}"


def check_classifier(model, labels, answer, x):
    label, scores = map(result, answer["outputs"])
    want = model.predict(x)
    if scores.shape[1] == 1:  # of two classes, the score of the second
        scores = np.concatenate([-scores, scores], 1)
    margin = np.sort(scores, 1)
    sure = margin[:, -1] - margin[:, -2] > 1e-5  # a tie has no label that both programs must choose
    if want.dtype.kind == "U":
        want = np.searchsorted(np.unique(labels), want)
    if not np.array_equal(label[sure], want.astype("int64")[sure]):
        return f"labels {label[:8]}, must be {want[:8]}"
    return differs(scores, scores_of(model, x))


def main():
    warnings.filterwarnings("ignore")
    x, y = data()
    cases, lines = [], []
    with tempfile.TemporaryDirectory() as folder:

        def add(name, model, rows, check):
            cases.append((name, check))
            lines.append(write(folder, name, model, rows))

        for name, (model, labels) in classifiers(y).items():
            model.fit(x, labels)
            rows = x.copy()
            if name == "imputer":
                rows[::3, 1] = np.nan
            add(name, model, rows, lambda a, m=model, t=labels, r=rows: check_classifier(m, t, a, r))
        for name, (model, targets) in regressors(x).items():
            model.fit(x, targets)
            add(name, model, x, lambda a, m=model: differs(result(a["outputs"][0]), m.predict(x)))
        for name, model in transformers().items():
            model.fit(x)
            add(name, model, x, lambda a, m=model: differs(result(a["outputs"][0]), m.transform(x)))
        whole = np.abs(x[:, :2]).astype("int64")
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(whole[:100])
        add("one_hot", encoder, whole, lambda a: differs(result(a["outputs"][0]), encoder.transform(whole)))
        for name, (model, labels, operator) in refused(y).items():
            model.fit(x, labels)
            add(name, model, x, operator)
        answers = run(lines)
    failures = 0
    for (name, check), answer in zip(cases, answers):
        if isinstance(check, str):
            error = answer.get("error", "it is read")
            failed = None if f"({check}" in error and "not supported: it is " in error else error
        else:
            failed = answer.get("error") or check(answer)
        failures += failed is not None
        if failed:
            print(f"{name}: {failed}")
    print(f"{len(cases) - failures} of {len(cases)} models of scikit-learn {sklearn.__version__} as they must be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
