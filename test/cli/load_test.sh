#!/bin/sh
# What muster predict, evaluate, inspect and convert say of files that are no models, and of data that is not for the
# model: one line, with the file. Usage: load_test.sh PATH_OF_MUSTER
# what the shared checks use; names of files have no spaces
# shellcheck disable=SC2034,SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
if ! command -v python3 > /dev/null 2>&1; then
    echo "skipped: there is no python3 to write the data"
    exit 0
fi

cat > data.py << 'END_OF_PYTHON'
import os, struct, zipfile, zlib

def picture(path, side):
    rows = b"".join(b"\0" + bytes((31 * row + 7 * i) % 256 for i in range(3 * side)) for row in range(side))
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

def array(shape, code, values):
    head = f"{{'descr': '<{code}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * ((-len(head) - 11) % 64) + "\n"
    kind = {"f4": "f", "i4": "i"}[code]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{kind}", *values)

def archive(path, **arrays):
    with zipfile.ZipFile(path, "w") as file:
        for name, data in arrays.items():
            file.writestr(name + ".npy", data)

for folder in ("pets/cat", "pets/dog", "flat"):
    os.makedirs(folder)
    for i in range(3):
        picture(f"{folder}/{i}.png", 8 + i)
x = array((4, 8, 8, 3), "f4", [i % 7 / 7 for i in range(768)])
with open("alone.npy", "wb") as file:
    file.write(x)
archive("labels.npz", x_test=x, y_test=array((4,), "i4", [0, 1, 5, 1]))
archive("small.npz", x=array((4, 3, 3), "f4", [0.5] * 36))
archive("first.npz", x=array((2, 3, 8, 8), "f4", [0.5] * 384))
END_OF_PYTHON
python3 data.py || exit 1
printf 'a,b\n1,2\n3,4\n' > table.csv
train="--data images:pets --image-size 8 --hidden-units 4 --steps 2 --batch-size 3 --devices cpu:1 --progress none"
for file in m.keras m.onnx m.safetensors m.h5; do
    run train $train --save $file
    [ "$status" -eq 0 ] || cat err
done

# ---- models that are none ----------------------------------------------------------------------------

for file in m.keras m.onnx m.safetensors m.h5; do
    ending=${file#m.}
    size=$(wc -c < $file)
    head -c $((size / 2)) $file > cut.$ending
    : > empty.$ending
    cp flat/0.png picture.$ending
    mkdir folder.$ending
    for name in cut empty picture folder nothing; do
        fails ${name}_$ending 1 "'$name.$ending'" predict --load $name.$ending flat/0.png --out out.csv
    done
    fails cut_${ending}_is_damaged 1 "cut off" predict --load cut.$ending flat/0.png
    fails folder_${ending}_is_told 1 "is a folder: give\|no checkpoint in it" evaluate --load folder.$ending --data npz:labels.npz
    for name in cut empty folder nothing; do
        run inspect $name.$ending
        check inspect_fails_${name}_$ending [ "$status" -eq 1 -a "$(grep -c "^error: '$name.$ending'" err)" -eq 1 ]
    done
done
for ending in keras onnx h5; do
    fails convert_cut_$ending 1 "'cut.$ending'" convert cut.$ending out.onnx
    fails empty_${ending}_is_told 1 "'empty.$ending': is empty" convert empty.$ending out.onnx
done
check nothing_is_written [ ! -e out.onnx -a ! -e out.csv ]

# ---- models whatever their names ---------------------------------------------------------------------

run predict --load m.keras flat/0.png --out wanted.csv
for file in m.keras m.h5; do
    cp $file unnamed
    run predict --load unnamed flat/0.png --out got.csv
    check a_model_is_known_by_its_bytes_${file#m.} cmp -s wanted.csv got.csv
done
cp m.onnx MODEL.ONNX
works also_one_of_onnx "^flat/0.png" predict --load MODEL.ONNX flat/0.png
works it_is_converted "parameters" convert MODEL.ONNX copy.npz
fails weights_are_not_converted 1 "'m.safetensors': has weights, and convert takes data, or a whole model" convert m.safetensors out.onnx

# ---- data of another kind or shape --------------------------------------------------------------------

for file in m.keras m.onnx m.safetensors; do
    fails other_shapes_are_told_${file#m.} 1 "'$file': takes inputs of .*, those of 'npz:small.npz' are \[3, 3\]$" predict --load $file \
        --data npz:small.npz
    fails a_table_is_told_${file#m.} 1 "^error: '$file': .*'csv:table.csv'" predict --load $file --data csv:table.csv
    fails an_array_alone_is_told_${file#m.} 1 "'alone.npy': is one array without a name .*numpy.savez" predict --load $file \
        --data npz:alone.npy
    fails labels_are_of_the_model_${file#m.} 1 "^error: label 5 of row 2: the model has 2 outputs$" evaluate --load $file \
        --data npz:labels.npz --loss sparse_categorical_crossentropy
    works class_folders_are_evaluated_${file#m.} "^test: loss" evaluate --load $file --data images:pets \
        --loss sparse_categorical_crossentropy
    fails pictures_without_classes_are_told_${file#m.} 1 "'flat': .*; to predict pictures without classes, name them" predict \
        --load $file --data images:flat
    works they_are_predicted_${file#m.} "^flat/2.png" predict --load $file flat
done
fails channels_are_last 1 "'m.onnx': takes inputs of shape \[8, 8, 3\], those of 'npz:first.npz' are \[3, 8, 8\]" predict \
    --load m.onnx --data npz:first.npz
fails onnx_has_no_vocabulary 1 "'m.onnx': has no vocabulary that numbers the words of 'texts:table.csv'" predict --load m.onnx \
    --data texts:table.csv
printf 'a,b,c,d\n1,2,3,0\n3,4,5,1\n' > four.csv
run train --data csv:four.csv --raw-columns --steps 1 --devices cpu:1 --save table.keras
fails a_picture_is_no_table 1 "'table.keras': the model takes the columns of a table, not pictures" predict --load table.keras flat
run convert table.keras table.onnx
fails three_numbers_are_no_picture 1 "'flat': the model takes inputs of shape \[3\], which are no pictures" predict --load table.onnx flat
printf 'dog\ncat\n' > names.txt
fails names_in_another_order_are_told 1 "class 0 is 'dog', in the data it is 'cat', whose number here is 1" evaluate --load m.onnx \
    --data images:pets --loss sparse_categorical_crossentropy --class-names names.txt
printf 'chat\nchien\n' > names.txt
works names_may_be_other_ones "0 chat " evaluate --load m.onnx --data images:pets --loss sparse_categorical_crossentropy \
    --class-names names.txt --confusion
fails words_are_no_pictures 1 "'m.keras': the model was trained on 'images:pets', and takes no data such as 'texts:table.csv'" \
    predict --load m.keras --data texts:table.csv

# ---- where predictions go -----------------------------------------------------------------------------

fails predictions_have_three_forms 2 "--out p.txt: predictions are written as FILE.csv, FILE.npy or FILE.npz" predict --load m.keras \
    flat --out p.txt
mkdir p.d
works without_an_ending_they_are_npy "predictions: ./p.d/rows" predict --load m.keras flat --out ./p.d/rows
head -c 60 flat/0.png > cut.png
fails damage_leaves_no_predictions 1 "'cut.png'" predict --load m.keras cut.png --out p.csv
check so_there_are_none [ ! -e p.csv ]

end_of_checks
