"""Layers that learn from data before training, and those that encode categories, beside Keras': what they learn and
what they give, for random arrays."""

import sys

import muster
import numpy as np

tf = muster.tensorflow()
import keras  # noqa: E402

random = np.random.RandomState(3)
MODES = ["one_hot", "multi_hot", "count"]


def case(layer, options, rows, adapt=None, dtype="f32"):
    """A model of one layer for Muster."""
    entry = {"type": layer, "options": options, "src": [0]}
    if adapt is not None:
        entry["adapt"] = [adapt]
    shape = list(rows.shape[1:])
    return {"layers": [{"type": "input", "options": {"shape": shape, "dtype": dtype}}, entry],
            "predict": [rows]}


def cases():
    """Pairs of a case and a function of Keras' layer that gives output and weights."""
    for columns, rows, spread in [(1, 7, 1), (3, 50, 1), (5, 2000, 4), (4, 1500, 0)]:
        adapt = (random.normal(50, 1, (rows, columns)) * spread).astype(np.float32)
        x = random.normal(50 * spread, 2, (9, columns)).astype(np.float32)
        if spread == 0:  # a deviation of 0 is 1e-7
            x = adapt[:9]
        for invert in [False, True]:
            yield f"normalization of {columns} columns, invert {invert}", case(
                "normalization", {"invert": invert}, x, adapt), keras.layers.Normalization(invert=invert), adapt, x
        yield f"normalization without axis, {columns} columns", case(
            "normalization", {"no_axis": True}, x, adapt), keras.layers.Normalization(axis=None), adapt, x
    adapt, x = [random.normal(3, 2, (n, 4, 3)).astype(np.float32) for n in (30, 6)]
    yield "normalization along axis 1", case("normalization", {"axis": 1}, x, adapt), keras.layers.Normalization(
        axis=1), adapt, x
    for rows, bins, epsilon in [(8, 4, 0.01), (100, 10, 0.01), (1000, 4, 0.01), (1000, 7, 0.1), (3000, 3, 0.01),
                                (5000, 16, 0.003), (20, 10, 0.01)]:
        adapt = random.normal(0, 1, (rows, 1)).astype(np.float32)
        x = random.normal(0, 1.5, (40, 1)).astype(np.float32)
        for mode in ["int", *MODES]:
            options = {"num_bins": bins, "epsilon": epsilon, "output_mode": mode}
            yield f"discretization of {rows} rows into {bins} bins, {mode}", case(
                "discretization", options, x, adapt), keras.layers.Discretization(**options), adapt, x
    for shape in [(6, 1), (6, 2), (6, 5)]:
        x = random.randint(0, 7, shape).astype(np.int32)
        for mode in MODES:
            options = {"num_tokens": 7, "output_mode": mode}
            yield f"category_encoding of {shape}, {mode}", case(
                "category_encoding", options, x, dtype="i32"), keras.layers.CategoryEncoding(**options), None, x


def words(shape, kinds, longest):
    """Strings of KINDS different ones, of 1 to LONGEST letters, some with bytes above 127; small ones are frequent."""
    letters = [bytes([c]) for c in b"abcdefgh0 "] + ["\u00e9".encode()]
    known = sorted({b"".join(random.choice(letters, random.randint(1, longest + 1))) for _ in range(kinds)})
    picked = np.minimum(random.geometric(0.15, shape), len(known)) - 1
    out = np.empty(shape, object)
    out.flat = [known[i] for i in picked.flat]
    return out


def lookup_cases():
    """Pairs of a case and Keras' StringLookup; the data has strings that what was adapted to does not have."""
    for kinds, longest, shape in [(5, 2, (6, 1)), (40, 9, (30, 3)), (60, 90, (50, 2))]:
        adapt, x = words((200, 1), kinds, longest), words(shape, kinds, longest)
        x.flat[::7] = [b"another %d" % i for i in range(len(x.flat[::7]))]
        for mode in ["int", *MODES]:
            for others, most, mask in [(1, None, None), (3, None, None), (2, 9, None), (2, 9, adapt[0, 0].decode())]:
                options = {"output_mode": mode, "num_oov_indices": others, "max_tokens": most or 0}
                if mask is not None:
                    options["mask_token"] = mask
                one = {"layers": [{"type": "input", "options": {"shape": list(shape[1:]), "dtype": "string"}},
                                  {"type": "string_lookup", "options": options, "src": [0], "adapt": [adapt]}],
                       "predict": [x]}
                layer = keras.layers.StringLookup(output_mode=mode, num_oov_indices=others, max_tokens=most,
                                                  mask_token=mask, **({"pad_to_max_tokens": True} if most and mode != "int" else {}))
                layer.adapt(tf.constant(adapt))
                yield f"string_lookup of {kinds} kinds, {mode}, {others} others, {most}, mask {mask}", one, layer, x


def integer_lookup_cases():
    """Pairs of a case and Keras' IntegerLookup, some with a masked integer; likewise."""
    for kinds, spread, shape in [(5, 1, (6, 1)), (40, 7, (30, 3)), (900, -1000003, (50, 2))]:
        adapt = (np.minimum(random.geometric(0.15, (400, 1)), kinds) * spread - 1).astype(np.int64)
        x = (np.minimum(random.geometric(0.15, shape), kinds) * spread - 1).astype(np.int64)
        x.flat[::7] = -17 * np.arange(len(x.flat[::7]))
        for mode in ["int", *MODES]:
            for others, most, mask in [(1, None, None), (3, None, spread - 1), (2, 9, None), (2, 9, 2 * spread - 1),
                                       (1, None, 0)]:
                options = {"output_mode": mode, "num_oov_indices": others, "max_tokens": most or 0,
                           "has_mask": mask is not None, "mask_token": mask or 0}
                one = case("integer_lookup", options, x, adapt, dtype="i64")
                layer = keras.layers.IntegerLookup(
                    output_mode=mode, num_oov_indices=others, max_tokens=most, mask_token=mask,
                    **({"pad_to_max_tokens": True} if most and mode != "int" else {}))
                layer.adapt(tf.constant(adapt))
                yield f"integer_lookup of {kinds} kinds, {mode}, {others} others, {most}, mask {mask}", one, layer, x


def compare_lookups(report):
    listed = [*lookup_cases(), *integer_lookup_cases()]
    for (name, _, layer, x), answer in zip(listed, muster.evaluate([one[1] for one in listed], "models")):
        report.values(name, answer["predicted"], np.asarray(layer(tf.constant(x))), 0, 1)


def main():
    report, listed = muster.Report(), list(cases())
    for (name, _, layer, adapt, x), answer in zip(listed, muster.evaluate([one[1] for one in listed], "models")):
        if adapt is not None:
            layer.adapt(adapt)
        expected = np.asarray(layer(x))
        if isinstance(layer, keras.layers.Normalization):
            for weight in ["mean", "variance"]:
                report.values(f"{weight} of {name}", answer["values"][f"normalization/{weight}"],
                              getattr(layer, f"adapt_{weight}"), 1e-5, 1e-3)
        if isinstance(layer, keras.layers.Discretization):
            report.values(f"boundaries of {name}", answer["values"]["discretization/bin_boundaries"],
                          layer.bin_boundaries, 1e-6, 1e-3)
        report.values(name, answer["predicted"], expected, 1e-4, 1)
    compare_lookups(report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
