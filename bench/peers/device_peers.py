"""JAX and PyTorch on the networks of `muster-bench device`, whose JSON object it prints too.

    device_peers.py jax|pytorch --network mobilenet_v2|text_cnn|mlp|product [options]

JAX: a jitted step that keeps the old state, reads the loss, and has the compiler's options of Muster; with --defaults it
gives up the old state, reads no loss, and has the compiler's own options. PyTorch: compiled, pictures with channels last;
with --defaults without torch.compile. The data, one batch of noise, stay on the device.
"""

import argparse
import json
import os
import statistics
import sys
import time

sys.dont_write_bytecode = True  # nothing of ours lands beside the sources
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")
SAME_OPTIONS = "--xla_gpu_exclude_nondeterministic_ops=true --xla_allow_excess_precision=false"
WORDS, LENGTH, WARM_STEPS = 30982, 300, 5
BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def random_batch(arguments):
    import numpy as np

    random = np.random.default_rng(1)
    count, size = arguments.batch_size, arguments.size
    labels = (np.arange(count) * 7 % 10).astype(np.int32)
    if arguments.network == "mobilenet_v2":
        return random.integers(0, 256, (count, size, size, 3), dtype=np.uint8), labels
    if arguments.network == "text_cnn":
        return random.integers(0, WORDS, (count, LENGTH)).astype(np.int32), labels
    return random.random((count, 784), dtype=np.float32), labels


# ---- JAX ----


def jax_mobilenet(jax, jnp, dtype):
    """The shapes of the weights, and the function of weights and pictures that gives the outputs, as Sandler et al. have it,
    and the new statistics of batch normalizations."""
    shapes = []

    def weights(size, inputs, outputs, groups=1):
        shapes.extend([(size, size, inputs // groups, outputs), (outputs,), (outputs,)])

    channels = 32
    weights(3, 3, 32)
    for expansion, outputs, count, _ in BLOCKS:
        for _ in range(count):
            wide = channels * expansion
            if expansion > 1:
                weights(1, channels, wide)
            weights(3, wide, wide, wide)
            weights(1, wide, outputs)
            channels = outputs
    weights(1, 320, 1280)
    shapes.extend([(1280, 1000), (1000,)])

    def forward(parameters, x):
        kept, statistics_now = iter(parameters), []

        def layer(x, stride=1, groups=1, clipped=True):
            kernel, scale, shift = next(kept), next(kept), next(kept)
            y = jax.lax.conv_general_dilated(x.astype(dtype), kernel.astype(dtype), (stride, stride), "SAME",
                                             dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups,
                                             preferred_element_type=dtype).astype(jnp.float32)
            mean, variance = y.mean((0, 1, 2)), y.var((0, 1, 2))
            statistics_now.extend([mean, variance])
            y = (y - mean) * jax.lax.rsqrt(variance + 1e-3) * scale + shift
            return jnp.clip(y, 0, 6) if clipped else y

        y, channels = layer(x, 2), 32
        for expansion, outputs, count, stride in BLOCKS:
            for i in range(count):
                z = layer(y) if expansion > 1 else y
                z = layer(z, 1 if i else stride, z.shape[-1])
                z = layer(z, clipped=False)
                y = y + z if i and channels == outputs else z
                channels = outputs
        y = layer(y).mean((1, 2))
        return (y.astype(dtype) @ next(kept).astype(dtype)).astype(jnp.float32) + next(kept), statistics_now

    return shapes, forward


def jax_text(jax, jnp, dtype):
    shapes = [(WORDS, 7), (5, 7, 64), (64,), (3, 64, 32), (32,), (73 * 32, 46), (46,)]

    def forward(parameters, x):
        table, first, first_bias, second, second_bias, last, last_bias = parameters

        def block(x, kernel, bias):
            y = jax.lax.conv_general_dilated(x.astype(dtype), kernel.astype(dtype), (1,), "VALID",
                                             dimension_numbers=("NWC", "WIO", "NWC")).astype(jnp.float32)
            y = jax.nn.relu(y + bias)
            return jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 2, 1), (1, 2, 1), "VALID")

        y = block(block(table[x], first, first_bias), second, second_bias)
        return y.reshape(len(y), -1) @ last + last_bias, []

    return shapes, forward


def jax_mlp(jax, jnp, dtype):
    def forward(parameters, x):
        hidden, hidden_bias, last, last_bias = parameters
        y = jax.nn.relu((x.astype(dtype) @ hidden.astype(dtype)).astype(jnp.float32) + hidden_bias)
        return (y.astype(dtype) @ last.astype(dtype)).astype(jnp.float32) + last_bias, []

    return [(784, 500), (500,), (500, 10), (10,)], forward


def jax_update(jnp, network, at, weight, slots, gradient):
    """Adam, Nadam or SGD, as the network has it: the new weight and slots."""
    if network == "mlp":
        return weight - 0.01 * gradient, slots
    mean, square = slots
    mean, square = mean + 0.1 * (gradient - mean), square + 0.001 * (gradient * gradient - square)
    wanted = mean / (1 - 0.9 ** at)
    if network == "text_cnn":
        wanted = 0.9 * mean / (1 - 0.9 ** (at + 1)) + 0.1 * gradient / (1 - 0.9 ** at)
    return weight - 0.001 * wanted / (jnp.sqrt(square / (1 - 0.999 ** at)) + 1e-7), (mean, square)


def jax_run(arguments):
    """The function run(count), which makes so many steps and waits for them."""
    if not arguments.defaults and arguments.device == "gpu":
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {SAME_OPTIONS}"
    os.environ.setdefault("JAX_PLATFORMS", "cuda" if arguments.device == "gpu" else "cpu")
    import jax
    import jax.numpy as jnp

    if not arguments.defaults:
        jax.config.update("jax_default_matmul_precision",
                          "tensorfloat32" if arguments.precision == "tensorfloat32" else "highest")
    if arguments.network == "product":
        a = jax.random.uniform(jax.random.key(1), (arguments.size, arguments.size), minval=-0.5, maxval=0.5)
        multiply = jax.jit(lambda a, b: (a @ b).sum())
        b = a + 0
        return lambda count: [float(multiply(a, b)) for _ in range(count)]
    dtype = jnp.bfloat16 if arguments.precision == "mixed_bfloat16" else jnp.float32
    make = {"mobilenet_v2": jax_mobilenet, "text_cnn": jax_text, "mlp": jax_mlp}[arguments.network]
    shapes, forward = make(jax, jnp, dtype)
    keys = jax.random.split(jax.random.key(1), len(shapes))
    weights = [0.05 * jax.random.normal(key, shape) for key, shape in zip(keys, shapes)]
    slots = [() if arguments.network == "mlp" else (jnp.zeros(w.shape), jnp.zeros(w.shape)) for w in weights]
    x, y = (jax.device_put(part) for part in random_batch(arguments))
    moving = [jnp.zeros(part.shape) for part in jax.eval_shape(
        lambda w: forward(w, x.astype(jnp.float32) if x.dtype == jnp.uint8 else x)[1], weights)]

    def loss(weights, x, y):
        outputs, now = forward(weights, x.astype(jnp.float32) if x.dtype == jnp.uint8 else x)
        return -jnp.take_along_axis(jax.nn.log_softmax(outputs), y[:, None], axis=1).mean(), now

    def step(state, x, y):
        at, weights, slots, moving = state
        (value, now), gradients = jax.value_and_grad(loss, has_aux=True)(weights, x, y)
        updated = [jax_update(jnp, arguments.network, at, *each) for each in zip(weights, slots, gradients)]
        moving = [old + 0.001 * (new - old) for old, new in zip(moving, now)]
        return (at + 1, [each[0] for each in updated], [each[1] for each in updated], moving), value

    compiled = jax.jit(step, donate_argnums=0 if arguments.defaults else ())
    state = (jnp.float32(1), weights, slots, moving)

    def run(count):
        nonlocal state
        for _ in range(count):
            state, value = compiled(state, x, y)
            if not arguments.defaults:
                float(value)
        jax.block_until_ready(state)

    return run


# ---- PyTorch ----


def pytorch_run(arguments):
    import torch

    import networks

    device = torch.device("cuda" if arguments.device == "gpu" else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = arguments.precision == "tensorfloat32"
    if arguments.network == "product":
        a = torch.rand(arguments.size, arguments.size, device=device) - 0.5
        return lambda count: [float((a @ a).sum()) for _ in range(count)]
    x, y = (torch.from_numpy(part).to(device) for part in random_batch(arguments))
    y, nn = y.long(), torch.nn
    if arguments.network == "mobilenet_v2":
        x = x.permute(0, 3, 1, 2)  # in memory channels stay last
        model = networks.torch_mobilenet(torch).to(device, memory_format=torch.channels_last)
        optimizer = torch.optim.Adam(model.parameters(), 0.001, fused=arguments.device == "gpu")
    elif arguments.network == "text_cnn":
        model = networks.torch_text(torch).to(device)
        optimizer = torch.optim.NAdam(model.parameters(), 0.001)
    else:
        model = nn.Sequential(nn.Linear(784, 500), nn.ReLU(), nn.Linear(500, 10)).to(device)
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
    called = model if arguments.defaults else torch.compile(model)

    def run(count):
        for _ in range(count):
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(device.type, torch.bfloat16, enabled=arguments.precision == "mixed_bfloat16"):
                outputs = called(x.float() if x.dtype == torch.uint8 else x)
                value = nn.functional.cross_entropy(outputs, y)
            value.backward()
            optimizer.step()
            if not arguments.defaults:
                float(value)
        float(value)

    return run


def main():
    parser = argparse.ArgumentParser(description="measures JAX or PyTorch on the networks of `muster-bench device`")
    parser.add_argument("peer", choices=["jax", "pytorch"])
    parser.add_argument("--network", choices=["mobilenet_v2", "text_cnn", "mlp", "product"], default="mlp")
    parser.add_argument("--device", choices=["gpu", "cpu"], default="gpu")
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--size", type=int, default=224, help="sides of pictures, or of the matrices")
    parser.add_argument("--precision", choices=["float32", "mixed_bfloat16", "tensorfloat32"], default="float32")
    parser.add_argument("--defaults", action="store_true", help="what the peer does by itself")
    parser.add_argument("--seconds", type=float, default=1, help="length of a window")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    run = {"jax": jax_run, "pytorch": pytorch_run}[arguments.peer](arguments)
    run(1)
    first_step = time.time() - float(os.environ.get("MUSTER_BENCH_BEGAN", time.time()))
    began = time.perf_counter()
    run(WARM_STEPS)
    steps_a_call = max(1, int(arguments.seconds / 10 / ((time.perf_counter() - began) / WARM_STEPS)))
    is_product = arguments.network == "product"
    worth = 2 * arguments.size ** 3 / 1e12 if is_product else arguments.batch_size
    rates = []
    for _ in range(arguments.rounds):
        steps, began = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - began) < arguments.seconds:
            run(steps_a_call)
            steps += steps_a_call
        rates.append(steps * worth / elapsed)
    print(json.dumps({"unit": "TFLOP/s" if is_product else "examples/s", "windows": [round(rate, 6) for rate in rates],
                      "median": round(statistics.median(rates), 6), "first_step": round(first_step, 3)}, separators=(",", ":")))


if __name__ == "__main__":
    main()
