#!/bin/sh
# Tables with several columns of labels. Usage: labels_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
options="--hidden-units 8 --batch-size 20 --devices cpu:1 --epochs 1"

awk 'BEGIN { print "x,city,far,\"price, EUR\",z"
             for (i = 0; i < 60; i++) printf "%.3f,%s,%.3f,%d,%.2f\n", i / 60, i % 3 ? "a" : "b", i / 30 + 1, 10 - i % 7, i * i / 3600 }' > t.csv
both='far,"price, EUR"'

# ---- training ----------------------------------------------------------------------------------------

works several_labels_are_numbers '^mlp 4-8-2 .*labels predicted as numbers by --loss mean_squared_error' \
    train --data csv:t.csv --label "$both" $options --save t.npz
want=$(sed -n 's/^weights sha256: //p' out)
works order_of_labels_is_that_of_the_option '"loss"' train --data csv:t.csv --label '"price, EUR",far' $options --json
check other_order_gives_other_weights [ "$(value weights_sha256)" != "$want" ]
run train --data csv:t.csv --label "$both" $options --raw-columns
raw=$(sed -n 's/^weights sha256: //p' out)
run convert csv:t.csv npz:t2.npz --label "$both"
works arrays_have_both_labels '^weights' train --data npz:t2.npz --loss mse $options
check same_weights_as_from_arrays grep -q "$raw" out
works labels_and_inputs_come_back_from_a_table 'train  60 rows: f32 \[3\], f32 \[2\]' convert csv:t.csv csv:back.csv --label "$both"
check columns_of_labels_are_last [ "$(head -n 1 back.csv)" = 'x,city,z,far,"price, EUR"' ]
check integers_stay_integers awk -F, '
    FNR == 1 { next }
    NR == FNR { far[FNR] = $3; price[FNR] = $4; next }
    far[FNR] != $4 + 0 || price[FNR] "" != $5 "" { wrong = 1 }
    END { exit wrong || FNR != 61 }' t.csv back.csv
works names_with_a_comma_need_no_quotes_alone '^mlp 2-8-11 ' train --data csv:t.csv --label 'price, EUR' --drop z,far,x --categories city $options --classes 11

# ---- evaluation and prediction -----------------------------------------------------------------------

works evaluate_reads_all_labels '^{' evaluate --load t.npz --data csv:t.csv --json --metrics mae,r2
loss=$(value test_loss) mae=$(value test_mean_absolute_error) r2=$(value test_r2)
run predict --load t.npz --data csv:t.csv --out -
cp out predicted.csv
check predictions_have_the_names_of_labels [ "$(head -n 1 predicted.csv)" = 'row,far,"price, EUR"' ]
# mean over rows and labels; r2: mean over labels
check loss_and_metrics_are_means_over_labels awk -F, -v loss="$loss" -v mae="$mae" -v r2="$r2" '
    FNR == 1 { next }
    NR == FNR { a[FNR] = $3; b[FNR] = $4; sa += $3; sb += $4; n++; next }
    { da = $2 - a[FNR]; db = $3 - b[FNR]; qa += da * da; qb += db * db
      e += (da < 0 ? -da : da) + (db < 0 ? -db : db)
      va += (a[FNR] - sa / n) ^ 2; vb += (b[FNR] - sb / n) ^ 2 }
    function near(x, y) { return x - y < 1e-4 * (1 + y * y) && y - x < 1e-4 * (1 + y * y) }
    END { exit !(near(loss, (qa + qb) / n / 2) && near(mae, e / n / 2) && near(r2, (2 - qa / va - qb / vb) / 2)) }
' t.csv predicted.csv
works table_names_them_too '^ *row  far  price, EUR$' predict --load t.npz --data csv:t.csv
cut -d , -f 1,2,5 t.csv | sed '1s/.*/x,city,z/' > new.csv
works prediction_needs_no_labels '^ *59 ' predict --load t.npz --data csv:new.csv
fails evaluation_needs_labels 1 "needs.* 'price, EUR'" evaluate --load t.npz --data csv:new.csv
cut -d , -f 1,2,3,5 t.csv | sed '1s/.*/x,city,far,z/' > half.csv
fails evaluation_needs_each_label 1 "'half.csv': has no column 'price, EUR'" evaluate --load t.npz --data csv:half.csv
fails other_labels_are_told 1 "1 column of labels is named here, and there were 2 in training" evaluate --load t.npz --data csv:t.csv --label far
run train --data csv:t.csv --label "$both" $options --save t.keras
run predict --load t.keras --data csv:t.csv --out -
check whole_model_keeps_the_names [ "$(head -n 1 out)" = 'row,far,"price, EUR"' ]

# ---- other losses, and errors ------------------------------------------------------------------------

awk 'BEGIN { print "x,no,yes,text"; for (i = 0; i < 40; i++) print i / 40 "," (i < 20) "," (i >= 20) "," (i % 2 ? "good day" : "bad") }' > c.csv
run train --data csv:c.csv --label no,yes --drop text --loss bce $options --save bce.npz
run predict --load bce.npz --data csv:c.csv --out -
check yes_or_no_of_each_label [ "$(head -n 1 out)" = row,no,yes ]
run train --data csv:c.csv --label no,yes --drop text --loss cce $options --save cce.npz
works columns_are_names_of_classes '^ *row  class  probability' predict --load cce.npz --data csv:c.csv
check class_is_a_column grep -q '^ *39  \(no \|yes\) ' out
works texts_have_several_labels 'labels predicted as numbers' train --data csv:c.csv --text text --label x,no --sequence-length 16 --max-tokens 9 --devices cpu:1 --epochs 1
fails class_among_labels_is_told 1 "column 'city' is of classes, and several labels must all be numbers: train a model for it alone" train --data csv:t.csv --label far,city $options
fails label_named_twice_is_told 1 "column 'far' is named twice as a label" train --data csv:t.csv --label far,far $options
fails label_that_is_not_there_is_told 1 "has no column 'fa': its columns are" train --data csv:t.csv --label far,fa $options
fails labels_alone_are_told 1 "all columns that are not dropped are labels" train --data csv:c.csv --label x,no --drop yes,text $options
fails classes_of_several_labels_are_told 1 "for several numbers --loss mean_squared_error" train --data csv:t.csv --label "$both" --classes 3 $options
fails label_of_several_cannot_be_dropped 1 "the column of labels, 'far', cannot be dropped too" train --data csv:t.csv --label "$both" --drop far $options
sed '5s/1.100//' t.csv > missing.csv
fails missing_label_is_named 1 "line 5, column 'far': the label is missing" train --data csv:missing.csv --label "$both" --missing mean $options
end_of_checks
