"""Folders of Hugging Face against transformers and PyTorch, with tiny random networks: GPT-2, Llama with grouped heads,
with heads of another length and biases, and with tied outputs. Logits, the likeliest text, 20 losses of training, and
what transformers makes of the folders that Muster writes, also after training. Weights in f16, in bf16 and in several
files.

    huggingface_test.py

Needs transformers with PyTorch (scripts/peers transformers); exits 77 (skipped) where they are not installed.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile

import muster
import numpy as np

try:
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch
    import transformers
    from transformers import GPT2Config, GPT2LMHeadModel, GPT2Model, LlamaConfig, LlamaForCausalLM
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(muster.SKIPPED)

PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_huggingface")
TOLERANCE = 1e-4
STEPS = 20
VOCABULARY, POSITIONS, EXAMPLES = 61, 16, 8
NO_DROPOUT = {"resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0}
TOKENS = {"bos_token_id": 1, "eos_token_id": 2}


def gpt2(**options):
    return GPT2LMHeadModel(GPT2Config(**{**dict(vocab_size=VOCABULARY, n_positions=POSITIONS, n_embd=24, n_layer=2,
                                                n_head=4), **NO_DROPOUT, **TOKENS, **options}))


def llama(**options):
    return LlamaForCausalLM(LlamaConfig(**{**dict(vocab_size=VOCABULARY, hidden_size=24, intermediate_size=40,
                                                  num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2,
                                                  max_position_embeddings=POSITIONS), **TOKENS, **options}))


def networks():
    yield "gpt2", gpt2()
    yield "gpt2, inner layers of 20, untied", gpt2(n_inner=20, tie_word_embeddings=False, layer_norm_epsilon=1e-3)
    yield "llama", llama()
    yield "llama, rope_theta 500000, tied", llama(num_key_value_heads=6, tie_word_embeddings=True, rms_norm_eps=1e-5,
                                                  rope_parameters={"rope_type": "default", "rope_theta": 500000.0})
    yield "llama, heads of 6 numbers, biases", llama(head_dim=6, attention_bias=True, mlp_bias=True)


def randomize(model):
    """Larger than the first values, so that all parts matter. A new model has norms of 1 and biases of 0."""
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn_like(parameter) * 0.2
            parameter.copy_(noise if parameter.dim() > 1 else parameter + noise)
    return model


def save(model, path, **options):
    with contextlib.redirect_stderr(io.StringIO()):
        model.save_pretrained(path, **options)


def load(path):
    """Everything that transformers finds missing or left over is an error."""
    kind = GPT2LMHeadModel if json.load(open(os.path.join(path, "config.json")))["model_type"] == "gpt2" else None
    model, info = (kind or LlamaForCausalLM).from_pretrained(path, output_loading_info=True, dtype=torch.float32)
    wrong = [*info["missing_keys"], *info["unexpected_keys"], *info["mismatched_keys"]]
    if wrong:
        raise RuntimeError(f"{path}: {wrong}")
    return model.eval()


def logits_of(model, tokens):
    with torch.no_grad():
        return model(torch.from_numpy(tokens).long()).logits.float().numpy()


def run(*arguments):
    modules = dict(os.environ, MUSTER_MODULE_PATH=os.environ["MUSTER_BUILD"])
    return subprocess.run([PROGRAM, *arguments], check=True, stdout=subprocess.PIPE, text=True, env=modules).stdout


def compare_logits(report, name, model, folder, tokens, parent, saved=None):
    np.save(os.path.join(parent, "x.npy"), tokens)
    out = os.path.join(parent, "logits.npy")
    run("logits", folder, os.path.join(parent, "x.npy"), out, *([saved] if saved else []))
    got, expected = np.load(out), logits_of(model, tokens)
    report.check(name, got.shape == expected.shape and np.abs(got - expected).max() <= TOLERANCE,
                 np.abs(got - expected).max() if got.shape == expected.shape else got.shape, expected.shape)


def their_losses(model, optimizer, tokens, labels):
    model.train()
    losses = []
    for _ in range(STEPS):
        logits = model(torch.from_numpy(tokens).long()).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.from_numpy(labels).long().flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    return losses


def optimizers(model):
    yield "sgd", torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    yield "adamw", torch.optim.AdamW(model.parameters(), lr=0.003, weight_decay=0.01)


def compare_training(report, name, folder, text, parent):
    tokens, labels = text[:, :-1].copy(), text[:, 1:].copy()
    paths = [os.path.join(parent, file) for file in ("x.npy", "y.npy")]
    np.save(paths[0], tokens)
    np.save(paths[1], labels)
    for rule in ("sgd", "adamw"):
        model = load(folder)
        optimizer = dict(optimizers(model))[rule]
        expected = their_losses(model, optimizer, tokens, labels)
        trained = os.path.join(parent, f"trained-{rule}") + "/"
        got = [float(line) for line in run("train", folder, *paths, rule, str(STEPS), trained).split()]
        good = len(got) == STEPS and np.abs(np.array(got) - expected).max() <= TOLERANCE
        report.check(f"{name}: losses with {rule}", good, got, expected)
        report.check(f"{name}: {rule} learns", expected[-1] < expected[0] - 0.3, expected[-1], expected[0])
        difference = np.abs(logits_of(load(trained), tokens) - logits_of(model, tokens)).max()
        report.check(f"{name}: after {rule}, in transformers", difference <= 1e-3, difference, 1e-3)


def compare_text(report, name, model, folder, prompt):
    """The likeliest tokens, as many as the network has positions for."""
    count = POSITIONS - len(prompt)
    ids = torch.tensor([prompt])
    with torch.no_grad():
        expected = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, do_sample=False,
                                  eos_token_id=None, pad_token_id=0)[0, len(prompt):].tolist()
    got = [int(line) for line in run("generate", folder, str(count), *map(str, prompt)).split()]
    report.check(f"{name}: text", got == expected, got, expected)


def check_network(report, name, model, random, parent):
    folder, back = os.path.join(parent, "hf"), os.path.join(parent, "back") + "/"
    save(randomize(model).eval(), folder)
    text = random.integers(0, VOCABULARY, (EXAMPLES, POSITIONS + 1)).astype(np.int32)
    tokens = text[:, :-1].copy()
    compare_logits(report, f"{name}: logits", model, folder, tokens, parent, back)
    report.check(f"{name}: transformers has the same logits of what was written",
                 np.array_equal(logits_of(load(back), tokens), logits_of(model, tokens)), "others", "the same")
    ours, theirs = (json.load(open(os.path.join(path, "config.json"))) for path in (back, folder))
    other = {key for key in theirs if ours.get(key) != theirs[key]}
    report.check(f"{name}: config.json", not other, {key: ours.get(key) for key in other}, {k: theirs[k] for k in other})
    for length in (1, 3, 7):
        compare_text(report, name, model, folder, tokens[length, :length].tolist())
    compare_training(report, name, folder, text, parent)


def check_files(report, random, parent):
    """Weights in 16 bits, in several files, and without the part that predicts."""
    tokens = random.integers(0, VOCABULARY, (3, POSITIONS)).astype(np.int32)
    for name, make in (("gpt2", gpt2), ("llama", llama)):
        for dtype in (torch.float16, torch.bfloat16):
            folder = os.path.join(parent, f"{name}-{dtype}")
            save(randomize(make()).to(dtype), folder)
            compare_logits(report, f"{name} in {dtype}", load(folder), folder, tokens, parent)
        folder = os.path.join(parent, f"{name}-files")
        model = randomize(make()).eval()
        save(model, folder, max_shard_size="9KB")
        report.check(f"{name}: several files", len(os.listdir(folder)) > 4, os.listdir(folder), "several")
        compare_logits(report, f"{name} in several files", model, folder, tokens, parent)
    model = randomize(gpt2()).eval()
    folder = os.path.join(parent, "base")
    base = GPT2Model(model.config)
    base.load_state_dict(model.transformer.state_dict())
    save(base, folder)
    compare_logits(report, "gpt2 without the prefix of names", model, folder, tokens, parent)


def main():
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    random = np.random.default_rng(1)
    report = muster.Report()
    for name, model in networks():
        with tempfile.TemporaryDirectory() as parent:
            check_network(report, name, model, random, parent)
    with tempfile.TemporaryDirectory() as parent:
        check_files(report, random, parent)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
