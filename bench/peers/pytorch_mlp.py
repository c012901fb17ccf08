"""The network of `muster-bench mlp` in PyTorch 2; see peer.py."""

import os
import shutil
import socket
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing of ours lands beside the sources
import peer

CORES = len(os.sched_getaffinity(0))
REPLICAS = 2

# "eager" writes the update with the multi-tensor calls; "optimizer" uses torch.optim.SGD, fused; "compiled" compiles the
# whole step.
SINGLE = ["guide", "eager-step", "optimizer-step"] + (["compiled-step"] if shutil.which("g++") else [])
CONFIGS = {"one-thread": SINGLE, "all-cores": SINGLE, f"ddp-{REPLICAS}": ["guide", "eager-step", "optimizer-step"]}


def make_network(torch):
    network = torch.nn.Sequential(torch.nn.Linear(784, peer.HIDDEN), torch.nn.ReLU(), torch.nn.Linear(peer.HIDDEN, 10))
    torch.manual_seed(1)
    for layer in (network[0], network[2]):
        torch.nn.init.trunc_normal_(layer.weight, std=0.1, a=-0.2, b=0.2)
        torch.nn.init.zeros_(layer.bias)
    return network


def make_update(torch, network, variant):
    """The function update(learning_rate, keep) that applies gradients, weight decay and moving average."""
    parameters = list(network.parameters())
    weights = [p for p in parameters if p.ndim == 2]
    averages = [p.detach().clone() for p in parameters]

    def by_hand(learning_rate, keep):
        gradients = [p.grad for p in parameters]
        torch._foreach_add_([p.grad for p in weights], weights, alpha=peer.L2)
        torch._foreach_add_(parameters, gradients, alpha=-learning_rate)
        torch._foreach_lerp_(averages, parameters, keep)

    if variant != "optimizer-step":
        return torch.no_grad()(by_hand)
    biases = [p for p in parameters if p.ndim == 1]
    groups = [{"params": weights, "weight_decay": peer.L2}, {"params": biases}]
    optimizer = torch.optim.SGD(groups, lr=peer.LEARNING_RATE, fused=True)

    def by_optimizer(learning_rate, keep):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate
        optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(averages, parameters, keep)

    return by_optimizer


def make_compiled(torch, network):
    """The whole step as one compiled function of (pixels, labels, learning_rate, keep)."""
    parameters = list(network.parameters())
    averages = [p.detach().clone() for p in parameters]

    def step(x, y, learning_rate, keep):
        loss = torch.nn.functional.cross_entropy(network(x), y)
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, g, a in zip(parameters, gradients, averages):
                p.sub_(learning_rate * (g + peer.L2 * p if p.ndim == 2 else g))
                a.lerp_(p, keep)

    return torch.compile(step)


def by_guide(torch, rank, replicas, network, model, data):
    """run(count) as the guide writes a loop; its moving average has a constant decay, which is as much work."""
    utils = torch.utils.data
    dataset = utils.TensorDataset(*data)
    sampler = utils.distributed.DistributedSampler(dataset, replicas, rank) if replicas > 1 else None
    loader = utils.DataLoader(dataset, batch_size=peer.BATCH, sampler=sampler, shuffle=sampler is None, drop_last=True)
    weights = [p for p in network.parameters() if p.ndim == 2]
    biases = [p for p in network.parameters() if p.ndim == 1]
    optimizer = torch.optim.SGD([{"params": weights, "weight_decay": peer.L2}, {"params": biases}], lr=peer.LEARNING_RATE)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, peer.DECAY_RATE ** (1 / peer.DECAY_STEPS))
    swa = torch.optim.swa_utils
    average = swa.AveragedModel(network, multi_avg_fn=swa.get_ema_multi_avg_fn(peer.AVERAGE_DECAY))

    def batches():
        while True:
            yield from loader

    source = batches()

    def run(count):
        for _ in range(count):
            x, y = next(source)
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            scheduler.step()
            average.update_parameters(network)

    return run


def run_replica(torch, rank, replicas, variant, arguments):
    import numpy  # the data goes through it: counted as part of the start, as TensorFlow's is

    del numpy
    pixels, labels = (torch.from_numpy(part) for part in peer.load(arguments.data))
    batches = pixels.shape[0] // peer.BATCH
    network = make_network(torch)
    compiled = make_compiled(torch, network) if variant == "compiled-step" else None
    update = make_update(torch, network, variant)
    model = network
    if replicas > 1:
        model = torch.nn.parallel.DistributedDataParallel(network, gradient_as_bucket_view=True, static_graph=True)
    position = 0

    def run(count):
        nonlocal position
        for at in range(position, position + count):
            begin = (at * replicas + rank) % batches * peer.BATCH
            x, y = pixels[begin:begin + peer.BATCH], labels[begin:begin + peer.BATCH]
            learning_rate = peer.LEARNING_RATE * peer.DECAY_RATE ** (at / peer.DECAY_STEPS)
            keep = 1.0 - min(peer.AVERAGE_DECAY, (1.0 + at) / (10.0 + at))
            if compiled:
                compiled(x, y, torch.tensor(learning_rate), torch.tensor(keep))
                continue
            for p in network.parameters():
                p.grad = None
            torch.nn.functional.cross_entropy(model(x), y).backward()
            update(learning_rate, keep)
        position += count

    guide = variant == "guide"
    if guide:
        run = by_guide(torch, rank, replicas, network, model, (pixels, labels))
    if rank == 0:
        told = tell_others(torch, run) if replicas > 1 else run
        peer.measure(told, peer.BATCH * replicas, torch.__version__,
                     peer.GUIDE_STEPS_A_CALL if guide else peer.STEPS_A_CALL)
    else:
        follow(torch, run)


def tell_others(torch, run):
    """Rank 0 tells the others before each call how many steps come, so that all stop together."""

    def told(count):
        torch.distributed.broadcast(torch.tensor(count), 0)
        run(count)

    return told


def follow(torch, run):
    count = torch.tensor(0)
    while True:
        torch.distributed.broadcast(count, 0)
        if count.item() == 0:
            return
        run(count.item())


def run_distributed(arguments, variant):
    """Rank 0 is this process, which starts the others, as torchrun does."""
    rank = int(os.environ.get("RANK", "0"))
    children = []
    if rank == 0:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE=str(REPLICAS), OMP_NUM_THREADS="1")
        for i in range(1, REPLICAS):
            children.append(subprocess.Popen([sys.executable] + sys.argv, env=dict(os.environ, RANK=str(i)),
                                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL))
        os.environ["RANK"] = "0"
    import torch
    import torch.distributed

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    run_replica(torch, rank, REPLICAS, variant, arguments)
    if rank == 0:
        torch.distributed.broadcast(torch.tensor(0), 0)
    torch.distributed.destroy_process_group()
    for child in children:
        if child.wait() != 0:
            raise RuntimeError("a replica failed")


def run_config(config, variant, arguments):
    if config.startswith("ddp"):
        run_distributed(arguments, variant)
        return
    if config == "one-thread":
        os.environ["OMP_NUM_THREADS"] = "1"
    import torch

    torch.set_num_threads(1 if config == "one-thread" else CORES)
    run_replica(torch, 0, 1, variant, arguments)


if __name__ == "__main__":
    sys.exit(peer.main("pytorch", CONFIGS, run_config))
