#!/bin/sh
# The command as its users meet it: exit status, messages, output. Usage: cli_test.sh PATH_OF_MUSTER
# Prints `ok NAME` or `FAIL NAME`; the exit status is 1 where something failed.
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"

# ---- data ---------------------------------------------------------------------------------------------

. "$here/support/small_data.sh"
write_data data
small="--data idx:data --hidden-units 16 --batch-size 40"

# ---- words that are wrong ----------------------------------------------------------------------------

fails unknown_command_names_the_nearest 2 "'trian'.*'train'" trian
fails unknown_command_far_from_all_says_where_to_look 2 "muster help" xyzzy
fails misspelt_doctor_names_it 2 "'docter'.*'doctor'" docter
fails unknown_option_names_the_nearest 2 "'--epoch'.*'--epochs'" train --epoch 3
fails misspelt_option_with_underscores_names_the_nearest 2 "'--bach_size'.*'--batch-size'" train --bach_size 3
fails misspelt_flag_that_is_switched_off_names_the_nearest 2 "'--no-evalute'.*'--no-evaluate'" train --no-evalute
fails short_option_is_unknown 2 "'-e'" train -e 3
fails unknown_strategy_names_the_nearest 2 "'mirored'.*'mirrored'" train --strategy mirored
fails server_needs_a_cluster 2 "no parameter servers" server
fails parameter_servers_need_a_cluster 2 "muster launch --ps 1" train --strategy parameter-server
hosts="--ps_hosts localhost:2222 --worker_hosts localhost:2223,localhost:2224"
# shellcheck disable=SC2086
fails worker_is_no_server 2 "task worker:0 .*no parameter server: start it with" server $hosts --job-name worker
fails server_needs_workers 2 "give --worker-hosts too" server --ps-hosts localhost:2222
fails parameter_servers_need_workers 2 "give --worker_hosts too" train --ps_hosts localhost:2222
fails issync_needs_parameter_servers 2 "give --ps_hosts too" train --issync 1
fails backup_workers_need_parameter_servers 2 "--replicas-to-aggregate.*give --ps_hosts too" train --replicas-to-aggregate 2
fails bounded_staleness_needs_parameter_servers 2 "--max-staleness.*give --ps_hosts too" train --max-staleness 2
fails greedy_placement_needs_parameter_servers 2 "--ps-placement greedy is .*give --ps_hosts too" train --ps-placement greedy
fails unknown_placement_names_the_nearest 2 "'gredy'.*'greedy'" train --ps-placement gredy
fails variables_in_parts_need_parameter_servers 2 "--ps-part-bytes is .*give --ps_hosts too" train --ps-part-bytes 1MB
fails options_of_servers_need_their_strategy 2 "go with --strategy" train --max-staleness 2 --strategy mirrored
one_server="--ps_hosts localhost:1 --worker_hosts localhost:2,localhost:3 --job_name worker"
# $one_server is a list of words
# shellcheck disable=SC2086
fails backup_workers_need_synchronous_updates 2 "needs --issync 1" train $one_server --replicas-to-aggregate 2
# shellcheck disable=SC2086
fails synchronous_updates_have_no_staleness 2 "leave one of them out" train $one_server --max-staleness 2 --issync 1
# shellcheck disable=SC2086
fails flags_of_a_cluster_need_its_strategies 2 "go with --strategy" train $hosts --job_name worker --strategy mirrored
fails unknown_optimizer_names_the_nearest 2 "'adma'.*'adam'" train --optimizer adma
fails unknown_schedule_names_the_nearest 2 "'cosin'.*'cosine'" train --schedule cosin
fails unknown_progress_names_the_nearest 2 "'line'.*'lines'" train --progress line
fails unknown_model_lists_what_there_is 2 "no 'resnet'.*mlp, lenet, mobilenet_v2, mobilenet_v2:ALPHA, resnet50" train --model resnet
fails unknown_model_names_the_nearest 2 "'lenett': did you mean 'lenet'" train --model lenett
fails alpha_is_a_number 2 "'wide' must be a number above 0" train --model mobilenet_v2:wide
fails alpha_is_of_one_model 2 "'resnet50:2': did you mean 'resnet50'" train --model resnet50:2
fails networks_for_pictures_have_their_own_layers 2 "--hidden-units is not for --model lenet, which has layers of its own" train \
    --model lenet --hidden-units 10
fails unknown_data_names_the_nearest 2 "fashion-mnist" train --data fashon-mnist
fails folder_as_data_says_how_to_write_it 2 "idx:data" train --data data
# What the page of daily use names is there.
page=$here/../docs/daily-use.md
{ "$muster" help train; "$muster" help evaluate; "$muster" help predict; } > options
grep -o -e '--[a-z][a-z0-9-]*' "$page" | sed 's/^--no-/--/' | sort -u | while read -r option; do
    grep -q -e "^  $option\\( \\|\$\\)" options || echo "$option"
done > missing
check options_of_the_page_of_daily_use_are_there [ ! -s missing -a "$(grep -c -e '--[a-z]' "$page")" -gt 15 ]
grep -o 'mst_[a-z0-9_]*' "$page" | sort -u | while read -r name; do
    grep -rqw "$name" "$here/../include" "$here/../src" || echo "$name"
done > missing
check functions_of_the_page_of_daily_use_are_there [ ! -s missing ]
fails missing_pictures_are_named 1 "'nowhere': no such folder: check the path" train --data images:nowhere
fails unknown_device_type_says_what_there_is 2 "npu.*cpu" train --devices npu:2
for option in flip "crop-padding 2" "rotation 0.1" "zoom 0.1" "translation 0.1" "brightness 0.1" "contrast 0.1" "mixup 0.2" "cutmix 1"; do
    printf 'x,y\n1,0\n2,1\n' > table.csv
    fails "${option%% *}_of_what_is_no_picture_is_named" 1 "^error: 'csv:table.csv' has no pictures.*: --${option%% *} is for images:DIR" train --data csv:table.csv --$option
done
fails visible_device_that_is_none_names_the_places_there_are 2 "visible devices '2'.*from 0 to 1" train --devices cpu:2 --visible-devices 2
fails visible_devices_are_checked_for_showing_too 2 "visible devices 'x'" devices --visible-devices x
fails zero_devices_are_refused 2 "cpu:0" train --devices cpu:0
fails argument_without_option_is_refused 2 "extra" train extra
fails option_without_value_says_what_must_follow 2 "--epochs N" train --epochs
fails option_followed_by_option_says_what_must_follow 2 "--epochs N" train --epochs --json
fails value_that_cannot_be_switched_off_says_so 2 "--steps takes a value" train --no-steps
fails empty_value_is_refused 2 "data" train --data=
fails benchmarks_are_another_program 2 "muster-bench" bench ops
fails help_of_unknown_command_names_the_nearest 2 "'train'" help trai
fails evaluate_without_model_says_how_to_name_one 2 "checkpoint-dir DIR or --load" evaluate --data idx:data
fails evaluate_of_two_models_is_refused 2 "not both" evaluate --data idx:data --load a.npz --checkpoint-dir ck
fails predict_without_model_says_how_to_name_one 2 "checkpoint-dir DIR or --load" predict --out p.npy

# ---- numbers that are wrong --------------------------------------------------------------------------

for option in batch-size batch-per-replica epochs steps hidden-units shards log-every; do
    fails "zero_${option}_is_refused" 2 "--$option 0" train "--$option" 0
    fails "negative_${option}_is_refused" 2 "--$option -3" train "--$option" -3
done
fails fraction_is_no_whole_number 2 "whole number" train --epochs 1.5
fails word_is_no_number 2 "whole number" train --steps many
fails number_with_a_tail_is_refused 2 "whole number" train --steps 10k
fails too_large_a_number_is_refused 2 "99999999999999999999" train --steps 99999999999999999999
fails zero_learning_rate_is_refused 2 "above 0" train --learning-rate 0
fails too_large_a_learning_rate_says_the_bound 2 "at most" train --learning-rate 1e30
fails nan_learning_rate_is_refused 2 "learning-rate" train --learning-rate nan
fails dropout_of_all_is_refused 2 "dropout" train --dropout 1
fails negative_seed_is_refused 2 "seed" train --seed -1
fails seed_beyond_what_json_has_is_refused 2 "2^63" train --seed 18446744073709551615
fails size_without_number_is_refused 2 "512MB" train --memory-limit lots
fails size_with_a_space_before_its_unit_is_refused 2 "512MB" train --memory-limit "4 B"
fails bound_just_below_a_round_number_is_told_as_such 2 "below 1" train --ema 1
fails number_of_too_many_digits_is_refused 2 "too long" train --values "0.1$(printf %080d 0)"
fails size_with_unknown_unit_is_refused 2 "512MB" train --memory-limit 5XB
fails flag_with_a_number_is_refused 2 "true or false" train --evaluate=5
fails hole_in_a_list_is_refused 2 "hidden-units" train --hidden-units 100,,50
fails shards_must_divide_over_the_devices 2 "shards" train --devices cpu:2 --shards 3
fails epochs_and_steps_exclude_each_other 2 "not both" train --epochs 2 --steps 3
fails both_batch_sizes_exclude_each_other 2 "not both" train --batch-size 2 --batch-per-replica 3
fails exponential_schedule_needs_its_numbers 2 "decay" train $small --schedule exponential
fails option_of_another_optimizer_is_refused 2 "'adam' has no momentum; these have: momentum, rmsprop, sgd" \
    train $small --optimizer adam --momentum 0.9
fails option_of_another_schedule_is_refused 2 "'cosine' has no decay_rate; these have: exponential, inverse_time" \
    train $small --schedule cosine --decay-rate 0.9
fails option_of_no_schedule_is_refused 2 "'none' has no staircase" train $small --optimizer sgd --staircase
fails piecewise_schedule_needs_its_values 2 "--boundaries" train $small --schedule piecewise

# ---- data that is wrong ------------------------------------------------------------------------------

fails missing_folder_is_named 1 "nowhere" train --data idx:nowhere
fails missing_archive_is_named 1 "nowhere.npz" train --data npz:nowhere.npz
mkdir -p empty
fails missing_file_is_named 1 "train-images-idx3-ubyte" train --data idx:empty
run train --data idx:data --batch-size 430 --steps 2 --json
whole=$(value weights_sha256)
run train --data idx:data --batch-size 1000 --steps 2 --json
check batch_larger_than_the_data_is_one_smaller_batch [ "$(value weights_sha256)" = "$whole" ]

spoil() {
    rm -rf spoilt
    cp -r data spoilt
}
spoil && head -c 5000 data/train-images-idx3-ubyte > spoilt/train-images-idx3-ubyte
fails truncated_images_are_refused 1 "train-images-idx3-ubyte" train --data idx:spoilt --batch-size 40
spoil && printf 'garbage and more of it' > spoilt/train-images-idx3-ubyte
fails wrong_magic_is_refused 1 "train-images-idx3-ubyte" train --data idx:spoilt --batch-size 40
spoil && write_labels spoilt/train-labels-idx1-ubyte 429
fails numbers_of_images_and_labels_must_agree 1 "429" train --data idx:spoilt --batch-size 40
spoil && rm spoilt/t10k-images-idx3-ubyte
fails missing_test_part_is_told_before_training 1 "t10k-images-idx3-ubyte" train --data idx:spoilt --batch-size 40 --evaluate
spoil && { printf '\000\000\010\003\000\000' && word 50 && printf '\000\000\000\004\000\000\000\020' && tail -c 3200 data/t10k-images-idx3-ubyte; } > spoilt/t10k-images-idx3-ubyte
fails test_part_of_another_shape_is_told_before_training 1 "f32\[4, 16\].*f32\[8, 8\]" train --data idx:spoilt --batch-size 40 --evaluate
spoil && { printf '\000\000\015\003\000\000' && word 50 && printf '\000\000\000\010\000\000\000\010' && head -c 12800 /dev/zero; } > spoilt/t10k-images-idx3-ubyte
fails test_part_of_another_type_is_told_before_training 1 "test part are f32, those of the train part u8" train --data idx:spoilt --batch-size 40 --evaluate
printf 'not a zip' > bad.npz
fails archive_that_is_none_is_refused 1 "bad.npz" train --data npz:bad.npz
fails label_out_of_range_is_named 1 "label" train $small --classes 4 --progress none
fails memory_limit_is_checked_before_the_first_step 1 "limit" train $small --memory-limit 4KB

# ---- training that goes wrong ------------------------------------------------------------------------

hot="--optimizer sgd --learning-rate 1e8 --raw-pixels --epochs 3 --progress none"
fails loss_that_is_no_number_stops_with_step_and_last_good_loss 1 "the loss is [in].*at step.*last good" train $small $hot
fails a_loss_that_is_no_number_names_the_option 1 "muster train --check-numerics" train $small $hot
fails check_numerics_names_the_node 1 "made a NaN or Inf" train $small $hot --check-numerics
if [ -e /dev/full ]; then
    "$muster" train $small --json > /dev/full 2> err
    status=$?
    : > out
    check full_disk_on_standard_output_is_an_error [ $status -eq 1 -a "$(grep -c '^error: ' err)" -eq 1 ]
    "$muster" help train > /dev/full 2> err
    check full_disk_is_an_error_for_help_too [ $? -eq 1 -a "$(grep -c '^error: ' err)" -eq 1 ]
fi
{ "$muster" train $small --epochs 200 --json --log-every 1 2> err; echo $? > closed_status; } | head -n 1 > out
check reader_that_leaves_is_no_error [ "$(cat closed_status)" -eq 141 -a ! -s err ]
{ "$muster" train $small --epochs 200 --json --log-every 1 --checkpoint-dir left 2> err; echo $? > closed_status; } | head -n 1 > out
check training_whose_reader_leaves_is_kept [ "$(cat closed_status)" -eq 141 -a ! -s err -a -e left/checkpoint ]
rm -r left
{ "$muster" train $small --epochs 200 --progress lines --log-every 1 2> err; echo $? > closed_status; } | head -n 1 > out
check reader_of_lines_that_leaves_is_no_error [ "$(cat closed_status)" -eq 141 -a ! -s err ]
{ "$muster" help train 2> err; echo $? > closed_status; } | true
check reader_of_help_that_leaves_is_no_error [ "$(cat closed_status)" -eq 141 -o "$(cat closed_status)" -eq 0 -a ! -s err ]

# ---- what must work ----------------------------------------------------------------------------------

works help_lists_the_commands "train" help
works help_flag_lists_the_commands "train" --help
works help_of_a_command_lists_its_options "--batch-size N" help train
works help_flag_of_a_command_lists_its_options "--batch-size N" train --help
if command -v script > /dev/null && script -qec true /dev/null > /dev/null 2>&1; then
    for width in 130 200; do
        script -qec "stty cols $width && '$muster' help train" /dev/null > out 2> err < /dev/null
        check "help_is_as_wide_as_a_terminal_of_$width" awk -v w=$width '{ sub(/\r$/, ""); if (length($0) > most) most = length($0) }
            END { exit !(most > w - 20 && most <= w) }' out
    done
fi
works manual_page_has_all_commands '^.SH MUSTER CONVERT' help man
check manual_page_is_roff sh -c 'head -n 1 out | grep -q "^.TH MUSTER 1" && grep -q "batch.-size N" out'
works version_names_the_libraries "oneDNN" version
works devices_shows_the_split "CPU:3" devices --devices cpu:4
run devices --devices cpu:4 --visible-devices 3,1
check devices_shows_only_what_is_visible [ "$(grep -c 'device:CPU:' out)" -eq 2 ]
run train $small --steps 1 --json --devices cpu:4 --visible-devices 3,1
check training_uses_only_visible_devices grep -q '"devices":\["[^"]*CPU:0","[^"]*CPU:1"\]' out
run devices --json
check devices_as_json_is_one_object json_lines out
configured=${MUSTER_PJRT_PLUGIN:-}
unset MUSTER_PJRT_PLUGIN
works devices_says_what_gpus_need "^GPUs: none configured: pip install jax.cuda13. .*docs/accelerators.md$" devices --devices cpu:1
run devices --json
check no_accelerators_are_null_in_json grep -q '"accelerators":null,"accelerators_advice":"none configured: pip install' out
export MUSTER_PJRT_PLUGIN=/nowhere/plugin.so
works plugin_that_cannot_be_used_is_one_line "^accelerators: .*[pP][jJ][rR][tT]" devices --devices cpu:1
check cpus_are_listed_all_the_same [ "$(grep -c 'device:CPU:' out)" -eq 1 -a ! -s err ]
run devices --json
check plugin_that_cannot_be_used_is_told_in_json grep -q '"accelerators":null,"accelerators_error":"' out
if [ -n "$configured" ]; then export MUSTER_PJRT_PLUGIN="$configured"; else unset MUSTER_PJRT_PLUGIN; fi

works training_prints_its_result "^done: step 11, loss = .*accuracy = " train $small --epochs 1
mkdir -p many
{ printf '\000\000\010\002\000\000' && word 10000 && printf '\000\000\000\001' && head -c 10000 /dev/zero; } > many/train-images-idx3-ubyte
{ printf '\000\000\010\001\000\000' && word 10000 && head -c 10000 /dev/zero; } > many/train-labels-idx1-ubyte
fails more_steps_than_can_be_counted_are_refused 2 "steps in all" train --data idx:many --epochs 1000000000000000 --batch-size 1 --classes 2
works test_part_is_evaluated "^test: loss = .*accuracy = .*(50 examples)" train $small --epochs 1 --evaluate
works confusion_matrix_is_printed "^confusion" train $small --epochs 1 --confusion
works progress_lines_have_the_classic_format \
    '^step 5, loss = [0-9.]*, accuracy = [0-9.]* ([0-9.]* examples/sec; [0-9.]* sec/batch)$' train $small --steps 20 --progress lines --log-every 5
works tensorflow_names_and_equals_signs_are_understood "^done: step 7," \
    train --data_dir=data --train_steps=7 --hidden_units=16 --learning_rate=0.01 --batch_size=40
works l1_dropout_and_several_layers_train "^done:" train $small --l1 1e-4 --l2 1e-4 --dropout 0.2 --hidden-units 16,8
fails monitor_is_checked_before_the_first_epoch 2 "there is no 'val_acc': monitor loss, accuracy, or one of these with val_" \
    train $small --epochs 1 --validation-split 0.2 --patience 1 --monitor val_acc
fails monitor_of_validation_needs_validation 2 "there is no 'val_loss': monitor loss, accuracy; with validation data" \
    train $small --epochs 1 --best --checkpoint-dir ck --monitor val_loss
works validation_is_in_the_last_lines "^done: .*, accuracy = [0-9.]*, val_loss = [0-9.]*, val_accuracy = [0-9.]* (" \
    train $small --epochs 1 --validation-split 0.2 --save kept.npz
check weights_that_are_saved_are_not_gone sh -c '! grep -q gone out'
run train $small --epochs 2 --validation-split 0.2 --json --save kept.npz
check json_ends_with_the_validation [ -n "$(value val_loss)" -a -n "$(value val_accuracy)" -a "$(value saved)" = kept.npz ]
check json_ends_with_the_last_validation [ "$(grep '"event":"epoch","epoch":2' out | sed 's/.*"val_loss":\([^,]*\).*/\1/')" = "$(value val_loss)" ]
works validation_split_is_measured "val_loss" train $small --epochs 1 --validation-split 0.2
run train $small --steps 1 --validation-split 0.005 --json
check validation_split_is_rounded_as_keras_rounds_it grep -q '"examples":427' out
works memory_limit_that_suffices_is_accepted "^done:" train $small --memory-limit 512MB --pin
for optimizer in adagrad adam adamw ftrl nadam rmsprop sgd; do
    works "${optimizer}_trains" "^done: step 3," train $small --steps 3 --optimizer $optimizer --learning-rate 0.01 --ema 0.9
done
for schedule in "exponential --decay-rate 0.9 --decay-steps 5 --staircase" "piecewise --boundaries 2 --values 0.1,0.01" \
    "polynomial --end-learning-rate 0.001" "inverse-time --decay-rate 0.9 --decay-steps 5" "cosine --warmup-steps 2"; do
    works "schedule_${schedule%% *}_trains" "^done: step 5," train $small --steps 5 --schedule $schedule
done

works a_single_step_has_no_rate "^done: step 1, .* (first step after" train $small --steps 1
run train $small --steps 12 --json --log-every 5 --evaluate --confusion
check json_run_is_done [ $status -eq 0 ]
check json_leaves_standard_error_alone [ ! -s err ]
check json_lines_are_objects json_lines out
check json_begins_with_start sh -c 'head -n 1 out | grep -q "\"event\":\"start\""'
check json_has_step_events [ "$(grep -c '"event":"step"' out)" -eq 2 ]
check json_ends_with_done sh -c 'tail -n 1 out | grep -q "\"event\":\"done\""'
for key in step loss accuracy test_accuracy test_loss examples_per_sec first_step_sec waited_for_data weights_sha256; do
    check "done_has_$key" [ -n "$(value $key)" ]
done
check weights_sha256_has_64_digits [ "$(value weights_sha256 | tr -d '0-9a-f' | wc -c)" -eq 1 -a "$(value weights_sha256 | wc -c)" -eq 65 ]

run train $small --steps 1 --json --log-device-placement --dump-plan all
check json_is_pure_with_placement_and_plan json_lines out
run train $small --steps 1 --dump-plan memory
check one_pass_of_the_plan_is_printed sh -c 'grep -q "^after memory: .* nodes for " err && ! grep -q "^after prune" err'
run train $small --steps 1 --dump-plan stablehlo
check plans_of_cpus_have_no_programs sh -c 'grep -q "^// plan for .*: no programs, as no device compiles" err && ! grep -q "^after\|^module" err'
run train $small --steps 1 --dump-plan memori
check unknown_pass_is_an_error sh -c 'grep -q "did you mean .memory" err'
run train $small --steps 1 --json --log-device-placement --dump-plan all
check placement_is_logged grep -q '(MatMul\|matmul.*device:CPU:0' err

run train $small --steps 3 --json --optimizer ftrl
default_power=$(value weights_sha256)
run train $small --steps 3 --json --optimizer ftrl --learning-rate-power 0
check zero_that_is_given_is_not_taken_for_the_default [ $status -eq 0 -a "$(value weights_sha256)" != "$default_power" ]
run train $small --steps 3 --json --optimizer adamw --weight-decay 0 --learning-rate 0.001
without_decay=$(value weights_sha256)
run train $small --steps 3 --json --optimizer adam --learning-rate 0.001
check adamw_without_decay_is_adam [ "$(value weights_sha256)" = "$without_decay" ]

# ---- moving averages ---------------------------------------------------------------------------------

fails averages_that_are_not_kept_cannot_be_used 2 "give both" train $small --use-ema
run train $small --steps 5 --evaluate --predict last.npy --ema 0.9 --json
last=$(value weights_sha256) last_loss=$(value test_loss)
check weights_of_the_last_step_are_said_to_be_used grep -q '"weights":"last"' out
run train $small --steps 5 --evaluate --predict averages.npy --ema 0.9 --use-ema --json
check weights_of_the_averages_are_said_to_be_used grep -q '"weights":"ema"' out
check evaluation_takes_the_averages [ "$(value test_loss)" != "$last_loss" ]
check saved_weights_are_the_averages [ "$(value weights_sha256)" != "$last" ]
check predictions_take_the_averages sh -c '! cmp -s last.npy averages.npy'
run train $small --steps 5 --json
check averages_that_are_only_kept_change_no_weight [ "$(value weights_sha256)" = "$last" ]
works text_says_which_weights_were_used "^weights: the moving averages" train $small --steps 5 --ema 0.9 --use-ema

# ---- one answer --------------------------------------------------------------------------------------

sha_of() {
    run train $small --epochs 2 --seed 3 --shards 4 --json "$@"
    value weights_sha256
}
reference=$(sha_of --strategy one --devices cpu:1)
check a_reference_run_has_a_hash [ -n "$reference" ]
for strategy in one towers mirrored; do
    for devices in cpu:1 cpu:2 cpu:4; do
        check "${strategy}_over_${devices}_gives_the_same_weights" \
            [ "$(sha_of --strategy $strategy --devices $devices)" = "$reference" ]
    done
done
# devices that share no memory (test/module/island.c)
for strategy in mirrored towers; do
    for devices in island:2 cpu:1,island:1 island:1,cpu:3; do
        check "${strategy}_over_${devices}_gives_the_same_weights" \
            [ "$(MUSTER_MODULE_PATH=$(dirname "$muster")/modules sha_of --strategy $strategy --devices $devices)" = "$reference" ]
    done
done
wide="--hidden-units 500 --shards 1 --dropout 0.3 --optimizer adam --devices"
reference_of_wide=$(sha_of $wide cpu:1/1)
for threads in 2 3; do
    check "${threads}_threads_give_the_weights_of_one" [ "$(sha_of $wide cpu:1/$threads)" = "$reference_of_wide" ]
done
run train --data idx:data --steps 4 --seed 3 --json
reference_of_defaults=$(value weights_sha256)
for cores in 0 0-1; do
    taskset -c $cores true 2> /dev/null || continue
    taskset -c $cores "$muster" train --data idx:data --steps 4 --seed 3 --json > out 2> err
    check defaults_give_the_same_weights_on_cores_$cores [ "$(value weights_sha256)" = "$reference_of_defaults" ]
done
check the_default_batch_is_200_in_4_shards grep -q '"shards":4,"batch_size":200' out
taskset -c 0 "$muster" train --data idx:data --steps 1 > out 2> err
check first_line_says_what_runs grep -q '^mlp 64-500-8 (36,508 parameters, 427.8 KB with the optimizer) on idx:data (430 examples), .*batch 200 in 4 shards, adam' out
if taskset -c 0,1 true 2> /dev/null; then
    taskset -c 0,1 "$muster" train --data idx:data --steps 1 --shards 1 > out 2> err
    check options_that_use_idle_cores_are_told grep -q '^1 of 2 cores stay idle: --shards 2 --batch-size 400 uses them' out
fi
check another_seed_gives_other_weights [ "$(sha_of --seed 4)" != "$reference" ]

# ---- odd names and terminals -------------------------------------------------------------------------

"$muster" help train 2> err | head -n 1 > out
check help_for_a_reader_that_leaves_is_no_error [ ! -s err ]
many=$(awk 'BEGIN { for (i = 0; i < 1200; i++) printf "%scpu:1", i ? "," : "" }')
run devices --devices "$many"
check long_list_of_devices_is_taken_whole [ $status -eq 0 -a "$(grep -c 'device:CPU:' out)" -eq 1200 ]
latin=$(printf 'caf\351')
cp -r data "$latin"
run train --data "idx:$latin" --hidden-units 4 --steps 1 --json
check path_that_is_not_utf8_gives_json [ $status -eq 0 ]
check path_that_is_not_utf8_is_readable json_lines out
if command -v script > /dev/null 2>&1 && command -v stty > /dev/null 2>&1; then
    script -qec "stty cols 60; '$muster' help train" /dev/null > out 2> err < /dev/null
    check help_fits_the_terminal awk '{ sub(/\r$/, ""); if (length($0) > 60 && $0 !~ /^ *--/ && $0 !~ /^muster train --data/) exit 1 }' out
fi

# ---- predictions -------------------------------------------------------------------------------------

works predictions_are_written "^predictions: p.npy" train $small --steps 3 --predict p.npy
check predictions_are_an_npy_file sh -c 'head -c 6 p.npy | grep -q NUMPY'
works npy_is_inspected "elements  *f32 \[50, 8\]" inspect p.npy
run inspect p.npy --json
check npy_is_inspected_as_json grep -q '"format":"NPY","tensors":\[{"name":"elements","dtype":"f32","shape":\[50,8\]' out
head -c 1000 p.npy > cut.npy
run inspect cut.npy
check npy_that_is_cut_off_is_damaged [ $status -eq 1 -a "$(cat out err | grep -c 'does not take the 872 bytes')" -ge 1 ]
check predictions_have_a_row_for_each_example [ "$(wc -c < p.npy)" -eq $((128 + 50 * 8 * 4)) ]
check no_temporary_file_is_left sh -c '! ls -A | grep -q "p.npy.\|[.]muster-"'
ln -s p.npy linked.npy
works predictions_follow_a_symbolic_link "^predictions" train $small --steps 3 --predict linked.npy
check the_symbolic_link_stays [ -L linked.npy ]
fails predictions_to_a_missing_folder_fail_before_training 1 "nowhere/p.npy" train $small --predict nowhere/p.npy
(ulimit -f 1 && exec "$muster" train $small --steps 1 --progress none --predict limited.npy) > /dev/null 2> err
check predictions_over_the_limit_of_file_sizes_are_an_error [ $? -eq 1 -a "$(grep -c "^error: 'limited.npy'" err)" -eq 1 ]
check predictions_that_failed_leave_no_file sh -c '! ls -A | grep -q "limited.npy\|[.]muster-"'
fails predictions_to_a_folder_are_refused 1 "data" train $small --predict data

# ---- logs and plots ----------------------------------------------------------------------------------

works a_log_is_named_at_the_end "^log: log/a " train $small --epochs 3 --logdir log/a --histograms-every 1 --profile 2:3 --validation-split 0.2
check a_log_has_the_folders_of_keras sh -c 'ls log/a/train/events.out.tfevents.* log/a/validation/events.out.tfevents.* > /dev/null'
check a_profile_is_a_chrome_trace grep -q '"traceEvents"' log/a/trace-2-3.json
works plot_shows_each_tag "^epoch_loss" plot log
works plot_names_the_runs " b a/validation " plot log
works plot_chooses_tags "^epoch_accuracy" plot log --tag accuracy --smooth 0.5 --height 5
check plot_shows_no_other_tag sh -c '! grep -q loss out'
check plot_fits_in_80_columns awk 'length($0) > 240 { exit 1 }' out
# what fontconfig, below cairo, does not give back is not for the leak checker of a build with sanitizers
echo 'leak:libfontconfig' > lsan.supp
LSAN_OPTIONS=suppressions=$folder/lsan.supp:print_suppressions=0
export LSAN_OPTIONS
run plot log --out curves.png
if grep -q 'built without the module' err; then
    printf 'skip plot_writes_pictures: this build has no cairo\n'
else
    check plot_writes_a_png sh -c 'head -c 4 curves.png | grep -q PNG'
    works plot_writes_an_svg "^curves.svg: " plot log --out curves.svg
    check plot_wrote_an_svg grep -q '<svg' curves.svg
    fails plot_to_a_missing_folder_is_an_error 1 "nowhere" plot log --out nowhere/curves.png
fi
unset LSAN_OPTIONS
fails plot_of_no_log_says_what_to_give 1 "'nowhere' is no folder" plot nowhere
fails plot_of_an_empty_folder_says_so 1 "has no event files" plot data
fails plot_of_an_unknown_tag_names_one_that_is_there 1 "it has 'epoch_accuracy'" plot log --tag nothing
fails plot_needs_a_log 2 "plot LOGDIR" plot
fails plot_knows_two_kinds_of_pictures 2 "png or .svg" plot log --out curves.pdf
cp -r log broken && for file in broken/a/train/*tfevents*; do printf 'x' | dd of="$file" bs=1 seek=20 conv=notrunc 2> /dev/null; done
fails plot_of_a_damaged_log_names_file_and_byte 1 "tfevents.*record at byte 0 is damaged" plot broken
fails profile_needs_a_log 2 "profile needs --logdir" train $small --profile 1:2
fails histograms_need_a_log 2 "histograms-every needs --logdir" train $small --histograms-every 2
for steps in 0:5 5:4 x 3: 3:4:5; do
    fails "profile_of_${steps}_is_refused" 2 "profile $steps" train $small --logdir log/b --profile $steps
done
: > curves.file
fails a_log_below_a_file_fails_before_training 1 "is a file" train $small --logdir curves.file/log
(ulimit -f 1 && exec "$muster" train $small --epochs 5 --progress none --log-every 1 --logdir log/full) > out 2> err
check a_log_over_the_limit_of_file_sizes_is_an_error [ $? -eq 1 -a "$(grep -c "^error: '.*tfevents.*cannot be written" err)" -eq 1 ]

# ---- libraries ---------------------------------------------------------------------------------------

# files that are no libraries, under the names of those that the command needs
mkdir found
for library in $(ldd "$muster" | awk '/=>/ { print $1 }'); do : > "found/$library"; done
cd found || exit 1
works no_library_is_loaded_from_the_current_folder "^muster " version
cd ..
rm -r found

# ---- interruption ------------------------------------------------------------------------------------

for signal in INT:130 TERM:143 HUP:129; do
    wanted=${signal#*:} signal=${signal%:*}
    "$muster" train $small --epochs 100000000 --progress none --evaluate > out 2> err &
    process=$!
    sleep 1
    kill -$signal $process
    wait $process
    status=$?
    check "sig${signal}_ends_training_with_status_$wanted" [ $status -eq "$wanted" ]
    check "sig${signal}_is_told_with_the_step" grep -q '^interrupted after step [0-9]' out
    check "sig${signal}_says_that_the_weights_are_gone" sh -c 'tail -n 1 out | grep -q "^the weights are gone now: --save"'
    check "sig${signal}_still_prints_the_summary" grep -q '^weights sha256: [0-9a-f]\{64\}' out
done

(trap '' HUP && exec "$muster" train $small --steps 2000 --progress lines --log-every 1) > out 2> err & # as nohup does
process=$!
until grep -qs '^step' out; do sleep 0.05; done
kill -HUP $process
wait $process
check sighup_that_is_ignored_stays_so [ $? -eq 0 ]

# ---- other formats -----------------------------------------------------------------------------------

small_training="--hidden-units 16 --batch-size 40 --epochs 2 --seed 5 --devices cpu:2 --json"
run train --data idx:data $small_training
wanted=$(value weights_sha256)
works data_is_converted_to_shards "train  430 rows" convert idx:data tfrecord:converted --shards 3
check shards_have_their_names [ -e converted-train-00002-of-00003 ]
works gzip_shards_are_written "train  430 rows" convert idx:data tfrecord:packed --compression gzip --shards 2
works records_are_converted_back "train  430 rows" convert tfrecord:converted npz:converted.npz
works records_are_converted_to_idx "train  430 rows" convert tfrecord:packed idx:converted
for data in tfrecord:converted tfrecord:packed npz:converted.npz idx:converted; do
    run train --data $data $small_training
    check "weights_of_${data%%:*}_are_those_of_the_original" [ "$(value weights_sha256)" = "$wanted" ]
done
works records_are_inspected "TFRecord, plain, 143 records" inspect converted-train-00000-of-00003
works features_are_inspected "image_raw  *bytes  *64 bytes" inspect packed-train-00000-of-00002
check number_of_pixels_is_there grep -q "pixels  *integers  *1 value  *64 to 64" out
works arrays_are_inspected "x_train  *u8 \[430, 8, 8\]  [0-9]* to" inspect converted.npz
works idx_is_inspected "elements  *u8 \[430, 8, 8\]" inspect converted/train-images-idx3-ubyte
printf '\001\002\003' > unknown
fails file_of_no_format_is_named 1 "'unknown': is of no format.*known are.*TFRecord" inspect unknown
run train --data idx:data $small_training --checkpoint-dir inspected --logdir inspected/log --save inspected.safetensors
works checkpoints_of_a_folder_are_inspected "step [0-9]*, good" inspect inspected
check newest_checkpoint_is_shown grep -q "layer1/weights/Adam  *f32 \[64, 16\]" out
check logs_of_a_folder_are_inspected grep -q "epoch_loss  *scalar  *2 points, steps 0 to 1, last value" out
works prefix_is_inspected "global_step  *i64 \[\]" inspect inspected/model.ckpt-*.index
works safetensors_are_inspected "layer1/weights  *f32 \[64, 16\]" inspect inspected.safetensors
works inspect_has_json '^{"file":"converted.npz","format":"NPZ","tensors":\[{"name":"x_train","dtype":"u8","shape":\[430,8,8\]' inspect converted.npz --json
run inspect --json converted.npz inspected
check each_thing_is_one_line_of_json [ "$(grep -c '^{"file":.*}$' out)" -eq 3 -a "$(wc -l < out)" -eq 3 ]
fails missing_file_is_told 1 "'nowhere': there is no such file, folder or checkpoint" inspect nowhere
fails inspect_needs_a_file 2 "which file" inspect
printf 'width,kind,color\n1.5,wide,red\n0.5,"thin",blue\n' > table-train.csv
printf 'color,width,kind\nblue,0.25,thin\n' > table-test.csv
works tables_are_converted "train  2 rows: f32 \[2\], i64 \[\]" convert csv:table npz:table.npz --label kind
works tables_are_trained_on "test: loss" train --data csv:table --label kind --classes 2 --hidden-units 4 --epochs 1 --evaluate
fails missing_column_names_those_there_are 1 "no column 'kin'.*'width', 'kind', 'color'" train --data csv:table --label kin
fails label_is_for_tables_only 1 "label is for csv:FILE" train --data idx:data --label kind
for to in npz:converted.npz tfrecord:converted idx:converted; do
    fails "convert_does_not_overwrite_${to%%:*}" 1 "'converted.* is there already: .*, or say --overwrite$" convert idx:data $to
    works "convert_overwrites_${to%%:*}_when_told_to" "train  430 rows" convert idx:data $to --overwrite $([ $to = tfrecord:converted ] && echo --shards 3)
done
mkdir folder 'pre[f]ix*' && cp converted.npz 'pre[f]ix*/a-train.csv'
fails letters_of_patterns_are_letters 1 "'pre.f.ix./a-train.csv' is there already" convert idx:data 'csv:pre[f]ix*/a'
works letters_of_patterns_are_no_patterns "train  430 rows" convert idx:data 'tfrecord:pre*'
fails convert_needs_two_specs 2 "from what to what" convert idx:data
fails convert_to_unknown_says_what_there_is 1 "use csv:FILE, .*tfrecord:PREFIX" convert idx:data tsv:x
works tables_are_written "train  430 rows" convert idx:data csv:cells
check both_parts_of_a_table_are_written [ "$(cat cells-train.csv cells-test.csv | wc -l)" -eq 482 ]
works tables_become_records "train  430 rows" convert csv:cells tfrecord:cells
works records_become_tables "train  430 rows" convert tfrecord:cells csv:again
check tables_through_records_are_the_same_files cmp -s cells-train.csv again-train.csv
works table_of_names_becomes_records "train  2 rows" convert csv:table tfrecord:named --label kind
works table_of_names_comes_back "train  2 rows" convert tfrecord:named csv:named
check names_of_columns_come_back [ "$(head -n 1 named-train.csv)" = width,color,kind ]
check names_of_categories_and_classes_come_back grep -q '^1.5,red,wide$' named-train.csv
works table_with_names_is_written "train  2 rows" convert csv:named csv:same
check table_with_names_is_the_same_file cmp -s named-train.csv same-train.csv
echo '{' > named-schema.json
fails damaged_schema_names_its_file 1 "'named-schema.json': schema: it is no JSON" convert tfrecord:named csv:broken
rm named-schema.json && ln -s named-schema.json named-schema.json
fails schema_that_cannot_be_opened_is_not_taken_for_missing 1 "'named-schema.json': cannot be opened" convert tfrecord:named csv:broken
rm named-schema.json && echo '{' > named-schema.json
run convert idx:data tfrecord:named --overwrite && check records_without_a_schema_take_the_old_away [ ! -e named-schema.json ]
if run convert idx:data images:pictures && [ $status -eq 0 ]; then
    works pictures_become_records "train  430 rows: u8 \[8, 8, 3\]" convert images:pictures tfrecord:pictured --image-size 8
    works records_become_pictures "train  430 rows" convert tfrecord:pictured images:again
    "$muster" convert idx:data tfrecord:slashed > out
    for i in 0 1 2 3 4 5 6 7 8 9; do echo "of $i/top"; done > slashed-labels.txt
    works class_with_a_slash_in_its_name_is_one_folder "train  430 rows" convert tfrecord:slashed images:slashed
    check slash_in_the_name_of_a_folder_is_another_letter [ "$(ls slashed/train | head -n 1)" = "of 0_top" ]
    (ulimit -f 1 && exec "$muster" convert tfrecord:slashed tfrecord:limited) > out 2> err
    check conversion_that_fails_leaves_no_file sh -c '! ls | grep -q "^limited"'
    works pictures_can_be_gray "train  430 rows: u8 \[8, 8, 1\]" convert images:again idx:gray --image-size 8 --gray
    "$muster" convert images:pictures idx:wanted --image-size 8 --gray > out
    check pictures_through_records_are_the_same_pixels cmp -s gray/train-images-idx3-ubyte wanted/train-images-idx3-ubyte
    run train --data images:pictures --image-size 8 $small_training
    wanted=$(value weights_sha256)
    run train --data tfrecord:pictured $small_training
    check weights_of_pictures_are_those_of_their_records [ "$(value weights_sha256)" = "$wanted" ]
    fails folder_that_is_there_is_not_overwritten 1 "'pictures': is there and not empty" convert idx:data images:pictures
    works pictures_are_inspected "train  *430 pictures in 8 classes, all of 8 x 8 pixels" inspect pictures
    head -c 60 pictures/train/3/00003.png > cut && mv cut pictures/train/3/00003.png
    run inspect pictures
    check damaged_picture_is_inspected [ $status -eq 1 ]
    check damaged_picture_is_named grep -q "damage: 'pictures/train/3/00003.png'" out
else
    check pictures_need_libspng grep -q libspng err
fi
fails folder_of_records_is_named 1 "name the files in it" train --data tfrecord:data
fails missing_records_are_named 1 "no '/nowhere/x-train-00000-of-" train --data tfrecord:/nowhere/x
printf 'x' | dd of=converted-train-00001-of-00003 bs=1 seek=30 conv=notrunc 2> err
run inspect converted-train-00001-of-00003
check damage_is_inspected [ $status -eq 1 ]
check damage_is_counted_beside_what_is_good grep -q '142 records' out
run train --data tfrecord:converted $small_training
check damaged_record_ends_the_training [ $status -eq 1 ]
check damaged_record_is_named grep -q "converted-train-00001-of-00003': record at byte 0" err
works damaged_record_can_be_skipped_and_is_counted '"skipped_corrupt":1' train --data tfrecord:converted $small_training --skip-corrupt 1

# ---- memory ------------------------------------------------------------------------------------------

# Sanitizers need more address space than any limit leaves: then even `version` does not start.
if { (ulimit -v 120000 && "$muster" version > /dev/null 2>&1); } 2> /dev/null; then
    (ulimit -v 120000 && exec "$muster" train $small --hidden-units 20000 --steps 1 --progress none) > out 2> err
    status=$?
    check out_of_memory_is_an_error [ $status -eq 1 ]
    check out_of_memory_says_how_much grep -q '^error: .*cannot get [0-9.]* [KMGT]B of memory: take a smaller batch, model or data set' err
    check out_of_memory_is_one_line [ "$(wc -l < err)" -eq 1 ]
else
    printf 'skip out_of_memory: no limit of memory can be set for this build\n'
fi

# While options are read; the first allocations of main (test/module/scarce.c).
modules=$(dirname "$muster")/modules
LD_PRELOAD=$modules/libmuster-scarce.so MUSTER_SCARCE=1 "$muster" train $small > out 2> err
if grep -q 'cannot get .*memory' err; then
    for allocation in 1 2 3 4 5 6; do
        LD_PRELOAD=$modules/libmuster-scarce.so MUSTER_SCARCE=$allocation "$muster" train $small --steps 1 > out 2> err
        status=$?
        check "allocation_${allocation}_that_fails_is_no_usage_error" \
            [ $status -eq 1 -a "$(grep -c '^error: .*cannot get .*memory' err)" -eq 1 ]
    done
else
    printf 'skip allocation_that_fails: this build has another malloc\n'
fi

# ---- the real thing ----------------------------------------------------------------------------------

run train --data fashion-mnist --devices cpu:2 --steps 100 --json
if [ $status -ne 0 ]; then
    printf 'skip fashion_mnist: %s\n' "$(cat err)"
elif [ "$(value examples_per_sec | cut -d. -f1)" -lt 8000 ]; then
    printf 'skip fashion_mnist_reaches_0_885: this build is slow\n'
else
    run train --data fashion-mnist --devices cpu:2 --epochs 10 --seed 1 --evaluate --json
    check fashion_mnist_reaches_0_885 awk -v a="$(value test_accuracy)" 'BEGIN { exit !(a >= 0.885) }'
fi

# ---- checkpoints -------------------------------------------------------------------------------------

fails save_every_must_be_steps_or_seconds 2 "save-every.*1000.*60s" train $small --checkpoint-dir ck --save-every 5m
fails save_every_without_folder_says_so 2 "checkpoint-dir" train $small --save-every 5
fails saved_file_must_have_a_known_ending 2 "safetensors or .npz" train $small --save model.pt
fails monitor_without_use_is_refused 2 "patience" train $small --monitor loss
fails checkpoints_in_a_file_are_refused 1 "is a file" train $small --checkpoint-dir data/train-images-idx3-ubyte
ln -s no-such-folder link
fails nor_behind_a_link_to_what_is_not_there 1 "'link/run' cannot be made: 'link' is a symbolic link to what is not there: make that folder" \
    train $small --checkpoint-dir link/run
fails evaluate_of_no_folder_says_so 1 "no such folder" evaluate --checkpoint-dir none --data idx:data
mkdir no_checkpoint
fails evaluate_of_folder_without_checkpoint_says_so 1 "no checkpoint" evaluate --checkpoint-dir no_checkpoint --data idx:data
fails evaluate_of_missing_file_says_so 1 "none.npz" evaluate --load none.npz --data idx:data

run train $small --epochs 3 --json
undisturbed=$(value weights_sha256)
run train $small --epochs 3 --json --checkpoint-dir ck --save-every 4 --save model.safetensors
check checkpoints_change_no_weight [ "$(value weights_sha256)" = "$undisturbed" ]
run train $small --epochs 3 --json --checkpoint-dir ck
check finished_training_that_is_resumed_adds_nothing [ "$(value weights_sha256)" = "$undisturbed" ]
check finished_training_says_where_it_goes_on grep -q '"event":"restored".*"step":33' out
rm -r ck
run train $small --epochs 3 --steps 7 --checkpoint-dir ck --json
run train $small --epochs 3 --checkpoint-dir ck --json
fails two_kinds_of_ends_at_once 2 "epochs.*steps" train $small --epochs 3 --steps 7
rm -r ck
fails checkpoint_of_another_model_is_named 1 "another model" train --data idx:data --hidden-units 8 --load model.safetensors
works evaluate_reads_a_model_file 'test: loss' evaluate --load model.safetensors --data idx:data
run train $small --epochs 3 --evaluate --json --save model.npz
trained=$(value test_loss)
run evaluate --load model.npz --data idx:data --json
check evaluate_gives_the_loss_of_training [ "$(value test_loss)" = "$trained" ]
run train $small --epochs 3 --ema 0.9 --use-ema --evaluate --json --checkpoint-dir ck
trained=$(value test_loss)
run evaluate --checkpoint-dir ck --use-ema --data idx:data --json
check evaluate_with_averages_gives_the_loss_of_training_with_them [ "$(value test_loss)" = "$trained" ]
works predict_writes_a_file 'predictions: p.npy' predict --checkpoint-dir ck --data idx:data --out p.npy
check predictions_are_there [ -s p.npy ]
works out_may_be_written_output 'predictions: q.npy' predict --checkpoint-dir ck --data idx:data --output q.npy
check predictions_of_both_are_alike cmp -s p.npy q.npy
rm -r ck
works patience_ends_training_early 'stopped early: loss was best in epoch [0-9]*: loss = [0-9.]*, accuracy = [0-9.]*$' train $small --epochs 500 --learning-rate 0.01 --patience 1 --min-delta 0.5 --checkpoint-dir ck --best
check best_checkpoint_is_kept [ -e ck/best/checkpoint ]
fails averages_and_best_weights_at_once 2 "use-ema.*restore-best-weights.*one of them" train $small --ema 0.9 --use-ema --restore-best-weights
works best_weights_are_said_to_be_used "^weights: those after epoch [0-9]*, whose loss was best" train $small --epochs 3 --restore-best-weights
run train $small --epochs 30 --learning-rate 0.01 --monitor loss --patience 1 --min-delta 0.5 --restore-best-weights --json
best=$(value weights_sha256) epochs=$(value epochs)
check best_weights_are_said_in_json [ "$(value weights)" = best ]
check the_best_epoch_is_said_in_json [ "$(value best_epoch)" = $((epochs - 1)) ]
check and_its_loss_is_that_of_the_event_of_the_epoch \
    [ "$(grep "\"event\":\"epoch\",\"epoch\":$((epochs - 1))," out | sed 's/.*"loss":\([^,]*\),.*/\1/')" = "$(value best_loss)" ]
run train $small --epochs $((epochs - 1)) --learning-rate 0.01 --json
check weights_of_the_best_epoch_are_restored [ "$(value weights_sha256)" = "$best" ]
works best_checkpoint_can_be_evaluated 'test: loss' evaluate --checkpoint-dir ck/best --data idx:data
rm -r ck

# A signal saves and ends; the next run goes on to the same weights.
run train $small --epochs 2000 --json
undisturbed=$(value weights_sha256)
for signal in INT:130 TERM:143 HUP:129; do
    wanted=${signal#*:} signal=${signal%:*}
    rm -f out # what an earlier run said would be taken for this one's
    "$muster" train $small --epochs 2000 --checkpoint-dir ck --json > out 2> err &
    process=$!
    tries=0
    until grep -qs '"event":"step"' out || [ $tries -ge 100 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill -$signal $process
    wait $process
    check "signal_${signal}_gives_its_exit_status" [ $? -eq "$wanted" ]
    check "signal_${signal}_saves" [ -e ck/checkpoint ]
    check "signal_${signal}_names_its_checkpoint" [ -e "$(value checkpoint).index" ]
    run train $small --epochs 2000 --json --checkpoint-dir ck
    check "training_goes_on_after_${signal}_with_the_same_bits" [ "$(value weights_sha256)" = "$undisturbed" ]
    rm -r ck
done

end_of_checks
