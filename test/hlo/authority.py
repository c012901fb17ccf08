"""Runs programs that test/hlo/ops_test has written, by StableHLO's own interpreter, and compares the results.

authority.py FOLDER
"""
import sys

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import stablehlo
import ml_dtypes

TYPES = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i64": np.int64,
         "ui8": np.uint8, "ui32": np.uint32, "ui64": np.uint64, "i1": np.bool_}


def array_type(type_):
    ranked = ir.RankedTensorType(type_)
    return TYPES[str(ranked.element_type)], tuple(ranked.shape)


def take(data, offset, type_):
    dtype, shape = array_type(type_)
    count = int(np.prod(shape, dtype=np.int64))
    size = count * np.dtype(dtype).itemsize
    return np.frombuffer(data, dtype, count, offset).reshape(shape), offset + size


def attribute(array):
    element = {np.dtype(v): k for k, v in TYPES.items()}[array.dtype]
    kind = {"f32": ir.F32Type.get, "f64": ir.F64Type.get, "bf16": ir.BF16Type.get,
            "i32": lambda: ir.IntegerType.get_signless(32), "i64": lambda: ir.IntegerType.get_signless(64),
            "ui8": lambda: ir.IntegerType.get_unsigned(8), "ui32": lambda: ir.IntegerType.get_unsigned(32),
            "ui64": lambda: ir.IntegerType.get_unsigned(64), "i1": lambda: ir.IntegerType.get_signless(1)}[element]()
    if element == "i1":
        packed = np.packbits(array.reshape(-1), bitorder="little")
        return ir.DenseElementsAttr.get(packed, type=kind, shape=array.shape)
    if element == "bf16":
        array = array.view(np.uint16)
    return ir.DenseElementsAttr.get(np.ascontiguousarray(array), type=kind, shape=array.shape)


def near(got, wanted, tolerance):
    if got.dtype == ml_dtypes.bfloat16:
        got, wanted = got.astype(np.float32), wanted.astype(np.float32)
    if not np.issubdtype(got.dtype, np.floating):
        return np.array_equal(got, wanted)
    with np.errstate(invalid="ignore"):
        same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
        return bool(np.all(same | (np.abs(got - wanted) <= tolerance * np.maximum(1, np.abs(wanted)))))


def run(folder, number, tolerance, fails):
    text = open(f"{folder}/{number}.mlir").read()
    data = open(f"{folder}/{number}.bin", "rb").read()
    module = ir.Module.parse(text)
    module.operation.verify()
    main = module.body.operations[0]
    kind = ir.FunctionType(main.attributes["function_type"].value)
    offset, arguments = 0, []
    for type_ in kind.inputs:
        value, offset = take(data, offset, type_)
        arguments.append(attribute(value))
    results = stablehlo.eval_module(module, arguments)
    outputs = [np.array(r) for r in results]
    if fails:
        return None if outputs[-1].reshape(-1)[0] > 0 else "the word of faults is 0"
    for k, type_ in enumerate(kind.results):
        dtype, shape = array_type(type_)
        got = outputs[k].astype(dtype).reshape(shape)
        if offset >= len(data) and k == len(kind.results) - 1 and str(type_) == "tensor<i32>" and got == 0:
            break  # the word of faults
        wanted, offset = take(data, offset, type_)
        if not near(got, wanted, tolerance):
            return f"result {k} is {got.reshape(-1)[:8]}, must be {wanted.reshape(-1)[:8]}"
    return None


def main():
    folder = sys.argv[1]
    compared = differ = 0
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    with ir.Context() as context, ir.Location.unknown():
        context.append_dialect_registry(registry)
        context.load_all_available_dialects()
        stablehlo.register_dialect(context)
        for line in open(f"{folder}/list"):
            number, tolerance, fails, label = line.rstrip("\n").split(" ", 3)
            try:
                wrong = run(folder, number, float(tolerance), fails == "1")
            except Exception as error:  # noqa: BLE001
                wrong = str(error).replace("\n", " ")[:300]
            compared += 1
            if wrong:
                differ += 1
                print(f"{number} {label}: {wrong}")
    print(f"{compared} programs compared, {differ} differ")
    sys.exit(differ > 0)


main()
