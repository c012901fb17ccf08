#!/bin/sh
# What becomes of pixels where the weights of a network of keras.applications are loaded: its name decides, an option or
# the note of a training comes first, and trainings from new values keep 0 to 1. The networks are small ones that have
# the names and layers of the large ones, in files as Keras writes them.
# Usage: pixels_test.sh PATH_OF_MUSTER
set -u
# shellcheck disable=SC2034
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=SCRIPTDIR/../support/checks.sh
. "$here/support/checks.sh"
command -v python3 > /dev/null 2>&1 || { echo 'no python3: left out' && exit 0; }

# rgb.npz: 12 pictures of 4 x 4 pixels, u8, and their classes; network NAME FIRST SECOND [changed] [rescaled]: NAME.json,
# in which two layers have the names FIRST and SECOND, after a random flip and a rescaling; as_keras FILE: the file becomes one of Keras, without Muster's notes
cat > make.py << 'END'
import json, random, struct, sys, zipfile
def npy(descr, shape, data):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (63 - (len(text) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data
def layer(name, kind, source, **config):
    calls = [{"args": [{"class_name": "__keras_tensor__", "config": {
        "shape": [None], "dtype": "float32", "keras_history": [source, 0, 0]}}], "kwargs": {}}] if source else []
    return {"class_name": kind, "module": "keras.layers", "registered_name": None, "name": name,
            "config": dict(config, name=name), "inbound_nodes": calls}
if sys.argv[1] == "data":
    r = random.Random(3)
    y = [i % 2 for i in range(12)]
    x = bytes(r.randint(0, 90) + (150 if (c == 0) == (k == 0) else 0) for k in y for p in range(16) for c in range(3))
    labels = struct.pack("<12q", *y)
    with zipfile.ZipFile("rgb.npz", "w") as z:
        for part in ("train", "test"):
            z.writestr(f"x_{part}.npy", npy("|u1", (12, 4, 4, 3), x))
            z.writestr(f"y_{part}.npy", npy("<i8", (12,), labels))
    with zipfile.ZipFile("f32.npz", "w") as z:
        for part in ("train", "test"):
            z.writestr(f"x_{part}.npy", npy("<f4", (12, 4, 4, 3), struct.pack("<576f", *(v / 255 for v in x))))
            z.writestr(f"y_{part}.npy", npy("<i8", (12,), labels))
elif sys.argv[1] == "network":
    name, first, second = sys.argv[2:5]
    layers = [layer("input", "InputLayer", None, batch_shape=[None, 4, 4, 3], dtype="float32")]
    source = "input"
    if "changed" in sys.argv:
        layers.append(layer("flip", "RandomFlip", source, mode="horizontal"))
        layers.append(layer("resizing", "Resizing", "flip", height=5, width=3))
        source = "resizing"
    if "rescaled" in sys.argv:
        layers.append(layer("rescaling", "Rescaling", source, scale=1 / 255, offset=0.0))
        source = "rescaling"
    layers += [layer(first, "Conv2D", source, filters=2, kernel_size=[3, 3], padding="same", activation="relu"),
               layer(second, "Conv2D", first, filters=2, kernel_size=[1, 1], activation="linear"),
               layer("pool", "GlobalAveragePooling2D", second),
               layer("predictions", "Dense", "pool", units=2, activation="softmax")]
    config = {"name": name, "layers": layers, "input_layers": [["input", 0, 0]], "output_layers": [["predictions", 0, 0]]}
    with open(f"{name}.json", "w") as f:
        json.dump({"class_name": "Functional", "module": "keras", "registered_name": "Functional", "config": config}, f)
else:
    with zipfile.ZipFile(sys.argv[2]) as z: entries = {n: z.read(n) for n in z.namelist()}
    entries["metadata.json"] = b'{"keras_version": "3.10.0", "date_saved": "2025-07-01@10:00:00"}'
    with zipfile.ZipFile(sys.argv[2], "w") as z:
        for n, data in entries.items(): z.writestr(n, data)
END
python3 make.py data || exit 1
# told: the pixels in the events of `out`, and the network that they are those of
told() { grep -o '"pixels[a-z_]*":"[^"]*"' out | cut -d '"' -f 4 | tr '\n' ' '; }
small="--devices cpu:1 --batch-size 4 --seed 1"

# lists of options are split on purpose
# shellcheck disable=SC2086
train() { run train --data npz:rgb.npz $small --json "$@"; }

# loss NAME: the loss of NAME.keras on the test part
loss() {
    run evaluate --load "$1.keras" --data npz:rgb.npz --json
    value test_loss
}

# shellcheck disable=SC2086
loss_with() {
    run evaluate --load "$1.keras" --data npz:rgb.npz --json --pixels "$2"
    value test_loss
}

# takes NAME FIRST SECOND PIXELS: pixels of a network of this name and these layers
takes() {
    python3 make.py network "$@" || exit 1
    train --model "$1.json" --steps 3 --save "$1.keras"
    check "new_values_of_$1_keep_their_pixels" test -z "$(told)"
    own=$(loss "$1")
    check "$1_of_our_own_is_as_in_training" [ "$own" = "$(loss_with "$1" 0..1)" ]
    python3 make.py as_keras "$1.keras" || exit 1
    check "$1_takes_$4" [ "$(loss "$1")" = "$(loss_with "$1" "$4")" ]
}

takes resnet50 a b caffe
check it_is_not_what_0_to_1_gives [ "$(loss resnet50)" != "$(loss_with resnet50 0..1)" ]
takes vgg16 a b caffe
takes resnet50v2 a b -1..1
takes mobilenetv2_1.00_224 a b -1..1
takes xception a b -1..1
takes MobileNetV3Small a b -1..1
takes densenet121 a b torch
takes efficientnetb0 a b raw rescaled
takes flowers a b raw changed rescaled
takes mirrored a b 0..1 changed
takes other block1_conv1 block5_conv3 caffe
takes mine conv1 conv_pw_13 -1..1
takes plain a b 0..1

# ---- what is told, and what comes first ----

run evaluate --load resnet50.keras --data npz:rgb.npz
check evaluate_tells_it grep -q '^restored resnet50.keras.*, pixels caffe, as resnet50 of keras.applications takes them$' out
run evaluate --load resnet50.keras --data npz:rgb.npz --json
check evaluate_tells_it_in_json [ "$(told)" = "caffe resnet50 " ]
run evaluate --load resnet50.keras --data npz:f32.npz
check floats_stay_as_they_are grep -q '^restored resnet50.keras, step 3$' out
run evaluate --load resnet50.keras --data npz:rgb.npz --pixels 0..1
check an_option_comes_first grep -q '^restored resnet50.keras, step 3$' out

# shellcheck disable=SC2086
run train --data npz:rgb.npz $small --load resnet50.keras --steps 2 --save tuned.keras
check train_tells_it grep -q ', pixels caffe, as resnet50 of keras.applications takes them' out
train --load resnet50.keras --steps 2
found=$(value weights_sha256)
check train_tells_it_in_json [ "$(told)" = "caffe resnet50 " ]
train --load resnet50.keras --steps 2 --pixels caffe
check training_is_that_of_the_option [ "$found" = "$(value weights_sha256)" ]
check its_note_has_them [ "$(loss tuned)" = "$(loss_with tuned caffe)" ]
train --load tuned.keras --steps 2
check a_note_comes_first [ "$(told)" = "caffe " ]
train --model resnet50.json --load resnet50.keras --steps 2
check weights_of_layers_count_too [ "$(told)" = "caffe resnet50 " ]
train --model resnet50.json --steps 2
check without_them_it_is_0_to_1 test -z "$(told)"

end_of_checks
