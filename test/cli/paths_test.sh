#!/bin/sh
# Options and data specs that take a path: one that is not there, a folder in place of a file, and a file that this user
# may not read. Each error names the path and says what to do.
# Usage: paths_test.sh PATH_OF_MUSTER
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
mkdir -p folder texts/a texts/b gray
echo 'one text' > texts/a/1.txt
echo 'another text' > texts/b/1.txt
echo file > file
printf 'x,y\n1,0\n2,1\n3,0\n4,1\n' > table.csv
small="--steps 1 --devices cpu:1 --batch-size 2"
# lists of options are split on purpose
# shellcheck disable=SC2086
train() { run train $small "$@"; }
train --data csv:table.csv --save m.keras
check a_model_is_saved [ "$status" -eq 0 ]
train --data fashion-mnist --hidden-units 4 --save pictures.keras
check one_for_pictures_is_saved [ "$status" -eq 0 ]

# says NAME PATTERN ARGUMENT...: status 1 or 2 and one error line, with the pattern
says() {
    name=$1 pattern=$2
    shift 2
    run "$@"
    if [ "$status" -ne 1 ] && [ "$status" -ne 2 ]; then
        failed "$name" "exit status $status"
    elif [ "$(grep -c '^error: ' err)" -ne 1 ] || ! grep -q -e "$pattern" err; then
        failed "$name" "the error does not say: $pattern"
    else
        ok "$name"
    fi
}

# ---- paths that are not there ----

for path in none file/none; do
    for kind in csv npz word-ids tfrecord; do
        says "$kind:$path" "'$path.*: check the path" train --data "$kind:$path"
    done
    for kind in images texts; do
        says "$kind:$path" "'$path': no such .*: check the path" train --data "$kind:$path"
    done
    says "idx:$path" "'$path' is no folder: idx:DIR takes" train --data "idx:$path"
    says "tfds:$path" "'$path' has no dataset_info.json: tfds:DIR takes" train --data "tfds:$path"
    says "masks:$path" "there is no folder '$path/images': masks:DIR takes" train --data "masks:$path"
    says "masks:$path,$path" "'$path': no such .*: check the path" train --data "masks:$path,$path"
    says "lines:$path" "'$path': no such file: check the path" \
        convert "lines:$path" tokens:t.u16 --tokenizer "$here/cli/tiny_tokenizer.json"
    says "tokenizer $path" "tokenizer: '$path': no such file or folder: check the path" \
        train --data texts:texts --tokenizer "$path"
    says "class names $path" "class-names: '$path': no such file: check the path" \
        train --data csv:table.csv --class-names "$path"
    says "names of evaluate $path" "class-names: '$path': no such file: check the path" \
        evaluate --load m.keras --data csv:table.csv --class-names "$path"
    says "config $path" "config: '$path': no such file: check the path" train --config "$path"
    says "validation $path" "'$path': no such .*: check the path" train --data csv:table.csv --validation-data "images:$path"
    for end in .keras .h5 .json; do
        says "model $path$end" "model: '$path$end': no such file: check the path" train --model "$path$end"
    done
    for end in .keras .h5 .npz .safetensors; do
        says "train --load $path$end" "load: '$path$end': no such file: check the path" train --load "$path$end"
    done
    for end in .keras .h5 .npz .safetensors .onnx; do
        says "evaluate --load $path$end" "'$path$end': no such file: check the path" evaluate --load "$path$end"
    done
    says "load $path" "'$path': there is no such file, checkpoint or folder: give" train --load "$path"
    says "checkpoints $path" "'$path': there is no such folder: give" evaluate --checkpoint-dir "$path"
    says "picture $path.png" "'$path.png': no such file or folder: check the path" predict --load pictures.keras "$path.png"
    says "inspect $path" "'$path': there is no such file, folder or checkpoint: check the path" inspect "$path"
    says "convert $path.keras" "'$path.keras': no such file: check the path" convert "$path.keras" o.keras
    says "hosts $path" "hosts: '$path': no such file: check the path" launch --hosts "$path" -- true
    says "key $path" "no cluster key '$path': make one" top localhost:1 --cluster-key "$path"
done

# ---- folders in place of files, and files in place of folders ----

for kind in csv npz word-ids; do
    says "$kind:folder" "'folder': is a folder: give the path of a file in it" train --data "$kind:folder"
done
says lines:folder "'folder': is a folder: give" convert lines:folder tokens:t.u16 --tokenizer "$here/cli/tiny_tokenizer.json"
says images:file "'file': is a file, where a folder is needed: check the path" train --data images:file
says masks:folder,folder "'folder': the folder has no pictures, PNG, .*: check the path" train --data masks:folder,folder
says "tokenizer folder" "'folder': has no tokenizer: .*: check the path" train --data texts:texts --tokenizer folder
says "class names folder" "class-names: 'folder': is a folder: give" train --data csv:table.csv --class-names folder
says "config folder" "config: 'folder': is a folder: give" train --config folder
says "hosts folder" "hosts: 'folder': is a folder: give" launch --hosts folder -- true
says "key folder" "cluster key 'folder' is a folder: give the file" top localhost:1 --cluster-key folder
for option in predict history; do
    says "$option folder" "'folder' is a folder, where a file is to be written: name another" \
        train --data csv:table.csv "--$option" folder
done
for option in history save; do
    says "$option none/x.npz" "none/x.npz' cannot be written: there is no folder 'none/': make it" \
        train --data csv:table.csv "--$option" none/x.npz
    says "$option file/x.npz" "file/x.npz' cannot be written: 'file' is a file, where a folder is needed: name another" \
        train --data csv:table.csv "--$option" file/x.npz
done
for option in logdir checkpoint-dir; do
    says "$option file" "'file' is a file: name another" train --data csv:table.csv "--$option" file
done
says "idx:none/idx" "'none/idx' cannot be made: the folder above it is not there: make it" convert csv:table.csv idx:none/idx
says "idx:file" "'file' is a file, where a folder is needed: name another" convert csv:table.csv idx:file
says "npz:folder" "'folder' cannot be written: Is a directory: remove it, or name another" convert csv:table.csv npz:folder
says "keygen none/key" "'none/key' cannot be written: its folder is not there: make it" keygen none/key

# ---- without permission, which root does not need ----

if [ "$(id -u)" -ne 0 ]; then
    chmod 0 table.csv m.keras folder
    says "csv without permission" "'table.csv': permission denied: make it" train --data csv:table.csv
    says "model without permission" "'m.keras': permission denied: make it" evaluate --load m.keras
    says "images without permission" "'folder': permission denied: make it" train --data images:folder
    says "history without permission" "cannot be written: Permission denied: name a place" train --history folder/x.csv
    chmod 700 folder
fi

# ---- pixels ----

says "--pixels caffe of gray pictures" "pixels caffe: the pictures are \[28, 28\], .*: take --pixels 0..1" \
    train --data fashion-mnist --pixels caffe
says "--pixels torch of gray pictures" "pixels torch: the pictures are \[28, 28\], .*: take --pixels 0..1" \
    train --data fashion-mnist --pixels torch

end_of_checks
