#!/bin/sh
# Whole models in the commands: networks that come from a file. Usage: network_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
write_data data
run version
if ! grep -q HDF5 out || sed '1,/^Not/d' out | grep -q HDF5; then
    echo "skipped: the module hdf5 is not there"
    exit 0
fi
small="--data idx:data --batch-size 40 --devices cpu:1 --seed 3"

# ---- what muster train saves ------------------------------------------------------------------------

works a_whole_model_is_saved "^test: loss" train $small --hidden-units 16 --dropout 0.1 --epochs 2 --learning-rate 0.01 --save m.keras \
    --evaluate --predict p.csv
grep '^test:' out > wanted
works a_whole_model_is_evaluated_on_the_data_of_its_training "restored m.keras, step 22" evaluate --load m.keras
grep '^test:' out > got
check its_evaluation_is_that_of_the_training cmp -s wanted got
works a_whole_model_predicts "predictions: q.csv" predict --load m.keras --out q.csv --devices cpu:1
check its_predictions_are_those_of_the_training cmp -s p.csv q.csv
run train $small --load m.keras --steps 1 --json --optimizer sgd --learning-rate 0.01
check an_optimizer_that_is_given_begins_anew grep -q '"event":"restored","path":"m.keras","step":null' out
check an_optimizer_that_is_given_is_taken grep -q '"optimizer":"sgd"' out
works weights_alone_and_the_network_alone_are_saved "^done" train $small --hidden-units 16 --epochs 1 --save m.weights.h5
works the_network_alone_is_saved "^done" train $small --hidden-units 16 --epochs 1 --save m.json

# ---- pixels -----------------------------------------------------------------------------------------

# a network that rescales takes pixels from 0 to 255, which all others get from 0 to 1
cat > rescaled.json << 'EOF'
{"class_name": "Sequential", "config": {"name": "s", "layers": [
  {"class_name": "InputLayer", "config": {"batch_shape": [null, 8, 8], "dtype": "float32", "name": "in"}},
  {"class_name": "Rescaling", "config": {"name": "rescaling", "scale": 0.00392156862745098, "offset": 0.0}},
  {"class_name": "Flatten", "config": {"name": "flatten"}},
  {"class_name": "Dense", "config": {"name": "dense", "units": 10, "activation": "softmax"}}]}}
EOF
sed '/Rescaling/d' rescaled.json > plain.json
for network in rescaled plain; do
    works "network_is_trained_$network" "^done" train $small --model $network.json --steps 5 --save $network.keras --evaluate
    sed 's/ (.*//; s/[0-9]$//' out | grep '^test:' > evaluated-$network
done
check pixels_are_rescaled_once cmp -s evaluated-rescaled evaluated-plain
run evaluate --load rescaled.keras --devices cpu:1
grep '^test:' out > wanted
run evaluate --load rescaled.keras --devices cpu:1 --raw-pixels
grep '^test:' out > got
check pixels_are_raw_where_they_are_rescaled cmp -s wanted got

# ---- ONNX ------------------------------------------------------------------------------------------

works a_model_of_onnx_is_saved "^test: loss" train $small --hidden-units 16 --epochs 1 --save m.onnx --evaluate --predict p.csv
sed 's/ (.*//' out | grep '^test:' > wanted
works it_is_evaluated "^test:" evaluate --load m.onnx --data idx:data --loss sparse_categorical_crossentropy --devices cpu:1
sed 's/ (.*//' out | grep '^test:' > got
check as_it_was_trained cmp -s wanted got
works it_is_inspected "ONNX, opset 17" inspect m.onnx
check its_inputs_are_shown grep -q 'input *input_layer  *f32 .?, 8, 8.$' out
works it_is_converted "1,176 parameters" convert m.onnx m2.safetensors
works a_model_of_keras_becomes_onnx "m3.onnx from m.keras" convert m.keras m3.onnx
works which_predicts "predictions: q.csv" predict --load m3.onnx --data idx:data --out q.csv --devices cpu:1
works a_model_of_onnx_is_trained "^done" train $small --load m.onnx --epochs 1
works its_network_is_trained_from_new_values "^done" train $small --model m.onnx --epochs 1
for file in m4.json m4.keras m4.h5 m4.weights.h5; do
    works "it_becomes_layers_of_keras_$file" "1,176 parameters" convert m.onnx $file
done
run evaluate --load m4.keras --data idx:data --loss sparse_categorical_crossentropy --devices cpu:1
sed 's/ (.*//' out | grep '^test:' > got
check with_the_same_loss cmp -s wanted got
works it_stays_one_of_onnx "1,176 parameters" convert m.onnx m4.onnx

# ---- networks by name -------------------------------------------------------------------------------

# 28x28 pictures without a dimension of channels, which the first layer gives one
picture="train --model lenet --data fashion-mnist --steps 3 --batch-size 40 --devices cpu:1 --seed 3"
works lenet_is_trained_by_name "^lenet (61,706 parameters" $picture --checkpoint-dir lenet --save lenet.keras --evaluate
grep '^test:' out > wanted
works its_checkpoint_has_the_network "^test:" evaluate --checkpoint-dir lenet --devices cpu:1
grep '^test:' out > got
check its_checkpoint_is_evaluated cmp -s wanted got
works its_file_has_the_network "^test:" evaluate --load lenet.keras --data fashion-mnist --devices cpu:1
grep '^test:' out > got
check its_file_is_evaluated cmp -s wanted got
works its_weights_note_the_network "^done" $picture --save lenet.safetensors
works its_weights_are_evaluated "^test:" evaluate --load lenet.safetensors --devices cpu:1
grep '^test:' out > got
check as_they_were_trained cmp -s wanted got
works mobilenet_has_a_width "^mobilenet_v2:0.35 (408,650 parameters" train --model mobilenet_v2:0.35 --data fashion-mnist --steps 1 --batch-size 8
check and_a_momentum_that_is_too_large_for_one_step grep -q "^note: after 1 steps the moving.*100 %.*6,905 steps" out
works which_may_be_smaller "^done" train --model mobilenet_v2:0.35 --data fashion-mnist --steps 1 --batch-size 8 \
    --batch-norm-momentum 0.001
check and_then_is_not_told_of sh -c '! grep -q "^note: after" out'
fails momentum_needs_a_batch_normalization 2 "no batch normalization" train $small --steps 1 --batch-norm-momentum 0.9
echo "a,b,label" > table.csv
for i in 1 2 3 4 5 6 7 8; do echo "$i,$((i * 3)),$((i % 2))" >> table.csv; done
fails a_row_of_a_table_is_no_picture 1 "takes pictures: .* shape .2." train --model lenet --data csv:table.csv

printf '{"class_name": "Sequential", "config": {"layers": [{"class_name": "InputLayer", "config":
    {"batch_shape": [null, 8, 8, 1], "name": "in"}}, {"class_name": "Conv2D", "config": {"name": "conv", "filters": 2,
    "kernel_size": [3, 3]}}, {"class_name": "Flatten", "config": {"name": "flat"}}, {"class_name": "Dense", "config":
    {"name": "end", "units": 8, "activation": "softmax"}}]}}' > one.json
sed 's/"units": 8/"units": 7/' one.json > seven.json
printf 'x,y\n1,a\n2,b\n' > two.csv

# ---- training goes on -------------------------------------------------------------------------------

adam="train $small --no-shuffle --devices cpu:1 --optimizer adam --learning-rate 0.002"
run $adam --load m.json --epochs 3
sha=$(sed -n 's/^weights sha256: //p' out)
run $adam --load m.json --epochs 1 --save a.keras
works training_goes_on_with_the_optimizer_of_the_file "adam with learning rate 0.002" train $small --no-shuffle --load a.keras --epochs 1 \
    --save b.keras
run train $small --no-shuffle --load b.keras --epochs 1
check three_trainings_are_as_one [ "$(sed -n 's/^weights sha256: //p' out)" = "$sha" ]
two="train --data idx:data --batch-size 40 --no-shuffle --load a.keras --epochs 1"
run $two
sha=$(sed -n 's/^weights sha256: //p' out)
if run version && grep -q ZeroMQ out; then
    run launch --workers 2 -- "$muster" $two --save w.keras
    check two_workers_train_on_as_one_does [ "$(grep -c "sha256: $sha" out)" = 2 ]
    run train $small --no-shuffle --load w.keras --epochs 1 --json
    check and_keep_the_optimizer grep -q '"path":"w.keras","step":22' out
    run launch --workers 1 --ps 1 -- "$muster" $two --save ps.keras
    check a_parameter_server_trains_on_too grep -q "sha256: $sha" out
    run train $small --no-shuffle --load ps.keras --epochs 1 --json
    check and_the_optimizer_begins_anew grep -q '"path":"ps.keras","step":null' out
    run launch --workers 2 -- "$muster" $two --sharded-state
    check a_state_that_is_cut_begins_anew grep -q "warning: --sharded-state: the optimizer of 'a.keras' begins anew" err
fi
works averages_and_sums_of_gradients_are_kept "^done" train $small --ema 0.9 --gradient-accumulation-steps 3 --steps 4 \
    --schedule none --save sums.keras
works and_go_on_from_a_file_of_keras "an update every 3 steps" train $small --load sums.keras --steps 1
check where_they_stood grep -q "restored sums.keras, step 4" out
check weights_of_the_last_step_are_told_as_such grep -q "^weights: those of the last step; --use-ema takes the moving averages, as Keras'" out
works averages_of_a_file_of_keras_are_taken "^weights: the moving averages, as --use-ema says" train $small --load sums.keras --steps 1 --use-ema
run train $small --load b.keras --use-ema --steps 1
check averages_that_a_file_lacks_are_refused sh -c "[ $status -eq 2 ] && grep -q \"that of 'b.keras' keeps none: give --ema X\" err"
run train $small --ema 0.9 --use-ema --steps 4 --save averages.keras
check an_optimizer_that_is_not_kept_is_told_of grep -q "^warning: 'averages.keras': does not keep the optimizer: with --use-ema" err
run train $small --hidden-units 16 --epochs 2 --save cosine.keras
works an_optimizer_whose_schedule_has_ended_begins_anew "adam with learning rate 0.003 (cosine)" train $small --load cosine.keras --epochs 1
check and_its_network_learns grep -q "restored cosine.keras, the weights alone" out
run train $small --hidden-units 16 --epochs 1 --schedule cosine --decay-steps 22 --learning-rate 0.01 --save half.keras
works a_schedule_goes_on "restored half.keras, step 11" train $small --load half.keras --epochs 1
check with_its_decay grep -q "adam with learning rate 0.01 (cosine)" out
works a_new_network_is_of_the_file "^m.json (1,176 parameters" train $small --load m.json --steps 3
run train $small --load m.keras --freeze layer1 --epochs 1 --summary
check frozen_layers_do_not_train grep -q "Non-trainable params: 1,040" out
fails layers_that_are_frozen_must_be_there 2 "freeze: the model has no layer 'layer3': did you mean 'layer1'" train $small --load m.keras \
    --freeze layer1,layer3
works parts_of_new_networks_are_frozen_too "Trainable params: 136" train $small --hidden-units 16 --freeze layer1 --summary --steps 1

works patterns_of_names_are_frozen_but_those_taken_out "Trainable params: 136" train $small --hidden-units 16 \
    --freeze '*,-layer2' --summary --steps 1
fails not_all_layers_are_frozen 1 "no trainable variable: do not freeze all layers" train $small --freeze "*" --steps 1
fails a_pattern_must_fit_a_layer 2 "freeze: the model has no layer whose name is like 'block_.'" train $small --freeze 'block_?'

# ---- networks of files with new values, and weights by the names of layers ----------------------------

run train $small --load m.json --steps 3
sha=$(sed -n 's/^weights sha256: //p' out)
works a_network_of_a_file_begins_with_new_values "^b.keras (1,176 parameters" train $small --model b.keras --steps 3
check as_it_does_without_its_weights [ "$(sed -n 's/^weights sha256: //p' out)" = "$sha" ]
check and_with_the_optimizer_of_the_command grep -q "adam with learning rate 0.003 (cosine)" out
sgd="train $small --steps 1 --optimizer sgd --learning-rate 0.1"
run $sgd --load b.keras
sha=$(sed -n 's/^weights sha256: //p' out)
works weights_go_into_a_network_of_a_file "^restored b.keras, the weights alone" $sgd --model m.json --load b.keras
check as_if_they_had_come_with_it [ "$(sed -n 's/^weights sha256: //p' out)" = "$sha" ]
works weights_alone_do_too "^restored m.weights.h5, the weights alone" $sgd --model m.json --load m.weights.h5
works a_network_gets_another_end "^not in the file, as they were: layer2$" train $small --model mlp --hidden-units 16 --classes 1000 \
    --load m.keras --steps 1
fails another_network_is_refused 1 "only the last layer may differ" train $small --model mlp --hidden-units 24 --load m.keras
fails a_network_without_a_common_name_is_refused 1 "has no layer that the model has: it has layer1, layer2" \
    train $small --model one.json --load m.keras
fails a_network_has_its_outputs 1 "'m.json': has 8 outputs, not the 7 of --classes" train $small --model m.json --classes 7
fails labels_must_be_below_the_outputs 1 "label 7 of row 7: the model has 7 outputs" train $small --model seven.json
fails inputs_must_fit_the_network 1 "'m.json': takes inputs of shape .8, 8., those of 'csv:two.csv' are .1." train --model m.json \
    --data csv:two.csv
works pictures_get_a_dimension_of_channels "^one.json (" train $small --model one.json --steps 1

# ---- checkpoints of such a training ------------------------------------------------------------------

run train $small --load m.json --epochs 1 --checkpoint-dir run --evaluate
grep '^test:' out > wanted
run evaluate --checkpoint-dir run --devices cpu:1
grep '^test:' out > got
check checkpoints_have_the_network cmp -s wanted got
works training_goes_on_from_its_checkpoint "restored run/model.ckpt-11, step 11" train $small --load m.json --epochs 2 --checkpoint-dir run
run train $small --load m.json --epochs 1 --ema 0.9 --save s.safetensors
works weights_of_others_have_the_network_too "^test: loss" evaluate --load s.safetensors --use-ema

# ---- the end of a network, and its loss --------------------------------------------------------------

# network ACTIVATION: of two dense layers, in Keras' JSON
network() {
    printf '{"class_name": "Sequential", "config": {"name": "s", "layers": [{"class_name": "InputLayer", "config":
        {"batch_shape": [null, 8, 8], "name": "in"}}, {"class_name": "Flatten", "config": {"name": "flat"}},
        {"class_name": "Dense", "config": {"name": "end", "units": 8, "activation": "%s"}}]}}' "$1"
}
network softmax > softmax.json
network linear > linear.json
one="train $small --no-shuffle --epochs 2 --learning-rate 0.01 --json"
# differ_little FILE FILE: numbers of two tables
differ_little() {
    paste -d , "$1" "$2" | awk -F , 'NR > 1 { for (i = 2; i <= NF / 2; i++) { d = $i - $(i + NF / 2); if (d * d > 1e-13) exit 1 } }
        END { exit NR < 10 }'
}
run $one --load linear.json --save linear.keras --predict linear.csv
sha=$(value weights_sha256) loss=$(value loss)
run $one --load softmax.json --save softmax.keras --predict softmax.csv
check logits_and_a_softmax_train_alike [ "$(value weights_sha256)$(value loss)" = "$sha$loss" ]
check a_softmax_is_not_done_twice differ_little linear.csv softmax.csv
run predict --load linear.keras --out linear2.csv --devices cpu:1
run predict --load softmax.keras --out softmax2.csv --devices cpu:1
check nor_in_saved_models sh -c 'cmp -s linear.csv linear2.csv && cmp -s softmax.csv softmax2.csv'

# ---- inspect and convert ----------------------------------------------------------------------------

works inspect_shows_a_whole_model "^m.keras: Keras, Sequential of 5 layers" inspect m.keras
check inspect_shows_its_layers grep -q '^  layer1 (Dense)$' out
check inspect_shows_its_arrays grep -q '^  /layers/dense_1/vars/0 *f32 \[16, 8\]' out
works inspect_shows_networks "^softmax.json: Keras, Sequential of 3 layers, 0 arrays" inspect softmax.json
works inspect_shows_weights "^m.weights.h5: HDF5, [1-9]" inspect m.weights.h5
printf '{"class_name": "Sequential", "config": {"layers": [{"class_name": "Lambda", "config": {"name": "f"}}]}}' > lambda.json
works inspect_says_what_is_not_taken "not taken: .*code of Python" inspect lambda.json
run inspect --json m.keras
check inspect_writes_json json_lines out
head -c 3000 m.keras > cut.keras
run inspect cut.keras
check inspect_tells_damage [ "$status" = 1 ]
works a_model_is_converted "^c.keras from b.keras: 1,176 parameters" convert b.keras c.keras
run train $small --no-shuffle --load b.keras --epochs 1
sha=$(sed -n 's/^weights sha256: //p' out)
run train $small --no-shuffle --load c.keras --epochs 1
check a_converted_model_trains_on_alike [ "$(sed -n 's/^weights sha256: //p' out)" = "$sha" ]
works a_model_becomes_an_older_file "^c.h5 from b.keras: 1,176 parameters" convert b.keras c.h5
run train $small --no-shuffle --load c.h5 --epochs 1
check an_older_file_trains_on_alike [ "$(sed -n 's/^weights sha256: //p' out)" = "$sha" ]
works a_model_becomes_weights "^c.npz from b.keras" convert b.keras c.npz
check an_optimizer_that_is_left_out_is_told grep -q "parameters, without the optimizer and the loss" out
works weights_of_a_model_are_shown "NPZ" inspect c.npz
if command -v python3 > /dev/null 2>&1; then
    # names that begin a command to the terminal, turn letters round and end lines
    python3 - << 'END'
import json, zipfile

odd = "a\033[31mb\u009b2J\u202ec\u2028d\ne"
def change(made, what):
    if what == "optimizer": made["optimizer"]["class_name"] = odd
    if what == "setting": made["optimizer"]["config"][odd] = odd
    if what == "loss": made["loss"] = odd
    if what == "metrics": made["metrics"] = [[odd, {"class_name": odd, "config": {}}], {odd: [odd]}]
for what in "optimizer", "setting", "loss", "metrics":
    with zipfile.ZipFile("b.keras") as old, zipfile.ZipFile(what + ".keras", "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "config.json":
                config = json.loads(data)
                change(config["compile_config"], what)
                data = json.dumps(config)
            new.writestr(name, data)
END
    for what in optimizer setting loss metrics; do
        run convert $what.keras odd.keras --overwrite
        [ $what = setting ] && left=optimizer || left=$what
        check "${what}_left_out_is_told_on_one_line" [ "$(grep -c "^warning: '$what.keras': its $left" err)" = 1 ]
        check "names_of_the_${what}_are_printed_plainly" sh -c "! LC_ALL=C grep -q '$(printf '[\033]\|\302\233\|\342\200')' out err"
        check "and_nothing_else_of_the_${what}_is_printed" [ "$(grep -c . err)" = 1 ]
    done
    run train $small --load optimizer.keras --steps 1
    check an_odd_optimizer_is_printed_plainly_in_training sh -c "! LC_ALL=C grep -q '$(printf '[\033]\|\302\233\|\342\200')' out err"
    check metrics_left_out_are_named sh -c "$muster convert metrics.keras odd.keras --overwrite 2>&1 | grep -q 'its metrics are left out: .*, '"
fi
cat > new.json << 'EOF'
{"class_name": "Sequential", "keras_version": "4.1.0", "config": {"name": "s", "layers": [
  {"class_name": "Dense", "config": {"name": "d", "units": 3, "batch_input_shape": [null, 4]}}]}}
EOF
fails a_file_of_a_newer_keras_is_refused 1 "'new.json': is of Keras 4.1.0, which is too new" evaluate --load new.json --data idx:data
run inspect new.json
check and_it_is_no_damage grep -q "^  not taken: 'new.json': is of Keras 4.1.0, which is too new" out
printf '\010\143\072\062' > new.onnx
fails a_newer_onnx_is_no_other_file 1 "'new.onnx'.*ONNX" evaluate --load new.onnx --data idx:data
fails what_is_there_stays 1 "'c.keras' is there already" convert m.keras c.keras
works what_is_there_is_replaced_if_asked "c.keras from m.keras" convert m.keras c.keras --overwrite
fails a_model_becomes_no_data 2 "becomes FILE.keras, FILE.h5, FILE.weights.h5" convert m.keras npz:c.npz
fails a_network_alone_has_no_weights 1 "'m.json': has a network without weights, .*, not 'd.keras': muster train" convert m.json d.keras
works a_network_alone_becomes_another "^d.json from m.json" convert m.json d.json
run convert --help
check help_says_what_becomes_what grep -q "FILE.json, which has no weights, becomes" out

# ---- what is in files of weights ---------------------------------------------------------------------

for file in plain.npz plain.safetensors plain.weights.h5; do
    works "weights_are_saved_$file" "^done" train $small --load m.json --epochs 1 --save $file
    run inspect $file
    check "with_nothing_else_$file" [ "$(grep -c '^  [a-z_/0-9]* *f32 ' out)" = 4 ]
    check "nor_a_number_of_steps_$file" sh -c '! grep -q "optimizer\|global_step\|Adam\|i64" out'
    works "the_optimizer_too_if_asked_$file" "^done" train $small --load m.json --epochs 1 --save $file --save-optimizer
    run inspect $file
    check "it_is_there_$file" [ "$(grep -c '^  [a-zA-Z_/0-9]* *\(f32\|i64\) ' out)" = 13 -o "$(grep -c /Adam out)" = 8 ]
done
run evaluate --load plain.npz --json
check steps_are_told_where_they_are_known grep -q '"evaluated","step":11,' out
run train $small --load m.json --epochs 1 --save plain.npz
run evaluate --load plain.npz --json
check a_number_of_steps_is_not_missed grep -q '"missing":"","left_over":""' out
fails whole_models_have_their_optimizer 2 "save-optimizer is for weights, --save FILE.safetensors, FILE.npz" train $small \
    --save whole.keras --save-optimizer
fails an_optimizer_is_saved_to_a_file 2 "save-optimizer is for weights" train $small --save-optimizer
fails averages_have_no_optimizer 2 "save-optimizer does not go with --use-ema" train $small --ema 0.9 --use-ema \
    --save plain.npz --save-optimizer

# ---- what is refused ---------------------------------------------------------------------------------

fails a_network_without_weights_predicts_nothing 1 "'m.json': has a network without weights" predict --load m.json --data idx:data
fails weights_alone_are_no_model 1 "'m.weights.h5': has weights alone, no network: give the whole model, FILE.keras" predict --load m.weights.h5
fails a_network_has_its_layers 2 "train: --hidden-units is not for a whole model, as --load m.keras is: leave it out" train $small \
    --load m.keras --hidden-units 3
fails a_whole_model_has_no_averages 1 "use-ema is not for whole models" evaluate --load m.keras --use-ema
fails endings_of_files_are_told 2 "the name must end in .safetensors or .npz; of whole models in .keras" train $small --save m.pkl
fails a_whole_model_that_is_not_there 1 "nowhere.keras" evaluate --load nowhere.keras
printf 'x,y\n1,a\n2,b\n3,a\n4,b\n' > table.csv
works tables_of_numbers_are_saved_for_keras '^done: step 6' train --data csv:table.csv --epochs 3 --batch-size 2 --save t.keras --checkpoint-dir table
run predict --load t.keras --data csv:table.csv --json
grep '"prediction"' out > of_keras
run predict --checkpoint-dir table --data csv:table.csv --json
grep '"prediction"' out > of_checkpoint
check tables_predict_the_same_from_keras_files cmp -s of_checkpoint of_keras
printf 'x,y\n101,a\n102,b\n103,a\n105,b\n' > other.csv
run train --model t.keras --data csv:other.csv --epochs 1 --batch-size 2 --save other.npz
run inspect other.npz
grep 'normalization/' out > got
run train --data csv:other.csv --epochs 1 --batch-size 2 --save own.npz
run inspect own.npz
grep 'normalization/' out > want
check a_network_of_a_file_learns_its_mean_anew sh -c 'grep -q mean want && cmp -s want got'
works training_goes_on_from_a_table_in_keras_files '^done: step 2' train --load t.keras --data csv:table.csv --epochs 1 --batch-size 2
printf 'x,color,y\n1,red,a\n2,blue,b\n3,red,a\n4,blue,b\n' > colors.csv
works categories_of_tables_are_saved_for_keras '^done: step 6' train --data csv:colors.csv --epochs 3 --batch-size 2 --save c.keras
printf 'color,x\npink,1\nred,3\n' > new.csv
works new_categories_are_predicted_from_keras_files '^ *1  [ab] ' predict --load c.keras --data csv:new.csv
fails the_mean_for_missing_numbers_is_refused_before_training 1 "layer 'normalization': cannot be saved for Keras, whose Normalization has no .fill_missing: FILE.npz, FILE.safetensors and FILE.onnx take it" \
    train --data csv:table.csv --missing mean --epochs 1 --batch-size 2 --save t.keras
for format in npz safetensors onnx; do
    run train --data csv:table.csv --missing mean --epochs 1 --batch-size 2 --save missing.$format
    check "files_that_it_names_take_it_$format" [ "$status" = 0 -a -s missing.$format ]
done
fails a_damaged_model_is_one_error 1 "cut.keras" predict --load cut.keras
run train $small --load m.keras --data csv:table.csv
check data_of_another_shape_is_one_error [ "$status" = 1 ]

# ---- averages begin with loaded weights --------------------------------------------------------------

# The rate is so small that weights stay: their averages then are these weights, with any seed.
still="--data idx:data --batch-size 40 --optimizer sgd --learning-rate 1e-30"
for file in still.keras still.npz still.safetensors; do
    run train --data idx:data --hidden-units 9 --batch-size 40 --steps 5 --save $file
done
run convert still.keras still.weights.h5
run train --data idx:data --hidden-units 9 --batch-size 40 --steps 5 --checkpoint-dir still-run
for what in "--load still.keras" "--hidden-units 9 --load still.npz" "--hidden-units 9 --load still.safetensors" \
    "--model still.keras --load still.keras" "--model still.keras --load still.weights.h5" \
    "--load still.keras --precision mixed_bfloat16"; do
    run train $still $what --steps 1 --seed 2 --json
    weights=$(value weights_sha256)
    for seed in 3 4; do
        run train $still $what --steps 1 --seed $seed --ema 0.9 --use-ema --json
        check "averages_begin_with_the_weights_of_$(echo $what | tr -c 'a-z0-9\n' _)" [ "${#weights}" = 64 -a "$weights" = "$(value weights_sha256)" ]
    done
done
run train --data idx:data --hidden-units 9 --batch-size 40 --steps 6 --checkpoint-dir still-run --optimizer sgd \
    --learning-rate 1e-30 --ema 0.9 --use-ema --save resumed.npz
works and_of_a_training_that_is_resumed '^ *[0-9]' predict --load resumed.npz --data idx:data

end_of_checks
