#!/bin/sh
# What a model keeps beside its weights: the loss, the names of classes, the numbers of categories. Usage: names_test.sh
# PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
write_data data
options="--hidden-units 16 --batch-size 20 --devices cpu:1 --learning-rate 0.01"

# ---- tables ------------------------------------------------------------------------------------------

# table ROWS FIRST: rows of three kinds that width and color tell apart
table() {
    echo 'width,color,kind'
    awk -v n="$1" -v first="$2" 'BEGIN {
        split("red green blue", color, " "); split("\"wood, old\" iron brass", kind, " ")
        kind[1] = "\"wood, old\""; kind[2] = "iron"; kind[3] = "brass"
        for (i = first; i < first + n; i++) printf "%.2f,%s,%s\n", i % 3 + i % 7 / 100, color[i % 3 + 1], kind[i % 3 + 1] }'
}
table 90 0 > t-train.csv
table 30 1 > t-test.csv
works classes_of_a_table_are_the_outputs '^mlp 4-16-3 .*1 number standardized, 1 column of categories one-hot as 3), ' train --data csv:t $options --epochs 40 --evaluate --confusion \
    --save m.npz --checkpoint-dir ck
check confusion_of_training_has_names grep -q '^ *2 wood, old  *[0-9]' out
grep '^ *[0-9] ' out > wanted
for model in "--load m.npz" "--checkpoint-dir ck"; do
    run evaluate $model --confusion
    grep '^ *[0-9] ' out > got
    check "evaluate_$(echo $model | cut -c 3-6)_needs_no_data_loss_or_names" cmp -s wanted got
done
run train --data csv:t $options --epochs 2 --save m.safetensors --json
works safetensors_have_names_too '^ *1 iron ' evaluate --load m.safetensors --confusion
fails folder_that_went_names_the_data 1 "t-gone" evaluate --load m.npz --data csv:t-gone

# one kind only, so that categories numbered by this file alone would be other ones
{ echo 'color,width' && echo 'blue,2.01' && echo 'blue,2.03'; } > new.csv
works predict_prints_the_names_of_classes '^ *1  brass  *[01][.][0-9]*$' predict --load m.npz --data csv:new.csv
check nothing_is_left_over_or_missing sh -c '! grep -q "not in the" out'
works predict_writes_a_table '^predictions: p.csv' predict --load m.npz --data csv:new.csv --out p.csv
check table_of_predictions_has_a_column_for_each_class [ "$(head -n 1 p.csv)" = 'row,class,brass,iron,"wood, old"' ]
check table_of_predictions_has_a_row_for_each [ "$(cut -d , -f 1-2 p.csv | tr '\n' ' ')" = 'row,class 0,brass 1,brass ' ]
run predict --load m.npz --data csv:new.csv --json
check predictions_are_events [ "$(grep -c '"event":"prediction","row":[01],"class":0,"name":"brass","probability":' out)" -eq 2 ]
check predictions_end_with_an_event grep -q '^{"event":"predicted","step":null,"precision":"float32","devices":\[".*"\]}$' out
{ echo 'kind,color,width' && echo 'brass,blue,2.01' && echo 'brass,blue,2.05'; } > labelled.csv
works table_alone_is_evaluated_as_it_is '^test: .*accuracy = 1.0000 (2 examples)' evaluate --load m.npz --data csv:labelled.csv
fails evaluate_needs_labels 1 "the data has no labels, which evaluate needs: 'new.csv': has no column 'kind': its columns are 'color', 'width'" evaluate --load m.npz --data csv:new.csv
{ echo 'color,width' && echo 'pink,2'; } > other.csv
run predict --load m.npz --data csv:other.csv
check category_that_was_not_there_is_no_error sh -c '[ "$1" -eq 0 ] && grep -q "^       0  [a-z]" out' - $status
check it_is_warned_of_where_no_other_is_there grep -q "^warning: column 'color' has no category of the training in any row" err
run train --data csv:t $options --epochs 2 --save raw.npz --raw-columns
fails category_that_was_not_there_is_named 1 "line 2, column 'color': category 'pink' was not there in training: there is 'blue', 'green', 'red'" \
    predict --load raw.npz --data csv:other.csv
{ echo 'kind,color,width' && echo 'gold,red,2'; } > other.csv
fails class_that_was_not_there_is_named 1 "column 'kind': category 'gold' was not there in training" evaluate --load m.npz --data csv:other.csv
echo 'width,kind
1,iron' > other.csv
fails pictures_that_are_not_there_are_told_as_such 1 "'nowhere': no such folder: check the path" predict --load m.npz --data images:nowhere
fails column_that_is_missing_is_named 1 "no column 'color'" predict --load m.npz --data csv:other.csv
fails other_label_than_in_training_is_named 1 "labels is 'color' here, and was 'kind' in training" \
    evaluate --load m.npz --data csv:labelled.csv --label color

# records of a table keep what its numbers stand for
run convert csv:t tfrecord:t
run train --data tfrecord:t $options --epochs 2 --save records.npz
works model_of_records_takes_tables '^ *1  brass  *[01][.][0-9]*$' predict --load records.npz --data csv:new.csv

# another training of the same model, with other rows
{ cat t-train.csv && echo '1,pink,gold'; } > u-train.csv
fails training_with_other_categories_is_not_gone_on_with 1 "another model; or 'csv:u' has other columns or categories now.*--no-resume" \
    train --data csv:u $options --classes 3 --epochs 41 --checkpoint-dir ck --progress none
run train --data csv:u $options --classes 4 --epochs 1 --load m.npz --progress none
check model_of_other_classes_is_refused sh -c '[ '$status' -eq 1 ] && grep -q "another model" err'
sed 's/iron/zinc/' t-train.csv > v-train.csv
run train --data csv:v $options --epochs 1 --load m.npz
check weights_for_other_classes_are_warned_of sh -c "[ $status -eq 0 ] && grep -q \"^warning: 'm.npz' was trained with other\" err"

# regression: a column of numbers, whose loss is noted
awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) printf "%.2f,%.2f\n", i / 60, 2 + i / 30 }' > r-train.csv
head -n 21 r-train.csv > r-test.csv
run train --data csv:r --loss mean_squared_error $options --epochs 30 --evaluate --save r.npz --json
trained=$(value test_loss)
run evaluate --load r.npz --json
check loss_is_that_of_the_training awk -v a="$trained" -v b="$(value test_loss)" 'BEGIN { d = a - b; exit !(a != "" && b != "" && d * d <= 1e-12 * a * a) }'
check metric_is_that_of_the_training [ -n "$(value test_mean_absolute_error)" ]
works predict_prints_numbers_where_there_are_no_classes '^       0  [-0-9.e]*$' predict --load r.npz
fails train_part_is_not_tested_unasked 1 "the data of the training, 'csv:r-train.csv':.*is the train part.*--data SPEC" evaluate --load "$(
    run train --data csv:r-train.csv --loss huber $options --steps 1 --save alone.npz
    echo alone.npz)"
works loss_can_be_given_still 'mean_squared_error = ' evaluate --load r.npz --loss mean_absolute_error

# ---- names from a file -------------------------------------------------------------------------------

for i in 0 1 2 3 4 5 6 7 8 9; do echo "row $i"; done > rows.txt
works names_of_a_file_are_printed '^ *7 row 7  *[0-9]' train --data idx:data $options --epochs 2 --class-names rows.txt --confusion --save named.npz --raw-pixels
grep '^ *[0-9] ' out > wanted
run evaluate --load named.npz --confusion
grep '^ *[0-9] ' out > got
check names_and_raw_pixels_of_a_training_are_noted cmp -s wanted got
fails one_table_is_no_test_part_of_pictures 1 "'named.npz': the model was trained on 'idx:data', and takes no data such as 'csv:r-train.csv'" \
    predict --load named.npz --data csv:r-train.csv
for i in 0 1 2 3 4 5 6 7 8 9; do echo "other $i"; done > others.txt
works names_can_be_given_anew '^ *7 other 7 ' evaluate --load named.npz --confusion --class-names others.txt
escape=$(printf '\033')
for i in 0 1 2 3 4 5 6 7 8 9; do printf 'red \033[31m %s\n' $i; done > colored.txt
run train --data idx:data $options --epochs 1 --class-names colored.txt --save colored.npz --raw-pixels
works names_are_printed_without_commands_to_the_terminal '7 red \\x1b\[31m 7 ' evaluate --load colored.npz --confusion
check confusion_has_no_escape sh -c "! grep -q '$escape' out"
works classes_are_predicted_by_such_names 'red \\x1b\[31m [0-9]  ' predict --load colored.npz --data idx:data
check predictions_have_no_escape sh -c "! grep -q '$escape' out"

# U+009B begins a command to the terminal, U+202E turns the letters after it round, and a newline ends a line of a report
odd=$(printf 'a\302\2332Jb\342\200\256c\nd')
obeyed=$(printf '\302\233')'\|'$(printf '\342\200\256')
# plain NAME ARGUMENT...: whatever the command says, it has no such character, and an error is one line
plain() {
    name=$1
    shift
    run "$@"
    if grep -q "$obeyed" out err; then
        failed "$name" "a character that a terminal obeys is printed"
    elif [ "$(grep -c . err)" -gt 1 ]; then
        failed "$name" "the error is more than one line"
    else
        ok "$name"
    fi
}
for words in inspect "evaluate --load" "predict --load" "convert" "plot" "top" "doctor --data" "doctor --data csv:$odd" "train --data" \
    "train --data csv:" "train --load" "train --config" "train --model" "train --class-names" "predict --load named.npz" "keygen /" "$odd" \
    "launch" "devices --devices" "help"; do
    case $words in *:) set -- $words"$odd" ;; *) set -- $words "$odd" ;; esac
    plain "argument_of_$(echo "$words" | tr -dc 'a-z -' | tr ' ' '_')_is_printed_plainly" "$@"
done
cp t-train.csv "$odd.csv"
cp named.npz "$odd.npz"
mkdir "$odd"
plain heading_of_a_report_is_plain inspect "$odd.csv" "$odd.npz" "$odd"
plain first_line_of_a_training_is_plain train --data "csv:$odd.csv" $options --epochs 1 --progress none
{ printf 'x,"%s"\n' "$odd" && echo '1,2' && echo '2,x' && echo '3,"'"$odd"'"'; } > odd.csv
plain columns_of_a_table_are_plain inspect odd.csv
plain column_in_an_error_is_plain train --data csv:odd.csv $options --loss mse --epochs 1
plain label_in_an_error_is_plain train --data csv:odd.csv $options --label "$odd" --epochs 1 --progress none
# the schema beside records says how the columns of their table were read
{ echo 'born,sum,kind' && for i in 1 2 3; do echo "2024-01-0$i,\$$i.50,a" && echo "2024-02-0$i,\$$i.25,b"; done; } > read.csv
run convert csv:read.csv tfrecord:read --dates born=year+month
works columns_of_records_are_read_so "'born' as year and month, 'sum' with .)" train --data tfrecord:read $options --epochs 1
cp read-schema.json good.json
for member in 'part":"year' 'part":"month' 'sign":"\$'; do
    which=$(echo "$member" | tr -dc "a-z")
    sed "s/$member/${member%:*}:\"\\\\u001b[31m/" good.json > read-schema.json
    check "schema_has_a_strange_$which" grep -q '"\\u001b' read-schema.json
    fails "strange_${which}_of_a_schema_is_refused" 1 "is not one of a table" train --data tfrecord:read $options --epochs 1
    plain "strange_${which}_of_a_schema_is_not_printed" train --data tfrecord:read $options --epochs 1
done
mkdir -p lists
printf 'model_checkpoint_path: "%s"\n' "$odd" > lists/checkpoint
plain checkpoint_of_a_list_is_plain evaluate --checkpoint-dir lists --data idx:data
fails averages_that_a_file_lacks_are_told 1 "use-ema: 'named.npz' has no moving averages" evaluate --load named.npz --use-ema
run train --data idx:data $options --epochs 2 --ema 0.5 --use-ema --evaluate --save averaged.npz --json
wanted=$(value test_loss)
run evaluate --load averaged.npz --use-ema --json
# rows are added up in another order: the last digits may differ
check averages_of_a_file_are_taken awk -v a="$wanted" -v b="$(value test_loss)" \
    'BEGIN { exit !(a > 0 && a - b < 1e-6 * a && b - a < 1e-6 * a) }'
printf 'a\n\nb\n' > hole.txt
fails hole_in_the_names_is_told 1 "'hole.txt', line 2: is empty" train --data idx:data $options --class-names hole.txt
printf 'a\nb\351\n' > latin.txt
fails names_must_be_utf8 1 "'latin.txt', line 2: byte 1, 0xe9, is not UTF-8: convert it" train --data idx:data $options --class-names latin.txt
: > empty.txt
fails empty_file_of_names_is_told 1 "'empty.txt': is empty" train --data idx:data $options --class-names empty.txt
fails missing_file_of_names_is_told 1 "nowhere.txt" evaluate --load named.npz --class-names nowhere.txt

head -n 3 rows.txt > three.txt
fails evaluate_wants_a_name_for_each_class 1 "'three.txt' has 3 names, the model has 10 classes" evaluate --load named.npz --class-names three.txt
{ cat rows.txt && echo more; } > eleven.txt
fails predict_wants_no_more_names_than_classes 1 "'eleven.txt' has 11 names, the model has 10" predict --load named.npz --class-names eleven.txt
fails names_and_number_of_classes_must_agree 1 "'three.txt' has 3 names, the model has 10" \
    train --data idx:data $options --classes 10 --class-names three.txt
fails names_must_be_as_many_as_the_data_has 1 "'rows.txt' has 10 names, the model has 3" train --data csv:t $options --class-names rows.txt
fails one_name_is_told 1 "'one.txt' has 1 names" train --data idx:data $options --class-names "$(echo all > one.txt && echo one.txt)"
fails numbers_that_are_predicted_have_no_names 1 "does not have with --loss mean_squared_error" \
    train --data csv:r --loss mse $options --class-names three.txt

# a file whose note is damaged, or of a version that knows more losses
run train --data idx:data $options --steps 1 --save noted.safetensors
sed 's/sparse_categorical/sparse_cathedrical/' noted.safetensors > later.safetensors
fails loss_that_is_not_known_is_told 1 "'later.safetensors': was trained with a loss 'sparse_cathedrical_crossentropy'.*--loss" evaluate --load later.safetensors
works loss_that_is_not_known_can_be_given '^test: ' evaluate --load later.safetensors --loss sparse_categorical_crossentropy
sed 's/{\(\\*"loss\)/[\1/' noted.safetensors > damaged.safetensors
fails damaged_note_names_its_file 1 "'damaged.safetensors': what is noted of the model is damaged" evaluate --load damaged.safetensors
fails damaged_note_names_its_file_in_training_too 1 "'damaged.safetensors': what is noted" \
    train --data idx:data $options --load damaged.safetensors --progress none

# ---- variables of other names ------------------------------------------------------------------------

works model_to_be_renamed_is_saved '^done:' train --data idx:data $options --epochs 2 --save ours.safetensors --evaluate
if command -v python3 > /dev/null 2>&1; then
    python3 - << 'END'
import json, struct
with open("ours.safetensors", "rb") as file:
    size = struct.unpack("<Q", file.read(8))[0]
    head, data = json.loads(file.read(size)), file.read()
head.pop("__metadata__")
new = {"layer1/weights": "net/dense/kernel", "layer1/biases": "net/dense/bias", "layer2/weights": "net/out/weights",
       "layer2/biases": "net/out/biases"}
head = json.dumps({new.get(name, name): value for name, value in head.items()}).encode()
open("theirs.safetensors", "wb").write(struct.pack("<Q", len(head)) + head + data)
END
    cat > map.txt << 'END'
# here          = there

layer1/weights = net/dense/kernel   # a kernel
layer1/biases=net/dense/bias
layer2 = net/out
END
    run evaluate --load ours.safetensors --data idx:data --json
    wanted=$(value test_loss)
    run evaluate --load theirs.safetensors --data idx:data --name-map map.txt --json
    check names_of_a_file_can_be_mapped [ -n "$wanted" -a "$(value test_loss)" = "$wanted" ]
    check mapped_names_are_neither_missing_nor_left_over grep -q '"missing":"","left_over":""' out
    run predict --load ours.safetensors --data idx:data --out ours.npy
    run predict --load theirs.safetensors --data idx:data --name-map map.txt --out theirs.npy
    check predict_maps_names_too cmp -s ours.npy theirs.npy
    run train --data idx:data $options --steps 3 --load ours.safetensors --json
    wanted=$(value weights_sha256)
    run train --data idx:data $options --steps 3 --load theirs.safetensors --name-map map.txt --json --checkpoint-dir mapped
    check training_begins_with_mapped_weights [ -n "$wanted" -a "$(value weights_sha256)" = "$wanted" ]
    works training_goes_on_where_the_map_is_still_given 'restored mapped/model.ckpt-3' \
        train --data idx:data $options --steps 4 --load theirs.safetensors --name-map map.txt --checkpoint-dir mapped
    works map_is_not_in_the_way_of_own_checkpoints 'restored mapped/model.ckpt-4' \
        evaluate --name-map map.txt --checkpoint-dir mapped
    fails map_counts_for_a_file_that_is_loaded 1 \
        "has nothing for 'layer1/weights' by the names of 'map.txt'; it has 'layer1/biases' \[16\], 'layer1/weights' \[64, 16\]" \
        evaluate --data idx:data --load ours.safetensors --name-map map.txt
    fails without_a_map_all_that_differs_is_listed 1 \
        "has no 'layer1/biases', 'layer1/weights', 'layer2/biases', 'layer2/weights'; left over is 'net/dense/bias' \[16\], 'net/dense/kernel' \[64, 16\], 'net/out/biases' \[8\], 'net/out/weights' \[16, 8\]" \
        train --data idx:data $options --load theirs.safetensors --progress none
    fails evaluate_without_a_map_lists_what_there_is 1 "has no 'layer1/weights'.*'net/dense/kernel' \[64, 16\].*--name-map FILE" \
        evaluate --data idx:data --load theirs.safetensors
    sed 's/dense.kernel/dense\/colonel/' map.txt > slip.txt
    fails slip_in_a_name_of_the_file_is_told 1 "has no 'net/dense/colonel' for 'layer1/weights'; left over is 'net/dense/kernel'" \
        train --data idx:data $options --load theirs.safetensors --name-map slip.txt --progress none
    fails slip_is_told_with_the_names_of_the_file 1 "by the names of 'slip.txt'; it has 'net/dense/bias' \[16\], 'net/dense/kernel'" \
        evaluate --data idx:data --load theirs.safetensors --name-map slip.txt
    sed 's/^layer2/layer3/' map.txt > slip.txt
    fails slip_in_a_name_of_the_model_is_told 1 "map of names has 'layer3', and the model has no such weight" \
        train --data idx:data $options --load theirs.safetensors --name-map slip.txt --progress none
fi
printf 'layer1/weights\n' > slip.txt
fails line_without_equals_sign_is_told 1 "'slip.txt', line 1: write: name here = name in the file" evaluate --load named.npz --name-map slip.txt
printf 'a = b\n a = c\n' > slip.txt
fails name_that_is_mapped_twice_is_told 1 "'slip.txt', line 2: 'a' has a name already, 'b'" evaluate --load named.npz --name-map slip.txt
printf '# nothing\n' > slip.txt
fails empty_map_is_told 1 "'slip.txt': has no line" evaluate --load named.npz --name-map slip.txt
fails missing_model_says_what_can_be_loaded 1 "'nowhere': there is no such file, checkpoint or folder: give FILE.safetensors" evaluate --load nowhere
fails file_that_is_no_model_says_what_can_be_loaded 1 "'rows.txt': is no checkpoint: give FILE.safetensors" train --data idx:data --load rows.txt
fails missing_map_is_told 1 "nowhere.txt" train --data idx:data $options --load named.npz --name-map nowhere.txt
fails map_without_a_file_to_restore_is_told 2 "name-map is for --load" train --data idx:data --name-map map.txt

# ---- pictures, one-hot and binary labels -------------------------------------------------------------

if ! command -v python3 > /dev/null 2>&1; then
    printf 'skip pictures_and_one_hot_labels: python3 writes their data\n'
    end_of_checks
    exit $?
fi
python3 - << 'END'
import os, struct, zipfile, zlib

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

def png(path, color):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    rows = (b"\0" + bytes(color) * 4) * 4
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", 4, 4, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

for part, n in (("train", 12), ("test", 4)):
    for i in range(n):
        png(f"pets/{part}/cat/{i}.png", (200 + i, 10, 10))
        png(f"pets/{part}/dog/{i}.png", (10, 200 + i, 10))
for i in range(3):
    png(f"found/dog/{i}.png", (10, 210 + i, 10))
    png(f"strange/owl/{i}.png", (10, 210 + i, 10))
    png(f"photos/{i}, green.png", (10, 210 + i, 10))

def npy(dtype, shape, values):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (dtype, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    code = {"|u1": "B", "<f4": "f", "<i8": "q"}[dtype]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(values), code), *values)

def write(name, dtype, shape, label, rows=430):
    with zipfile.ZipFile(name + ".npz", "w") as archive:
        for part, n in (("train", rows), ("test", 50)):
            pixels = [(100 if p // 8 == i % 8 else 1) + (i * 7 + p * 3) % 11 for i in range(n) for p in range(64)]
            archive.writestr("x_%s.npy" % part, npy("|u1", (n, 8, 8), pixels))
            archive.writestr("y_%s.npy" % part, npy(dtype, (n,) + shape, [x for i in range(n) for x in label(i)]))

for dtype in ("|u1", "<f4", "<i8"):
    write("one_hot" + dtype[1:], dtype, (10,), lambda i: [int(j == i % 8) for j in range(10)])
write("numbers", "<i8", (), lambda i: [i % 8])
write("binary", "<f4", (), lambda i: [int(i % 8 < 4)])
write("yes_no", "<i8", (2,), lambda i: [int(i % 8 < 4), i % 2])
write("late", "<f4", (), lambda i: [i % 8 + (0.5 if i == 1205 else 0)], 1300)
END
fails class_weights_name_the_classes 1 "no class 'cow': the names are 'cat', 'dog'; numbers are from 0 to 1" train --data images:pets --class-weight cow=2
fails folder_of_pictures_is_told_as_such 2 "'pets' names no kind of data: write 'images:pets'" train --data pets
fails folder_of_pictures_is_no_folder_of_idx_files 1 "'pets' holds no idx, but what images reads: write 'images:pets'" train --data idx:pets
: > pets/train/list.txt
: > pets/train/cat/.hidden
works files_left_out_are_counted ' examples, 2 files left out (1 is no picture, 1 is hidden))' train --data images:pets --steps 1
works files_left_out_are_counted_in_json '"left_out": *{"no_pictures": *1,"hidden": *1,' train --data images:pets --steps 1 --json
works pictures_have_a_size_that_fits "^mlp 48-500-2 (25,502 parameters, " train --data images:pets --steps 1
run train --data images:pets --image-size 4 $options --epochs 20 --save pets.npz --json
if grep -q 'without libspng' err; then
    printf 'skip classes_of_pictures: this build has no libspng\n'
else
    works classes_of_folders_are_noted '^ *1 dog  *0  *4$' evaluate --load pets.npz --confusion
    works folder_of_one_class_has_the_numbers_of_the_training '^ *1 dog  *0  *3$' evaluate --load pets.npz --data images:found --confusion
    works pictures_are_predicted_by_name '^found/dog/2.png  *dog  ' predict --load pets.npz --data images:found
    run predict --load pets.npz --data images:found --out found.csv
    run predict --load pets.npz photos --out photos.csv
    check pictures_of_files_are_predicted_as_those_of_classes [ "$(cut -d , -f 2- found.csv)" = "$(cut -d , -f 3- photos.csv | sed '1s/.*/class,cat,dog/')" ]
    check table_of_predictions_names_the_files grep -q '^"photos/1, green.png",dog,' photos.csv
    works files_are_predicted_in_their_order '^photos/0, green.png  dog  ' predict --load pets.npz "photos/2, green.png" "photos/0, green.png"
    check first_file_comes_first [ "$(grep -A 1 '^file ' out | tail -n 1 | cut -c 1-8)" = photos/2 ]
    works predicted_files_are_events '"event":"prediction","file":"photos/2, green.png","class":1,"name":"dog"' predict --load pets.npz --json "photos/2, green.png"
    run train --data images:pets --image-size 4 --steps 2 --pixels caffe --save caffe.npz
    works pictures_have_the_range_of_the_training '^photos/2, green.png ' predict --load caffe.npz "photos/2, green.png"
    fails picture_that_is_not_there_is_named 1 "'photos/3.png': no such file" predict --load pets.npz photos/3.png
    works pictures_of_folders_below_are_predicted "^found/dog/0.png  dog  " predict --load pets.npz found
    fails file_that_is_no_picture_is_named 1 "'found.csv': is no picture that is read" predict --load pets.npz found.csv photos
    fails pictures_are_not_for_a_model_of_tables 1 "the model takes the columns of a table, not pictures" predict --load raw.npz photos
    fails columns_are_no_pictures 1 "takes the columns of a table, not pictures" predict --load m.npz photos
    fails size_that_the_model_does_not_take_is_refused 1 "no pictures of that size: leave --image-size out" predict --load pets.npz photos --image-size 5
    fails data_is_no_picture 2 "leave one of them out" predict --load pets.npz photos --data images:found
    fails class_folder_that_was_not_there_is_named 1 "class 'owl' was not there in training" predict --load pets.npz --data images:strange
fi

run train --data npz:numbers.npz $options --classes 10 --epochs 4 --confusion --json
wanted=$(grep -o '"confusion":.*' out | cut -d ']' -f 1-11)
check there_is_a_matrix_of_class_numbers [ -n "$wanted" ]
for type in u1 f4 i8; do
    run train --data npz:one_hot$type.npz $options --epochs 4 --loss categorical_crossentropy --confusion --json --save one_hot.npz
    check "one_hot_rows_of_${type}_give_the_matrix_of_class_numbers" [ "$(grep -o '"confusion":.*' out | cut -d ']' -f 1-11)" = "$wanted" ]
done
works one_hot_rows_have_names '^ *3 row 3 ' evaluate --load one_hot.npz --confusion --class-names rows.txt
printf 'low\nhigh\n' > two.txt
works matrix_of_a_binary_output_is_2_by_2 '^ *1 high  *[0-9]*  *[0-9]*$' \
    train --data npz:binary.npz $options --epochs 20 --loss binary_crossentropy --confusion --class-names two.txt --save yes.npz
check accuracy_of_a_binary_output_is_that_of_its_matrix awk '
    /^test: / { match($0, /binary_accuracy = [0-9.]*/); accuracy = substr($0, RSTART + 18, RLENGTH - 18) }
    /^ *0 low  *[0-9]* *[0-9]*$/ { right += $3 } /^ *1 high  *[0-9]* *[0-9]*$/ { right += $4 }
    END { d = accuracy - right / 50; exit !(accuracy != "" && d * d < 1e-8 && right > 40) }' out
works binary_output_is_predicted_by_name '^ *4  low  *[01][.]' predict --load yes.npz
fails several_yes_or_no_have_no_matrix 2 "each has 2 labels of yes or no" train --data npz:yes_no.npz $options --loss binary_crossentropy --confusion
fails fraction_behind_the_first_rows_is_named 1 "label 0.5 of row 1205\|label 5.5 of row 1205" train --data npz:late.npz $options --progress none

end_of_checks
