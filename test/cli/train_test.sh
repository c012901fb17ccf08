#!/bin/sh
# What `muster train` shows and writes beside the weights, and what it can be trained for.
# Usage: train_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
. "$here/support/small_data.sh"
write_data data
small="--data idx:data --hidden-units 16 --batch-size 40 --devices cpu:1"

# ---- summary of the model ----------------------------------------------------------------------------

works summary_has_the_parameters_of_keras_table "layer1 (Dense).*1,040" train $small --steps 1 --summary
check summary_counts_all_parameters grep -q "Total params: 1,176" out
check summary_stands_before_training awk '/Total params/ { before = 1 } /^done:/ { exit !before }' out
run train $small --steps 1 --summary --json
check summary_leaves_json_alone json_lines out
check summary_beside_json_is_on_standard_error grep -q "Total params: 1,176" err
works no_summary_where_none_is_asked_for "^done:" train $small --steps 1
check no_summary_was_printed sh -c '! grep -q "Total params" out'

# ---- one thread where other programs keep the cores busy ---------------------------------------------

alone=$(dirname "$muster")/modules/runs_alone.so
two="train --data idx:data --hidden-units 16 --batch-size 40 --devices cpu:2/1 --steps 40"
if [ -e "$alone" ]; then # not under a sanitizer
    LD_PRELOAD=$alone RUNS_ALONE=10 works steps_of_one_thread_are_told \
        "note: other programs kept cores busy: in 25 % of the steps one thread did the work of all 2 devices" $two
    LD_PRELOAD=$alone RUNS_ALONE=3 works few_steps_of_one_thread_are_no_matter "^done:" $two
    check few_steps_of_one_thread_are_not_told sh -c '! grep -q "one thread" out'
    LD_PRELOAD=$alone RUNS_ALONE=10 run $two --json
    check json_has_the_number_of_steps_of_one_thread [ "$(value runs_alone)" = 10 ]
fi

# ---- products in bf16 --------------------------------------------------------------------------------

low="--data idx:data --hidden-units 16 --batch-size 40 --steps 20 --seed 3 --precision mixed_bfloat16"
run train $low --devices cpu:1 --json
low_sha=$(value weights_sha256) low_loss=$(value loss)
precision=$(sed -n 's/.*"event":"start".*"precision":"\([a-z0-9_]*\)".*/\1/p' out)
check json_has_the_precision [ "$precision" = mixed_bfloat16 -o "$precision" = float32 ]
for way in "--devices cpu:2/1" "--devices cpu:4/1" "--devices cpu:1/3" "--devices cpu:2/1 --strategy towers" \
    "--devices cpu --strategy one --shards 4"; do
    run train $low $way --json
    check "products_in_bf16_have_the_same_bits_with: $way" [ "$(value weights_sha256)" = "$low_sha" ]
done
run train $small --steps 20 --seed 3 --precision float32 --json
high_sha=$(value weights_sha256)
check loss_in_bf16_is_near_that_in_f32 awk "BEGIN { d = $low_loss / $(value loss); exit !(d > 0.98 && d < 1.02) }"
if [ "$precision" = mixed_bfloat16 ]; then
    check bf16_is_not_f32 [ "$high_sha" != "$low_sha" ]
    works the_first_line_names_the_precision "^.* on idx:data .*, products in mixed_bfloat16" train $low --devices cpu:1
fi
export ONEDNN_MAX_CPU_ISA=AVX2
works processors_without_bf16_are_told \
    "^note: --precision mixed_bfloat16: this processor has no instructions for bf16, so that all is computed in f32$" \
    train $low --devices cpu:1
low_sha=$(sed -n 's/^weights sha256: //p' out)
works f32_is_not_told "^done:" train $small --steps 20 --seed 3
check the_first_line_names_no_precision sh -c '! grep -q "products in" out'
check without_bf16_all_is_f32 [ "$(sed -n 's/^weights sha256: //p' out)" = "$low_sha" ]
check no_note_without_the_option sh -c '! grep -q "precision" out'
unset ONEDNN_MAX_CPU_ISA
works cpus_compute_tensorfloat32_in_f32 \
    "^note: --precision tensorfloat32: the devices are CPUs, so that all is computed in f32$" \
    train $small --steps 20 --seed 3 --precision tensorfloat32
check tensorfloat32_on_cpus_has_the_bits_of_float32 [ "$(sed -n 's/^weights sha256: //p' out)" = "$high_sha" ]
fails f16_is_refused_with_the_reason 2 "overflow f16.*take mixed_bfloat16" train $small --precision mixed_float16
fails unknown_precisions_are_named 2 "'bf16' is not known: there are float32, mixed_bfloat16 and tensorfloat32" train $small --precision bf16
works weights_of_products_in_bf16_are_saved "^done:" train $low --save low.npz --checkpoint-dir low.run
works saved_weights_are_f32 "f32" inspect low.npz
check saved_weights_are_not_bf16 sh -c '! grep -q bf16 out'
run train $small --steps 20 --seed 3 --save high.npz --json
high="predict --load high.npz --data idx:data --devices cpu:1"
run $high --out high.npy --json
check predictions_of_f32_are_f32 grep -q '"precision":"float32"' out
run $high --out low.npy --precision mixed_bfloat16 --json
check predictions_have_the_precision_asked_for grep -q "\"precision\":\"$precision\"" out
run predict --load low.npz --data idx:data --devices cpu:1 --json --out noted.npy
check predictions_have_the_precision_of_the_training grep -q "\"precision\":\"$precision\"" out
run evaluate --load low.npz --data idx:data --devices cpu:1 --json
check evaluations_have_the_precision_of_the_training grep -q "\"precision\":\"$precision\"" out
run evaluate --load low.npz --data idx:data --devices cpu:1 --json --precision float32
check evaluations_have_the_precision_asked_for grep -q '"precision":"float32"' out
if [ "$precision" = mixed_bfloat16 ]; then
    check predictions_in_bf16_are_not_those_in_f32 sh -c '! cmp -s high.npy low.npy'
fi
fails precisions_of_predictions_are_named 2 "predict: --precision 'half' is not known" $high --precision half
ONEDNN_MAX_CPU_ISA=AVX2 works predictions_without_bf16_are_told "^note: --precision mixed_bfloat16: this processor has" \
    $high --precision mixed_bfloat16 --out told.npy
run train $low --schedule constant --json
straight=$(value weights_sha256)
run train $low --schedule constant --steps 10 --checkpoint-dir half.run --json
run train $low --schedule constant --steps 20 --checkpoint-dir half.run --json
check training_in_bf16_goes_on_with_the_same_bits [ "$(value weights_sha256)" = "$straight" ]

# ---- other programs on all cores ---------------------------------------------------------------------

# Only what spins can be told for certain: the machine may be busy without it.
if [ "$(nproc)" -gt 1 ] && [ -r /proc/loadavg ]; then
    spinning=""
    for _ in $(seq "$(getconf _NPROCESSORS_ONLN)"); do
        sh -c 'while :; do :; done' &
        spinning="$spinning $!"
    done
    sleep 0.2
    sha() { sed -n 's/^weights sha256: //p' out; }
    by_default="train --data idx:data --hidden-units 16 --batch-size 40 --steps 2"
    works other_programs_on_all_cores_are_told "^note: [0-9]* other programs keep all cores busy: --devices cpu can be faster" $by_default
    busy=$(sha)
    works devices_that_were_asked_for_are_no_matter "^done:" $by_default --devices cpu
    check nothing_is_told_of_devices_that_were_asked_for sh -c '! grep -q "other programs" out'
    check advice_changes_no_weight [ "$busy" = "$(sha)" ]
    run $by_default --json
    check json_counts_the_other_programs grep -q '"event":"start".*"others_on_all_cores":[1-9]' out
    # the numbers of the processes are words
    # shellcheck disable=SC2086
    kill $spinning
fi

# ---- history of a training ---------------------------------------------------------------------------

# rows_are NAME FILE EPOCHS: the file has a row for each epoch from 0 on, once, and as many columns in each
rows_are() {
    check "$1" awk -F , -v n="$3" 'NR == 1 { columns = NF } NF != columns { bad = 1 }
        NR > 1 && $1 != NR - 2 { bad = 1 } END { exit bad || NR != n + 1 }' "$2"
}
column() { awk -F , -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } END { print $c }' "$1"; }

works history_is_written "^done:" train $small --epochs 3 --validation-split 0.2 --history history.csv
check history_has_its_columns \
    [ "$(head -n 1 history.csv)" = epoch,loss,accuracy,val_loss,val_accuracy,learning_rate,seconds ]
rows_are history_has_a_row_for_each_epoch history.csv 3
run train $small --epochs 3 --history history.csv --json
rows_are history_of_another_training_replaces_the_file history.csv 3
check history_ends_with_the_loss_of_training awk -v a="$(column history.csv loss)" -v b="$(value loss)" \
    'BEGIN { d = a - b; exit !(b > 0 && d * d < 1e-16) }'
fails history_in_a_missing_folder_fails_before_training 1 "nowhere/h.csv.*no folder .nowhere/.: make it" train $small --history nowhere/h.csv
fails history_in_a_folder_is_refused 1 "data" train $small --history data

run train $small --checkpoint-dir anew --keep 1 --steps 6
run train $small --checkpoint-dir anew --keep 1 --save-every 1 --steps 3 --no-resume
check a_training_that_begins_anew_leaves_the_checkpoints_that_were_there \
    [ "$(echo anew/*.index)" = "anew/model.ckpt-3.index anew/model.ckpt-6.index" ]
works a_training_goes_on_from_the_one_that_began_anew "restored anew/model.ckpt-3, step 3" train $small --checkpoint-dir anew --steps 4
rm -r anew

goes_on="train $small --learning-rate 0.01 --checkpoint-dir ck --history resumed.csv --json"
run train $small --learning-rate 0.01 --epochs 6 --history whole.csv
run $goes_on --steps 25 # 11 steps an epoch: two whole ones, and a part
rows_are history_has_the_epoch_that_was_cut_off_by_the_number_of_steps resumed.csv 3
printf '3,0.1,' >> resumed.csv # as a crash in the middle of a line would leave it
run $goes_on --epochs 6
rows_are history_goes_on_without_doubled_or_torn_rows resumed.csv 6
cut -d , -f 1-4 whole.csv > wanted
cut -d , -f 1-4 resumed.csv > got
check history_that_goes_on_is_that_of_one_training cmp -s wanted got
check seconds_of_a_history_that_goes_on_do_not_fall awk -F , 'NR > 2 && $NF < before { exit 1 } { before = $NF }' resumed.csv
cp resumed.csv kept.csv
run $goes_on --epochs 6
check training_that_has_ended_adds_no_row cmp -s resumed.csv kept.csv
check training_that_has_ended_has_no_loss_to_tell grep -q '"event":"done","step":66,.*"loss":null,"accuracy":null' out
works training_that_has_ended_says_so '^done: step 66: the checkpoint had all steps already; a greater --epochs goes on' \
    train $small --learning-rate 0.01 --checkpoint-dir ck --epochs 6
sed 's/accuracy/other/' kept.csv > resumed.csv
fails history_of_other_columns_is_not_mixed 1 "resumed.csv.*has the columns epoch,loss,other" \
    train $small --learning-rate 0.01 --checkpoint-dir ck --history resumed.csv --epochs 7 --progress none
rm -r ck
"$muster" $goes_on --epochs 100000 --log-every 1 > out 2> err &
process=$!
tries=0
until grep -q '"epoch":4' out || [ $tries -ge 200 ]; do sleep 0.05 && tries=$((tries + 1)); done
kill -INT $process
wait $process
done_epochs=$(($(wc -l < resumed.csv) - 1))
rows_are history_of_an_interrupted_training_has_whole_epochs resumed.csv $done_epochs
check interrupted_training_wrote_rows [ $done_epochs -ge 3 ]
run $goes_on --epochs $((done_epochs + 3))
rows_are history_goes_on_after_an_interruption resumed.csv $((done_epochs + 3))
rm -r ck
(ulimit -f 1 && exec "$muster" train $small --epochs 60 --progress none --history limited.csv) > out 2> err
check history_over_the_limit_of_file_sizes_is_an_error [ $? -eq 1 -a "$(grep -c "^error: 'limited.csv': cannot be written" err)" -eq 1 ]

# ---- other options than the checkpoint's training had ------------------------------------------------

with_checkpoints="train $small --schedule none --checkpoint-dir ck --json"
rate_is() { check "$1" grep -q "\"event\":\"epoch\".*\"learning_rate\":$2," out; }
run $with_checkpoints --optimizer adam --steps 2
run $with_checkpoints --optimizer adam --steps 4
check the_same_options_are_no_warning [ ! -s err ]
run $with_checkpoints --optimizer adam --learning-rate 0.5 --seed 7 --steps 6
check other_options_are_told grep -q "^warning: .*--seed not given (now 7, which counts for a new training only), --learning-rate not given (now 0.5)$" err
rate_is another_learning_rate_counts 0.5
run $with_checkpoints --optimizer sgd --steps 8
check another_optimizer_is_told grep -q "^warning: .*--optimizer adam (now sgd)" err
rate_is another_optimizer_has_its_own_learning_rate 0.009999999776 # 0.01 as an f32
rm -r ck

# ---- shards of the checkpoint's training --------------------------------------------------------------

in_shards="train $small --schedule none --seed 3 --json"
run $in_shards --steps 6 --shards 6 --devices cpu:1/1
whole=$(value weights_sha256)
run $in_shards --steps 6 --devices cpu:1/1
check shards_decide_the_weights [ "$(value weights_sha256)" != "$whole" ]
run $in_shards --steps 3 --shards 6 --devices cpu:2/1 --checkpoint-dir ck
cp -r ck other
for devices in "" "--devices cpu:1/1" "--devices cpu:3/1"; do
    rm -r ck && cp -r other ck
    run $in_shards --steps 6 --checkpoint-dir ck $devices
    check "resumed_training_keeps_its_shards_on_${devices#--devices }" [ "$(value weights_sha256)" = "$whole" -a ! -s err ]
done
rm -r ck && cp -r other ck
fails devices_that_do_not_divide_the_shards 2 "the training in 'ck' has 6 shards, which 4 devices do not divide" \
    $in_shards --steps 6 --checkpoint-dir ck --devices cpu:4/1
run $in_shards --steps 6 --checkpoint-dir ck --shards 4
check other_shards_are_told grep -q "^warning: the training that is resumed had 6 shards, now 4: " err
run $in_shards --steps 3 --checkpoint-dir ck --no-resume
check a_training_that_begins_anew_has_the_default grep -q '"shards":4' out
rm -r ck other

# ---- gradients of several steps that make an update ---------------------------------------------------

accumulates="train $small --optimizer adam --json --gradient-accumulation-steps"
run $accumulates 3 --devices cpu:1/1 --epochs 2 # 22 steps
one=$(value weights_sha256)
for devices in 2 4; do
    run $accumulates 3 --devices cpu:$devices/1 --epochs 2
    check "accumulated_gradients_give_the_weights_of_one_device_on_$devices" [ "$(value weights_sha256)" = "$one" ]
done
run $accumulates 3 --devices cpu:2/1 --checkpoint-dir accumulated --steps 17 # two gradients are added up
check sum_of_gradients_is_in_the_checkpoint grep -q gradient_accumulator accumulated/model.ckpt-17.index
run $accumulates 3 --devices cpu:1/2 --epochs 2 --checkpoint-dir accumulated
check training_goes_on_in_the_middle_of_an_accumulation [ "$(value weights_sha256)" = "$one" ]
run $accumulates 2 --checkpoint-dir accumulated --epochs 3
check another_number_of_gradients_is_told grep -q "^warning: .*--gradient-accumulation-steps 3 (now 2)" err
rm -r accumulated
run $accumulates 1 --epochs 2
first=$(value weights_sha256)
run train $small --optimizer adam --epochs 2 --json
check one_gradient_is_an_update [ "$(value weights_sha256)" = "$first" -a "$first" != "$one" ]
works number_of_steps_of_an_update_is_told ", adam with learning rate 0.001, an update every 3 steps$" \
    train $small --optimizer adam --steps 1 --gradient-accumulation-steps 3
fails no_gradients_make_no_update 2 "gradient-accumulation-steps 0: must be a whole number, at least 1" \
    train $small --gradient-accumulation-steps 0

# ---- random changes of pictures ---------------------------------------------------------------------

augmented="train --data idx:data --hidden-units 16 --batch-size 40 --shards 4 --epochs 3 --json
    --flip --crop-padding 1 --rotation 0.1 --zoom 0.2 --translation 0.2 --fill-mode wrap --brightness 0.2 --contrast 0.3"
run $augmented --devices cpu:1
one=$(value weights_sha256)
for devices in 2 4; do
    run $augmented --devices cpu:$devices
    check "random_changes_give_the_weights_of_one_device_on_$devices" [ "$(value weights_sha256)" = "$one" ]
done
run $augmented --devices cpu:1 --checkpoint-dir augmented --steps 17 # 11 steps an epoch
run $augmented --devices cpu:2 --checkpoint-dir augmented
check random_changes_go_on_in_the_middle_of_an_epoch [ "$(value weights_sha256)" = "$one" ]
run $augmented --devices cpu:1 --seed 1
check random_changes_depend_on_the_seed [ "$(value weights_sha256)" != "$one" ]
for change in "--flip" "--crop-padding 1" "--rotation 0.1" "--zoom 0.2" "--translation 0.2" "--brightness 0.2" "--contrast 0.3"; do
    run train $small --steps 5 --json
    plain=$(value weights_sha256)
    run train $small --steps 5 --json $change
    check "random_changes_are_made_by${change%% *}" [ "$(value weights_sha256)" != "$plain" ]
done
run train $small --epochs 1 --learning-rate 1e-30 --validation-split 0.2 --json
kept=$(grep -o '"val_loss":[^,]*' out)
run train $small --epochs 1 --learning-rate 1e-30 --validation-split 0.2 --json --brightness 1
check validation_part_is_not_changed [ -n "$kept" -a "$(grep -o '"val_loss":[^,]*' out)" = "$kept" ]

# ---- mixtures of pictures and labels -----------------------------------------------------------------

for mixture in "--mixup 0.2" "--cutmix 1"; do
    mixed="train --data idx:data --hidden-units 16 --batch-size 40 --shards 4 --epochs 3 --json --flip $mixture"
    run $mixed --devices cpu:1
    one=$(value weights_sha256)
    for devices in 2 4; do
        run $mixed --devices cpu:$devices
        check "${mixture%% *}_gives_the_weights_of_one_device_on_$devices" [ "$(value weights_sha256)" = "$one" ]
    done
    run $mixed --devices cpu:1 --checkpoint-dir "mixed$mixture" --steps 17 # 11 steps an epoch
    run $mixed --devices cpu:2 --checkpoint-dir "mixed$mixture"
    check "${mixture%% *}_goes_on_in_the_middle_of_an_epoch" [ "$(value weights_sha256)" = "$one" ]
    run train --data idx:data --hidden-units 16 --batch-size 40 --shards 4 --epochs 3 --json --flip
    check "${mixture%% *}_changes_the_training" [ "$(value weights_sha256)" != "$one" ]
done
run train $small --epochs 1 --learning-rate 1e-30 --validation-split 0.2 --evaluate --json
kept=$(grep -o '"\(val\|test\)_[a-z]*":[^,]*' out)
run train $small --epochs 1 --learning-rate 1e-30 --validation-split 0.2 --evaluate --json --mixup 0.4 --save mixed.keras
check what_is_measured_is_not_mixed [ -n "$kept" -a "$(grep -o '"\(val\|test\)_[a-z]*":[^,]*' out)" = "$kept" ]
tested=$(value test_loss)
run evaluate --load mixed.keras --data idx:data --json
check a_model_of_mixtures_takes_the_labels_of_the_data [ -n "$tested" -a "$(value test_loss)" = "$tested" ]
fails mixtures_are_of_one_kind 2 "give --mixup or --cutmix, not both" train $small --mixup 0.2 --cutmix 1
fails classes_of_mixtures_have_no_weight 1 "^error: --mixup: .*leave --class-weight out" \
    train $small --mixup 0.2 --class-weight balanced

# ---- what is kept for validation --------------------------------------------------------------------

awk 'BEGIN { print "a,b,kind"; for (i = 0; i < 120; i++) printf "%d,%d,class%d\n", i % 7, int(i / 40) * 5, int(i / 40) }' > sorted.csv
table="train --data csv:sorted.csv --hidden-units 8 --batch-size 20 --epochs 20 --learning-rate 0.05 --json"
run $table --validation-split 0.25
check table_sorted_by_class_has_all_classes_in_both_parts [ $status -eq 0 -a ! -s err ]
check table_sorted_by_class_is_validated grep -q '"epoch":20,.*"val_accuracy":1[,.}]' out
split=$(value weights_sha256)
run $table --validation-split 0.25 --devices cpu:1
check validation_rows_do_not_depend_on_the_devices [ "$(value weights_sha256)" = "$split" ]
run $table --validation-split 0.25 --seed 1
check validation_rows_depend_on_the_seed [ "$(value weights_sha256)" != "$split" ]
run $table --validation-split 0.25 --validation-rows last
check last_rows_of_a_sorted_table_leave_out_classes grep -q \
    "^warning: --validation-split: class 0 (class0), with 40 rows, has none in the part that is kept for validation; there are 2 such classes$" err
head -n 91 sorted.csv > first.csv # a line with names, and 90 rows
last=$(value weights_sha256)
run $table --data csv:first.csv
check last_rows_are_those_of_keras [ "$(value weights_sha256)" = "$last" -a -n "$last" ]
fails validation_rows_are_random_or_last 2 "'lst'.*'last'" train --validation-rows lst

# ---- layers, outputs, metrics and weights of classes -------------------------------------------------

works outputs_follow_from_the_labels "^mlp 64-16-8 " train $small --steps 1
works outputs_can_be_more_than_labels_have "^mlp 64-16-12 " train $small --steps 1 --classes 12
works there_may_be_no_hidden_layer "^mlp 64-8 (520 parameters, 6.1 KB with the optimizer)" train $small --hidden-units none --epochs 3 --save linear.npz --evaluate
accuracy=$(grep '^test' out)
run evaluate --load linear.npz --data idx:data
check model_without_a_hidden_layer_is_evaluated [ "$(grep '^test' out)" = "$accuracy" ]
printf 'x,price\n1,20000\n2,30000\n3,50000\n' > prices.csv
printf 'a,kind\n1,0\n2,1\n3,0\n' > beyond-train.csv
{ echo a,kind; for i in $(seq 1500); do echo 1,0; done; echo 2,2; } > beyond-test.csv
fails classes_of_the_test_part_that_training_did_not_have_are_told_first 1 \
    "'csv:beyond': the test part: label 2 of row 1500: the model has 2 outputs" train --data csv:beyond --evaluate --save beyond.npz
check nothing_was_trained_for_such_a_test_part [ ! -e beyond.npz ]
fails labels_that_are_no_classes_are_told_from_them 1 "label 20000 of row 0: more than 1000 classes.*--loss mean_squared_error" train --data csv:prices.csv
fails unknown_activation_names_the_nearest 2 "'tahn'.*'tanh'" train --activation tahn
works activation_is_trained "^done" train $small --epochs 3 --activation tanh --save tanh.npz --evaluate
trained=$(grep '^test' out)
run evaluate --load tanh.npz --data idx:data
check activation_is_kept_with_the_model [ "$(grep '^test' out)" = "$trained" ]
run evaluate --load tanh.npz --data idx:data --activation relu
check activation_can_be_said_anew [ "$(grep '^test' out)" != "$trained" -a $status -eq 0 ]
works metrics_are_measured "^done: .*, accuracy = [0-9.]*, top_k_accuracy = [0-9.]*, precision = [0-9.]*, recall = [0-9.]* (" \
    train $small --epochs 3 --metrics accuracy,top-k-accuracy,precision,recall --evaluate --save measured.npz
trained=$(grep '^test' out)
run evaluate --load measured.npz --data idx:data
check metrics_are_kept_with_the_model [ "$(grep '^test' out)" = "$trained" ]
works metrics_of_evaluate_can_be_others "^test: loss = [0-9.]*, recall = [0-9.]* (" evaluate --load measured.npz --data idx:data --metrics recall
run train $small --epochs 3 --validation-split 0.2 --progress lines --json --monitor val_sparse_categorical_accuracy --patience 9 \
    --metrics accuracy,sparse_categorical_accuracy,top_k_accuracy,sparse_top_k_categorical_accuracy
check names_of_keras_are_those_of_the_metrics [ "$(value val_sparse_categorical_accuracy)" = "$(value val_accuracy)" -a \
    "$(value sparse_top_k_categorical_accuracy)" = "$(value top_k_accuracy)" -a -n "$(value top_k_accuracy)" ]
works short_names_of_metrics_are_taken ', mean_absolute_error = [0-9.]*, mean_squared_error = ' train --data csv:prices.csv \
    --loss mse --steps 1 --metrics mae,mse
fails unknown_metric_names_the_nearest 2 "--metrics: there is no metric 'recal': did you mean 'recall'" train $small --metrics recal
fails or_all_of_them 2 "--metrics: there is no metric 'nosuch': use some of accuracy, .*, perplexity$" train $small --metrics accuracy,y=nosuch
fails also_to_evaluate 2 "--metrics: there is no metric 'nosuch': use some of" evaluate --load measured.npz --metrics nosuch
works recall_can_be_monitored "^stopped early: val_recall" train $small --epochs 500 --patience 2 --min-delta 0.5 --validation-split 0.2 --metrics recall --monitor val_recall
run train $small --epochs 3 --metrics auc,pr-auc --validation-split 0.2 --monitor val_auc --patience 3 --json
check areas_under_curves_are_measured grep -q '"event":"done".*"auc":0\.[0-9]*,"pr_auc":0\.[0-9]*,"val_loss".*"val_auc":0\.' out
run train $small --epochs 4 --reduce-on-plateau 1 --plateau-min-delta 1000 --plateau-factor 0.5 --min-learning-rate 0.001 --history plateau.csv
check rate_is_reduced_on_a_plateau [ "$(awk -F, 'NR > 1 { printf "%.6f ", $4 }' plateau.csv)" = "0.003000 0.003000 0.001500 0.001000 " ]
fails plateau_and_schedule_do_not_go_together 2 "--reduce-on-plateau and --schedule" train $small --reduce-on-plateau 1 --schedule cosine
fails plateau_options_need_it 2 "--plateau-factor is for --reduce-on-plateau" train $small --plateau-factor 0.5
awk 'BEGIN { print "x,kind"; for (i = 0; i < 100; i++) printf "%d,%s\n", i % 10, i % 10 == 0 && i % 20 == 0 ? "rare" : "often" }' > uneven.csv
uneven="train --data csv:uneven.csv --label kind --hidden-units 4 --batch-size 100 --epochs 2 --json --optimizer sgd --learning-rate 0.1"
works a_matrix_that_is_not_asked_for_takes_no_memory '^test: loss' train $small --classes 4000 --steps 1 --evaluate --memory-limit 60MB
run $uneven --class-weight balanced
balanced=$(value weights_sha256)
run $uneven --class-weight rare=10,often=0.5263157894736842 # 100 / (2 * 5), 100 / (2 * 95), by scikit-learn's rule
check balanced_weights_are_those_of_scikit_learn [ "$(value weights_sha256)" = "$balanced" -a -n "$balanced" ]
run $uneven --class-weight 0.5263157894736842,10
check weights_of_classes_in_their_order_are_those_by_name [ "$(value weights_sha256)" = "$balanced" ]
run $uneven
check weights_of_classes_change_the_training [ "$(value weights_sha256)" != "$balanced" -a $status -eq 0 ]
fails weights_of_classes_are_as_many_as_classes 1 "1,2,3: 3 weights, and there are 2 classes" train --data csv:uneven.csv --class-weight 1,2,3
fails weight_of_an_unknown_class_is_refused 1 "there is no class 'dog'" train --data csv:uneven.csv --class-weight dog=2
fails weight_that_is_no_number_is_refused 1 "'heavy' is no weight" train --data csv:uneven.csv --class-weight rare=heavy
fails weights_of_classes_are_for_classes 1 "--class-weight is for examples of one class each" train --data csv:prices.csv --loss mse --class-weight balanced

# ---- confusion matrix --------------------------------------------------------------------------------

# scores FILE: prints those of each class, computed anew from the matrix in FILE, as the text prints them
scores() {
    awk '/^confusion,/ { inside = 1; next } /^each class/ { exit }
        inside == 1 { n = NF; inside = 2; next }
        inside { for (j = 0; j < n; j++) { v = $(NF - n + 1 + j); c[i + 0, j] = v; row[i + 0] += v; col[j] += v }; i++ }
        END { for (k = 0; k < n; k++) {
            p = col[k] ? c[k, k] / col[k] : 0; r = row[k] ? c[k, k] / row[k] : 0
            printf "%.4f %.4f %.4f %d\n", p, r, p + r ? 2 * p * r / (p + r) : 0, row[k] } }' "$1"
}
works scores_of_each_class_are_printed "^each class:" train $small --epochs 2 --confusion --classes 10
scores out > wanted
awk '/^each class/ { inside = 1; next } /^[^ ]/ { inside = 0 } inside && $1 != "precision" { print $(NF-3), $(NF-2), $(NF-1), $NF }' out > got
check scores_are_those_of_the_matrix cmp -s wanted got
check scores_are_of_all_classes [ "$(wc -l < got)" -eq 10 ]
check there_is_something_right awk '$3 > 0 { found = 1 } END { exit !found }' got
check classes_without_examples_have_scores_of_0 [ "$(tail -n 1 got)" = "0.0000 0.0000 0.0000 0" ]
run train $small --epochs 2 --confusion --classes 10 --json
check scores_in_json_are_those_of_the_text [ "$(grep -o '"f1":[0-9.]*' out | cut -d : -f 2 | awk '{ printf "%.4f\n", $1 }')" = "$(cut -d ' ' -f 3 got)" ]
check json_names_no_class_that_is_not_known sh -c '! grep -q "\"name\"" out'
run train --data fashion-mnist --steps 20 --hidden-units 8 --confusion --json --save fashion.npz
if [ $status -ne 0 ]; then
    printf 'skip classes_of_fashion_mnist_have_names: %s\n' "$(cat err)"
else
    check classes_of_fashion_mnist_have_names_in_json grep -q '"class":9,"name":"Ankle boot","precision":' out
    works classes_of_fashion_mnist_have_names "^ *0 T-shirt/top  *[0-9]" evaluate --load fashion.npz --confusion
    scores out > wanted
    awk '/^each class/ { inside = 1; next } inside && $1 != "precision" { print $(NF-3), $(NF-2), $(NF-1), $NF }' out > got
    check scores_of_evaluate_are_those_of_the_matrix cmp -s wanted got
fi

# ---- other losses ------------------------------------------------------------------------------------

# ---- pixels that were divided by 255, and others ------------------------------------------------------

run convert idx:data csv:pixels --overwrite
run train --data idx:data --hidden-units 4 --steps 5 --save divided.npz
run evaluate --load divided.npz --data csv:pixels
check numbers_of_pixels_are_warned_of [ "$status" -eq 0 -a "$(grep -c "^warning: 'csv:pixels': the inputs are numbers up to [0-9]*, and the model was trained on pixels that were divided by 255" err)" = 1 ]
run predict --load divided.npz --data csv:pixels
check numbers_to_predict_too grep -q "^warning: 'csv:pixels': the inputs are numbers" err
works pixels_are_divided_again '^test: loss' evaluate --load divided.npz --data idx:data
run train --data idx:data --hidden-units 4 --steps 5 --raw-pixels --save raw.npz
works numbers_are_what_raw_pixels_are '^test: loss' evaluate --load raw.npz --data csv:pixels
works range_of_pixels_is_in_the_first_line ', pixels -1..1' train --data idx:data --hidden-units 4 --steps 5 --pixels -1..1 --save signed.npz
run evaluate --load signed.npz --data idx:data
noted=$(grep '^test: loss' out)
run evaluate --load signed.npz --data idx:data --pixels -1..1
check range_of_pixels_is_noted [ -n "$noted" -a "$(grep '^test: loss' out)" = "$noted" ]
run evaluate --load signed.npz --data idx:data --pixels 0..1
check range_of_pixels_can_be_given [ -n "$noted" -a "$(grep '^test: loss' out)" != "$noted" ]
works range_of_pixels_is_that_of_the_loaded_training ', pixels -1..1' train --data idx:data --load signed.npz --steps 1
works range_of_pixels_of_a_loaded_training_can_be_changed ' examples' train --data idx:data --load signed.npz --steps 1 --raw-pixels
fails numbers_are_no_pixels_of_a_range 1 "--pixels -1..1.*u8 pixels from 0 to 255 are due" evaluate --load signed.npz --data csv:pixels
fails mode_of_colors_needs_colors 1 "--pixels torch: the pictures are .*for red, green and blue" train --data idx:data --pixels torch
fails two_ranges_of_pixels_are_refused 2 "give --pixels or --raw-pixels, not both" train --data idx:data --pixels torch --raw-pixels
run train --data idx:data --hidden-units 4 --steps 5 --pixels raw --json
raw=$(value weights_sha256)
run train --data idx:data --hidden-units 4 --steps 5 --raw-pixels --json
check raw_pixels_are_pixels_raw [ -n "$raw" -a "$(value weights_sha256)" = "$raw" ]

if ! command -v python3 > /dev/null 2>&1; then
    printf 'skip other_losses: python3 writes their data\n'
    end_of_checks
    exit $?
fi
python3 - << 'END'
"""The images of small_data.sh, with other labels, as NAME.npz."""
import io, struct, zipfile

def npy(dtype, shape, values):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (dtype, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    code = {"|u1": "B", "<f4": "f", "<f8": "d", "<i8": "q"}[dtype]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(values), code), *values)

def write(name, dtype, shape, label):
    with zipfile.ZipFile(name + ".npz", "w") as archive:
        for part, n in (("train", 430), ("test", 50)):
            pixels = [(100 if p // 8 == i % 8 else 1) + (i * 7 + p * 3) % 11 for i in range(n) for p in range(64)]
            labels = [x for i in range(n) for x in label(i, i % 8)]
            archive.writestr("x_%s.npy" % part, npy("|u1", (n, 8, 8), pixels))
            archive.writestr("y_%s.npy" % part, npy(dtype, (n,) + shape, labels))

def one_hot(k, n=10):
    return [int(j == k) for j in range(n)]

write("regression", "<f4", (), lambda i, k: [k])
write("column", "<f8", (1,), lambda i, k: [k])
write("pairs", "<f4", (2,), lambda i, k: [k, 7 - k])
write("signs", "<f4", (), lambda i, k: [1 if k < 4 else -1])
write("binary", "|u1", (), lambda i, k: [int(k < 4)])
write("several", "<i8", (3,), lambda i, k: [k & 1, k >> 1 & 1, k >> 2])
write("one_hot", "|u1", (10,), lambda i, k: one_hot(k))
write("not_one_hot", "|u1", (10,), lambda i, k: one_hot(k if i != 7 else 11))
write("tables", "<f4", (2, 5), lambda i, k: one_hot(k))
write("holes", "<f4", (), lambda i, k: [float("nan") if i == 5 else k])
write("fractions", "<f4", (), lambda i, k: [k + 0.5])
END
other="--hidden-units 16 --batch-size 40 --devices cpu:1"

works regression_has_a_metric_that_fits "^done:.*, mean_absolute_error = " train --data npz:regression.npz $other --epochs 2 --loss mean_squared_error
check regression_has_no_accuracy sh -c '! grep -q accuracy out'
check regression_has_one_output grep -q '^mlp 64-16-1 ' out
works several_numbers_are_several_outputs '^mlp 64-16-2 ' train --data npz:pairs.npz $other --steps 2 --loss mean_squared_error
for row in mean_squared_error:regression:mean_absolute_error mean_absolute_error:column:mean_squared_error \
    huber:pairs:mean_absolute_error poisson:regression:mean_absolute_error hinge:signs: hinge:binary: \
    binary_crossentropy:binary:binary_accuracy binary_crossentropy:several:binary_accuracy \
    categorical_crossentropy:one_hot:categorical_accuracy kl_divergence:one_hot:categorical_accuracy \
    sparse_categorical_crossentropy:regression:accuracy; do
    loss=${row%%:*} data=${row#*:} && metric=${data#*:} labels=${data%:*} data=npz:${data%:*}.npz
    run train --data $data $other --loss $loss --epochs 1 --json
    first=$(value loss)
    run train --data $data $other --loss $loss --epochs 30 --learning-rate 0.01 --evaluate --predict train.npy --json --save model.npz --dropout 0.01
    check "${loss}_becomes_smaller_on_$labels" awk -v a="$(value loss)" -v b="$first" 'BEGIN { exit !(a != "" && b != "" && a < 0.7 * b) }'
    check "${loss}_has_its_metric_on_$labels" [ -z "$metric" -o -n "$(value "test_$metric")" ]
    trained=$(value test_loss)
    run evaluate --data $data --load model.npz --loss $loss --json
    check "${loss}_is_evaluated_as_in_training_on_$labels" awk -v a="$trained" -v b="$(value test_loss)" \
        'BEGIN { d = a - b; exit !(a != "" && b != "" && d * d <= 1e-12 * a * a) }'
    run predict --data $data --load model.npz --loss $loss --out predict.npy
    check "${loss}_predicts_as_in_training_on_$labels" cmp -s train.npy predict.npy
done
run train --data npz:one_hot.npz $other --loss categorical_crossentropy --json --epochs 2
one_hot=$(value loss)
run train --data idx:data $other --json --epochs 2 --classes 10
check one_hot_rows_give_the_loss_of_class_numbers awk -v a="$one_hot" -v b="$(value loss)" 'BEGIN { d = a - b; exit !(b > 0 && d * d < 1e-8) }'
run train --data npz:binary.npz $other --loss binary_crossentropy --epochs 2 --class-weight 1,5 --json
weighted=$(value weights_sha256)
run train --data npz:binary.npz $other --loss binary_crossentropy --epochs 2 --class-weight 1=5,0=1 --json
check classes_of_one_output_have_weights [ "$(value weights_sha256)" = "$weighted" -a -n "$weighted" ]
run train --data npz:binary.npz $other --loss binary_crossentropy --epochs 2 --json
check weights_of_one_output_change_the_training [ "$(value weights_sha256)" != "$weighted" ]
works monitor_of_a_regression_is_its_metric "stopped early: mean_absolute_error" \
    train --data npz:regression.npz $other --loss mean_squared_error --epochs 500 --patience 2 --min-delta 0.5 --monitor mean_absolute_error

works short_name_of_keras_is_understood 'mean_absolute_error = ' train --data npz:regression.npz $other --steps 2 --loss mse
fails labels_of_a_regression_say_which_loss_there_is 1 "label 0.5 of row 0.*--loss mean_squared_error" train --data npz:fractions.npz $other
fails unknown_loss_names_the_nearest 2 "'mean_square_error'.*'mean_squared_error'" train $small --loss mean_square_error
fails class_numbers_are_no_one_hot_rows 1 "single numbers.*sparse_categorical_crossentropy" train $small --loss categorical_crossentropy
fails one_hot_rows_are_no_class_numbers 1 "one class number.*\[10\].*categorical_crossentropy" train --data npz:one_hot.npz $other
fails rows_that_are_not_one_hot_are_named 1 "label 0 of row 7, the sum.*add up to 1" train --data npz:not_one_hot.npz $other --loss categorical_crossentropy
fails labels_beyond_1_are_no_binary_labels 1 "label 2 of row 2.*from 0 to 1" train $small --loss binary_crossentropy
fails labels_beyond_1_are_no_signs 1 "label 2 of row 2.*-1 and 1" train $small --loss hinge
fails negative_labels_are_no_counts 1 "label -1 of row 4.*not negative" train --data npz:signs.npz $other --loss poisson
fails negative_labels_are_no_classes 1 "label -1 of row 4.*class numbers" train --data npz:signs.npz $other
fails labels_that_are_no_number_are_named 1 "label nan of row 5.*takes numbers" train --data npz:holes.npz $other --loss mean_squared_error
fails fractions_are_no_class_numbers 1 "label 0.5 of row 0.*class numbers" train --data npz:fractions.npz $other
fails tables_as_labels_are_refused 1 "a label is \[2, 5\]" train --data npz:tables.npz $other --loss mean_squared_error
fails outputs_must_be_those_of_the_labels 1 "2 numbers an example, the model 3 outputs" train --data npz:pairs.npz $other --loss mean_squared_error --classes 3
fails confusion_is_for_classes 2 "confusion.*sparse_categorical_crossentropy" train --data npz:regression.npz $other --loss huber --confusion
run train --data npz:regression.npz $other --loss huber --steps 1 --save huber.npz
fails confusion_is_for_classes_in_evaluate_too 2 "confusion.*sparse_categorical_crossentropy" evaluate --load huber.npz --confusion
fails evaluate_of_other_labels_says_so 1 "2 numbers an example, the model 8 outputs" evaluate --data npz:pairs.npz --load model.npz --loss mean_squared_error

end_of_checks
