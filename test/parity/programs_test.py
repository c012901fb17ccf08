"""Programs of devices that compile. One step of each network is planned for 1, 2, 4 and 8 devices of the test module
lagoon, with 8 shards: the programs must be the same ones, and XLA's compiler for CPUs must take them. The texts are
written before the first program runs, so the first run may fail: large networks would take long in an interpreter."""

import os
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

try:
    from jaxlib import xla_client
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import stablehlo
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

BUILD = os.environ["MUSTER_BUILD"]


def write_png(path, pixels):
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + pixels[i].tobytes() for i in range(height))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        file.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        file.write(chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def make_data(folder):
    """A table, pictures and texts of two classes."""
    random = np.random.default_rng(0)
    with open(f"{folder}/table.csv", "w", encoding="utf-8") as file:
        file.write("a,b,c,label\n")
        for i in range(40):
            file.write(",".join(f"{x:.3f}" for x in random.normal(size=3)) + f",{i % 2}\n")
    for name in ("cats", "dogs"):
        os.makedirs(f"{folder}/pictures/{name}")
        os.makedirs(f"{folder}/texts/{name}")
        for i in range(12):
            write_png(f"{folder}/pictures/{name}/{i}.png", random.integers(0, 255, (32, 32, 3), dtype=np.uint8))
            with open(f"{folder}/texts/{name}/{i}.txt", "w", encoding="utf-8") as file:
                file.write(" ".join(random.choice(["a", "good", "bad", "old", name], size=12)))


def texts_of(folder, options, devices):
    """The texts of the programs of one step."""
    path = f"{folder}/texts-{devices}"
    if os.path.exists(path):
        os.remove(path)
    environment = {**os.environ, "MUSTER_LAGOON_TEXTS": path, "MUSTER_LAGOON_FAIL": "1",
                   "MUSTER_MODULE_PATH": f"{BUILD}/modules:{BUILD}"}
    done = subprocess.run([os.environ["MUSTER"], "train", *options, "--shards", "8", "--batch-size", "8", "--steps", "1",
                           "--devices", f"lagoon:{devices}"], env=environment, capture_output=True, text=True,
                          check=False)
    if "program failed" not in done.stderr:
        raise RuntimeError(f"{devices} devices: {done.stderr}")
    with open(path, encoding="utf-8") as file:
        return {text.strip() for text in file.read().split("// ----\n") if text.strip()}


def main():
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    client = xla_client.make_cpu_client()
    devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
    failed = programs = 0
    with tempfile.TemporaryDirectory() as folder, ir.Context() as context:
        context.append_dialect_registry(registry)
        stablehlo.register_dialect(context)
        make_data(folder)
        networks = {
            "mlp": ["--data", f"csv:{folder}/table.csv", "--dropout", "0.2", "--clip-global-norm", "1", "--l2", "0.001"],
            "lenet": ["--data", f"images:{folder}/pictures", "--model", "lenet", "--optimizer", "momentum"],
            "text_cnn": ["--data", f"texts:{folder}/texts", "--model", "text_cnn"],
            "mobilenet_v2": ["--data", f"images:{folder}/pictures", "--model", "mobilenet_v2:0.35"],
        }
        for name, options in networks.items():
            texts = {count: texts_of(folder, options, count) for count in (1, 2, 4, 8)}
            for count in (2, 4, 8):
                if texts[count] != texts[1]:
                    print(f"{name}: {count} devices have other programs than 1: {len(texts[count] - texts[1])} are new")
                    failed += 1
            for text in texts[1]:
                programs += 1
                try:
                    client.compile_and_load(str(ir.Module.parse(text)), devices, xla_client.CompileOptions())
                except Exception as error:  # pylint: disable=broad-except
                    print(f"{name}: {str(error)[:500]}\n{text[:300]}")
                    failed += 1
    print(f"{programs} programs of {len(networks)} networks, {failed} faults")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
