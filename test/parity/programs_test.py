"""Programs of devices that compile, which XLA's compiler for CPUs must take. One step of each network is planned for 1, 2,
4 and 8 devices of the test module lagoon, with 8 shards: the programs must be the same ones. The texts are written before
the first program runs, so the first run may fail: large networks would take long in an interpreter. The programs of the
examples are those of the tests lagoon/examples/NAME.

With MUSTER_ABSENT_GPU, a command that compiles for a GPU (absent_gpu.c), it takes the place of XLA for CPUs."""

import hashlib
import os
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

try:
    import jaxlib.version
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


def read_texts(path):
    with open(path, encoding="utf-8") as file:
        return {text.strip() for text in file.read().split("// ----\n") if text.strip()}


def texts_of(folder, options, devices, shards=8, fails=1):
    """The texts of the programs of one step. Program number `fails` that is run fails: it is one of the step's."""
    path = f"{folder}/texts-{devices}"
    if os.path.exists(path):
        os.remove(path)
    environment = {**os.environ, "MUSTER_LAGOON_TEXTS": path, "MUSTER_LAGOON_FAIL": str(fails),
                   "MUSTER_MODULE_PATH": f"{BUILD}/modules:{BUILD}"}
    done = subprocess.run([os.environ["MUSTER"], "train", *options, "--shards", str(shards), "--batch-size", "8",
                           "--steps", "1", "--devices", f"lagoon:{devices}"], env=environment, capture_output=True,
                          text=True, check=False)
    if "program failed" not in done.stderr:
        raise RuntimeError(f"{devices} devices: {done.stderr}")
    return read_texts(path)


def examples():
    """The names of those that have programs; each has a test."""
    folder = os.path.join(os.path.dirname(__file__), "..", "..", "examples")
    names = {file[:-2] for file in os.listdir(folder) if file.endswith(".c")}
    # A string is on the host. The photos have a MobileNetV2, which is one of the networks, and no test of this kind.
    return sorted(names - {"hello", "photos"})


def texts_of_example(folder, name):
    path = f"{folder}/texts-of-{name}"
    done = subprocess.run(["ctest", "--test-dir", BUILD, "--output-on-failure", "--no-tests=error", "-R",
                           f"^lagoon/examples/{name}$"], env={**os.environ, "MUSTER_LAGOON_TEXTS": path},
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{name}: {done.stdout}")
    if not os.path.exists(path):  # the test is disabled
        print(f"{name}: not run")
        return set()
    return read_texts(path)


class Compiler:
    """XLA for CPUs. A text that it has once taken is not compiled again: its hash is kept in the build."""

    def __init__(self):
        self.client = xla_client.make_cpu_client()
        self.devices = xla_client.DeviceList(tuple(self.client.local_devices()[:1]))
        self.path = f"{BUILD}/programs_compiled"
        self.kept = set()
        self.compiled = 0
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.kept = set(file.read().split())

    def faults(self, name, texts):
        """How many of the texts it refuses."""
        refused = 0
        for text in texts:
            key = hashlib.sha256(f"{jaxlib.version.__version__}\n{text}".encode()).hexdigest()
            if key in self.kept:
                continue
            self.compiled += 1
            try:
                self.client.compile_and_load(str(ir.Module.parse(text)), self.devices, xla_client.CompileOptions())
            except Exception as error:  # pylint: disable=broad-except
                print(f"{name}: {str(error)[:500]}\n{text[:300]}")
                refused += 1
                continue
            self.kept.add(key)
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(key + "\n")
        return refused


class AbsentGpu:
    """What compiles for a GPU that is not here."""

    def __init__(self, folder):
        self.process = subprocess.Popen(os.environ["MUSTER_ABSENT_GPU"], shell=True, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.path = f"{folder}/program.mlir"
        self.taken = set()
        self.compiled = 0

    def faults(self, name, texts):
        """How many of the texts it refuses."""
        refused = 0
        for text in texts - self.taken:
            with open(self.path, "w", encoding="utf-8") as file:
                file.write(text)
            self.compiled += 1
            self.process.stdin.write(self.path + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline().strip()
            if not answer:
                raise RuntimeError(f"{name}: the compiler has ended")
            if not answer.startswith("taken "):
                print(f"{name}: {answer[:500]}\n{text[:300]}")
                refused += 1
            self.taken.add(text)
        print(f"{name}: {len(texts)} programs, {refused} refused", flush=True)
        return refused


def texts_in_place(folder, options):
    """Those of a step whose memory has no room for the variables before and after it, on one device: the first that
    write variables, as the limit falls."""
    for limit in range(800, 300, -20):
        try:
            # the first program that is run gives the averages their first values
            texts = texts_of(folder, [*options, "--memory-limit", f"{limit}K"], 1, shards=1, fails=2)
        except RuntimeError as error:
            if "the limit is" not in str(error):
                raise
            continue
        if any("tf.aliasing_output" in text for text in texts):
            return texts
    raise RuntimeError("no limit of memory has led to an update in place")


def main():
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    failed = 0
    every = set()
    with tempfile.TemporaryDirectory() as folder, ir.Context() as context:
        context.append_dialect_registry(registry)
        stablehlo.register_dialect(context)
        make_data(folder)
        compiler = AbsentGpu(folder) if "MUSTER_ABSENT_GPU" in os.environ else Compiler()
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
            every |= texts[1]
            failed += compiler.faults(name, texts[1])
        texts = texts_in_place(
            folder, [*networks["mlp"], "--hidden-units", "128,128", "--optimizer", "adam", "--ema", "0.9"])
        every |= texts
        failed += compiler.faults("mlp, updated in place", texts)
        for name in examples():
            texts = texts_of_example(folder, name)
            print(f"{name}: {len(texts)} programs, {len(texts - every)} of them new")
            every |= texts
            failed += compiler.faults(name, texts)
    print(f"{len(every)} programs of {len(networks) + 1} networks and {len(examples())} examples, {compiler.compiled} "
          f"compiled now, {failed} faults")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
