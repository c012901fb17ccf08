"""Ids of texts, and texts of ids, are those of Hugging Face's `tokenizers`: byte-level BPE with the patterns of GPT-2 and
Llama 3, from tokenizer.json, and from vocab.json with merges.txt. With SentencePiece models they are those of the same
version of the library in Python. Vocabularies are trained here. Texts are those of
`fortune` and random ones of all planes of Unicode. Characters that are newer than the Unicode of this Python, which is
that of PCRE2 or older, are left out: letters of one version may be unassigned in the other."""

import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unicodedata

import muster

try:
    import sentencepiece
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(muster.SKIPPED)

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["MUSTER_MODULE_PATH"] = os.environ["MUSTER_BUILD"]
PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_tokenizer")
FORTUNES = "/usr/share/games/fortunes"
LLAMA = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)"
         r"|\s+")
NUM_LINES = 10000

# ---- texts ----

WHITE = " \t\n\v\f\r\x85\xa0\u1680\u2000\u2009\u200a\u2028\u2029\u202f\u205f\u3000\u180e\u200b\u200d\ufeff"
EMOJI = ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd", "\U0001f1e9\U0001f1ea", "\u2764\ufe0f",
         "1\ufe0f\u20e3", "\U0001f3f4\U000e0067\U000e0062\U000e007f"]
WORDS = ["don't", "I'M", "we\u2019ll", "they'Re", "it'\u017f", "3.14159", "1234567", "\u0e52\u0e53", "x\u00b2", "na\u00efve",
         "stra\u00dfe", "\u0130stanbul", "\u6f22\u5b57\u304b\u306a", "\u0939\u093f\u0928\u094d\u0926\u0940", "\u0627\u0644",
         "<|endoftext|>", "<|begin_of_text|>", "<|endof", "<|mask|>", "[late]", "...", "--", "\x00", "'", "''s", "\r\n"]


def make_assigned():
    return [c for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs")]


def make_line(draw, assigned):
    pieces = []
    for _ in range(draw.randrange(1, 12)):
        kind = draw.randrange(8)
        if kind == 0:
            pieces.append("".join(chr(draw.choice(assigned)) for _ in range(draw.randrange(1, 6))))
        elif kind == 1:
            pieces.append("".join(draw.choice(WHITE) for _ in range(draw.randrange(1, 4))))
        elif kind == 2:
            pieces.append(draw.choice(EMOJI))
        elif kind == 3:
            pieces.append("".join(chr(draw.randrange(0x300, 0x370)) for _ in range(draw.randrange(1, 4))))
        elif kind == 4:
            pieces.append("".join(chr(draw.randrange(0x20, 0x7f)) for _ in range(draw.randrange(1, 8))))
        elif kind == 5:
            pieces.append(chr(draw.randrange(0x300)) * draw.randrange(1, 4))
        else:
            pieces.append(draw.choice(WORDS))
        if draw.randrange(2):
            pieces.append(" ")
    return "".join(pieces)


def read_texts():
    """Paragraphs of the files of `fortune`, or of this project's pages where there are none."""
    texts = []
    folder = FORTUNES if os.path.isdir(FORTUNES) else os.path.join(os.path.dirname(__file__), "..", "..", "docs")
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith((".dat", ".u8")) or not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            texts += file.read().decode("utf-8", "ignore").split("\n%\n" if folder == FORTUNES else "\n\n")
    return texts


def ours(path, texts, special=False):
    """For each text its ids and the text of these."""
    parts = [struct.pack("<i", len(data)) + data for data in (text.encode() for text in texts)]
    output = subprocess.run([PROGRAM, path, *(["special"] if special else [])], input=b"".join(parts),
                            stdout=subprocess.PIPE, check=True).stdout
    answers, at = [], 0
    while at < len(output):
        n, = struct.unpack_from("<i", output, at)
        ids = list(struct.unpack_from(f"<{max(n, 0)}i", output, at + 4))
        at += 4 + 4 * max(n, 0)
        size, = struct.unpack_from("<i", output, at)
        answers.append((ids if n >= 0 else None, output[at + 4:at + 4 + size].decode()))
        at += 4 + size
    return answers


def compare(report, name, path, theirs, texts, special=False):
    answers = ours(path, texts, special)
    expected = [theirs(text) for text in texts]
    report.check(f"{name}: number of answers", len(answers) == len(texts), len(answers), len(texts))
    for what in (0, 1):
        wrong = [i for i, (a, e) in enumerate(zip(answers, expected)) if a[what] != e[what]]
        shown = wrong[:3]
        report.check(f"{name}: {('ids', 'texts')[what]} of {len(texts)} texts, {len(wrong)} differ", not wrong,
                     [(texts[i], answers[i]) for i in shown], [expected[i] for i in shown])


# ---- byte-level BPE ----


def train(texts, pre_tokenizer, size):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=size, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"]))
    return tokenizer


def bpe(tokenizer, special=False):
    def encode(text):
        ids = tokenizer.encode(text, add_special_tokens=special).ids
        return ids, tokenizer.decode(ids, skip_special_tokens=not special)
    return encode


def check_gpt2(report, folder, texts, lines):
    tokenizer = train(texts, pre_tokenizers.ByteLevel(add_prefix_space=False), 3000)
    path = os.path.join(folder, "tokenizer.json")
    tokenizer.save(path)
    compare(report, "GPT-2", path, bpe(tokenizer), lines)
    compare(report, "GPT-2, texts it was trained on", path, bpe(tokenizer), texts[:2000])
    parts = os.path.join(folder, "parts")
    os.makedirs(parts)
    tokenizer.model.save(parts)
    compare(report, "vocab.json and merges.txt", parts, bpe(tokenizer), lines[:2000])
    compare(report, "vocab.json", os.path.join(parts, "vocab.json"), bpe(tokenizer), lines[:10])
    prefixed = Tokenizer.from_str(tokenizer.to_str())
    prefixed.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    prefixed.add_special_tokens([AddedToken("<|mask|>", lstrip=True, rstrip=True, normalized=False)])
    prefixed.add_tokens([AddedToken("[late]", normalized=True), AddedToken("ate]", normalized=True)])
    prefixed.save(path)
    compare(report, "a space in front, and added tokens", path, bpe(prefixed), lines[:3000])


def check_llama(report, folder, texts, lines):
    split = pre_tokenizers.Split(Regex(LLAMA), "isolated")
    tokenizer = train(texts, pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)]), 2000)
    tokenizer.add_special_tokens(["<|begin_of_text|>"])
    first = tokenizer.token_to_id("<|begin_of_text|>")
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        "<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", first)])])
    path = os.path.join(folder, "llama.json")
    tokenizer.save(path)
    compare(report, "Llama 3, special tokens", path, bpe(tokenizer, True), lines, True)
    described = json.loads(tokenizer.to_str())
    described["model"]["ignore_merges"] = True
    described["model"]["merges"] = described["model"]["merges"][200:]  # some tokens can be made by no merges
    digits = {"type": "Digits", "individual_digits": True}
    described["pre_tokenizer"]["pretokenizers"].insert(1, digits)
    with open(path, "w") as file:
        json.dump(described, file)
    compare(report, "whole words, single digits", path, bpe(Tokenizer.from_file(path)), lines[:3000])


# ---- SentencePiece ----


def train_pieces(folder, name, texts, **options):
    path = os.path.join(folder, f"{name}.model")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts), model_prefix=path.removesuffix(".model"), vocab_size=options.pop("size"),
        minloglevel=2, num_threads=1, **options)
    return path


def check_pieces(report, folder, texts, lines):
    short = [text for paragraph in texts[:4000] for text in paragraph.split("\n") if text]
    models = {"unigram": {"size": 1000, "model_type": "unigram", "pad_id": 3},
              "bpe": {"size": 600, "model_type": "bpe", "byte_fallback": True, "normalization_rule_name": "identity",
                      "remove_extra_whitespaces": False, "split_digits": True},
              "char": {"size": 80, "model_type": "char", "character_coverage": 0.99, "add_dummy_prefix": False,
                       "normalization_rule_name": "nfkc_cf", "user_defined_symbols": ["<|mask|>"], "hard_vocab_limit": False}}
    for name, options in models.items():
        path = train_pieces(folder, name, short[:3000], **options)
        theirs = sentencepiece.SentencePieceProcessor(model_file=path)

        def encode(text):
            ids = theirs.encode(text)
            return ids, theirs.decode(ids)

        def encode_with_begin(text):
            ids = [theirs.bos_id()] + theirs.encode(text)
            return ids, theirs.decode(ids)

        compare(report, f"SentencePiece, {name}", path, encode, lines + texts[:500])
        compare(report, f"SentencePiece, {name}, with what begins a text", path, encode_with_begin, lines[:100], True)


if __name__ == "__main__":
    report = muster.Report()
    draw = random.Random(1)
    assigned = make_assigned()
    lines = [make_line(draw, assigned) for _ in range(NUM_LINES)] + ["", " ", "\n"]
    texts = read_texts()
    with tempfile.TemporaryDirectory() as folder:
        check_gpt2(report, folder, texts, lines)
        check_llama(report, folder, texts, lines)
        check_pieces(report, folder, texts, lines)
    raise SystemExit(report.finish())
