#!/bin/sh
# Pictures with masks: data specs, a U-Net, labels of positions, and labels that do not count.
# Usage: masks_test.sh PATH_OF_MUSTER
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
command -v python3 > /dev/null 2>&1 || { echo 'no python3: left out' && exit 0; }
"$muster" version | grep -q '^ *png .*libspng' || "$muster" version | grep -q 'spng' || { echo 'no libspng: left out' && exit 0; }

# shapes FOLDER N KIND: N pictures of squares, red (class 1) or blue (class 2), as FOLDER/images and FOLDER/masks
cat > shapes.py << 'END'
import os, random, struct, sys, zlib
folder, n, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
SIDE, COLORS = 32, ((0, 0, 0), (200, 60, 0), (0, 60, 200))
def png(path, depth, color, rows, palette=None):
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    body = chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, len(rows), depth, color, 0, 0, 0))
    if palette: body += chunk(b"PLTE", palette)
    body += chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(r) for r in rows))) + chunk(b"IEND", b"")
    with open(path, "wb") as f: f.write(b"\x89PNG\r\n\x1a\n" + body)
def pack(row, depth):
    out, step = [], 8 // depth
    for i in range(0, len(row), step):
        byte = 0
        for v in row[i:i + step]: byte = byte << depth | v
        out.append(byte)
    return out
for part in ("images", "masks"): os.makedirs(f"{folder}/{part}", exist_ok=True)
r = random.Random(5)
for i in range(n):
    x0, y0, size, kind_of = r.randint(4, 16), r.randint(4, 16), r.randint(8, 12), 1 + i % 2
    mask = [[kind_of if x0 <= x < x0 + size and y0 <= y < y0 + size else 0 for x in range(SIDE)] for y in range(SIDE)]
    rows = [[v + r.randint(0, 30) for x in range(SIDE) for v in COLORS[mask[y][x]]] for y in range(SIDE)]
    png(f"{folder}/images/{i}.png", 8, 2, rows)
    if kind == "ignored": mask[0] = [255] * SIDE
    name = f"{folder}/masks/{i}{'_mask' if kind == 'marked' else ''}.png"
    if kind == "palette": png(name, 2, 3, [pack(row, 2) for row in mask], bytes([0, 0, 0, 9, 200, 7, 250, 0, 1]))
    elif kind == "colors": png(name, 8, 2, [[v * 9 if c else v for v in row for c in range(3)] for row in mask])
    elif kind == "rgb": png(name, 8, 2, [[v for v in row for _ in range(3)] for row in mask])
    elif kind == "white": png(name, 8, 0, [[255 if v else 0 for v in row] for row in mask])
    else: png(name, 8, 0, mask)
END
shapes() { python3 shapes.py "$@" || exit 1; }
shapes d/train 24 palette
shapes d/test 6 gray
shapes marked 4 marked
shapes rgb 4 rgb
small="--devices cpu:1 --batch-size 4 --seed 1"
# lists of options are split on purpose
# shellcheck disable=SC2086
learn() { run train --data "$@" --model unet:0.1 $small --json; }

# ---- a U-Net from two folders -------------------------------------------------------------------------

learn masks:d --epochs 8 --learning-rate 0.01 --flip --metrics accuracy,mean_io_u --evaluate --save m.keras
check a_unet_learns_masks [ "$status" -eq 0 ]
check it_finds_the_shapes awk -v iou="$(value test_mean_io_u)" 'BEGIN { exit !(iou > 0.7) }'
iou=$(value test_mean_io_u)
run evaluate --load m.keras --data masks:d --metrics mean_iou --confusion --json
check a_saved_unet_has_the_same_iou [ "$(value test_mean_io_u)" = "$iou" ]
check positions_have_a_confusion_matrix grep -q '"confusion":\[\[' out
run predict --load m.keras --data masks:d/test/images,d/test/masks --out p.npy
check it_predicts_a_row_of_classes_for_each_pixel grep -aq "(6, 32, 32, 3,*)" p.npy
run train --data masks:d/train/images,d/train/masks --model m.keras --steps 1 $small
check a_network_of_a_file_trains_on_masks [ "$status" -eq 0 ]
for kind in marked rgb; do
    learn "masks:$kind/images,$kind/masks" --steps 1
    check "masks_may_be_$kind" [ "$status" -eq 0 ]
done

# ---- masks as files -----------------------------------------------------------------------------------

# The pictures are 48 pixels wide and 32 high in photos/a; their masks have that size. PNG is read by Python alone.
mkdir -p classes/test/a classes/test/b classes/train
cp d/test/images/0.png classes/test/a && cp d/test/images/1.png classes/test/b && cp -R classes/test/a classes/test/b classes/train
python3 -c 'import zipfile, struct
head = "{%sdescr%s: %s|u1%s, %sfortran_order%s: False, %sshape%s: (1, 32, 32, 3), }" % (("\x27",) * 8)
head += " " * (63 - (len(head) + 10) % 64) + "\n"
with zipfile.ZipFile("p.npz", "w") as z: z.writestr("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(3072))'
run train --data images:classes --image-size 8 --hidden-units 4 --steps 1 --devices cpu:1 --save digits.keras
cat > png.py << 'END'
import os, struct, sys, zlib
def read(path):
    data, at, body, palette = open(path, "rb").read(), 8, b"", None
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        if name == b"IHDR": head = struct.unpack(">IIBBBBB", data[at + 8:at + 21])
        if name == b"IDAT": body += data[at + 8:at + 8 + size]
        at += 12 + size
    width, height, depth, color = head[:4]
    channels = {0: 1, 2: 3, 3: 1}[color]
    raw, stride, before, rows = zlib.decompress(body), (width * depth * channels + 7) // 8, None, []
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            a = row[x - channels] if x >= channels else 0
            b = before[x] if before else 0
            c = before[x - channels] if before and x >= channels else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[x] = row[x] + (0, a, b, (a + b) // 2, nearest)[kind] & 255
        before = row
        rows.append([(row[x * depth // 8] >> (8 - depth - x * depth % 8)) & ((1 << depth) - 1) for x in range(width)]
                    if channels == 1 else bytes(row))
    return width, height, depth, color, rows
if sys.argv[1] == "size":
    print(*read(sys.argv[2])[:4])
elif sys.argv[1] == "iou": # mean IoU of the masks of two folders, over classes that are there
    both, either = [0] * 256, [0] * 256
    for name in os.listdir(sys.argv[2]):
        for a, b in zip(read(f"{sys.argv[2]}/{name}")[4], read(f"{sys.argv[3]}/{name}")[4]):
            for x, y in zip(a, b):
                if x == y: both[x] += 1; either[x] += 1
                else: either[x] += 1; either[y] += 1
    print(sum(b / e for b, e in zip(both, either) if e) / sum(e > 0 for e in either))
else: # wide OUT: a picture of 48 x 20 with all colors
    rows = b"".join(b"\0" + bytes(200 if c == x // 16 else 20 for x in range(48) for c in range(3)) for y in range(20))
    chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    with open(sys.argv[2], "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 48, 20, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
END
works masks_are_written '^masks: 6 in found/$' predict --load m.keras d/test/images --out found/
check each_picture_has_one [ "$(ls -A found)" = "$(ls d/test/images)" ]
check it_is_gray_and_has_the_size_of_the_picture [ "$(python3 png.py size found/0.png)" = "32 32 8 0" ]
found=$(python3 png.py iou found d/test/masks)
check the_classes_are_those_of_the_metric awk -v a="$found" -v b="$iou" 'BEGIN { exit !(a - b < 1e-4 && b - a < 1e-4) }'
run evaluate --load m.keras --data masks:d/test/images,found --metrics mean_iou --json
check the_masks_are_read_back_as_the_same_classes awk -v a="$(value test_mean_io_u)" 'BEGIN { exit !(a > 0.9999) }'
works masks_of_a_data_spec '^masks: 6 in of_spec/$' predict --load m.keras --data masks:d/test/images,d/test/masks --out of_spec/ --batch-size 4
check they_are_the_same diff -r found of_spec
mkdir -p photos/a/b there
cp d/test/images/0.png photos/a/b/0.png && cp d/test/images/1.png photos/1.png
python3 png.py wide photos/a/wide.png
run predict --load m.keras photos --out there --json
check a_folder_that_is_there_needs_no_slash grep -q '"predicted".*"path":"there"' out
check folders_keep_their_names [ "$(cd there && find . -type f | sort | tr '\n' ' ')" = "./1.png ./a/b/0.png ./a/wide.png " ]
check other_sizes_are_those_of_the_pictures [ "$(python3 png.py size there/a/wide.png)" = "48 20 8 0" ]
check it_is_the_same_mask cmp there/a/b/0.png found/0.png
cp -R photos kept
fails a_mask_replaces_no_picture 1 "'photos/1.png' is one of the pictures, and a mask would replace it" \
    predict --load m.keras photos --out photos/
fails not_through_a_link 1 "is one of the pictures" predict --load m.keras photos/1.png --out "$(ln -s photos link && echo link/)"
check pictures_are_as_before diff -r photos kept
fails two_pictures_have_two_masks 1 "would have one mask, '0.png'" predict --load m.keras photos/a/b/0.png d/test/images/0.png --out twice/
check then_none_is_written [ ! -e twice ]
mkdir outside && mkdir linked && ln -s ../outside linked/a
run predict --load m.keras photos --out linked/
check no_link_leads_out_of_the_folder grep -q "^error: 'linked/a' is a symbolic link, where a folder is needed" err
check nothing_is_outside [ -z "$(ls -A outside)" ]
fails numbers_have_no_names 1 "masks have the names of pictures, and the data has none" \
    predict --load m.keras --data npz:p.npz --out numbers/
fails other_models_have_no_masks 1 "the model gives no class for each pixel" predict --load digits.keras --data images:classes --out x/

# ---- labels that do not count -------------------------------------------------------------------------

shapes ignored 4 ignored
learn masks:ignored --steps 2 --ignore-class 255 --save i.keras
check labels_can_be_ignored [ "$status" -eq 0 ]
check ignored_labels_are_no_class grep -q '"step":2' out
run evaluate --load i.keras --data masks:ignored --json
check the_note_of_the_file_knows_them [ "$status" -eq 0 ]
fails ignored_labels_must_be_given 1 "label 255 of row 0.*3 outputs\|label 255 of row 0" \
    train --data masks:ignored --model unet:0.1 --classes 3 --steps 1
fails an_ignored_class_is_a_number 2 "ignore-class 'border' is no class number" \
    train --data masks:ignored --model m.keras --ignore-class border
fails numbers_have_no_ignored_class 2 "ignore-class is for labels that are class numbers" \
    train --data masks:d --model m.keras --loss mse --ignore-class 255

# ---- mistakes -----------------------------------------------------------------------------------------

mkdir odd odd/images odd/masks
cp d/train/images/1.png d/train/images/2.png odd/images && cp d/train/masks/1.png odd/masks
fails a_missing_mask_is_told 1 "'odd/images/2.png': has no mask of the same name in 'odd/masks', as 1 of 2 files" \
    train --data masks:odd --model unet
cp d/train/masks/2.png d/train/masks/3.png odd/masks
fails a_mask_without_picture_is_told 1 "'odd/masks/3.png': has no picture of the same name in 'odd/images', as 1 of 3" \
    train --data masks:odd --model unet
shapes colors 2 colors
fails colors_are_no_classes 1 "'colors/masks/0.png': has colors, such as (.*), where class numbers are due" \
    train --data masks:colors --model unet
shapes white 2 white
fails black_and_white_are_no_class_numbers 1 "the masks have the values 0 and 255 alone, as black and white" \
    train --data masks:white --model unet
fails a_side_must_be_a_multiple_of_16 1 "height and width must be multiples of 16, not 20 and 20" \
    train --data masks:d --model unet --image-size 20
fails other_models_name_the_unet 1 "a label is \[32, 32\], this model gives a row of numbers: take --model unet" \
    train --data masks:d --classes 3
fails a_unet_needs_masks 1 "the data has no pictures\|label" train --data fashion-mnist --model unet
end_of_checks
