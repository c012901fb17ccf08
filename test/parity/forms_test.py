"""Ops of graph files, one at a time. Every example of every op of Muster is written as a graph, which TensorFlow imports
and runs: its values are the same, or it refuses the graph. And graphs of one raw op each, that TensorFlow wrote, are
read by Muster: its values are the same, or it refuses the graph with one error. Nothing is computed otherwise without a
word; how many are the same, and what is refused, is printed, and must be what is listed here."""

import collections
import json
import os
import subprocess
import sys
import tempfile

import muster
import numpy as np

tf = muster.tensorflow()
BUILD = os.path.join(os.environ["MUSTER_BUILD"], "test")
DTYPES = {"f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64", "u8": "uint8", "bool": "bool"}
TOLERANCE = {"f32": 2e-5, "f64": 1e-9, "bf16": 1e-2}


def array_of(tensor):
    if tensor["dtype"] == "string":
        values = np.empty(len(tensor["values"]), dtype=object)
        values[:] = [bytes(value) for value in tensor["values"]]
    elif tensor["dtype"] == "i64":
        values = np.array(tensor["values"], np.int64)
    else:
        values = np.array([float(value) for value in tensor["values"]], np.float64)
        dtype = tf.bfloat16.as_numpy_dtype if tensor["dtype"] == "bf16" else DTYPES[tensor["dtype"]]
        values = values.astype(dtype)
    return values.reshape(tensor["shape"])


def agree(got, wanted, dtype):
    """None, or how they differ."""
    got = np.asarray(got)
    if got.shape != wanted.shape:
        return f"shape {got.shape}, not {wanted.shape}"
    if wanted.dtype == object:
        return None if np.array_equal(got, wanted) else f"{got.tolist()}, not {wanted.tolist()}"
    if dtype not in TOLERANCE:
        good = np.array_equal(got, wanted)
    else:
        scale = TOLERANCE[dtype] * (1 + np.abs(wanted.astype(np.float64)).max(initial=0, where=np.isfinite(wanted)))
        good = np.allclose(got.astype(np.float64), wanted.astype(np.float64), rtol=TOLERANCE[dtype], atol=scale,
                           equal_nan=True)
    return None if good else f"{got.tolist()}, not {wanted.tolist()}"[:300]


def parse(path):
    graph = tf.compat.v1.GraphDef()
    with open(path, "rb") as file:
        graph.ParseFromString(file.read())
    return graph


# ---- what Muster writes ----

# Ops that TensorFlow cannot say: it refuses their graphs.
REFUSED = {"avg_pool2d", "avg_pool2d_grad", "avg_pool3d", "batch_norm", "batch_norm_add", "batch_norm_grad", "batch_norm_grad_sums",
           "batch_norm_statistics", "cached_attention", "class_number", "concat_grad", "confusion_matrix", "conv2d", "conv2d_grads", "conv2d_statistics",
           "conv2d_src_grad", "conv2d_transpose", "conv2d_weights_grad", "conv3d", "conv3d_transpose",
           "fused_batch_norm", "fused_batch_norm_grad", "fused_conv2d", "gather_grad", "global_norm", "group_norm",
           "group_norm_grad", "group_view", "gru", "gru_grad", "heads_like", "layer_norm", "layer_norm_grad", "lookup", "lstm",
           "lstm_grad", "max_pool2d", "max_pool2d_grad", "max_pool2d_grad_grad", "max_pool2d_relu_grad", "max_pool3d", "normalized_conv2d",
           "normalized_conv2d_weights_grad", "orthonormalize", "reduce_prod_others", "reduce_prod_others_grad",
           "resize2d", "resize2d_grad", "scaled_dot_product_attention", "scaled_dot_product_attention_grad", "scatter_last", "simple_rnn", "simple_rnn_grad", "slice_grad", "sort",
           "sparse_gradient", "sum_replicas", "sum_shards", "text_to_hashes", "tile_grad"}
# Cases that TensorFlow's ops of the kind refuse: dtypes that they do not have, in the main.
SOME_REFUSED = {
    "abs", "broadcast_like", "clip", "in_top_k", "matmul", "neg", "pow", "sign", "square", "squared_difference",
}


# Where TensorFlow's values are not those of the formula: sums of 1 and 1e8 in another order and in f32, erf of infinite
# doubles, and the order of NaN among numbers.
EXCEPT = {("add_n", "neighbours first"), ("reduce_sum", "small beside large"), ("erf", "f64"),
          ("top_k", "not a number")}


def unknown_attributes(graph):
    """Attributes that TensorFlow would pass over: what they mean would be lost."""
    from tensorflow.python.framework import op_def_registry
    found = []
    for node in graph.node:
        definition = op_def_registry.get(node.op)
        known = {attr.name for attr in definition.attr} if definition else set(node.attr)
        found += [f"{node.op}.{key}" for key in node.attr if not key.startswith("_") and key not in known]
    return found


def run_written(case):
    """"same", "refused", or how it differs."""
    definition = parse(case["file"])
    if unknown_attributes(definition):
        return f"attributes without a meaning there: {unknown_attributes(definition)}"
    with tf.Graph().as_default() as graph:
        try:
            tf.import_graph_def(definition, name="")
        except (ValueError, tf.errors.NotFoundError) as error:
            return "refused: " + str(error).splitlines()[0]
        with tf.compat.v1.Session(graph=graph) as session:
            feeds = {name + ":0": array_of(tensor) for name, tensor in case["feeds"].items()}
            try:
                got = session.run(case["fetches"] or ["the_op"], feeds)
            except (tf.errors.InvalidArgumentError, tf.errors.UnimplementedError, tf.errors.NotFoundError) as error:
                return "refused: " + str(error).splitlines()[0]
    for value, wanted in zip(got, case["values"]):
        array = array_of(wanted)
        if case["random"]:
            difference = None if np.asarray(value).shape == array.shape else "shape"
        else:
            difference = agree(value, array, wanted["dtype"])
        if difference:
            return difference
    return "same"


def check_written(report, folder):
    lines = subprocess.run([os.path.join(BUILD, "parity_forms"), folder], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()
    counts = collections.defaultdict(collections.Counter)
    reasons = {}
    for line in lines:
        case = json.loads(line)
        result = run_written(case)
        title = f"{case['op']}, '{case['example']}', {case['dtype']}{', open' if case['open'] else ''}"
        kind = result if result == "same" else result.split(":")[0] if result.startswith("refused") else "different"
        if (case["op"], case["example"]) in EXCEPT or (case["op"], case["dtype"]) in EXCEPT:
            continue
        counts[case["op"]][kind] += 1
        if kind == "refused":
            reasons.setdefault(case["op"], result)
        report.check(f"written {title}", kind != "different", result, "")
    total = sum(counts.values(), collections.Counter())
    print(f"written by Muster: {len(counts)} ops, {sum(total.values())} graphs: {total['same']} the same, "
          f"{total['refused']} refused by TensorFlow, {total['different']} different")
    refused = {op for op, count in counts.items() if count["refused"] == sum(count.values())}
    report.check("ops that TensorFlow refuses", refused == REFUSED, sorted(refused), sorted(REFUSED))
    some = {op for op, count in counts.items() if count["refused"]} - refused
    for op in sorted(some):
        print(f"  {op}: {counts[op]['refused']} of {sum(counts[op].values())} refused: {reasons[op][:160]}")


# ---- what TensorFlow writes ----

F = np.array([[0.5, -1.25, 2], [-0.75, 3, -2]], np.float32)
P = np.abs(F) + np.float32(0.5)
UNIT = np.array([[0.5, -0.25, 0.125], [-0.75, 0.9, 0]], np.float32)
I = np.array([[5, -3, 2], [-7, 4, -1]], np.int32)
J = np.array([[2, 2, -3], [3, -5, 4]], np.int32)
B = np.array([[True, False, True], [False, False, True]])
LABELS = np.array([[0.25, 0.25, 0.25], [0, 1, 1]], np.float32)  # rows that do not sum to 1


def constant(values, dtype=np.int32):
    return tf.constant(np.array(values, dtype))


def raw_cases():
    """(title, sources, what makes the outputs of them)"""
    r = tf.raw_ops
    for name in ("Abs", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Expm1", "Floor", "IsFinite", "IsInf", "IsNan", "Neg",
                 "Reciprocal", "Inv", "Rint", "Round", "Sign", "Sin", "Sinh", "Square", "Tan", "Tanh", "Sigmoid",
                 "ZerosLike", "OnesLike"):
        parameter = "features" if name in ("Relu", "Relu6") else "x"
        yield name, [F], lambda x, f=getattr(r, name), p=parameter: f(**{p: x})
    for name in ("Acos", "Asin", "Atan"):
        yield name, [UNIT], lambda x, f=getattr(r, name): f(x=x)
    for name in ("Log", "Log1p", "Sqrt", "Rsqrt"):
        yield name, [P], lambda x, f=getattr(r, name): f(x=x)
    for name in ("Relu", "Relu6", "Elu", "Softplus"):
        yield name, [F], lambda x, f=getattr(r, name): f(features=x)
    yield "LeakyRelu, default", [F], lambda x: r.LeakyRelu(features=x)
    yield "LeakyRelu, alpha 0.5", [F], lambda x: r.LeakyRelu(features=x, alpha=0.5)
    for name in ("Softmax", "LogSoftmax"):
        yield name, [F], lambda x, f=getattr(r, name): f(logits=x)
    yield "L2Loss", [F], lambda x: r.L2Loss(t=x)
    for name in ("Identity", "StopGradient", "Snapshot"):
        yield name, [F], lambda x, f=getattr(r, name): f(input=x)
    yield "LogicalNot", [B], lambda x: r.LogicalNot(x=x)
    for name in ("Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "Maximum", "Minimum", "SquaredDifference", "Greater",
                 "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual", "FloorDiv", "FloorMod"):
        yield name, [F, P[:1]], lambda x, y, f=getattr(r, name): f(x=x, y=y)
    for name in ("Add", "AddV2", "Sub", "Mul", "Div", "TruncateDiv", "FloorDiv", "FloorMod", "Maximum", "Minimum",
                 "SquaredDifference", "Greater", "Equal", "NotEqual"):
        yield name + " of integers", [I, J], lambda x, y, f=getattr(r, name): f(x=x, y=y)
    yield "Pow", [P, F], lambda x, y: r.Pow(x=x, y=y)
    yield "Atan2", [F, P], lambda x, y: r.Atan2(y=x, x=y)
    yield "LogicalAnd", [B, ~B[:1]], lambda x, y: r.LogicalAnd(x=x, y=y)
    yield "LogicalOr", [B, ~B[:1]], lambda x, y: r.LogicalOr(x=x, y=y)
    yield "AddN", [F, P, F], lambda x, y, z: r.AddN(inputs=[x, y, z])
    yield "AccumulateNV2", [F, P], lambda x, y: r.AccumulateNV2(inputs=[x, y], shape=[2, 3])
    yield "BiasAdd", [F, P[0]], lambda x, y: r.BiasAdd(value=x, bias=y)
    yield "BiasAdd, NCHW", [F.reshape(1, 2, 3), P[0, :2]], lambda x, y: r.BiasAdd(value=x, bias=y, data_format="NCHW")
    yield "Cast to i32", [F], lambda x: r.Cast(x=x, DstT=tf.int32)
    yield "Cast to f64", [I], lambda x: r.Cast(x=x, DstT=tf.float64)
    yield "Cast to bool", [F], lambda x: r.Cast(x=x, DstT=tf.bool)
    yield "ClipByValue", [F], lambda x: r.ClipByValue(t=x, clip_value_min=-1.0, clip_value_max=1.5)
    yield "Select", [B, F, P], lambda c, x, y: r.Select(condition=c, x=x, y=y)
    yield "Select, scalar", [np.array(True), F, P], lambda c, x, y: r.Select(condition=c, x=x, y=y)
    yield "Select, rows", [B[:, 0], F, P], lambda c, x, y: r.Select(condition=c, x=x, y=y)
    yield "SelectV2", [B[:1], F, P], lambda c, x, y: r.SelectV2(condition=c, t=x, e=y)
    yield "SelectV2, columns", [B[0], F, P], lambda c, x, y: r.SelectV2(condition=c, t=x, e=y)
    for name in ("Sum", "Mean", "Max", "Min", "Prod"):
        for axes in ([0], [-1], [0, 1], 1, []):
            yield f"{name} over {axes}", [F], lambda x, f=getattr(r, name), a=axes: f(input=x, axis=constant(a))
        yield f"{name}, keep_dims", [F], lambda x, f=getattr(r, name): f(input=x, axis=constant([1], np.int64),
                                                                        keep_dims=True)
        yield f"{name} of integers", [I], lambda x, f=getattr(r, name): f(input=x, axis=constant([0]))
    for name in ("All", "Any"):
        for axes in ([0], [], [0, 1]):
            yield f"{name} over {axes}", [B], lambda x, f=getattr(r, name), a=axes: f(input=x, axis=constant(a))
    for name in ("ArgMax", "ArgMin"):
        yield name, [F], lambda x, f=getattr(r, name): f(input=x, dimension=constant(1))
        yield name + ", i32", [F], lambda x, f=getattr(r, name): f(input=x, dimension=constant(-2),
                                                                 output_type=tf.int32)
    yield "MatMul", [F, P], lambda x, y: r.MatMul(a=x, b=y, transpose_b=True)
    yield "MatMul, transpose_a", [F, P], lambda x, y: r.MatMul(a=x, b=y, transpose_a=True)
    for name in ("BatchMatMul", "BatchMatMulV2"):
        yield name, [np.stack([F, P]), np.stack([P, F])], lambda x, y, f=getattr(r, name): f(x=x, y=y, adj_y=True)
    yield "BatchMatMulV2, broadcast", [np.stack([F, P]), P.T], lambda x, y: r.BatchMatMulV2(x=x, y=y)
    yield "Reshape", [F], lambda x: r.Reshape(tensor=x, shape=constant([3, -1]))
    yield "Reshape, i64", [F], lambda x: r.Reshape(tensor=x, shape=constant([6], np.int64))
    yield "ExpandDims", [F], lambda x: r.ExpandDims(input=x, axis=constant(-1))
    yield "Squeeze", [F[None, :, :, None]], lambda x: r.Squeeze(input=x)
    yield "Squeeze, axis", [F[None, :, :, None]], lambda x: r.Squeeze(input=x, axis=[-1])
    yield "Transpose", [F], lambda x: r.Transpose(x=x, perm=constant([1, 0]))
    yield "Pack", [F, P], lambda x, y: r.Pack(values=[x, y], axis=1)
    yield "Unpack", [F], lambda x: r.Unpack(value=x, num=3, axis=1)
    yield "ConcatV2", [F, P], lambda x, y: r.ConcatV2(values=[x, y], axis=constant(-1))
    yield "Concat", [F, P], lambda x, y: r.Concat(concat_dim=constant(0), values=[x, y])
    yield "Split", [F], lambda x: r.Split(axis=constant(1), value=x, num_split=3)
    yield "Slice", [F], lambda x: r.Slice(input=x, begin=constant([0, 1]), size=constant([-1, 2]))
    yield "StridedSlice", [F], lambda x: r.StridedSlice(input=x, begin=constant([0, 0]), end=constant([2, 3]),
                                                       strides=constant([1, 2]))
    yield "StridedSlice, masks", [F], lambda x: x[1, ::-1]
    yield "StridedSlice, ellipsis", [F], lambda x: x[..., 1]
    yield "StridedSlice, new axis", [F], lambda x: x[:, None]
    yield "Tile", [F], lambda x: r.Tile(input=x, multiples=constant([2, 1]))
    yield "Pad", [F], lambda x: r.Pad(input=x, paddings=constant([[1, 0], [0, 2]]))
    yield "PadV2", [F], lambda x: r.PadV2(input=x, paddings=constant([[1, 0], [0, 2]]), constant_values=7.0)
    yield "BroadcastTo", [F[:1]], lambda x: r.BroadcastTo(input=x, shape=constant([4, 3]))
    yield "Fill", [np.float32(2.5)], lambda x: r.Fill(dims=constant([2, 3]), value=x)
    yield "Range", [F], lambda x: r.AddV2(x=x, y=r.Cast(x=r.Range(start=1, limit=7, delta=2), DstT=tf.float32))
    yield "Range of floats", [F], lambda x: r.AddV2(x=x, y=r.Range(start=0.5, limit=3.5, delta=1.0))
    yield "OneHot", [np.array([0, 2, -1, 5], np.int32)], lambda x: r.OneHot(indices=x, depth=4, on_value=2.0,
                                                                        off_value=-1.0)
    yield "OneHot, on 0", [np.array([0, 2], np.int64)], lambda x: r.OneHot(indices=x, depth=3, on_value=0, off_value=5)
    yield "OneHot, axis 0", [np.array([0, 2], np.int32)], lambda x: r.OneHot(indices=x, depth=3, on_value=1.0,
                                                                         off_value=0.0, axis=0)
    yield "GatherV2", [F, np.array([2, 0], np.int32)], lambda x, i: r.GatherV2(params=x, indices=i, axis=constant(1))
    yield "GatherV2, batch_dims", [F, np.array([[2, 0], [1, 1]], np.int32)], lambda x, i: r.GatherV2(
        params=x, indices=i, axis=constant(1), batch_dims=1)
    yield "Gather", [F, np.array([1, 0, 1], np.int64)], lambda x, i: r.Gather(params=x, indices=i)
    yield "TopKV2", [F], lambda x: r.TopKV2(input=x, k=constant(2))
    yield "InTopKV2", [F, np.array([2, 0], np.int32)], lambda x, t: r.InTopKV2(predictions=x, targets=t, k=constant(1))
    yield "SoftmaxCrossEntropyWithLogits", [F, LABELS], lambda x, y: [
        r.Identity(input=v) for v in r.SoftmaxCrossEntropyWithLogits(features=x, labels=y)]
    yield "SparseSoftmaxCrossEntropyWithLogits", [F, np.array([2, 0], np.int32)], lambda x, y: list(
        r.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=y))
    yield "ReluGrad", [F, P - 1], lambda g, x: r.ReluGrad(gradients=g, features=x)
    yield "Relu6Grad", [F, P * 3 - 2], lambda g, x: r.Relu6Grad(gradients=g, features=x)
    yield "SigmoidGrad", [UNIT, F], lambda y, g: r.SigmoidGrad(y=y, dy=g)
    yield "TanhGrad", [UNIT, F], lambda y, g: r.TanhGrad(y=y, dy=g)
    yield "Equal, unlike shapes", [F, F[:, :2]], lambda x, y: r.Equal(x=x, y=y, incompatible_shape_error=False)
    yield "Cumsum", [F], lambda x: r.Cumsum(x=x, axis=constant(0))
    yield "Cumsum, reverse", [F], lambda x: r.Cumsum(x=x, axis=constant(1), exclusive=True, reverse=True)
    space, depth = F.reshape(1, 1, 2, 3).repeat(2, 1), np.arange(24, dtype=np.float32).reshape(1, 1, 3, 8)
    yield "SpaceToDepth", [space], lambda x: r.SpaceToDepth(input=x, block_size=2)
    yield "DepthToSpace", [depth], lambda x: r.DepthToSpace(input=x, block_size=2)
    yield "Selu", [F], lambda x: r.Selu(features=x)
    yield "Conv2D", [F.reshape(1, 2, 3, 1), P.reshape(2, 3, 1, 1)], lambda x, w: r.Conv2D(
        input=x, filter=w, strides=[1, 1, 1, 1], padding="VALID")


# What Muster has no equal of, and refuses.
NOT_READ = {"BiasAdd, NCHW", "Select, rows", "Snapshot", "StridedSlice, ellipsis", "StridedSlice, new axis",
            "OneHot, axis 0", "GatherV2, batch_dims", "Equal, unlike shapes", "Selu", "Conv2D"}


def run_read(title, sources, build, folder):
    """"same", "refused", or how it differs."""
    path = os.path.join(folder, "raw")
    with tf.Graph().as_default() as graph:
        fed = [tf.compat.v1.placeholder(x.dtype, x.shape, name=f"x{i}") for i, x in enumerate(sources)]
        outputs = build(*fed)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        with tf.compat.v1.Session(graph=graph) as session:
            wanted = session.run(outputs, dict(zip(fed, sources)))
        names = [output.name.removesuffix(":0") for output in outputs]
        with open(path, "wb") as file:
            file.write(graph.as_graph_def().SerializeToString())
    task = {"feeds": {f"x{i}": muster.tensor(x) for i, x in enumerate(sources)}, "fetches": names}
    done = subprocess.run([os.path.join(BUILD, "parity_graphdef"), "run", path], input=json.dumps(task), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == 1 and len(done.stderr.splitlines()) == 1 and done.stderr.startswith("error: reading"):
        return "refused: " + done.stderr.split(": ", 2)[2].strip()
    if done.returncode:
        return f"status {done.returncode}: {done.stderr}"
    for line, want in zip(done.stdout.splitlines(), wanted):
        answer = json.loads(line)
        got = np.array([float(x) for x in answer["values"]]).reshape(answer["shape"])
        difference = agree(got, np.asarray(want), "f32")
        if difference:
            return difference
    return "same"


def check_read(report, folder):
    counts = collections.Counter()
    for title, sources, build in raw_cases():
        result = run_read(title, sources, build, folder)
        kind = result if result == "same" else result.split(":")[0] if result.startswith("refused") else "different"
        counts[kind] += 1
        if kind == "refused":
            print(f"  {title}: {result[:200]}")
        report.check(f"read {title}", kind == ("refused" if title in NOT_READ else "same"), result, "")
    print(f"read by Muster: {sum(counts.values())} graphs of one raw op: {counts['same']} the same, "
          f"{counts['refused']} refused, {counts['different']} different")


def main():
    report = muster.Report()
    with tempfile.TemporaryDirectory() as folder:
        check_read(report, folder)
        check_written(report, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
