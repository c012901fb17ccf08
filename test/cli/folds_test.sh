#!/bin/sh
# Cross validation: muster train --folds K. Usage: folds_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
options="--hidden-units 4 --batch-size 8 --epochs 2"
# the values of KEY in the events EVENT of `out`, one on a line
values() { grep "\"event\":\"$1\"" out | sed -n "s/.*\"$2\":\"\{0,1\}\([^,\"}]*\).*/\1/p"; }

awk 'BEGIN { print "x,city,kind"
             for (i = 0; i < 40; i++) printf "%.3f,%s,%s\n", i * 17 % 40 / 40, i == 7 ? "rare" : i % 2 ? "a" : "b", i % 5 < 2 ? "no" : "yes" }' > t.csv
awk 'NR == 1 || NR % 3 == 0' t.csv > test.csv

# ---- what is shown -----------------------------------------------------------------------------------

run train --data csv:t.csv $options --devices cpu:1 --folds 5 --json
cp out five
check each_fold_is_told [ "$(values fold fold | tr '\n' ' ')" = '1 2 3 4 5 ' ]
check rows_are_shared_out [ "$(values fold validation_examples | sort -u)" = 8 ]
check others_are_trained_on [ "$(values start examples | sort -u)" = 32 ]
for measure in loss accuracy val_loss val_accuracy; do
    values fold $measure > folds
    check mean_and_deviation_of_$measure awk -v mean="$(value $measure)" -v deviation="$(value ${measure}_deviation)" '
        { x[NR] = $1; sum += $1 }
        END { for (i = 1; i <= NR; i++) s += (x[i] - sum / NR) ^ 2
              a = mean - sum / NR; b = deviation - sqrt(s / (NR - 1))
              exit !(NR == 5 && deviation > 0 && a * a < 1e-12 && b * b < 1e-12) }' folds
done
shas=$(values fold weights_sha256)
check each_fold_has_its_own_model [ "$(printf '%s\n' "$shas" | sort -u | wc -l)" = 5 ]
works lines_tell_the_same '^done: 5 folds, loss = 0\.[0-9]* +- 0\.[0-9]*, accuracy = .* val_loss = .* val_accuracy = .*mean +- standard deviation' \
    train --data csv:t.csv $options --devices cpu:1 --folds 5 --progress none
check lines_of_folds [ "$(grep -c '^fold [1-5] of 5: step 8, loss = .* (32 examples, 8 kept for validation)$' out)" = 5 ]

# ---- what the folds depend on ------------------------------------------------------------------------

run train --data csv:- $options --devices cpu:2 --folds 5 --json < t.csv
check same_folds_on_two_devices_and_of_standard_input [ "$(values fold weights_sha256)" = "$shas" ]
run train --data csv:t.csv $options --devices cpu:1 --folds 5 --json --test-data csv:test.csv
check test_data_is_in_no_fold [ "$(values fold weights_sha256)" = "$shas" ]
check test_data_is_measured_by_each [ "$(values fold test_loss | wc -l)" = 5 ] && check test_data_has_a_mean [ -n "$(value test_loss_deviation)" ]
run train --data csv:t.csv $options --devices cpu:1 --folds 5 --json --seed 1
check seed_draws_the_folds [ "$(values fold val_loss | sort)" != "$(grep '"event":"fold"' five | sed 's/.*"val_loss":\([^,]*\).*/\1/' | sort)" ]

# The category of one row is learnt in the folds that are trained on it, so one fold has a weight less for each unit.
cp five out
check categories_are_those_of_the_rows_trained_on [ "$(values start features | sort | uniq -c | tr -s ' \n' ' ')" = ' 1 3 4 4 ' ]
awk 'BEGIN { print "review,kind"; for (i = 0; i < 20; i++) printf "%s word%d,%s\n", i % 2 ? "good" : "bad", i, i % 2 }' > texts.csv
run train --data csv:texts.csv --text review --label kind --sequence-length 16 --batch-size 8 --epochs 1 --devices cpu:1 --folds 4 --json
part=$(values start parameters | sort -u)
run train --data csv:texts.csv --text review --label kind --sequence-length 16 --batch-size 8 --epochs 1 --devices cpu:1 --json
whole=$(values start parameters)
# each text has a word of its own, and a fold keeps five texts: the embedding has five rows less
check words_are_those_of_the_rows_trained_on [ "$whole" -gt "$part" ] && check five_words_less [ $(((whole - part) % 5)) = 0 ]

# ---- other options -----------------------------------------------------------------------------------

run train --data csv:t.csv $options --epochs 6 --devices cpu:1 --folds 3 --json --patience 1 --restore-best-weights --class-weight balanced --learning-rate 0.5
check folds_stop_early_and_weigh_classes [ "$(values fold val_loss | wc -l)" = 3 ]
values epoch val_loss > epochs
values epoch fold | paste -d ' ' - epochs | awk '{ if (!($1 in least) || $2 < least[$1]) least[$1] = $2 } END { for (i = 1; i <= 3; i++) print least[i] }' > best
values fold val_loss > folds
check best_weights_are_measured cmp -s best folds
works numbers_are_not_stratified '^done: 4 folds, loss = .*val_mean_absolute_error' train --data csv:t.csv --label x --loss mse $options --devices cpu:1 --folds 4 --progress none
awk 'NR < 5' t.csv > few.csv
fails more_folds_than_rows_are_told 1 "3 rows cannot make 4 folds" train --data csv:few.csv $options --devices cpu:1 --folds 4
for option in '--save m.npz' '--checkpoint-dir run' '--validation-split 0.1' '--validation-data csv:test.csv' '--history h.csv' '--predict p.csv'; do
    name=${option#--}
    fails "${name%% *}_is_refused" 2 "^error: train: --folds measures 3 models, and keeps none: --${name%% *} is for one training" \
        train --data csv:t.csv $options --folds 3 $option
done
fails one_fold_is_refused 2 'folds' train --data csv:t.csv $options --folds 1
end_of_checks
