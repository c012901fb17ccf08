#!/bin/sh
# Tables: how they are read, and what a model keeps of their columns. Usage: table_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
options="--loss mse --hidden-units 8 --batch-size 20 --devices cpu:1"

# ---- how cells are read ------------------------------------------------------------------------------

awk 'BEGIN { print "id,x,y"; for (i = 0; i < 60; i++) printf "r%d,%.2f,%.2f\n", i, i / 60, 2 + i / 30 }' > t.csv
tr ',' ';' < t.csv > semicolon.csv
tr ',' '\t' < t.csv > tab.csv
same_as="convert csv:t.csv npz:want.npz --drop id --overwrite"
run $same_as
# reads_the_same NAME OPTION...: another form of the same table, to the same bytes
reads_the_same() {
    name=$1
    shift
    works "$name" "train  60 rows: f32 \[1\], f32 \[\]" convert "$@" npz:got.npz --drop id --overwrite
    check "${name}_to_the_byte" cmp -s want.npz got.npz
}
reads_the_same delimiter_is_a_character csv:semicolon.csv --delimiter ';'
reads_the_same delimiter_is_tab csv:tab.csv --delimiter tab
reads_the_same delimiter_is_tab_as_shells_write_it csv:tab.csv --delimiter '\t'
gzip -9 < t.csv > t.csv.gz
reads_the_same table_is_gzip csv:t.csv.gz
reads_the_same table_is_standard_input csv:- < t.csv
reads_the_same standard_input_is_gzip csv:- < t.csv.gz
cp t.csv.gz part-train.csv.gz
head -n 11 t.csv | gzip > part-test.csv.gz
works parts_are_gzip "test  *10 rows" convert csv:part npz:parts.npz --drop id
fails delimiter_of_two_characters_is_refused 1 "^error: --delimiter ';;': is no one character" convert csv:t.csv npz:x.npz --delimiter ';;'
fails delimiter_of_none_is_refused 2 'delimiter: the C is empty' train --data csv:t.csv --delimiter ''
fails other_delimiter_is_told 1 "has 1 column, inputs and labels are due: check the delimiter" train --data csv:semicolon.csv $options
fails dropped_column_must_be_there 1 "'t.csv': has no column 'idd': its columns are 'id', 'x', 'y'" train --data csv:t.csv $options --drop idd
fails label_cannot_be_dropped 1 "the column of labels, 'y', cannot be dropped too" train --data csv:t.csv $options --drop x,y --label y
fails drop_names_columns 1 "^error: --drop: names no column" train --data csv:t.csv $options --drop ,
fails drop_is_for_tables 1 "drop is for csv:FILE" train --data npz:want.npz $options --drop x
fails delimiter_is_for_tables 1 "delimiter is for csv:FILE" train --data npz:want.npz $options --delimiter ';'
head -c 200 t.csv.gz > cut.csv.gz
fails gzip_that_ends_early_is_told 1 "'cut.csv.gz': the compressed data is cut off at byte 200" train --data csv:cut.csv.gz $options
fails empty_standard_input_is_told 1 "'standard input': is empty" train --data csv:- $options < /dev/null
fails standard_input_has_no_test_part 1 "'-' is the train part" train --data csv:- $options --drop id --evaluate < t.csv
{ cat t.csv && echo 'r60,NA,1'; } > na.csv
fails missing_number_is_named 1 "'na.csv', line 62, column 'x': the number is missing" train --data csv:na.csv $options --drop id
{ cat t.csv && echo 'r60,1,'; } > unlabelled.csv
fails missing_label_is_named 1 "'unlabelled.csv', line 62, column 'y': the label is missing" train --data csv:unlabelled.csv $options --drop id
awk -F , '{ print $1 ",," $3 }' t.csv | sed '1s/.*/id,x,y/' > hollow.csv
fails column_without_a_value_is_named 1 "'hollow.csv': column 'x' has no value in any row: leave it out with --drop" train --data csv:hollow.csv $options

# ---- a model keeps how its table was read ------------------------------------------------------------

run train --data csv:semicolon.csv $options --delimiter ';' --drop id --epochs 1 --save s.npz
check training_takes_a_delimiter [ $status -eq 0 ]
works predict_takes_the_delimiter_of_training '^      59  [-0-9.e]*$' predict --load s.npz --data csv:semicolon.csv
"$muster" predict --load s.npz --data csv:semicolon.csv > want 2>&1
"$muster" predict --load s.npz --data csv:- < semicolon.csv > got 2>&1
check predict_reads_standard_input cmp -s want got
works predict_takes_another_delimiter '^      59  [-0-9.e]*$' predict --load s.npz --data csv:t.csv --delimiter ,

end_of_checks
