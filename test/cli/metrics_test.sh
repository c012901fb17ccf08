#!/bin/sh
# Metrics of the command: of two classes those of one, means over classes, and of numbers. Usage: metrics_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"

# rows N SEED: x decides whether a row is rare, not always
rows() {
    echo 'x,z,label'
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed)
        for (i = 0; i < n; i++) {
            x = rand() + rand() + rand() + rand() - 2
            printf "%.3f,%.3f,%s\n", x, rand(), rand() < 1 / (1 + exp(1.5 - 3 * x)) ? "rare" : "often"
        }
    }'
}
rows 600 1 > d-train.csv
rows 600 2 > d-test.csv
all=auc,pr_auc,precision,recall,f1
small="--hidden-units 8 --batch-size 40 --epochs 6 --seed 1"

# close A B MOST
close() { awk -v a="$1" -v b="$2" -v most="$3" 'BEGIN { d = a - b; exit !(a != "" && b != "" && d * d <= most * most) }'; }
# by_hand FILE CLASS: auc by ranks, precision, recall and f1 of a class, of the predictions in p.csv and the labels of FILE
by_hand() {
    awk -F , -v class="$2" '
        FNR == 1 { file++ }
        FNR == 1 && file == 1 { for (i = 1; i <= NF; i++) if ($i == class) column = i; next }
        FNR > 1 && file == 1 { p[FNR] = $column + 0 }
        FNR > 1 && file == 2 { y[FNR] = $NF == class; n = FNR }
        END {
            for (i = 2; i <= n; i++) {
                if (y[i] && p[i] > 0.5) right++
                chosen += p[i] > 0.5; labels += y[i]
                for (j = 2; y[i] && j <= n; j++) if (!y[j]) { pairs++; good += p[i] > p[j] ? 1 : p[i] == p[j] ? 0.5 : 0 }
            }
            printf "%.9f %.9f %.9f %.9f\n", good / pairs, right / chosen, right / labels, 2 * right / (labels + chosen)
        }' p.csv "$1"
}
# are_of NAME FILE CLASS: test_auc and so on of `out` are those of the class
are_of() {
    set -- "$1" $(by_hand "$2" "$3")
    check "$1_auc" close "$(value test_auc)" "$2" 0.001
    check "$1_precision" close "$(value test_precision)" "$3" 1e-6
    check "$1_recall" close "$(value test_recall)" "$4" 1e-6
    check "$1_f1" close "$(value test_f1)" "$5" 1e-6
}

# ---- two classes --------------------------------------------------------------------------------------

run train --data csv:d $small --devices cpu:1 --metrics $all --evaluate --save m.npz --checkpoint-dir ck --json
one=$(tail -n 1 out | grep -o '"test_[a-z_0-9]*":[^,}]*')
cp out trained
run predict --load m.npz --data csv:d-test.csv --out p.csv
cp trained out
are_of second_class d-test.csv rare
check event_names_the_class grep -q '"event":"start".*"positive":"rare"' out
check done_names_the_class grep -q '"event":"done".*"positive":"rare"' out
for devices in 2 4; do
    run train --data csv:d $small --devices cpu:$devices --metrics $all --evaluate --json
    check "metrics_of_${devices}_devices_are_those_of_one" [ "$(tail -n 1 out | grep -o '"test_[a-z_0-9]*":[^,}]*')" = "$one" ]
done
works first_line_names_the_class ", auc, pr_auc, precision, recall and f1 of class 'rare'$" train --data csv:d $small --devices cpu:1 --metrics $all --evaluate
check test_line_names_the_class grep -q "^test: .* examples, auc, pr_auc, precision, recall and f1 of class 'rare')" out
works accuracy_is_of_no_class '^mlp 2-8-2 .*, adam with learning rate [0-9.]*[a-z() ]*$' train --data csv:d $small --devices cpu:1 --metrics accuracy,macro_f1
for model in "--load m.npz" "--checkpoint-dir ck"; do
    run evaluate $model --json
    are_of "evaluate_${model##* }" d-test.csv rare
    run evaluate $model --positive often --json
    are_of "evaluate_${model##* }_of_another_class" d-test.csv often
    check "evaluate_${model##* }_names_the_class" grep -q '"positive":"often"' out
done
run train --data csv:d $small --devices cpu:1 --metrics $all --positive often --evaluate --save first.npz --json
are_of chosen_class d-test.csv often
run evaluate --load first.npz --json
are_of chosen_class_is_kept d-test.csv often
run evaluate --load first.npz --positive 1 --json
are_of class_by_number d-test.csv rare
fails class_must_be_there 1 "^error: --positive: there is no class 'seldom': classes are numbered from 0 to 1, and the last is called 'rare'" \
    train --data csv:d $small --devices cpu:1 --positive seldom
run train --data csv:d $small --devices cpu:1 --metrics $all --save m.keras --evaluate --json
are_of whole_model d-test.csv rare
run evaluate --load m.keras --data csv:d --metrics $all --json
are_of whole_model_is_evaluated d-test.csv rare

# what is monitored is what is printed, to ten digits, in which epochs may be equal
for metric in f1 auc macro_recall; do
    run train --data csv:d $small --epochs 12 --devices cpu:1 --metrics f1,auc,macro_recall --validation-split 0.3 --monitor val_$metric --patience 2
    epoch=$(grep -o "val_$metric was best in epoch [0-9]*" out | grep -o '[0-9]*$')
    "$muster" train --data csv:d $small --epochs 12 --devices cpu:1 --metrics f1,auc,macro_recall --validation-split 0.3 --monitor val_$metric --patience 2 --json |
        grep -o "\"val_$metric\":[0-9.e-]*" | cut -d : -f 2 | sed '$d' > values
    check "largest_${metric}_is_the_best" awk -v epoch="$epoch" '{ value[NR] = $1; if (NR == 1 || $1 > best) best = $1 } END { exit !(epoch != "" && value[epoch] == best) }' values
done

# labels of numbers: class 1; a single output: class 1, too
sed 's/rare/1/; s/often/0/' d-train.csv > n-train.csv
sed 's/rare/1/; s/often/0/' d-test.csv > n-test.csv
works class_without_a_name_has_its_number ", auc of class 1$" train --data csv:n $small --devices cpu:1 --metrics auc
run train --data csv:n $small --devices cpu:1 --metrics $all --evaluate --json
for metric in auc pr_auc precision recall f1; do
    check "numbers_as_names_$metric" [ "$(value test_$metric)" = "$(printf '%s\n' $one | grep "\"test_$metric\"" | cut -d : -f 2)" ]
done
run train --data csv:n --loss bce $small --devices cpu:1 --metrics $all --evaluate --save b.npz --json
cp out trained
run predict --load b.npz --data csv:n-test.csv --out p.csv
sed -i '1s/.*/row,class,1/' p.csv # the column is the probability of class 1
cp trained out
are_of single_output n-test.csv 1
run evaluate --load b.npz --positive 0 --json
check other_class_of_a_single_output close "$(value test_auc)" "$(tail -n 1 trained | grep -o '"test_auc":[^,]*' | cut -d : -f 2)" 1e-6

# ---- more classes -------------------------------------------------------------------------------------

awk -F , -v OFS=, 'NR > 1 && $1 < -0.6 { $3 = "low" } { print }' d-train.csv > c-train.csv
awk -F , -v OFS=, 'NR > 1 && $1 < -0.6 { $3 = "low" } { print }' d-test.csv > c-test.csv
run train --data csv:c $small --devices cpu:1 --metrics precision,recall,macro_precision,macro_recall,macro_f1 --evaluate --confusion --json
check no_class_is_named sh -c '! grep -q "\"positive\"" out'
mean_of() { tail -n 1 out | grep -o '"classes":.*' | grep -o "\"$1\":[0-9.e-]*" | awk -F : '{ s += $2; n++ } END { printf "%.12f", s / n }'; }
for metric in precision recall f1; do
    check "macro_${metric}_is_the_mean_of_the_classes" close "$(value test_macro_$metric)" "$(mean_of $metric)" 1e-6
done
works one_of_three_classes_can_be_chosen ", recall and auc of class 'low'" train --data csv:c $small --devices cpu:1 --metrics recall,auc --positive low
fails numbers_have_no_classes 1 "^error: --positive 1: is for one class an example, which this model with --loss mean_squared_error does not give: leave --positive out" train --data csv:n --loss mse $small --devices cpu:1 --positive 1

# ---- numbers ------------------------------------------------------------------------------------------

awk -F , -v OFS=, 'NR == 1 { print } NR > 1 { print $1, $2, 3 * $1 + $2 * $2 }' d-train.csv > y-train.csv
awk -F , -v OFS=, 'NR == 1 { print } NR > 1 { print $1, $2, 3 * $1 + $2 * $2 }' d-test.csv > y-test.csv
run train --data csv:y $small --devices cpu:1 --loss mse --metrics rmse,r2,mse --evaluate --save y.npz --json
cp out trained
run predict --load y.npz --data csv:y-test.csv --out p.csv
set -- $(awk -F , 'FNR == 1 { file++ } FNR > 1 && file == 1 { p[FNR] = $2 } FNR > 1 && file == 2 { n++; d = $3 - p[FNR]; e += d * d; s += $3; q += $3 * $3 }
    END { printf "%.9f %.9f\n", sqrt(e / n), 1 - e / (q - s * s / n) }' p.csv y-test.csv)
cp trained out
check rmse_is_that_of_the_rows close "$(value test_rmse)" "$1" 1e-5
check r2_is_that_of_the_rows close "$(value test_r2)" "$2" 1e-5
run train --data csv:y $small --devices cpu:4 --loss mse --metrics rmse,r2 --evaluate --json
check r2_of_four_devices_is_that_of_one [ "$(value test_r2)" = "$(tail -n 1 trained | grep -o '"test_r2":[^,]*' | cut -d : -f 2)" ]
works names_of_keras_are_known ', rmse = .*, r2 = ' train --data csv:y $small --devices cpu:1 --loss mse --metrics root_mean_squared_error,r2-score

# ---- labels of whole numbers, without a loss ----------------------------------------------------------

# labels NAME N EXPRESSION: rows of i and a label, an expression of awk in i
labels() { awk -v n="$2" "BEGIN { print \"x,y\"; for (i = 0; i < n; i++) print i \",\" $3 }" > "$1.csv"; }
labels counts 400 'int(i * i / 460)'
labels ages 300 '1900 + i % 30'
labels halves 30 'i / 2'
labels signed 200 'i % 41 - 20'
labels digits 300 'i % 10'
labels classes 2500 'i % 50'
labels few 60 'i % 20 * 3'
tiny="--hidden-units 4 --epochs 1 --devices cpu:1"
for kind in counts ages signed; do
    works "${kind}_are_predicted_as_numbers" '^mlp 1-4-1 .*, labels of [0-9]* different numbers predicted by --loss mean_squared_error (--loss sparse_categorical_crossentropy takes them for classes)' \
        train --data csv:$kind.csv $tiny --save $kind.npz
    works "${kind}_are_evaluated_as_numbers" '^test: loss = .*, mean_absolute_error = ' evaluate --load $kind.npz --data csv:$kind.csv
done
works halves_are_predicted_as_numbers '^mlp 1-4-1 .*, labels predicted as numbers by --loss mean_squared_error' train --data csv:halves.csv $tiny
run train --data csv:counts.csv $tiny --json
check event_tells_the_loss grep -q '"event":"start".*"chosen_loss":"mean_squared_error"' out
works digits_are_classes '^mlp 1-4-10 .*cosine)$' train --data csv:digits.csv $tiny
run train --data csv:few.csv $tiny
check few_are_classes grep -q '^mlp 1-4-58 .*cosine)$' out
works classes_are_classes '^mlp 1-4-50 .*, labels of 50 classes (--loss mean_squared_error predicts them as numbers)' train --data csv:classes.csv $tiny
run train --data csv:counts.csv $tiny --loss sparse_categorical_crossentropy
check loss_says_what_labels_are grep -q '^mlp 1-4-347 .*cosine)$' out
works classes_say_what_labels_are '^mlp 1-4-400 ' train --data csv:counts.csv $tiny --classes 400
run train --data csv:counts.csv $tiny --class-weight balanced
check weights_of_classes_say_what_labels_are grep -q '^mlp 1-4-347 ' out
works loss_of_numbers_says_it_too '^mlp 1-4-1 .*cosine)$' train --data csv:digits.csv $tiny --loss mse

# ---- every metric is in the help, and in the table of the docs -----------------------------------------

# names TEXT: the words between the commas of TEXT, each in a line, in order
names() { echo "$1" | tr -d '` ' | tr , '\n' | LC_ALL=C sort; }
# a metric is a file of src/metric with an enumerator
grep -h -o 'enum { MST_METRIC_[A-Z0-9_]* = [1-9]' "$here"/../src/metric/*.c | sed 's/.*METRIC_//; s/ .*//' | tr A-Z a-z |
    LC_ALL=C sort > metrics
check metrics_are_found test "$(wc -l < metrics)" -ge 15
"$muster" help train | awk '/^  --/ { on = $1 == "--metrics" } on' > text
check help_has_all_metrics [ -z "$(while read -r metric; do grep -q -w "$metric" text || echo "$metric"; done < metrics)" ]
names "$(sed -n 's/^| \*\*Metrics\*\* | `--metrics \([^`]*\)`.*/\1/p' "$here/../docs/daily-use.md")" > of-docs
check docs_have_all_metrics cmp of-docs metrics

# ---- metrics that do not fit the loss ------------------------------------------------------------------

of_classes="accuracy binary_accuracy categorical_accuracy sparse_categorical_accuracy sparse_accuracy top_k_accuracy
    sparse_top_k_categorical_accuracy precision recall f1 auc pr_auc macro_precision macro_recall macro_f1"
of_numbers="mean_squared_error mean_absolute_error rmse r2"
labels bits 60 'i % 2'
awk 'BEGIN { print "x,y"; for (i = 0; i < 60; i++) print i ",k" i % 3 }' > names.csv
run train --data csv:halves.csv $tiny --save halves.npz
run train --data csv:names.csv $tiny --save names.npz
for metric in $of_classes; do
    for loss in mse mae huber poisson hinge; do
        fails "${metric}_is_not_of_$loss" 1 "^error: --metrics $metric: counts examples by their class, which --loss [a-z_]* does not have: take mean_absolute_error" \
            train --data csv:bits.csv $tiny --loss $loss --metrics $metric
    done
    fails "${metric}_is_not_of_numbers" 1 "^error: --metrics $metric: counts examples by their class" train --data csv:halves.csv $tiny --metrics rmse,$metric
    fails "${metric}_is_not_evaluated_of_numbers" 1 "^error: --metrics $metric: counts examples by their class" evaluate --load halves.npz --data csv:halves.csv --metrics $metric
done
for metric in $of_numbers; do
    for data in bits names; do
        fails "${metric}_is_not_of_classes_of_$data" 1 "^error: --metrics $metric: measures by how much numbers differ, and --loss sparse_categorical_crossentropy has classes: take accuracy" \
            train --data csv:$data.csv $tiny --metrics $metric
    done
    fails "${metric}_is_not_of_logits" 1 "^error: --metrics $metric: measures" train --data csv:bits.csv $tiny --loss bce --metrics $metric
    fails "${metric}_is_not_evaluated_of_classes" 1 "^error: --metrics $metric: measures" evaluate --load names.npz --data csv:names.csv --metrics $metric
    works "${metric}_is_of_numbers" "^done: .*, $metric = " train --data csv:halves.csv $tiny --metrics $metric
done
for metric in binary_accuracy categorical_accuracy; do
    fails "${metric}_is_not_of_class_numbers" 1 "^error: --metrics $metric: does not fit the labels that --loss sparse_categorical_crossentropy takes, class numbers from 0 on: take accuracy" \
        train --data csv:names.csv $tiny --metrics $metric
done
for metric in categorical_accuracy sparse_categorical_accuracy top_k_accuracy; do
    fails "${metric}_is_not_of_yes_and_no" 1 "^error: --metrics $metric: does not fit the labels that --loss binary_crossentropy takes" train --data csv:bits.csv $tiny --loss bce --metrics $metric
done
# what a training has noted is for its loss
run train --data csv:bits.csv $tiny --loss bce --metrics f1 --save bits.npz
works noted_metrics_that_do_not_fit_are_left_out '^test: loss = [0-9.]*, mean_absolute_error = [0-9.]* (' evaluate --load bits.npz --data csv:bits.csv --loss mse

# ---- class numbers that no example has ----------------------------------------------------------------

labels from_one 60 '1 + i % 2'
labels gap 60 '2 * (i % 2)'
labels far 60 '300 * (i % 2)'
labels constant 60 '0'
labels scattered 60 '7 * (i % 20)'
# warns_of NAME CLASSES PATTERN: and so does the same table as arrays
warns_of() {
    run train --data csv:$1.csv $tiny
    check "labels_${1}_are_warned_of" [ "$status" -eq 0 -a "$(grep -c "^warning: no example is of class $3, but the model has an output for each of the $2 classes from 0 to $(($2 - 1)): .*--categories 'y'; --classes $2 is for" err)" -eq 1 ]
    check "labels_${1}_have_an_output_for_each_number" grep -q "^mlp 1-4-$2 " out
    run convert csv:$1.csv npz:$1.npz --overwrite
    run train --data npz:$1.npz $tiny
    check "arrays_${1}_are_warned_of" grep -q "^warning: no example is of class $3, .* without gaps; --classes $2 is for" err
    run convert csv:$1.csv tfrecord:$1
    run train --data tfrecord:$1 $tiny
    check "records_${1}_are_warned_of" grep -q "^warning: no example is of class $3, .* without gaps; --classes $2 is for" err
    works "classes_of_${1}_may_be_meant_so" "^mlp 1-4-$2 " train --data csv:$1.csv $tiny --classes $2
}
warns_of from_one 3 0
warns_of gap 3 1
warns_of far 301 '1 to 299'
warns_of constant 2 1
warns_of scattered 134 '1 to 6, 8 to 13, .*, \.\.\.'
works numbers_that_occur_can_be_the_classes '^mlp 1-4-2 ' train --data csv:from_one.csv $tiny --categories y --metrics f1
end_of_checks
