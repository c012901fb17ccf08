"""Pictures in class folders: what Muster decodes and resizes has the values of tf.io.decode_jpeg, decode_png and
tf.image.resize, to the bit for PNG, as gray too. JPEG with TensorFlow's accurate transform; decoders of two versions may differ by
one step of a color. Where planes are resized before they become RGB, the transform is the fast one, and colors are not made as large
as the picture first, and pictures differ by their finest colors: hardly in a smooth one, by up to 2 of 255 on average in
noise that is not the same in red, green and blue."""

import io
import os
import struct
import subprocess
import tempfile
import zlib

import muster
import numpy as np

tf = muster.tensorflow()
PROGRAM = os.path.join(os.environ["MUSTER_BUILD"], "test", "parity_images")
METHODS = ["bilinear", "area", "nearest"]


def read(height, width, channels, method, whole):
    arguments = [folder, height, width, channels, METHODS.index(method), int(whole)]
    output = subprocess.run([PROGRAM, *map(str, arguments)], check=True, stdout=subprocess.PIPE).stdout
    return np.frombuffer(output, np.float32).reshape(-1, height, width, channels)


def write(name, data):
    os.makedirs(os.path.join(folder, "class"), exist_ok=True)
    path = os.path.join(folder, "class", name)
    with open(path, "wb") as file:
        file.write(data.numpy())
    return path


def picture(random, height, width, channels):
    """Noise on a slope: both edges and smooth parts."""
    slope = np.linspace(0, 150, height * width).reshape(height, width, 1)
    return np.clip(slope + random.integers(0, 100, (height, width, channels)), 0, 255).astype(np.uint8)


def check_png(report):
    random = np.random.default_rng(1)
    for case in range(12):
        height, width = (int(n) for n in random.integers(1, 90, 2))
        channels = [1, 2, 3, 4][case % 4]
        path = write("a.png", tf.io.encode_png(picture(random, height, width, channels)))
        image = tf.io.decode_png(tf.io.read_file(path), channels=3)
        for method in METHODS:
            size = [int(n) for n in random.integers(1, 120, 2)] if case else [height, width]
            expected = tf.cast(tf.image.resize(image, size, method=method), tf.float32).numpy()
            got = read(*size, 3, method, True)[0]
            report.check(f"PNG {height}x{width}x{channels} to {size}, {method}", np.array_equal(got, expected),
                         np.abs(got - expected).max(), 0)
    os.remove(path)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def make_png(array, depth, color, extra=b""):
    """A PNG file with chunks of our choice."""
    rows = b"".join(b"\0" + row.tobytes() for row in array)
    header = struct.pack(">IIBBBBB", array.shape[1], array.shape[0], depth, color, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(rows)) +
            chunk(b"IEND", b""))


def check_gray(report):
    """Gray of colored PNG is TensorFlow's, which counts a file's gamma; colors do not."""
    random = np.random.default_rng(4)
    rgb = random.integers(0, 256, (40, 50, 3)).astype(np.uint8)
    rgb[0] = rgb[0, :, :1]
    rgba = np.concatenate([rgb, rgb[:, :, :1]], -1)
    wide = random.integers(0, 65536, (40, 50, 3)).astype(">u2")
    palette = chunk(b"PLTE", random.integers(0, 256, 768).astype(np.uint8).tobytes())
    cases = [("8 bits", rgb, 8, 2, b""), ("transparent", rgba, 8, 6, b""), ("16 bits", wide, 16, 2, b""),
             ("palette", rgb[:, :, 0], 8, 3, palette), ("gray", rgb[:, :, 0], 8, 0, b""),
             ("gray with gamma", rgb[:, :, 0], 8, 0, chunk(b"gAMA", struct.pack(">I", 45455))),
             ("sRGB", rgb, 8, 2, chunk(b"sRGB", b"\0"))]
    cases += [(f"gamma {gamma}", rgb, 8, 2, chunk(b"gAMA", struct.pack(">I", gamma)))
              for gamma in (22727, 45455, 60000, 94000, 97000, 100000, 104000)]
    for title, array, depth, color, extra in cases:
        data = tf.constant(make_png(array, depth, color, extra))
        path = write("a.png", data)
        for channels in 1, 3:
            expected = tf.io.decode_png(data, channels=channels).numpy().astype(np.float32)
            got = read(*array.shape[:2], channels, "nearest", True)[0]
            report.check(f"PNG, {title}, as {channels} channels", np.array_equal(got, expected),
                         np.abs(got - expected).max(), 0)
    os.remove(path)


def adam7(array, depth, color):
    """An interlaced PNG: seven pictures of some of the pixels, each with its rows."""
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    parts = [array[y::dy, x::dx] for y, x, dy, dx in passes]
    rows = b"".join(b"\0" + row.tobytes() for part in parts if part.size for row in part)
    header = struct.pack(">IIBBBBB", array.shape[1], array.shape[0], depth, color, 0, 0, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def saved(image, kind, **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def forms_of_png():
    """Of each color type and depth, transparent by a color of the palette or of the pixels, interlaced, long, small."""
    from PIL import Image
    random = np.random.default_rng(6)
    rgb = random.integers(0, 256, (21, 34, 3)).astype(np.uint8)
    image = Image.fromarray(rgb)
    gray = image.convert("L")
    for colors in 2, 4, 16, 200:
        few = image.quantize(colors)
        yield f"palette of {colors}", saved(few, "PNG")
        yield f"palette of {colors}, one transparent", saved(few, "PNG", transparency=1)
        yield f"palette of {colors}, alphas", saved(few, "PNG", transparency=bytes(range(0, 2 * colors % 256, 2)))
    yield "black and white", saved(image.convert("1"), "PNG")
    yield "gray", saved(gray, "PNG")
    yield "gray, one transparent", saved(gray, "PNG", transparency=77)
    yield "one color transparent", saved(image, "PNG", transparency=tuple(int(v) for v in rgb[3, 4]))
    yield "gray and alpha", saved(image.convert("LA"), "PNG")
    yield "alpha", saved(image.convert("RGBA"), "PNG")
    for color, channels in (0, 1), (2, 3), (4, 2), (6, 4):
        for depth in 8, 16:
            pixels = random.integers(0, 1 << depth, (21, 34, channels)).astype(f">u{depth // 8}")
            yield f"color type {color}, {depth} bits", make_png(pixels, depth, color)
            yield f"color type {color}, {depth} bits, interlaced", adam7(pixels, depth, color)
    for height, width in (1, 1), (1, 20000), (20000, 1), (3, 3), (2, 5):
        pixels = random.integers(0, 256, (height, width, 3)).astype(np.uint8)
        yield f"{height}x{width}", make_png(pixels, 8, 2)
        yield f"{height}x{width}, interlaced", adam7(pixels, 8, 2)


def forms_of_jpeg():
    """Turned by EXIF stays as it is, as in TensorFlow."""
    from PIL import Image
    image = Image.fromarray(smooth(50, 75, 3))
    turned = Image.Exif()
    turned[0x0112] = 6
    for subsampling in "4:4:4", "4:2:2", "4:2:0":
        yield f"{subsampling}", saved(image, "JPEG", subsampling=subsampling, quality=90)
        yield f"{subsampling}, progressive", saved(image, "JPEG", subsampling=subsampling, quality=60, progressive=True)
    yield "restarts", saved(image, "JPEG", restart_marker_rows=1)
    yield "turned", saved(image, "JPEG", exif=turned)
    yield "a profile and a comment", saved(image, "JPEG", icc_profile=bytes(70000), comment="a picture")
    yield "no YCbCr", saved(image, "JPEG", keep_rgb=True, quality=90)
    yield "gray", saved(image.convert("L"), "JPEG")
    yield "gray, progressive", saved(image.convert("L"), "JPEG", progressive=True)
    for height, width in (1, 1), (1, 20000), (20000, 1), (9, 17):
        yield f"{height}x{width}", saved(Image.fromarray(smooth(height, width, 3)), "JPEG")


def nearest(image):
    """At most 10,000 pixels wide and high."""
    return tf.image.resize(image, [min(n, 10000) for n in image.shape[:2]], method="nearest").numpy().astype(np.float32)


def check_forms(report):
    for title, data in forms_of_png():
        path = write("a.png", tf.constant(data))
        for channels in 1, 3:
            expected = nearest(tf.io.decode_png(data, channels=channels))
            got = read(*expected.shape[:2], channels, "nearest", True)[0]
            report.check(f"PNG, {title}, as {channels} channels", np.array_equal(got, expected),
                         np.abs(got - expected).max(), 0)
    os.remove(path)
    for title, data in forms_of_jpeg():
        path = write("a.jpg", tf.constant(data))
        for channels in 1, 3:
            expected = nearest(tf.io.decode_jpeg(data, channels=channels, dct_method="INTEGER_ACCURATE"))
            difference = np.abs(read(*expected.shape[:2], channels, "nearest", True)[0] - expected)
            report.check(f"JPEG, {title}, as {channels} channels", difference.max() <= 2 and difference.mean() < 0.05,
                         (difference.max(), difference.mean()), 0)
    os.remove(path)


def check_cmyk(report):
    """JPEG of four inks."""
    from PIL import Image
    random = np.random.default_rng(5)
    for size in (40, 50), (33, 17):
        inks = np.kron(random.integers(0, 256, (5, 5, 4)), np.ones((10, 10, 1)))[:size[0], :size[1]].astype(np.uint8)
        buffer = io.BytesIO()
        Image.fromarray(inks, "CMYK").save(buffer, "JPEG", quality=95)
        for title, data in ("Adobe's", buffer.getvalue()), ("others'", without_adobe(buffer.getvalue())):
            path = write("a.jpg", tf.constant(data))
            expected = tf.io.decode_jpeg(data, channels=3, dct_method="INTEGER_ACCURATE").numpy().astype(np.float32)
            difference = np.abs(read(*size, 3, "nearest", True)[0] - expected)
            report.check(f"JPEG of {title} inks, {size}", difference.max() <= 2 and difference.mean() < 0.05,
                         (difference.max(), difference.mean()), 0)
    os.remove(path)


def without_adobe(data):
    """The file without its marker APP14."""
    at = data.index(b"\xff\xee")
    return data[:at] + data[at + 2 + struct.unpack(">H", data[at + 2:at + 4])[0]:]


def ratio_of(height, width, size):
    return max(r for r in (1, 2, 4, 8) if r == 1 or (-(-height // r) >= size[0] and -(-width // r) >= size[1]))


def smooth(height, width, channels):
    """Waves, of another phase in each channel."""
    y, x, phase = np.mgrid[0:height, 0:width, 0:channels]
    return (127 + 60 * np.sin(x / 23 + phase) + 60 * np.cos(y / 31 + 2 * phase)).astype(np.uint8)


def check_planes(report):
    random = np.random.default_rng(3)
    for height, width, size in [(375, 500, (224, 224)), (375, 500, (100, 90)), (64, 64, (64, 64)), (33, 47, (60, 70))]:
        for name, image, most, mean in [("smooth", smooth(height, width, 3), 3, 0.6),
                                        ("noise", picture(random, height, width, 3), 40, 2)]:
            for subsampling in True, False:
                path = write("a.jpg", tf.io.encode_jpeg(image, quality=90, chroma_downsampling=subsampling))
                ratio = ratio_of(height, width, size)
                whole = tf.io.decode_jpeg(tf.io.read_file(path), ratio=ratio, dct_method="INTEGER_FAST")
                difference = np.abs(read(*size, 3, "bilinear", False)[0] - tf.image.resize(whole, size).numpy())
                limits = (most, mean if subsampling else 0.6)  # colors are cut off at 0 and 255 later
                report.check(f"planes of {name} {height}x{width} to {size}, subsampling {subsampling}",
                             difference.max() <= limits[0] and difference.mean() < limits[1],
                             (difference.max(), difference.mean()), 0)


def check_jpeg(report):
    random = np.random.default_rng(2)
    for height, width, size in [(375, 500, (224, 224)), (375, 500, (100, 90)), (64, 64, (64, 64)), (200, 301, (24, 25)),
                                (33, 47, (60, 70))]:
        for channels in 3, 1:
            path = write("a.jpg", tf.io.encode_jpeg(picture(random, height, width, channels), quality=90))
            for whole in True, False:
                ratio = 1 if whole else ratio_of(height, width, size)
                image = tf.io.decode_jpeg(tf.io.read_file(path), channels=channels, ratio=ratio,
                                             dct_method="INTEGER_ACCURATE")
                for method in METHODS:
                    if method == "bilinear" and channels == 3 and not whole:
                        continue  # planes
                    expected = tf.cast(tf.image.resize(image, size, method=method), tf.float32).numpy()
                    difference = np.abs(read(*size, channels, method, whole)[0] - expected)
                    name = f"JPEG {height}x{width}x{channels} at 1/{ratio} to {size}, {method}"
                    report.check(name, difference.max() <= 1.01 and difference.mean() < 0.05,
                                 (difference.max(), difference.mean()), 0)


if __name__ == "__main__":
    report = muster.Report()
    with tempfile.TemporaryDirectory() as folder:
        check_png(report)
        check_gray(report)
        check_forms(report)
        check_cmyk(report)
        check_jpeg(report)
        check_planes(report)
    raise SystemExit(report.finish())
