#!/bin/sh
# Tables whose numbers are written in other notations, dates, and texts that are hardly categories.
# Usage: notation_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
options="--loss mse --hidden-units 8 --batch-size 20 --epochs 2 --seed 3 --devices cpu:1"

# ---- the same table in several notations is trained to the same weights ------------------------------

# rows FROM TO: size and price as C writes them, with numbers below and above 1000
rows() {
    echo 'size;kind;price'
    awk -v from="$1" -v to="$2" 'BEGIN { for (i = from; i < to; i++) printf "%.2f;%s;%.2f\n", i * 37.25 + 0.5, i % 2 ? "a" : "b", 900000.25 + i * 1111 }'
}
rows 0 60 > plain-train.csv
rows 60 80 > plain-test.csv
# to_comma, to_dollar, ...: size and price of standard input in that notation
thousands='function group(x, mark,   whole, rest) {
    split(x, part, "."); whole = part[1]; rest = ""
    while (length(whole) > 3) { rest = mark substr(whole, length(whole) - 2) rest; whole = substr(whole, 1, length(whole) - 3) }
    return whole rest }'
to_comma() { awk -F ';' -v OFS=';' 'NR > 1 { sub(/\./, ",", $1); sub(/\./, ",", $3) } { print }'; }
to_points() { awk -F ';' -v OFS=';' "$thousands"' NR > 1 { split($1, a, "."); split($3, b, "."); $1 = group($1, ".") "," a[2]; $3 = group($3, ".") "," b[2] } { print }'; }
to_marks() { awk -F ';' -v OFS=';' "$thousands"' NR > 1 { split($1, a, "."); split($3, b, "."); $1 = group($1, ",") "." a[2]; $3 = group($3, ",") "." b[2] } { print }'; }
to_spaces() { to_points | sed 's/\([0-9]\)\.\([0-9]\)/\1 \2/g'; }
to_dollar() { to_marks | awk -F ';' -v OFS=';' 'NR > 1 { $1 = "$" $1; $3 = "-$" $3 } { print }'; }
to_percent() { awk -F ';' -v OFS=';' 'NR > 1 { $1 = $1 " %"; $3 = $3 "%" } { print }'; }
run train --data csv:plain $options --delimiter ';' --evaluate --save plain.npz --json
want=$(value weights_sha256) want_loss=$(value test_loss)
check plain_table_is_trained [ $status -eq 0 -a -n "$want" ]
# predicted MODEL DATA: the rows alone
predicted() { "$muster" predict --load "$1" --data "csv:$2" | grep '^ *[0-9]'; }
predicted plain.npz plain-test.csv > plain.predicted
for notation in comma points marks spaces percent; do
    to_$notation < plain-train.csv > $notation-train.csv
    to_$notation < plain-test.csv > $notation-test.csv
    run train --data csv:$notation $options --delimiter ';' --evaluate --save $notation.npz --checkpoint-dir $notation.dir --json
    check ${notation}_gives_the_same_weights [ "$(value weights_sha256)" = "$want" ]
    check ${notation}_is_evaluated_alike [ "$(value test_loss)" = "$want_loss" ]
    run evaluate --load $notation.npz --json
    check ${notation}_is_read_again_as_in_training [ "$(value test_loss)" = "$want_loss" ]
    run evaluate --checkpoint-dir $notation.dir --data csv:$notation --json
    check ${notation}_of_a_checkpoint_too [ "$(value test_loss)" = "$want_loss" ]
    predicted $notation.npz $notation-test.csv > got
    check ${notation}_is_predicted_alike cmp -s plain.predicted got
    # one row, which alone would leave two readings or none
    head -n 2 $notation-test.csv > one.csv
    predicted $notation.npz one.csv > got
    head -n 1 plain.predicted > first
    check ${notation}_of_one_row_is_read_as_in_training cmp -s first got
    run convert csv:$notation npz:$notation.converted.npz --delimiter ';' --overwrite
    run convert csv:plain npz:plain.converted.npz --delimiter ';' --overwrite
    check ${notation}_is_converted_alike cmp -s plain.converted.npz $notation.converted.npz
    run convert csv:$notation tfrecord:$notation.records --delimiter ';' --overwrite
    run evaluate --load $notation.npz --data tfrecord:$notation.records --json
    check ${notation}_goes_through_records [ "$(value test_loss)" = "$want_loss" ]
done
to_dollar < plain-train.csv > dollar.csv
works first_line_tells_the_notation "^mlp 3-8-1 .*, 'size' with ',' between thousands and \\$, 'price' with ',' between thousands and \\$)" \
    train --data csv:dollar.csv $options --delimiter ';'
works first_line_tells_a_decimal_comma "^mlp 3-8-1 .*, 'size' with a decimal comma, 'price' with a decimal comma)" train --data csv:comma $options --delimiter ';'
run train --data csv:comma $options --delimiter ';' --json
check event_tells_the_notation grep -q '"columns_read":{"size":"with a decimal comma","price":"with a decimal comma"}' out
works inspect_shows_the_numbers '^ *size  *floats .*, with a decimal comma' inspect comma-train.csv
works other_notation_than_in_training_can_be_said '^test: ' evaluate --load plain.npz --data csv:comma --decimal ,
fails other_notation_than_in_training_is_named 1 "column 'size': '2235,50' is no number" evaluate --load plain.npz --data csv:comma

# ---- signs beside numbers ------------------------------------------------------------------------------

# signed BEFORE AFTER: a column of amounts with these signs
signed() { echo 'amount,y' && for i in 1 2 3 4 5 6; do echo "$1$((i * 100))$2,$i"; done; }
for sign in '$' '€' '£' '¥'; do
    signed "$sign" '' > amounts.csv
    works "only_what_is_there_is_told_of_$sign" "'amount' with $sign)" train --data csv:amounts.csv $options --save amounts.npz
    predicted amounts.npz amounts.csv > want
    signed '' '' > bare.csv
    predicted amounts.npz bare.csv > got
    check "amounts_may_lack_$sign" sh -c '[ -s want ] && cmp -s want got'
    { echo amount && echo "\"${sign}1,200\""; } > large.csv
    works "amounts_with_${sign}_may_have_thousands" '^ *0 ' predict --load amounts.npz --data csv:large.csv
done
signed '' ' %' > percent.csv
works only_what_is_there_is_told_of_percent "'amount' with %)" train --data csv:percent.csv $options --save percent.npz
fails fraction_is_no_percentage 1 "line 2, column 'amount': '100' has no %, as the numbers of the training have: write it as those" predict --load percent.npz --data csv:bare.csv
fails other_currency_is_told 1 "column 'amount': '100 %' is no number with ¥, as those of the training are: correct it$" predict --load amounts.npz --data csv:percent.csv

# ---- one column with two readings ---------------------------------------------------------------------

{ echo 'x;y' && for i in 1 2 3 4 5; do echo "$i;10$i,500"; done; } > two.csv
fails two_readings_are_refused 1 "line 2, column 'y': '101,500' may be 101500 or 101.5, .*--decimal \. or --decimal ," train --data csv:two.csv $options --delimiter ';'
works decimal_says_which "^mlp.*, 'y' with a decimal comma" train --data csv:two.csv $options --delimiter ';' --decimal , --save two.npz
works decimal_is_kept_for_evaluate '^test: ' evaluate --load two.npz --data csv:two.csv
works thousands_say_which "^mlp.*, 'y' with ',' between thousands" train --data csv:two.csv $options --delimiter ';' --thousands ,
# what an option of training leaves open may differ between columns, and is read again as it was found
printf 'x;y\n1 234,5;1,5\n2 345,5;2,25\n3 345,25;3,5\n' > space.csv
printf 'x;y\n1 234.5;1.5\n2 345.5;2.25\n3 345.25;3.5\n' > point.csv
printf "x;y\n1'234,5;1,5\n2'345,5;2,25\n3'345,25;3,5\n" > apostrophe.csv
for of in space:thousands:space space:decimal:, point:thousands:space point:decimal:. "apostrophe:thousands:'" apostrophe:decimal:,; do
    table=${of%%:*} option=${of#*:}
    run train --data csv:$table.csv $options --delimiter ';' --${option%:*} "${option#*:}" --save "$table.$option.npz" --checkpoint-dir "$table.$option"
    check "${table}_is_trained_with_$option" [ $status -eq 0 ]
    works "${table}_is_evaluated_after_$option" '^test: ' evaluate --load "$table.$option.npz" --data csv:$table.csv
    works "${table}_is_evaluated_by_a_checkpoint_after_$option" '^test: ' evaluate --checkpoint-dir "$table.$option" --data csv:$table.csv
    works "${table}_is_predicted_after_$option" '^ *0 ' predict --load "$table.$option.npz" --data csv:$table.csv
done
works space_is_a_word '^mlp' train --data csv:spaces $options --delimiter ';' --thousands space
fails decimal_is_a_mark 1 "^error: --decimal ';': must be ',' or '.'" train --data csv:two.csv $options --decimal ';'
# in a table with a decimal comma, a point may be between thousands in another column
{ echo 'length;distance;y' && for i in 1 2 3 4 5 6; do echo "$i,5;16$i.942;$i"; done; } > german.csv
fails point_beside_a_decimal_comma_is_doubtful 1 "'german.csv', line 2, column 'distance': '161.942' may be 161942 or 161.942, since column 'length' has a decimal comma: say --decimal ," \
    train --data csv:german.csv $options --delimiter ';'
works decimal_comma_of_all_columns_is_told "^mlp.*, 'length' with a decimal comma, 'distance' with a decimal comma" train --data csv:german.csv $options --delimiter ';' --decimal , --save german.npz
works decimal_comma_of_all_columns_is_kept '^test: ' evaluate --load german.npz --data csv:german.csv
fails doubtful_point_is_told_by_convert_too 1 "column 'distance': '161.942' may be" convert csv:german.csv npz:german.converted.npz --delimiter ';'
# the error says both ways out, if both are
{ echo 'city;latitude;price' && for i in 1 2 3 4 5 6; do echo "a;48.13$i;$i,5"; done; } > city.csv
fails decimal_point_beside_a_decimal_comma_has_a_way_out 1 "'48.131' may be 48131 or 48.131, since column 'price' has a decimal comma: say --decimal , .* if the point is between thousands; --thousands space .* if it is a decimal point$" \
    train --data csv:city.csv $options --delimiter ';'
works decimal_point_beside_a_decimal_comma_can_be_said "^mlp.*: 1 number standardized, .*, 'price' with a decimal comma" train --data csv:city.csv $options --delimiter ';' --thousands space --save city.npz
works decimal_point_beside_a_decimal_comma_is_kept '^test: ' evaluate --load city.npz --data csv:city.csv
sed 's/;\([1-6]\),5/;1.00\1,5/' city.csv > sums.csv
fails way_out_is_one_for_all_columns 1 "since column 'price' has a decimal comma: say --decimal , .*; if it is a decimal point, write the numbers of all columns alike$" train --data csv:sums.csv $options --delimiter ';'
works dropped_column_leaves_no_doubt "^mlp.*, 'length' with a decimal comma)" train --data csv:german.csv $options --delimiter ';' --drop distance
works column_of_points_alone_is_as_in_c '^mlp.*: 1 number standardized)' train --data csv:german.csv $options --delimiter ';' --drop length
sed '3s/162.942/62.94/' german.csv > sure.csv
works number_with_two_places_leaves_no_doubt "^mlp.*, 'length' with a decimal comma)" train --data csv:sure.csv $options --delimiter ';'
{ echo 'length;y' && for i in 1 2 3 4 5 6; do echo "$i,5;16$i.942"; done; } > label.csv
fails point_of_the_label_is_doubtful_too 1 "column 'y': '161.942' may be 161942 or 161.942" train --data csv:label.csv $options --delimiter ';'
# so is it in a test part and in new rows, where the training had no points
{ echo 'length;distance;y' && for i in 1 2 3 4 5 6; do echo "$i,5;5${i}0;$i"; done; } > road-train.csv
{ echo 'length;distance;y' && for i in 1 2 3; do echo "$i,5;1.5${i}0;$i"; done; } > road-test.csv
{ echo 'length;distance' && echo '3;1.500'; } > road.csv
fails doubtful_point_of_a_test_part_is_told 1 "'road-test.csv', line 2, column 'distance': '1.510' may be 1510 or 1.51, since column 'length' has a decimal comma: say .*; --thousands space" \
    train --data csv:road $options --delimiter ';' --evaluate
run train --data csv:road-train.csv $options --delimiter ';' --save road.npz
fails doubtful_point_of_new_rows_is_told 1 "'road.csv', line 2, column 'distance': '1.500' may be 1500 or 1.5, since column 'length' had a decimal comma in training: say " predict --load road.npz --data csv:road.csv
for way in decimal:,:1500 thousands:space:1.5; do
    option="--${way%%:*} $(echo $way | cut -d : -f 2)"
    works "point_of_new_rows_can_be_said_by_${way%%:*}" '^ *0 ' predict --load road.npz --data csv:road.csv $option
    grep '^ *0 ' out > got
    { echo 'length;distance' && echo "3;${way##*:}" | tr . ,; } > sure.csv
    sed 's/,5$/,50/' sure.csv > surer.csv
    run predict --load road.npz --data csv:surer.csv --decimal ,
    grep '^ *0 ' out > want
    check "point_of_new_rows_is_read_so_by_${way%%:*}" sh -c '[ -s want ] && cmp -s want got'
    works "test_part_can_be_said_by_${way%%:*}" '^test: ' evaluate --load road.npz --data csv:road-test.csv $option
done
sed 's/;5\([1-6]\)0;/;5.\1;/' road-train.csv > points-train.csv
sed 's/1\.5/5.5/' road-test.csv > points-test.csv
works points_of_the_training_leave_no_doubt '^test: ' train --data csv:points $options --delimiter ';' --evaluate
{ echo 'sum;share;y' && for i in 1 2 3 4 5 6; do echo "1.23$i.567;1$i.500 %;$i"; done; } > share.csv
fails points_between_thousands_make_doubt_too 1 "column 'share': '11.500 %' may be 11500 or 11.5, since column 'sum' has points between thousands: .*; if it is a decimal point, write the numbers of all columns alike$" train --data csv:share.csv $options --delimiter ';'
fails thousands_is_a_mark 1 "^error: --thousands 'xx': must be ',', '.', " train --data csv:two.csv $options --thousands xx
fails both_are_different 1 "decimal and thousands are both ','" train --data csv:two.csv $options --decimal , --thousands ,
for option in decimal thousands dates; do
    fails ${option}_is_for_tables 1 "$option is for csv:FILE" train --data npz:plain.converted.npz $options --$option "$([ $option = dates ] && echo x || echo ,)"
done

# ---- text where numbers are due -----------------------------------------------------------------------

{ echo 'x,price' && for i in 1 2 3 4; do echo "$i,${i}00 EUR"; done; } > unit.csv
for loss in mean_squared_error mean_absolute_error huber poisson mse mae; do
    fails text_is_no_number_of_$loss 1 "in column 'price' are text, with 4 different values such as '300 EUR', and --loss m*[a-z_]* needs numbers" \
        train --data csv:unit.csv --loss $loss --hidden-units 4 --devices cpu:1
done
run train --data csv:unit.csv --hidden-units 4 --epochs 1 --devices cpu:1 --save unit.npz
fails evaluate_refuses_names_as_numbers 1 "in column 'price' are text" evaluate --load unit.npz --loss mse --data csv:unit.csv

# ---- dates --------------------------------------------------------------------------------------------

{ echo 'when,label' && for d in 01 02 03 04 05 06 07 08 09 10 11 12; do echo "2024-$d-05 10:00,y" && echo "2023-$d-05,n"; done; } > dates.csv
small="--hidden-units 4 --epochs 1 --devices cpu:1"
run train --data csv:dates.csv $small
check dates_are_warned_of grep -q "^warning: texts in column 'when' look like dates or times, such as '20[-0-9: ]*', and become 24 categories.*--dates makes numbers of them, --drop" err
works dates_become_four_numbers "^mlp 4-4-2 .*(24 examples: 4 numbers standardized, 'when' as year and month and weekday and seconds)" \
    train --data csv:dates.csv $small --dates when --save dates.npz
works parts_of_dates_can_be_chosen "^mlp 2-4-2 .*, 'when' as year and month)" train --data csv:dates.csv $small --dates when=month+year
works dates_are_read_as_in_training '^ *0 ' predict --load dates.npz --data csv:dates.csv
works dates_go_into_a_table '^csv:written.csv' convert csv:dates.csv csv:written.csv --dates when=year+weekday
check dates_are_columns_of_their_own sh -c '[ "$(head -n 2 written.csv | tr "\n" " ")" = "when_year,when_weekday,label 2024,4,y " ]'
fails dates_have_these_parts 1 "dates have no part 'hour': write year, month, weekday or seconds" train --data csv:dates.csv $small --dates when=hour
fails dates_must_be_there 1 "has no column 'whn'" train --data csv:dates.csv $small --dates whn
fails dates_are_dates 1 "column 'x': '1' is no date" train --data csv:unit.csv $small --dates x
fails label_is_no_date 1 "the column of labels, 'label', cannot be a date" train --data csv:dates.csv $small --dates label

# looks_like_dates NAME FORMAT PATTERN: a column of texts in this format of printf, which are dates or times
looks_like_dates() {
    { echo 'when,label' && for i in 1 2 3 4 5 6 7 8 9; do printf "\"$2\",$((i % 2))\n" $i; done; } > look.csv
    run train --data csv:look.csv $small
    check "$1_is_warned_of" sh -c '[ "$(grep -c . err)" -eq 1 ] && grep -q "^warning: texts in column .when. look like dates or times, .*, and become 9 categories without an order: $1" err' - "$3"
    cp err want
    run convert csv:look.csv npz:look.npz --overwrite
    check "convert_warns_of_$1" cmp -s want err
    works "$1_may_be_meant_as_categories" '^mlp 9-4-2' train --data csv:look.csv $small --categories when
}
for format in '%d Jan 2020' 'Jan %d, 2020' '2020-Jan-%d' '2020010%dT050700' '2020-01-0%d'; do
    looks_like_dates "$format" "$format" '--dates makes numbers of them, --drop'
    works "dates_are_read_from_$format" "^mlp 1-4-2.*'when' as seconds)" train --data csv:look.csv $small --dates when=seconds
done
for format in '0%d/10/20' '1%d.1.20' '2020-0%d' '201%d/12' '1%d:07' '0%d:07' '0%d:07 PM' 'Q%d 2020' 'Jan %d'; do
    looks_like_dates "$format" "$format" "--dates cannot read '.*': write 2024-02-29, "
    fails "dates_are_not_read_from_$format" 1 "is no date" train --data csv:look.csv $small --dates when
done
# texts that could be dates, but not all of the column, or in no way but one
for texts in '1.2.13 1.2.14 1.3.10 2.0.12' '10.2.13 1.12.12 12.11.10' '12-10-33 40-47-84 08-02-10' '2009/10 2010/11 2011/12' '2010/11 2011/12 2012/13' \
    '2010-11 2011-12' '3:16 2:10 4:3' '16:10 16:9 4:3' '10/11/12 11/12/13 none' '3:16 2:10 draw'; do
    { echo 'x,a,label' && for i in 1 2 3; do for text in $texts; do echo "$i,$text,$((i % 2))"; done; done; } > like.csv
    run train --data csv:like.csv $small
    check "no_dates_are_$(echo $texts | tr ' ' _)" [ $status -eq 0 -a ! -s err ]
done
for texts in '1.2.13 14.2.13 2.10.12' '12-10-33 08-02-10' '2010/10 2010/11 2010/12' '2010/11 2010/12 2010/9 unknown' '3:16 2:10 21:05' '05:07 06:10 closed' '1.2.13 3.4.2013'; do
    { echo 'x,a,label' && for i in 1 2 3; do for text in $texts; do echo "$i,$text,$((i % 2))"; done; done; } > like.csv
    run train --data csv:like.csv $small
    check "dates_are_$(echo $texts | tr ' ' _)" grep -q "^warning: texts in column 'a' look like dates" err
done
{ echo 'when,label' && for i in 1 2 3 4 5 6; do echo "2020-01-0$i,0" && echo 'unknown,1'; done; } > unknown.csv
run train --data csv:unknown.csv $small
check odd_word_among_dates_is_told grep -q "such as '2020-01-0[0-9]', and become 7 categories .*: --dates cannot read 'unknown': leave such cells empty and take --missing mean" err
run train --data csv:unknown.csv $small --label when
check dates_as_labels_are_told grep -q "column 'when' look like dates .*: write numbers in place of them" err
run convert csv:unknown.csv csv:unknown2.csv
check convert_to_a_table_keeps_texts [ ! -s err ]
run convert csv:unknown.csv tfrecord:unknown
check convert_to_records_warns_too grep -q '^warning: texts in column' err
works convert_tells_how_numbers_are_read "^  read   'size' with a decimal comma, 'price' with a decimal comma$" convert csv:comma npz:told.npz --delimiter ';'
works convert_tells_dates "^  read   'when' as year and weekday$" convert csv:dates.csv npz:told2.npz --dates when=year+weekday

# ---- texts that are numbers, or no values ---------------------------------------------------------------

for pair in 0x10:0x11 inf:-inf 0x1p3:Infinity '5 EUR:6 EUR' '12kg:.5kg' '(5):(6)' '"1,23,456":"2,34,567"' '"1.234,5":"1,234.5"' '5 m²:-6 m²'; do
    { echo 'x,a,label' && for i in 1 2 3; do echo "$i,${pair%:*},0" && echo "$i,${pair#*:},1"; done; } > strange.csv
    run train --data csv:strange.csv $small
    check "numbers_such_as_${pair%:*}_are_warned_of" sh -c '[ "$(grep -c . err)" -eq 1 ] && grep -q "^warning: texts in column .a. look like numbers, such as .*, and become 2 categories .*--drop" err'
    works "numbers_such_as_${pair%:*}_may_be_meant_so" '^mlp 3-4-2' train --data csv:strange.csv $small --categories a
done
for pair in 20-29:30-39 1.2.3:1.2.4 12a:13b a1:a2 'text 1:text 2' 10.0.0.1:10.0.0.2; do
    { echo 'x,a,label' && for i in 1 2 3; do echo "$i,${pair%:*},0" && echo "$i,${pair#*:},1"; done; } > strange.csv
    works "texts_such_as_${pair%:*}_are_no_numbers" '^mlp 3-4-2' train --data csv:strange.csv $small
done
for word in NA null NaN None; do
    { echo 'x,label' && for i in 1 2 3; do echo "$i,a" && echo "$i,b" && echo "$i,$word"; done; } > lost.csv
    run train --data csv:lost.csv $small
    check "label_${word}_is_told" grep -q "^warning: the label '$word' in column 'label' is a class like the others: leave out rows whose label is missing; --categories" err
    works "class_${word}_may_be_meant_so" '^mlp 1-4-3' train --data csv:lost.csv $small --categories label
done
for text in 'a ' ' a' '	a  '; do
    { echo 'x,kind,label' && for i in 1 2 3; do echo "$i,a,a" && echo "$i,$text,$text" && echo "$i,b c,b c"; done; } > spaces.csv
    run train --data csv:spaces.csv $small
    check "spaces_around_a_category_are_told_of_'$text'" sh -c '[ $(grep -c "^warning: column .* has the .* .*a.*, and the same without spaces around it as another: write both alike" err) -eq 2 ]'
done
works spaces_may_be_meant_so '^mlp 4-4-3' train --data csv:spaces.csv $small --categories kind,label
printf 'x,label\n1,a\n2,a\n' > only.csv
run train --data csv:only.csv $small
check only_class_is_told grep -q "^warning: all labels are 'a': there is nothing to tell apart" err

# ---- texts that are all different ---------------------------------------------------------------------

{ echo 'note,x,label' && for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "text $i,$i,$((i % 2))"; done; } > notes.csv
run train --data csv:notes.csv $small
check different_texts_are_warned_of grep -q "^warning: column 'note' has 12 different texts in 12 rows, such as 'text [0-9]*'" err
run convert csv:notes.csv npz:notes.npz
check convert_warns_of_different_texts grep -q "^warning: column 'note' has 12 different texts in 12 rows" err
run train --data csv:notes.csv $small --categories note
check categories_are_meant_so [ ! -s err ]
run train --data csv:notes.csv $small --drop note
check dropped_columns_are_not_warned_of [ ! -s err ]
end_of_checks
