#!/bin/sh
# Networks of several inputs and outputs in the commands. Usage: outputs_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
if ! command -v python3 > /dev/null 2>&1; then
    echo "skipped: there is no python3 to write the data"
    exit 0
fi

# Names of arrays that begin with k are of class numbers, with w of words, "yes" of 0 and 1, others of numbers. WORDS: dtype of words.
cat > data.py << 'END'
import math, os, struct, sys, zipfile

def array(name, rows):
    base = name.split("_")[0]
    width = {"left": 6, "words": 4, "kind": 0}.get(base, 1)
    code = {"kind": "i4", "words": os.environ.get("WORDS", "i4")}.get(base, "f4")
    values = []
    for row in range(rows):
        for i in range(max(width, 1)):
            wave = math.sin(7 * row + 3 * i + len(base))
            values.append(wave > 0 if base == "yes" else wave if code == "f4" else (row + i) % 3 if base == "kind" else (5 * row + i) % 20)
    shape = f"({rows}, {width})" if width else f"({rows},)"
    head = f"{{'descr': '<{code}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * ((-len(head) - 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{code[0] if code != 'u1' else 'B'}", *values)

with zipfile.ZipFile(sys.argv[1], "w") as file:
    for argument in sys.argv[2:]:
        name, _, rows = argument.partition("=")
        file.writestr(name + ".npy", array(name, int(rows or 100)))
END
npz() { python3 data.py "$@" || exit 1; }
dense() {
    printf '{"class_name": "Dense", "name": "%s", "config": {"name": "%s", "units": %s, "activation": "%s"}, ' $1 $1 $2 $3
    printf '"inbound_nodes": [[["%s", 0, 0, {}]]]}' $4
}
# network FILE OUTPUTS: left and words into one dense layer, and two outputs or the first alone
network() {
    {
        printf '{"class_name": "Functional", "config": {"name": "two", "layers": ['
        printf '{"class_name": "InputLayer", "name": "left", "config": {"name": "left", "batch_shape": [null, 6], '
        printf '"dtype": "float32"}, "inbound_nodes": []}, '
        printf '{"class_name": "InputLayer", "name": "words", "config": {"name": "words", "batch_shape": [null, 4], '
        printf '"dtype": "float32"}, "inbound_nodes": []}, '
        printf '{"class_name": "Embedding", "name": "table", "config": {"name": "table", "input_dim": 20, '
        printf '"output_dim": 3}, "inbound_nodes": [[["words", 0, 0, {}]]]}, '
        printf '{"class_name": "Flatten", "name": "flat", "config": {"name": "flat"}, '
        printf '"inbound_nodes": [[["table", 0, 0, {}]]]}, '
        printf '{"class_name": "Concatenate", "name": "joined", "config": {"name": "joined", "axis": -1}, '
        printf '"inbound_nodes": [[["left", 0, 0, {}], ["flat", 0, 0, {}]]]}, '
        dense both 8 relu joined
        printf ', '
        dense kind 3 softmax both
        printf ', '
        dense price 1 linear both
        printf '], "input_layers": [["left", 0, 0], ["words", 0, 0]], "output_layers": [%s]}}' "$2"
    } > "$1"
}
network two.json '["kind", 0, 0], ["price", 0, 0]'
network one.json '["kind", 0, 0]'
npz parts.npz left_train words_train kind_train price_train left_test=20 words_test=20 kind_test=20 price_test=20
npz whole.npz left words kind price
train="--model two.json --batch-size 20 --seed 3 --shards 4 --progress none"

# ---- training --------------------------------------------------------------------------------------

run train $train --data npz:parts.npz --epochs 2 --devices cpu:1/1 --validation-split 0.2 --json --evaluate --history h.csv \
    --predict p.npz --checkpoint-dir run
check a_network_with_two_inputs_and_outputs_is_trained [ "$status" -eq 0 ]
check events_have_the_losses_of_outputs grep -q '"val_price_loss":.*"test_kind_accuracy":' out
check the_losses_add_up awk -F, 'NR > 1 && ($2 - $3 - $5) ^ 2 > 1e-9 { exit 1 }' h.csv
check so_does_the_history grep -q '^epoch,loss,kind_loss,kind_accuracy,price_loss,price_mean_absolute_error,val_loss,val_kind_loss' h.csv
loss=$(printf %.5f "$(value test_loss)")
run evaluate --checkpoint-dir run --data npz:parts.npz --json
check its_checkpoint_is_evaluated [ "$(printf %.5f "$(value test_loss)")" = "$loss" ]
python3 -m zipfile -l p.npz > list
check predictions_are_arrays_by_name [ "$(grep -c -e '^kind.npy' -e '^price.npy' list)" -eq 2 ]
run predict --checkpoint-dir run --data npz:parts.npz --out q.npz
check predictions_are_those_of_the_training cmp -s p.npz q.npz
run predict --checkpoint-dir run --data npz:parts.npz --out p.csv
check predictions_are_columns_by_name grep -q '^row,kind_class,kind_0,kind_1,kind_2,price$' p.csv
works predictions_are_shown '^ *row  kind  probability  price$' predict --checkpoint-dir run --data npz:parts.npz
run predict --checkpoint-dir run --data npz:parts.npz --json
check predictions_are_events grep -q '"row":19,"outputs":{"kind":{"class":[012],"probability":[0-9.]*},"price":{"outputs":\[' out
run train $train --data npz:whole.npz --steps 2 --devices cpu:1/1 --json --loss price=mae,kind=scce --metrics kind=auc
check a_short_name_that_is_not_there_is_refused [ "$status" -eq 2 ]
run train $train --data npz:whole.npz --steps 1 --devices cpu:1/1 --loss price=mae --loss-weights price=0,kind=2 \
    --metrics kind=recall,kind=precision --json
check metrics_are_those_of_their_output grep -q '"kind_recall":[^,]*,"kind_precision":[^,]*,"price_loss":[^,]*,"price_mean_squared_error"' out
check weights_of_losses_count awk -v sum="$(value loss)" -v kind="$(value kind_loss)" 'BEGIN { exit (sum - 2 * kind) ^ 2 > 1e-9 }'
run train $train --data npz:whole.npz --steps 1 --devices cpu:1/1 --metrics accuracy,mae --json
check metrics_are_of_the_outputs_that_they_fit sh -c 'grep -q "\"kind_accuracy\":" out && grep -q "\"price_mean_absolute_error\":" out && ! grep -q "kind_mean_abs\|price_accuracy" out'
fails metric_must_fit_the_output_that_is_named 1 "^error: output 'price': --metrics f1: counts examples by their class" train $train --data npz:whole.npz --devices cpu:1/1 --metrics price=f1
run train $train --data npz:whole.npz --epochs 20 --devices cpu:1/1 --monitor kind_accuracy --best --checkpoint-dir grown \
    --history grown.csv
best=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "kind_accuracy") at = i; next }
    NR == 2 || $at > most { most = $at; steps = 5 * (NR - 1) } END { print steps }' grown.csv)
check the_accuracy_of_an_output_is_to_grow grep -q "model.ckpt-$best\"" grown/best/checkpoint
npz one.npz left words y=100
run train --model one.json --data npz:one.npz --loss mse --steps 1
check labels_of_one_output_may_be_y grep -q "the labels have 1 numbers an example, the model 3" err

run train $train --data npz:parts.npz --steps 3 --devices cpu:2/1 --confusion --save counted.keras
check a_matrix_is_of_an_output_with_classes [ "$(grep -c '^confusion of ' out)" = 1 ]
check the_matrix_names_its_output grep -q '^confusion of kind, a row for each label' out
cp out counted
run evaluate --load counted.keras --data npz:parts.npz --confusion
check a_saved_model_has_the_same_matrix [ "$(grep -A 8 '^confusion' out)" = "$(grep -A 8 '^confusion' counted)" -a -s counted ]
run evaluate --load counted.keras --data npz:parts.npz --confusion --json
check matrices_are_by_output_in_events grep -q '"confusion":{"kind":\[\[[0-9,]*\],.*"classes":{"kind":\[{"class":0,' out

# weights of classes: of 20 rows the classes have 7, 7 and 6
npz few.npz left=20 words=20 kind=20 price=20
balanced=0.9523809523809523,kind=1=0.9523809523809523,kind=2=1.1111111111111112
for weights in balanced kind=balanced kind=0=$balanced; do
    run train $train --data npz:few.npz --steps 3 --devices cpu:1/1 --json --class-weight $weights
    check "weights_of_classes_are_those_of_an_output_$weights" [ "$(value weights_sha256)" = "${weighed:=$(value weights_sha256)}" ]
done
run train $train --data npz:few.npz --steps 3 --devices cpu:1/1 --json
check weights_of_classes_count [ "$(value weights_sha256)" != "$weighed" -a -n "$weighed" ]

# a layer that is two outputs
{
    printf '{"class_name": "Functional", "config": {"name": "two", "layers": [{"class_name": "InputLayer", "name": "left", '
    printf '"config": {"name": "left", "batch_shape": [null, 6], "dtype": "float32"}, "inbound_nodes": []}, '
    printf '{"class_name": "Dense", "name": "left_2", "config": {"name": "left_2", "units": 6}, "inbound_nodes": '
    printf '[[["left", 0, 0, {}]], [["left_2", 0, 0, {}]]]}], "input_layers": [["left", 0, 0]], '
    printf '"output_layers": [["left_2", 0, 0], ["left_2", 1, 0]]}}'
} > same.json
npz same.npz left_train left_2_train left_2_1_train left_test=5 left_2_test=5 left_2_1_test=5
run train --model same.json --data npz:same.npz --loss mse --loss-weights left_2_1=0.5 --steps 2 --json --save same.keras
check losses_of_one_layer_have_their_own_names grep -q '"left_2_loss":.*"left_2_1_loss":' out
run predict --load same.keras --data npz:same.npz --out same-p.npz
python3 -m zipfile -l same-p.npz > list
check outputs_of_one_layer_are_two_arrays [ "$(grep -c -e '^left_2.npy' -e '^left_2_1.npy' list)" -eq 2 ]
run train --load same.keras --data npz:same.npz --steps 1 --json
check and_their_losses_come_back grep -q '"left_2_loss":.*"left_2_1_loss":' out

# ---- ONNX ------------------------------------------------------------------------------------------

npz missing.npz left kind price
run train $train --data npz:parts.npz --steps 3 --devices cpu:1/1 --save both.keras
works a_network_becomes_onnx "both.onnx from both.keras" convert both.keras both.onnx
works its_inputs_and_outputs_are_shown "input words *f32" inspect both.onnx
for file in both.keras both.onnx; do
    run predict --load $file --data npz:parts.npz --out $file.csv --devices cpu:1
    run evaluate --load $file --data npz:parts.npz --loss kind=sparse_categorical_crossentropy,price=mse --devices cpu:1
    cp out $file.txt
done
check onnx_gives_the_predictions_of_the_network cmp -s both.keras.csv both.onnx.csv
check and_its_losses [ "$(grep '^test: ' both.keras.txt)" = "$(grep '^test: ' both.onnx.txt)" -a -s both.onnx.csv ]
works onnx_becomes_onnx "parameters" convert both.onnx again.onnx
run predict --load again.onnx --data npz:parts.npz --out again.csv --devices cpu:1
check the_same_is_read_again cmp -s both.onnx.csv again.csv
works its_weights_become_a_file "parameters" convert both.onnx both.npz
fails onnx_does_not_say_the_loss_of_an_output 1 "does not say for which loss its output 'price' was trained" evaluate \
    --load both.onnx --data npz:parts.npz
fails onnx_names_a_missing_input 1 "'missing.npz': has no array 'words', an input" predict --load both.onnx --data npz:missing.npz

# ---- names of classes ---------------------------------------------------------------------------------

printf 'cat\ndog, wild\nfish\n' > names.txt
run predict --load both.keras --data npz:parts.npz --class-names kind=names.txt --out named.csv
check classes_of_an_output_have_names grep -q '^row,kind_class,kind_cat,"kind_dog, wild",kind_fish,price$' named.csv
check and_its_rows grep -q -e '^0,cat,' -e '^0,fish,' -e '^0,"dog, wild",' named.csv
run predict --load both.onnx --data npz:parts.npz --class-names names.txt --json
check a_file_is_of_the_only_output_with_classes grep -q '"kind":{"class":[012],"name":"[a-z, ]*","probability"' out
works a_matrix_has_the_names '^ *0 cat ' evaluate --load both.keras --data npz:parts.npz --class-names kind=names.txt --confusion
run train $train --data npz:parts.npz --steps 2 --devices cpu:1/1 --class-names kind=names.txt --save named.keras \
    --checkpoint-dir named --class-weight kind=fish=2
check they_are_given_in_training [ "$status" -eq 0 ]
works and_noted_in_the_file ' cat  ' predict --load named.keras --data npz:parts.npz
works and_in_checkpoints 'cat ' predict --checkpoint-dir named --data npz:parts.npz
printf 'cow\nhen\npig\n' > others.txt
fails a_training_goes_on_with_the_same_names 1 "other columns, categories or classes" train $train --data npz:parts.npz --steps 3 \
    --devices cpu:1/1 --class-names kind=others.txt --checkpoint-dir named
fails names_are_of_an_output_that_is_there 1 "--class-names: the model has no output 'cost': it has 'kind', 'price'$" predict \
    --load both.keras --data npz:parts.npz --class-names cost=names.txt
fails names_are_of_an_output_with_classes 1 "output 'price': --class-names names classes, which the model does not have" predict \
    --load both.keras --data npz:parts.npz --class-names price=names.txt
fails an_output_has_one_file_of_names 1 "two files for output 'kind'" predict --load both.keras --data npz:parts.npz \
    --class-names kind=names.txt,kind=names.txt
printf 'cat\ndog\n' > two.txt
fails there_is_a_name_for_each_class 1 "output 'kind': --class-names: 'two.txt' has 2 names, the model has 3 classes" predict \
    --load both.keras --data npz:parts.npz --class-names two.txt
network alike.json '["kind", 0, 0], ["kind", 0, 0]'
npz alike.npz left_train words_train kind_train kind_1_train left_test=5 words_test=5 kind_test=5 kind_1_test=5
run train --model alike.json --data npz:alike.npz --steps 1 --save alike.keras --devices cpu:1/1
fails whose_names_they_are_must_be_clear 1 \
    "--class-names names.txt: several outputs have classes, 'kind', 'kind_1': write --class-names kind=FILE,kind_1=FILE$" predict \
    --load alike.keras --data npz:alike.npz --class-names names.txt

# ---- labels of several dimensions -------------------------------------------------------------------------

cat > rows.json << 'END'
{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_shape": [null, 6], "dtype": "float32", "name": "left"}},
  {"class_name": "Reshape", "config": {"name": "pairs", "target_shape": [3, 2]}},
  {"class_name": "Dense", "config": {"name": "pixels", "units": 2}}]}}
END
sed -i 's/"kind": 0}/"kind": 0, "pixels": 6}/; s/^    shape = .*/&\n    shape = f"({rows}, 3, 2)" if base == "pixels" else shape/' data.py
npz pixels.npz left_train pixels_train left_test=20 pixels_test=20
works labels_may_have_the_shape_of_the_output "^done" train --model rows.json --data npz:pixels.npz --loss mse --steps 3 --save rows.keras
works and_are_evaluated "^test: loss.*mean_absolute_error" evaluate --load rows.keras --data npz:pixels.npz
npz flat.npz left_test=20 y_test=20
fails other_shapes_are_told 1 "the labels of an example are \[1\], the model gives \[3, 2\]: --loss mean_squared_error needs the same$" evaluate \
    --load rows.keras --data npz:flat.npz
# pick FILE NAME=ARRAY...: arrays of all.npz, under other names
pick() {
    python3 -c 'import sys, zipfile
with zipfile.ZipFile("all.npz") as old, zipfile.ZipFile(sys.argv[1], "w") as new:
    for name, array in (a.split("=") for a in sys.argv[2:]): new.writestr(name + ".npy", old.read(array + ".npy"))' "$@" || exit 1
}
sed -i 's/^    shape = .*/&\n    shape = f"({rows}, 3)" if base == "mask" else shape/; s/"kind": 0,/&"mask": 3,/' data.py
npz all.npz left_train pixels_train mask_train
pick mask.npz left_train=left_train pixels_train=mask_train
pick shaped.npz x_train=left_train y_train=pixels_train
fails class_numbers_of_positions_are_told 1 "labels of an example are \[3\], the model gives \[3, 2\]: .* needs the same: for class numbers there is --loss sparse" \
    train --load rows.keras --data npz:mask.npz --loss mse
fails labels_of_a_shape_name_the_losses_that_take_them 1 \
    "sparse_categorical_crossentropy: a label is \[3, 2\], this model gives a row of numbers: take --model unet for masks" \
    train --data npz:shaped.npz
fails and_the_network_that_gives_them 1 "a label is \[3, 2\], this model gives a row of numbers: .* --load FILE.keras" \
    train --data npz:shaped.npz --loss mse

# an output whose size only the data tells
cat > known.json << 'END'
{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_shape": [null, 3, 2], "dtype": "float32", "name": "pixels"}},
  {"class_name": "Dense", "config": {"name": "pixels_out", "units": 2, "activation": "softmax"}}]}}
END
npz known.npz pixels_train pixels_out_train pixels_test=20 pixels_out_test=20
run train --model known.json --data npz:known.npz --loss mse --steps 1 --save known.keras
python3 - << 'END'
import zipfile

with zipfile.ZipFile("known.keras") as old, zipfile.ZipFile("open.keras", "w") as new:
    for name in old.namelist():
        new.writestr(name, old.read(name).replace(b"[null, 3, 2]", b"[null, null, 2]"))
END
for file in known.keras open.keras; do
    run predict --load $file --data npz:known.npz --out $file.csv --devices cpu:1
done
check outputs_of_any_size_are_predicted cmp -s known.keras.csv open.keras.csv
check classes_are_not_of_all_rows_of_an_example grep -q '^row,output_0,output_1,.*,output_5$' open.keras.csv
fails they_are_not_evaluated 1 "an example of its output 'pixels_out' is \[?, 2\]: it must have a size that is known" evaluate \
    --load open.keras --data npz:known.npz

# ---- arrays whose names differ in case alone ---------------------------------------------------------

npz plain.npz x_train y_train x_test=20 y_test=20
npz cased.npz X_train x_train y_train Y_train x_test=20 y_test=20
small="--loss mse --hidden-units 4 --epochs 1 --seed 3 --devices cpu:1 --json"
run train --data npz:plain.npz $small --save plain.model.npz
want=$(value weights_sha256)
run train --data npz:cased.npz $small
check the_array_of_the_exact_name_is_read [ -n "$want" -a "$(value weights_sha256)" = "$want" ]
for what in "train --data npz:cased.npz $small" "evaluate --load plain.model.npz --data npz:cased.npz" "convert npz:cased.npz csv:cased"; do
    run $what
    check "and_the_other_one_is_told_by_${what%% *}" sh -c '[ "$1" -eq 0 -a "$(grep -c "^warning: .npz:cased.npz.: has the arrays" err)" -eq 2 ] &&
        grep -q "arrays .y_train. and .Y_train., and .y_train. is read: leave one out" err' - $status
done
npz neither.npz x_train Y_train y_Train
fails without_the_exact_name_none_is_read 1 "has no array 'y_train': it has x_train, Y_train, y_Train" train --data npz:neither.npz $small

# ---- tables --------------------------------------------------------------------------------------------

# table FILE ROWS [KINDS]: what data.py writes, as columns; KINDS are names of the classes in place of their numbers
cat > table.py << 'END'
import math, struct, sys

kinds = sys.argv[3].split(",") if len(sys.argv) > 3 else ["0", "1", "2"]
names = ["price", "id"] + [f"left_{i}" for i in range(6)] + [f"words_{i}" for i in range(4)] + ["kind"]

def wave(row, i, size):
    return repr(struct.unpack("f", struct.pack("f", math.sin(7 * row + 3 * i + size)))[0])

with open(sys.argv[1], "w") as file:
    file.write(",".join(names) + "\n")
    for row in range(int(sys.argv[2])):
        cells = [wave(row, 0, 5), f"row {row}"] + [wave(row, i, 4) for i in range(6)]
        file.write(",".join(cells + [str((5 * row + i) % 20) for i in range(4)] + [kinds[row % 3]]) + "\n")
END
table() { python3 table.py "$@" || exit 1; }
table parts-train.csv 100
table parts-test.csv 20
run train $train --data npz:parts.npz --epochs 2 --devices cpu:1/1 --json --evaluate
weights=$(value weights_sha256) loss=$(value test_loss)
run train $train --data csv:parts --epochs 2 --devices cpu:1/1 --json --evaluate --save table.keras
check columns_are_found_by_the_names_of_inputs [ -n "$weights" -a "$(value weights_sha256)" = "$weights" ]
check and_by_those_of_outputs [ -n "$loss" -a "$(value test_loss)" = "$loss" ]
run predict --load both.onnx --data npz:parts.npz --out a.csv --devices cpu:1
run predict --load both.onnx --data csv:parts-test.csv --out b.csv --devices cpu:1
check a_table_gives_the_predictions_of_arrays cmp -s a.csv b.csv
sed 's/,[^,]*$//; s/^[^,]*,//' parts-test.csv > new.csv
run predict --load both.onnx --data csv:new.csv --out c.csv --devices cpu:1
check a_table_needs_no_labels_to_predict cmp -s a.csv c.csv
# labels of rows that are only predicted may be missing, or anything
for label in '' z 1.500 2.5; do
    awk -F, -v OFS=, -v label="$label" 'NR > 1 { $1 = $13 = label; if (NR == 3 && label == "2.5") $1 = $13 = "z" } 1' parts-test.csv > strange.csv
    run predict --load both.onnx --data csv:strange.csv --out d.csv --devices cpu:1
    check "labels_${label:-missing}_are_not_read_by_predict" cmp -s a.csv d.csv
    rm -f d.csv
done
works a_table_is_evaluated_as_it_is "^test: loss" evaluate --load both.onnx --data csv:parts-test.csv --loss price=mse
table named-train.csv 100 yak,cat,fish
table one-kind.csv 1 yak
run train $train --data csv:named --steps 2 --devices cpu:1/1 --save named.keras
works classes_are_those_of_the_table '^ *2 yak ' evaluate --load named.keras --data csv:one-kind.csv --confusion
check and_are_numbered_as_in_training [ "$(grep '^ *2 yak ' out | tail -n 1 | awk '{ print $NF }')" = 1 ]
run predict --load named.keras --data csv:one-kind.csv --json
grep '"prediction"' out > want
sed 's/yak$/cow/; s/^[^p,]*,/,/' one-kind.csv > strange.csv
run predict --load named.keras --data csv:strange.csv --json
grep '"prediction"' out > got
check classes_that_training_lacked_are_not_read_by_predict sh -c '[ -s want ] && cmp -s want got'
# a point that is doubtful beside a decimal comma is told in a test part and in new rows
for part in train test; do tr ,. ';,' < parts-$part.csv > comma-$part.csv; done
run train $train --data csv:comma --delimiter ';' --steps 2 --devices cpu:1/1 --evaluate --save comma.keras
check columns_may_have_a_decimal_comma [ $status -eq 0 ]
awk -F';' -v OFS=';' 'NR > 1 { $9 = "1.500" } 1' comma-test.csv > new-comma.csv
fails a_doubtful_point_of_new_rows_is_told 1 "'new-comma.csv', line 2, column 'words_0': '1.500' may be 1500 or 1.5, since column '.*' has a decimal comma: say" \
    predict --load comma.keras --data csv:new-comma.csv
cp new-comma.csv comma-test.csv
fails and_one_of_a_test_part 1 "'comma-test.csv', line 2, column 'words_0': '1.500' may be" train $train --data csv:comma --delimiter ';' --steps 2 --evaluate
sed 's/left_3/up/' new.csv > short.csv
fails a_row_that_is_too_short_is_told 1 "'both.onnx': takes inputs 'left' of shape \[6\], those of 'csv:short.csv' are \[3\]$" predict --load both.onnx --data csv:short.csv
sed 's/left_/up_/g' new.csv > short.csv
fails a_missing_column_is_named 1 "has no column 'left', nor 'left_0', 'left_1' and so on, for an input" predict \
    --load both.onnx --data csv:short.csv
sed 's/^[^,]*,//' parts-test.csv > half.csv
fails a_missing_label_is_named 1 "has no column 'price'.* for an output of the model" evaluate --load both.onnx \
    --data csv:half.csv
awk -F, -v OFS=, 'NR > 1 { $3 = "cow" } 1' new.csv > text.csv
fails an_input_is_of_numbers 1 "'text.csv': column 'left_1' is text, which an input of numbers cannot hold" predict \
    --load both.onnx --data csv:text.csv
cat > only.json << 'END'
{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_shape": [null, 6], "dtype": "float32", "name": "left"}},
  {"class_name": "Dense", "config": {"name": "kind", "units": 3, "activation": "softmax"}}]}}
END
npz only.npz left_train kind_train left_test=20 kind_test=20
run train --model only.json --data npz:only.npz --steps 1 --save only.keras
run convert only.keras only.onnx
cut -d , -f 3-8 parts-test.csv > inputs.csv
cut -d , -f 3-8,13 parts-test.csv > labelled.csv
for data in npz:only.npz csv:inputs.csv csv:labelled.csv; do
    run predict --load only.onnx --data $data --out ${data#????}.out.csv --devices cpu:1
done
check a_table_of_inputs_alone_is_predicted cmp -s only.npz.out.csv inputs.csv.out.csv
check and_one_with_labels cmp -s only.npz.out.csv labelled.csv.out.csv
for label in '' z 1.500; do
    sed "2,\$s/[^,]*\$/$label/" labelled.csv > strange.csv
    rm -f d.csv
    run predict --load only.onnx --data csv:strange.csv --out d.csv --devices cpu:1
    check "label_${label:-missing}_of_one_output_is_not_read_by_predict" cmp -s only.npz.out.csv d.csv
done
works which_is_evaluated_too "^test: loss.* .20 examples" evaluate --load only.onnx --data csv:labelled.csv
fails a_table_without_labels_is_not 1 "has no labels: evaluate needs them" evaluate --load only.onnx --data csv:inputs.csv
fails columns_go_by_their_names 1 "leave label out" predict --load both.onnx --data csv:new.csv --label kind
fails a_table_alone_is_no_test_part 1 "is the train part" train $train --data csv:parts-test.csv --steps 1 --evaluate

# ---- before training --------------------------------------------------------------------------------

works the_data_of_a_network_is_looked_at 'ok *data *localhost *npz:parts.npz: 100 rows of .*, .*, .*, .*; the first 100 have hash' doctor \
    --data npz:parts.npz --model two.json
works and_the_memory_of_its_step 'ok *memory *localhost *two.json, 2 inputs and 2 outputs, with 20 rows a step takes' doctor \
    --data npz:parts.npz --model two.json --batch-size 20

# ---- the same weights everywhere ----------------------------------------------------------------------

weights() { sed -n 's/.*"weights_sha256":"\([0-9a-f]*\)".*/\1/p' out | sort -u; }
run train $train --data npz:parts.npz --epochs 2 --devices cpu:1/1 --json
alone=$(weights)
for devices in cpu:2/1 cpu:4/1; do
    run train $train --data npz:parts.npz --epochs 2 --devices $devices --json
    check weights_are_the_same_on_$devices [ -n "$alone" -a "$(weights)" = "$alone" ]
done
WORDS=u1 npz bytes.npz left_train words_train kind_train price_train left_test=20 words_test=20 kind_test=20 price_test=20
run train $train --data npz:bytes.npz --epochs 2 --devices cpu:1/1 --json
check words_may_be_bytes [ "$(weights)" = "$alone" ]
"$muster" launch --workers 2 -- "$muster" train $train --data npz:parts.npz --epochs 2 --devices cpu:1/1 --json > out 2> err
check weights_are_the_same_on_two_workers [ "$(weights)" = "$alone" ]
"$muster" launch --ps 1 --workers 2 -- "$muster" train $train --data npz:parts.npz --epochs 2 --devices cpu:1/1 --json --issync 1 > out 2> err
check weights_are_the_same_with_a_parameter_server [ "$(weights)" = "$alone" ]

"$muster" launch --workers 1 --evaluator -- "$muster" train $train --data npz:parts.npz --steps 5 --devices cpu:1/1 --json \
    --checkpoint-dir evaluated > out 2> err
check an_evaluator_measures_the_outputs grep -q '"event":"evaluated","step":5,.*"test_price_loss":' out

# ---- what is wrong ------------------------------------------------------------------------------------

fails missing_inputs_are_named 1 "'missing.npz': has no array 'words', an input of the model: it has 'left', 'kind', 'price'; the model has inputs 'left', 'words' and outputs 'kind', 'price'$" train $train --data npz:missing.npz
npz unlabelled.npz left words kind
fails missing_labels_are_named 1 "no array 'price', an output of the model: it has" train $train --data npz:unlabelled.npz
npz extra.npz left words kind price cost
fails arrays_of_other_names_are_named 1 "array 'cost' is none of the model's, which has inputs 'left', 'words'" train $train --data npz:extra.npz
npz rows.npz left words=50 kind price
fails rows_must_agree 1 "array 'words' has 50 rows and 'left' has 100" train $train --data npz:rows.npz
npz inputs.npz left words
fails labels_are_needed 1 "'npz:inputs.npz': the data has no labels" train $train --data npz:inputs.npz
works labels_are_not_needed_to_predict "price$" predict --checkpoint-dir run --data npz:inputs.npz
fails data_without_names_is_refused 1 "2 inputs and 2 outputs: npz:FILE has an array for each" train $train --data fashion-mnist
fails losses_are_of_outputs 2 "--loss: the model has no output 'cost': it has 'kind', 'price'$" train $train --data npz:whole.npz --loss cost=mse
fails losses_are_known 2 "there is no 'squared'" train $train --data npz:whole.npz --loss price=squared
fails losses_of_a_list_have_names 2 "'mse' must be OUTPUT=NAME" train $train --data npz:whole.npz --loss kind=mse,mse
fails losses_fit_their_labels 1 "output 'kind': the labels have 1 numbers an example" train $train --data npz:whole.npz --loss kind=mse
fails weights_are_of_outputs 2 "--loss-weights: the model has no output 'cost'" train $train --data npz:whole.npz --loss-weights cost=1
fails weights_are_numbers 2 "--loss-weights: 'x' is no weight" train $train --data npz:whole.npz --loss-weights price=x
fails metrics_are_of_outputs 1 "--metrics: the model has no output 'cost'" train $train --data npz:whole.npz --metrics cost=auc
fails weights_need_outputs_with_names 2 "for a network of a file" train --loss-weights price=1
fails one_array_has_no_place_for_two_outputs 2 "2 outputs: FILE.npz" train $train --data npz:parts.npz --predict p.npy
network number.json '["price", 0, 0]'
npz number.npz left_train words_train price_train left_test=5 words_test=5 price_test=5
# compiled FILE LOSS OPTIMIZER: number.keras, or $MODEL, with another loss and optimizer, as JSON
cat > compiled.py << 'END'
import json, os, sys, zipfile

with zipfile.ZipFile(os.environ.get("MODEL", "number.keras")) as old, zipfile.ZipFile(sys.argv[1], "w") as new:
    for name in old.namelist():
        data = old.read(name)
        if name == "config.json":
            config = json.loads(data)
            for key, value in zip(("loss", "optimizer"), sys.argv[2:]):
                config["compile_config"][key] = json.loads(value)
            data = json.dumps(config)
        if name == "metadata.json":
            data = json.dumps({k: v for k, v in json.loads(data).items() if k != "muster_notes"})  # as Keras writes it
        new.writestr(name, data)
END
adam='{"module": "keras.optimizers", "class_name": "Adam", "config": {"learning_rate": 0.25}}'
run train --model number.json --data npz:number.npz --loss mse --steps 1 --optimizer sgd --save number.keras
python3 compiled.py cosh.keras '{"module": "keras.losses", "class_name": "LogCosh", "config": {}}' "$adam"
fails a_loss_that_is_not_here_is_named 2 "'cosh.keras': its loss 'LogCosh' is not known here, .*--loss" train \
    --load cosh.keras --data npz:number.npz
fails also_to_evaluate 1 "'cosh.keras': its loss 'LogCosh' is not known here, .*--loss" evaluate --load cosh.keras \
    --data npz:number.npz
works it_may_be_replaced '0.25 *$' train --load cosh.keras --data npz:number.npz --loss mse --steps 1
works and_is_not_needed_to_predict '^ *row' predict --load cosh.keras --data npz:number.npz
python3 compiled.py function.keras '{"module": "builtins", "class_name": "function", "config": "mean_absolute_error"}' "$adam"
run train --load function.keras --data npz:number.npz --steps 1 --json
mean=$(value loss)
run train --load function.keras --data npz:number.npz --steps 1 --json --loss mae
check a_loss_may_be_a_function [ -n "$mean" -a "$(value loss)" = "$mean" ]
python3 compiled.py lion.keras '"mse"' '{"module": "keras.optimizers", "class_name": "Lion", "config": {"learning_rate": 1}}'
run train --load lion.keras --data npz:number.npz --steps 1
check an_optimizer_that_is_not_here_is_told grep -q "^warning: 'lion.keras': its optimizer 'Lion' is not taken" err
run train --load lion.keras --data npz:number.npz --steps 1 --optimizer sgd
check unless_another_is_given [ $status -eq 0 -a ! "$(grep warning err)" ]
# logits_of CLASS: that loss of from_logits=True, as JSON
logits_of() { printf '{"module": "keras.losses", "class_name": "%s", "config": {"from_logits": true}}' "$1"; }
one() { run train --load "$@" --data npz:one.npz --steps 3 --seed 3 --devices cpu:1/1 --json; }
npz one.npz left words kind
run train --model one.json --data npz:one.npz --steps 1 --save one.keras
MODEL=one.keras python3 compiled.py twice.keras "$(logits_of SparseCategoricalCrossentropy)"
MODEL=one.keras python3 compiled.py once.keras '"sparse_categorical_crossentropy"'
one once.keras
loss=$(value loss)
check probabilities_are_no_mistake [ -n "$loss" -a ! -s err ]
one twice.keras
check a_softmax_is_applied_once_where_the_loss_wants_logits [ "$(value loss)" = "$loss" ]
check with_one_line_of_warning grep -q "^warning: 'twice.keras': its loss 'sparse_categorical_crossentropy' has from_logits=True, but \
the network ends in a softmax" err
check and_no_other [ "$(grep -c . err)" = 1 ]
one twice.keras --loss sparse_categorical_crossentropy
check a_loss_of_the_command_is_no_mistake [ ! -s err -a "$(value loss)" = "$loss" ]
run train --load twice.keras --data npz:one.npz --steps 1 --save again.keras
one again.keras
check what_is_saved_is_right [ ! -s err ]
MODEL=both.keras python3 compiled.py both2.keras "[$(logits_of SparseCategoricalCrossentropy), \"mse\"]"
run train --load both2.keras --data npz:whole.npz --steps 1
check the_output_is_named grep -q "but output 'kind' ends in a softmax" err
sed 's/softmax/sigmoid/; s/kind/yes/g; s/"units": 3, "activation": "sigmoid"/"units": 1, "activation": "sigmoid"/' one.json > yes.json
npz yes.npz left words yes
run train --model yes.json --data npz:yes.npz --steps 1 --loss bce --save yes.keras
# a network that ends in probabilities has yes and no, or classes, whatever its loss is
for metric in accuracy binary_accuracy precision recall f1 auc pr_auc; do
    works "${metric}_of_a_sigmoid_trained_by_mse" "^done: .*, $metric = " train --model yes.json --data npz:yes.npz --steps 1 --loss mse --metrics $metric
    works "${metric}_of_it_is_evaluated" "^test: .*, $metric = " evaluate --load yes.keras --data npz:yes.npz --loss mse --metrics $metric
done
for metric in categorical_accuracy sparse_categorical_accuracy top_k_accuracy; do
    fails "a_sigmoid_has_no_$metric" 1 "--metrics $metric: does not fit the labels" train --model yes.json --data npz:yes.npz --steps 1 --loss mse --metrics $metric
done
MODEL=yes.keras python3 compiled.py yes2.keras "$(logits_of BinaryCrossentropy)"
run train --load yes2.keras --data npz:yes.npz --steps 1
check so_is_a_sigmoid grep -q "but the network ends in a sigmoid, which" err
# outputs that are no probabilities, though the loss takes them for such
npz scored.npz left=20 words=20
sed 's/softmax/linear/' one.json > scores.json
run train --model scores.json --data npz:one.npz --steps 1 --save scores.keras
works logits_become_probabilities '^ *row  class  probability$' predict --load scores.keras --data npz:scored.npz
MODEL=scores.keras python3 compiled.py raw.keras '"sparse_categorical_crossentropy"'
works scores_are_no_probabilities '^ *row  class  score$' predict --load raw.keras --data npz:scored.npz
run predict --load raw.keras --data npz:scored.npz --json
check nor_in_events grep -q '"row":19,"class":[012],"score":' out
works those_of_a_softmax_are '^ *row  class  probability$' predict --load once.keras --data npz:scored.npz
sed 's/sigmoid/linear/' yes.json > no.json
run train --model no.json --data npz:yes.npz --steps 1 --loss bce --save no.keras
MODEL=no.keras python3 compiled.py yes-score.keras '"binary_crossentropy"'
run predict --load yes-score.keras --data npz:scored.npz --out yes-score.csv
check a_score_of_yes_or_no_has_its_title grep -q '^row,class,score$' yes-score.csv
works of_a_divergence_too '^ *row  class  score$' predict --load scores.keras --data npz:scored.npz --loss kl_divergence
fails a_confusion_matrix_is_of_classes 2 "--confusion counts examples by their class, which --loss mean_squared_error does" \
    train --model number.json --data npz:number.npz --loss mse --confusion
fails weights_of_classes_are_of_outputs 1 "--class-weight 1: the model has several outputs: write balanced, OUTPUT=" train \
    $train --data npz:whole.npz --class-weight 1,2,3
fails weights_of_classes_name_their_class 1 "--class-weight kind=5: write OUTPUT=balanced or OUTPUT=CLASS=5" train $train \
    --data npz:whole.npz --class-weight kind=5
fails weights_are_of_an_output_that_is_there 1 "--class-weight: the model has no output 'cost': it has 'kind', 'price'" train \
    $train --data npz:whole.npz --class-weight cost=balanced
fails weights_are_of_an_output_with_classes 1 "one class each, which --loss price=mean_squared_error does not have here" train $train \
    --data npz:whole.npz --loss price=mse --class-weight price=balanced
fails weights_are_of_a_class_that_is_there 1 "--class-weight: there is no class '3': numbers are from 0 to 2" train $train \
    --data npz:whole.npz --class-weight kind=3=2
fails pictures_are_of_one_input 1 "2 inputs, and pictures are one" predict --checkpoint-dir run photo.png

# a file without parts
run evaluate --load both.keras --data npz:parts.npz --devices cpu:1
npz part.npz left=20 words=20 kind=20 price=20
grep '^test:' out > wanted
works a_file_of_one_part_is_evaluated "^test: " evaluate --load both.keras --data npz:part.npz --devices cpu:1
grep '^test:' out > got
check as_the_test_part_of_another cmp -s wanted got
works and_predicted "^ *19 " predict --load both.keras --data npz:part.npz
npz xy.npz x=20 y=20
run train --data npz:xy.npz --loss mse --steps 1 --batch-size 20 --save xy.safetensors
works x_and_y_are_evaluated "(20 examples)" evaluate --load xy.safetensors --data npz:xy.npz
works x_and_y_are_predicted "^ *19 " predict --load xy.safetensors --data npz:xy.npz
fails the_training_has_no_test_part 1 "which are the train part" evaluate --load xy.safetensors

# nodes that need one another
base64 -d > cycle.onnx << 'END'
CAk6UgoOCgF4CgFiEgFhIgNBZGQKDgoBYQoBYRIBYiIDQWRkCgwKAWISAXkiBFJlbHUSAWdaFAoB
eBIPCg0IARIJCgMSAW4KAggEYgkKAXkSBAoCCAFCBAoAEBE=
END
run inspect both.onnx cycle.onnx
check the_damaged_one_of_two_files_is_named grep -q "^error: 'cycle.onnx': node 'a' (Add" err

# ---- dtypes of predictions ----------------------------------------------------------------------------

# cast.py FILE NUMBER: a model of ONNX that casts [n, 6] floats to the element type of that number
cat > cast.py << 'END'
import sys

def varint(n):
    return bytes([n]) if n < 128 else bytes([n % 128 | 128]) + varint(n // 128)

def field(number, value):
    if isinstance(value, int):
        return varint(8 * number) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(8 * number + 2) + varint(len(value)) + value

def tensor(name, dtype):
    shape = field(1, field(2, "n")) + field(1, field(1, 6))
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, shape)))

to = int(sys.argv[2])
attribute = field(1, "to") + field(3, to) + field(20, 2)
node = field(1, "left") + field(2, "out") + field(4, "Cast") + field(5, attribute)
graph = field(1, node) + field(2, "g") + field(11, tensor("left", 1)) + field(12, tensor("out", to))
open(sys.argv[1], "wb").write(field(1, 8) + field(8, field(2, 17)) + field(7, graph))
END
npz cast.npz left=20
for case in "1 <f4" "11 <f8" "2 .u1" "6 <i4" "7 <i8" "9 .b1"; do
    set -- $case
    python3 cast.py cast.onnx "$1"
    run predict --load cast.onnx --data npz:cast.npz --out cast.npy
    check "npy_files_have_their_dtype_$2" grep -aq "'descr': '$2'" cast.npy
    run predict --load cast.onnx --data npz:cast.npz --out cast-p.npz
    rm -f out.npy && python3 -m zipfile -e cast-p.npz .
    check "as_arrays_of_npz_do_$2" cmp -s out.npy cast.npy
done

end_of_checks
