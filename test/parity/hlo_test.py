"""StableHLO. Each program that the tests in test/hlo/ write is run by StableHLO's own interpreter too, with the same
arguments: its results are those of Muster's reference kernels. The interpreter of test/support/ could misread the
specification in the way in which the text was written; this one cannot."""

import os
import subprocess
import sys
import tempfile

import numpy as np

try:
    import ml_dtypes
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import stablehlo
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

BUILD = os.path.join(os.environ["MUSTER_BUILD"], "test")
DTYPES = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i64": np.int64,
          "ui8": np.uint8, "ui32": np.uint32, "ui64": np.uint64, "i1": np.bool_}


def take(data, offset, type_):
    """The array of TYPE_ at OFFSET, and the offset after it."""
    ranked = ir.RankedTensorType(type_)
    dtype, shape = np.dtype(DTYPES[str(ranked.element_type)]), tuple(ranked.shape)
    count = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(data, dtype, count, offset).reshape(shape), offset + count * dtype.itemsize


def attribute(array, type_):
    ranked = ir.RankedTensorType(type_)
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    elif array.dtype == ml_dtypes.bfloat16:
        array = array.view(np.uint16)
    return ir.DenseElementsAttr.get(np.ascontiguousarray(array), type=ranked.element_type, shape=ranked.shape)


def widen(module):
    """Makes results of bf16, which arrays of NumPy do not take, f32."""
    main = module.body.operations[0]
    kind = ir.FunctionType(main.attributes["function_type"].value)
    end = list(main.regions[0].blocks[0].operations)[-1]
    types = []
    for k, type_ in enumerate(kind.results):
        ranked = ir.RankedTensorType(type_)
        if str(ranked.element_type) == "bf16":
            type_ = ir.RankedTensorType.get(ranked.shape, ir.F32Type.get())
            with ir.InsertionPoint(end):
                end.operands[k] = stablehlo.convert(type_, end.operands[k])
        types.append(type_)
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kind.inputs, types))


def agree(got, wanted, tolerance):
    if got.dtype == ml_dtypes.bfloat16:
        got, wanted, tolerance = got.astype(np.float32), wanted.astype(np.float32), 0
    if not np.issubdtype(got.dtype, np.floating):
        return np.array_equal(got, wanted)
    with np.errstate(invalid="ignore"):
        same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
        return bool(np.all(same | (np.abs(got - wanted) <= tolerance * np.maximum(1, np.abs(wanted)))))


def run(folder, number, tolerance, fails):
    """None, or how the program differs."""
    with open(f"{folder}/{number}.mlir", encoding="utf-8") as file:
        module = ir.Module.parse(file.read())
    with open(f"{folder}/{number}.bin", "rb") as file:
        data = file.read()
    module.operation.verify()
    kind = ir.FunctionType(module.body.operations[0].attributes["function_type"].value)
    widen(module)
    offset, arguments = 0, []
    for type_ in kind.inputs:
        value, offset = take(data, offset, type_)
        arguments.append(attribute(value, type_))
    results = [np.array(result) for result in stablehlo.eval_module(module, arguments)]
    if fails:
        return None if results[-1].reshape(-1)[0] > 0 else "the word of faults is 0"
    for k, type_ in enumerate(kind.results):
        ranked = ir.RankedTensorType(type_)
        got = results[k].astype(DTYPES[str(ranked.element_type)]).reshape(tuple(ranked.shape))
        if offset == len(data) and got.size:  # the word of faults comes after the values
            if k == len(kind.results) - 1 and got.reshape(-1)[0] == 0:
                break
            return "the word of faults is not 0"
        wanted, offset = take(data, offset, type_)
        if not agree(got, wanted, tolerance):
            return f"result {k} is {got.reshape(-1)[:8]}, not {wanted.reshape(-1)[:8]}"
    return None


def check(program):
    """Runs all programs of a test; returns how many there are, and how many differ."""
    compared = differ = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(BUILD, program)], check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, MUSTER_HLO_FOLDER=folder))
        with open(f"{folder}/list", encoding="utf-8") as lines:
            for line in lines:
                number, tolerance, fails, label = line.rstrip("\n").split(" ", 3)
                try:
                    wrong = run(folder, number, float(tolerance), fails == "1")
                except Exception as error:  # pylint: disable=broad-except
                    wrong = str(error).replace("\n", " ")[:300]
                compared += 1
                if wrong:
                    differ += 1
                    print(f"{label}: {wrong}")
    return compared, differ


def main():
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    compared = differ = 0
    with ir.Context() as context, ir.Location.unknown():
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
        stablehlo.register_dialect(context)
        for program in ("test_hlo_ops", "test_hlo_rules", "test_hlo_bodies", "test_hlo_update",
                        "test_hlo_update_node", "test_hlo_rows"):
            counts = check(program)
            compared, differ = compared + counts[0], differ + counts[1]
    print(f"{compared} programs compared, {differ} differ")
    sys.exit(differ > 0 or compared < 500)


main()
