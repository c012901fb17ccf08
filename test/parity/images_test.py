"""Pictures in class folders: what Muster decodes and resizes has the values of tf.io.decode_jpeg, decode_png and
tf.image.resize, to the bit for PNG, as gray too. WebP, GIF and BMP have those of TensorFlow and Pillow. JPEG with TensorFlow's accurate transform; decoders of two versions may differ by
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


def make_bmp(rows, width, bits, compression=0, colors=b"", masks=b"", header=40, downwards=False):
    """A BMP file with rows and a header of our choice; ROWS come as they are stored."""
    if compression in (0, 3):
        rows = [row + bytes(-len(row) % 4) for row in rows]
        height, pixels = len(rows), b"".join(rows)
    else:
        height, pixels = rows[0], rows[1]
    if header == 12:
        info = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        used = len(colors) // 4
        info = struct.pack("<IiiHHIIiiII", header, width, -height if downwards else height, 1, bits, compression,
                           len(pixels), 0, 0, used, 0)
        info += masks + bytes(max(0, header - 40 - len(masks)))
    offset = 14 + len(info) + len(colors)
    return struct.pack("<2sIHHI", b"BM", offset + len(pixels), 0, 0, offset) + info + colors + pixels


def forms_of_bmp():
    """Of each number of bits, with masks, runs and headers of several versions."""
    from PIL import Image
    random = np.random.default_rng(7)
    rgb = random.integers(0, 256, (21, 35, 3)).astype(np.uint8)
    image = Image.fromarray(rgb)
    for title, form in [("24 bits", image), ("gray", image.convert("L")), ("black and white", image.convert("1")),
                        ("32 bits", image.convert("RGBA"))] + [(f"palette of {n}", image.quantize(n))
                                                               for n in (2, 5, 16, 100, 256)]:
        yield title, saved(form, "BMP")
    for bits in 1, 4, 8:
        colors = random.integers(0, 256, (1 << bits, 4)).astype(np.uint8)
        rows = [random.integers(0, 256, -(-35 * bits // 8)).astype(np.uint8).tobytes() for _ in range(21)]
        yield f"{bits} bits, downwards", make_bmp(rows, 35, bits, colors=colors.tobytes(), downwards=True)
        yield f"{bits} bits, OS/2", make_bmp(rows, 35, bits, colors=colors[:, :3].tobytes(), header=12)
        yield f"{bits} bits, version 5", make_bmp(rows, 35, bits, colors=colors.tobytes(), header=124)
    wide = [random.integers(0, 1 << 16, 35).astype("<u2").tobytes() for _ in range(21)]
    yield "16 bits", make_bmp(wide, 35, 16)
    for title, masks in ("565", (0xf800, 0x7e0, 0x1f)), ("555", (0x7c00, 0x3e0, 0x1f)):
        yield f"16 bits, {title}", make_bmp(wide, 35, 16, 3, masks=struct.pack("<III", *masks))
        yield f"16 bits, {title}, version 4", make_bmp(wide, 35, 16, 3, masks=struct.pack("<IIII", *masks, 0), header=108)
    wider = [random.integers(0, 1 << 32, 35).astype("<u4").tobytes() for _ in range(21)]
    for masks in [(0xff0000, 0xff00, 0xff, 0xff000000), (0xff000000, 0xff0000, 0xff00, 0xff),
                  (0xff, 0xff00, 0xff0000, 0xff000000)]:
        yield f"32 bits, {masks[0]:x}", make_bmp(wider, 35, 32, 3, masks=struct.pack("<IIII", *masks), header=56)
    colors = random.integers(0, 256, (256, 4)).astype(np.uint8).tobytes()
    yield "RLE8", make_bmp((4, b"\5\1\0\0" + b"\0\5abcde\0\0\0" + b"\2\7\3\x09\0\0" + b"\5\2\0\0\0\1"), 5, 8, 1, colors)
    yield "RLE8, moves", make_bmp((4, b"\2\1\0\2\1\1\2\x08\0\0\5\2\0\0\5\3\0\1"), 5, 8, 1, colors)
    yield "RLE4", make_bmp((3, b"\6\x12\0\0" + b"\0\4\x12\x34\2\x56\0\0" + b"\6\x78\0\1"), 6, 4, 2, colors[:64])


def forms_of_gif():
    """Of some numbers of colors, interlaced, animated, transparent, and with a frame that is a part of the screen."""
    from PIL import Image
    random = np.random.default_rng(8)
    image = Image.fromarray(random.integers(0, 256, (21, 34, 3)).astype(np.uint8))
    for colors in 2, 7, 100, 256:
        few = image.quantize(colors)
        yield f"{colors} colors", saved(few, "GIF", interlace=0)
        yield f"{colors} colors, interlaced", saved(few, "GIF", interlace=1)
        yield f"{colors} colors, one transparent", saved(few, "GIF", transparency=1, interlace=0)
    yield "of three frames", saved(image, "GIF", save_all=True, append_images=[image.rotate(90), image.rotate(180)])


def forms_of_webp():
    from PIL import Image
    random = np.random.default_rng(9)
    image = Image.fromarray(smooth(50, 75, 3))
    noise = Image.fromarray(random.integers(0, 256, (21, 34, 3)).astype(np.uint8))
    alpha = noise.convert("RGBA")
    alpha.putalpha(noise.convert("L"))
    for quality in 10, 90:
        yield f"quality {quality}", saved(image, "WEBP", quality=quality)
    yield "lossless", saved(noise, "WEBP", lossless=True)
    yield "alpha", saved(alpha, "WEBP", quality=80)
    yield "alpha, lossless", saved(alpha, "WEBP", lossless=True, exact=True)
    yield "one color", saved(Image.new("RGB", (1500, 1000), (10, 20, 30)), "WEBP", lossless=True)
    yield "of three frames", saved(noise, "WEBP", save_all=True, append_images=[noise.rotate(90), noise.rotate(180)])


def check_others(report):
    """Against Pillow; where TensorFlow decodes the file, against that too."""
    from PIL import Image
    decoders = {"bmp": lambda data: tf.io.decode_bmp(data).numpy(), "gif": lambda data: tf.io.decode_gif(data).numpy()[0],
                "webp": lambda data: tf.io.decode_webp(data).numpy()[0, :, :, :3]}
    for kind, forms in ("bmp", forms_of_bmp()), ("gif", forms_of_gif()), ("webp", forms_of_webp()):
        for title, data in forms:
            path = write(f"a.{kind}", tf.constant(data))
            # Pillow gives transparent pixels of GIF a color, TensorFlow does not
            image = Image.fromarray(decoders[kind](data)) if kind == "gif" else Image.open(io.BytesIO(data))
            for channels in 1, 3:
                expected = np.array(image.convert("RGB"))
                if channels == 1:
                    expected = np.array(image.convert("RGB").convert("L"))[:, :, None]
                got = read(*expected.shape[:2], channels, "nearest", True)[0]
                report.check(f"{kind}, {title}, as {channels} channels", np.array_equal(got, expected.astype(np.float32)),
                             np.abs(got - expected).max(), 0)
            if kind == "webp" and title != "of three frames" or title in ("24 bits", "gray"):
                expected = decoders[kind](data)
                got = read(*expected.shape[:2], expected.shape[2], "nearest", True)[0]
                report.check(f"{kind}, {title}, of TensorFlow", np.array_equal(got, expected), np.abs(got - expected).max(), 0)
            os.remove(path)


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
        check_others(report)
        check_cmyk(report)
        check_jpeg(report)
        check_planes(report)
    raise SystemExit(report.finish())
