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
fails delimiter_of_two_characters_is_refused 1 "^error: --delimiter ';;': must be one character, such as ';'" convert csv:t.csv npz:x.npz --delimiter ';;'
fails delimiter_of_none_is_refused 2 'delimiter: the C is empty' train --data csv:t.csv --delimiter ''
fails other_delimiter_is_told 1 "has 1 column, inputs and labels are due: for cells between semicolons say --delimiter ';'" train --data csv:semicolon.csv $options
fails tabs_are_told 1 "has 1 column, inputs and labels are due: for cells between tabs say --delimiter tab" train --data csv:tab.csv $options
tr ';' '|' < semicolon.csv > bar.csv
fails bars_are_told 1 "for cells between bars say --delimiter '|'" train --data csv:bar.csv $options
sed 's/\./,/g' semicolon.csv > german.csv
fails semicolons_beside_commas_are_told 1 "'german.csv', line 2: has 3 columns, the header has 1: for cells between semicolons say --delimiter ';'" train --data csv:german.csv $options
fails dropped_column_must_be_there 1 "'t.csv': has no column 'idd': its columns are 'id', 'x', 'y'" train --data csv:t.csv $options --drop idd
fails label_cannot_be_dropped 1 "the column of labels, 'y', cannot be dropped too" train --data csv:t.csv $options --drop x,y --label y
fails drop_names_columns 1 "^error: --drop: names no column" train --data csv:t.csv $options --drop ,
fails category_must_be_there 1 "'t.csv': has no column 'zip'" train --data csv:t.csv $options --categories zip
fails categories_are_for_tables 1 "categories is for csv:FILE" train --data npz:want.npz $options --categories x
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

# ---- columns without a name, or with a comma in it ---------------------------------------------------

printf 'x,y,label,\n1,2,yes,\n2,3,no,\n3,4,yes,\n4,5,no,\n' > trailing.csv
printf ',x,label\n0,1,no\n1,2,no\n2,3,yes\n3,4,yes\n' > index.csv
printf 'x,"price, EUR","a ""b""",label\n1,5,1,yes\n2,7,2,no\n3,6,1,yes\n4,9,2,no\n' > comma.csv
tiny="--hidden-units 4 --epochs 1 --devices cpu:1"
works rows_may_end_with_a_delimiter '^mlp 2-4-2 ' train --data csv:trailing.csv $tiny --save trailing.npz
works hollow_columns_are_none '3 columns' inspect trailing.csv
works rows_that_end_with_a_delimiter_are_predicted '^ *3 ' predict --load trailing.npz --data csv:trailing.csv
works hollow_column_may_be_dropped '^mlp 2-4-2 ' train --data csv:trailing.csv $tiny --drop ''
fails column_without_a_name_must_be_there 1 "has no column ''" train --data csv:comma.csv $tiny --drop ''
works column_without_a_name_is_dropped '^mlp 1-4-2 ' train --data csv:index.csv $tiny --drop '' --save index.npz
works column_without_a_name_is_dropped_again '^test: ' evaluate --load index.npz --data csv:index.csv
works column_without_a_name_is_of_categories '^mlp 5-4-2 ' train --data csv:index.csv $tiny --categories ''
works quotes_name_nothing_too '^mlp 1-4-2 ' train --data csv:index.csv $tiny --drop '""'
works comma_in_quotes_is_of_the_name '^mlp 2-4-2 ' train --data csv:comma.csv $tiny --drop '"price, EUR"'
works comma_of_an_only_name_is_of_it '^mlp 2-4-2 ' train --data csv:comma.csv $tiny --drop 'price, EUR'
works quoted_names_stand_in_a_list '^mlp 1-4-2 ' train --data csv:comma.csv $tiny --drop '"price, EUR",x'
works quotes_in_quotes_are_doubled '^mlp 1-4-2 ' train --data csv:comma.csv $tiny --drop '"price, EUR","a ""b"""'
works quoted_names_are_of_categories '^mlp 6-4-2 ' train --data csv:comma.csv $tiny --categories '"price, EUR"'
fails quote_must_be_closed 1 '^error: --drop: a double quote is never closed: close it' train --data csv:comma.csv $tiny --drop '"price, EUR'
for option in drop categories; do
    fails ${option}_has_a_comma_behind_a_quote 1 "^error: --$option: '=x,x' follows a closing quote" train --data csv:comma.csv $tiny --$option '"price, EUR"=x,x'
done
fails dates_have_a_comma_behind_a_quote 1 "^error: --dates: ' =year' follows a closing quote" train --data csv:comma.csv $tiny --dates '"price, EUR" =year'
printf '"born, in",text,label\n2020-01-02,"a, b",1\n2021-01-03,"c, d",0\n' > born.csv
works parts_follow_a_quoted_name "^mlp 3-4-2 .*'born, in' as year)" train --data csv:born.csv $tiny --dates '"born, in"=year'
works parts_of_a_quoted_name_stand_in_a_list "^mlp 2-4-2 .*'born, in' as year and month)" train --data csv:born.csv $tiny --dates '"born, in"=year+month,' --drop text
for pair in drop:categories drop:dates categories:dates; do
    one=${pair%:*} other=${pair#*:}
    fails "column_is_not_in_${one}_and_$other" 1 "'born.csv': column 'born, in' is named in --$one and in --$other .*: name it in one of them" \
        train --data csv:born.csv $tiny --$one '"born, in"' --$other 'text,"born, in"'
done
for option in drop categories dates; do
    fails "texts_are_not_in_$option" 1 "column 'text' is named in --$option and in --text .*: name it in one of them" train --data csv:born.csv --text text --$option text
    [ $option = drop ] ||
        fails "column_beside_texts_is_not_in_$option" 1 "column 'born, in' is named in --$option, but with --text only" train --data csv:born.csv --text text --$option '"born, in"'
done
fails dates_name_a_column_once 1 "column 'born, in' is named twice in --dates" train --data csv:born.csv $tiny --dates '"born, in"=year,"born, in"=month'
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "\"2020-01-$i\",\"text $i\",$((i % 2))"; done > rows
{ echo '"born, in","a ""b""",label' && cat rows; } > odd.csv
works quoted_names_turn_warnings_off '^mlp 24-4-2 ' train --data csv:odd.csv $tiny --categories '"born, in","a ""b"""'
{ echo "\"born, in\",$(printf 'long%060d' 0),label" && cat rows; } > long.csv
works long_names_turn_warnings_off '^mlp 24-4-2 ' train --data csv:long.csv $tiny --categories "$(printf 'long%060d' 0),\"born, in\""
works only_name_with_a_comma_turns_warnings_off '^mlp 12-4-2 ' train --data csv:odd.csv $tiny --categories 'born, in' --drop '"a ""b"""'
works convert_takes_such_names 'f32 \[2\]' convert csv:comma.csv npz:comma.npz --drop '"price, EUR"'
fails first_missing_name_is_told 1 "has no column 'nix'" train --data csv:comma.csv $tiny --drop 'nix,"price, EUR"'

# ---- encodings ----------------------------------------------------------------------------------------

printf 'x,who\n1,p\350re\n2,p\351re\n' > latin.csv
fails latin_cells_are_named 1 "^error: 'csv:latin.csv': column 'who', such as 'p.*re': is not UTF-8: say --encoding latin1" train --data csv:latin.csv $tiny
printf 'x,note,who\n1,p\350re,a\n2,,b\n' > mixed.csv
printf 'x,pr\351nom\n1,a\n2,b\n' > header.csv
fails latin_names_of_columns_are_told 1 "^error: 'csv:header.csv': column 'pr.*nom'.*: is not UTF-8" train --data csv:header.csv $tiny
works latin_in_a_column_that_is_dropped_is_none '^mlp 1-4-2 ' train --data csv:mixed.csv $tiny --drop note
printf '\357\273\277x,who\n1,a\n2,b\n' > mark.csv
works byte_order_mark_is_no_name '^mlp 1-4-2 ' train --data csv:mark.csv $tiny --label who --save mark.npz
printf '\357\273\277a\nb\n' > names.txt
works byte_order_mark_of_names_is_none '^ *0 .*a$\|^ *0 *a ' predict --load mark.npz --data csv:mark.csv --class-names names.txt
printf 'x,who\r1,a\r2,b\r' > old.csv
tr '\n' '\r' < t.csv > t-cr.csv
reads_the_same lines_end_with_cr csv:t-cr.csv
works inspect_reads_lines_that_end_with_cr ': CSV, 60 rows, 3 columns' inspect t-cr.csv
works lines_may_end_with_cr '^mlp 1-4-2 .*(2 examples' train --data csv:old.csv $tiny
# also where it has many rows, or quotes, or the last line ends with LF
{ echo x,z,who && awk 'BEGIN { for (i = 0; i < 6000; i++) print i ",2,a" }'; } | tr '\n' '\r' > old-rows.csv
printf '"x","who"\r"1","a"\r"2","b"\r' > old-quotes.csv
printf 'x,who\r1,a\r2,"b"\n' > old-lf.csv
printf 'x,who\r1,a\r2,"b"\r\n' > old-crlf.csv
printf 'x,who\r1,"a\n"\r2,"b"\r' > old-cells.csv
works many_lines_may_end_with_cr 'train  6,000 rows' convert csv:old-rows.csv npz:old-rows.npz
for table in quotes lf crlf cells; do
    works lines_may_end_with_cr_with_$table 'train  2 rows: f32 \[1\], i64 \[\]' convert csv:old-$table.csv npz:old-$table.npz
done
printf 'x,who\r\n' > header-crlf.csv
fails line_end_of_a_header_is_no_cr_alone 1 "'header-crlf.csv': has a header and no rows" train --data csv:header-crlf.csv $tiny
printf 'x,"wh\ro"\n1,a\n2,b\n' > cr.csv
works cr_in_a_cell_is_no_line_end '^mlp 1-4-2 ' train --data csv:cr.csv $tiny
printf 'x,who\n1,a\n2,b\n' | iconv -f utf-8 -t utf-16 > wide.csv
works utf_16_is_known_by_its_mark '^mlp 1-4-2 .*(2 examples' train --data csv:wide.csv $tiny
mkdir -p wide/a wide/b && printf 'some text' | iconv -f utf-8 -t utf-16 > wide/a/1.txt && printf 'other' > wide/b/1.txt
works utf_16_of_texts_is_known_by_its_mark '^text_cnn .*(2 examples' train --data texts:wide --epochs 1 --devices cpu:1
awk 'BEGIN { print "nom,x,classe"; for (i = 0; i < 40; i++)
    printf "%s %d,%d,%s\n", i % 3 ? "garçon" : "été", i % 5, i, i % 2 ? "père" : "pére" }' > plain.csv
for code in latin1 utf-16 utf-16le utf-32 windows-1252 cp850; do iconv -f utf-8 -t $code < plain.csv > coded-$code.csv; done
run train --data csv:plain.csv $tiny --save plain.npz
weights=$(grep '^weights sha256' out)
for code in latin1 utf-16 utf-16le utf-32 windows-1252 cp850; do
    # a mark goes before the option
    case $code in utf-16 | utf-32) say= ;; *) say="--encoding $code" ;; esac
    run train --data csv:coded-$code.csv $tiny $say --save coded.npz
    check ${code}_is_trained_as_utf_8_is [ "$(grep '^weights sha256' out)" = "$weights" ]
    "$muster" predict --load plain.npz --data csv:plain.csv 2>&1 | sed 1d > want
    "$muster" predict --load coded.npz --data csv:coded-$code.csv 2>&1 | sed 1d > got
    check predict_reads_${code}_as_in_training cmp -s want got
    works evaluate_reads_${code}_as_in_training '^test: ' evaluate --load coded.npz --data csv:coded-$code.csv
done
head -c 101 coded-utf-16.csv > cut.csv
fails mark_goes_before_the_encoding_of_training 1 "byte [0-9]*, 0x[0-9a-f]*, is not UTF-16" predict --load coded.npz --data csv:cut.csv
works other_encoding_than_in_training_can_be_said '^ *39 ' predict --load coded.npz --data csv:plain.csv --encoding utf-8
fails latin1_is_told_by_predict 1 "'coded-latin1.csv', line 2, column 'nom': '.*t.* 0' is not UTF-8: say --encoding" predict --load plain.npz --data csv:coded-latin1.csv
fails latin1_is_told_by_convert 1 "^error: 'csv:latin.csv': column 'who', .*: is not UTF-8: say --encoding" convert csv:latin.csv npz:latin.npz
works convert_takes_an_encoding 'train  2 rows' convert csv:latin.csv csv:latin-utf8.csv --encoding latin1
check text_is_written_in_utf_8 grep -q 'père' latin-utf8.csv
fails encoding_must_be_known 1 "^error: --encoding 'klingon' .*: is not known here" train --data csv:latin.csv $tiny --encoding klingon
fails encoding_must_be_that_of_the_file 1 "'latin.csv': byte 9, 0xe8, is not utf-8: say its encoding by --encoding" train --data csv:latin.csv $tiny --encoding utf-8
fails encoding_is_for_tables_and_texts 1 "encoding is for csv:FILE and texts:PATH" train --data npz:want.npz $options --encoding latin1
mkdir -p lt/a lt/b ut/a ut/b
for i in 1 2 3; do
    printf 'le père %d' $i > ut/a/$i && printf 'la pére %d' $i > ut/b/$i
    for c in a b; do iconv -f utf-8 -t latin1 < ut/$c/$i > lt/$c/$i; done
done
fails texts_in_latin1_are_told 1 "'lt/a/1': byte 4, 0xe8, is not UTF-8: .*, or say its --encoding" train --data texts:lt --epochs 1 --devices cpu:1
run train --data texts:ut --epochs 1 --devices cpu:1
weights=$(grep '^weights sha256' out)
run train --data texts:lt --epochs 1 --devices cpu:1 --encoding latin1 --save lt.npz
check texts_in_latin1_are_trained_as_in_utf_8 [ "$(grep '^weights sha256' out)" = "$weights" ]
works texts_are_predicted_in_the_encoding_of_training '^lt/b/3 ' predict --load lt.npz --data texts:lt
works inspect_reads_a_table_that_is_gzip ': CSV, 60 rows, 3 columns' inspect t.csv.gz
gzip -c t.csv > packed
works inspect_knows_a_table_by_its_bytes ': CSV, 60 rows, 3 columns' inspect packed

# ---- comments -----------------------------------------------------------------------------------------

{ echo '# by hand' && sed 's/^r7,/#no,such,row,here\n&/' t.csv && printf '# the end'; } > remarks.csv
reads_the_same lines_may_be_comments csv:remarks.csv --comment '#'
fails comments_are_told 1 "'remarks.csv', line 2: has 3 columns, the header has 1: if lines that begin with # are comments, say --comment '#'" train --data csv:remarks.csv $tiny
fails comment_is_one_character 1 "^error: --comment '//': must be one character, such as '#'" train --data csv:remarks.csv $tiny --comment //
fails comment_is_not_the_delimiter 1 "'remarks.csv': the character of comments can be" train --data csv:remarks.csv $tiny --comment ,
fails comment_is_for_tables 1 "comment is for csv:FILE" train --data npz:want.npz $options --comment '#'
run train --data csv:remarks.csv $options --comment '#' --drop id --epochs 1 --save remarks.npz
works predict_skips_the_comments_of_training '^      59  [-0-9.e]*$' predict --load remarks.npz --data csv:remarks.csv
works evaluate_skips_the_comments_of_training '^test: ' evaluate --load remarks.npz --data csv:remarks.csv

# ---- tables without a header ----------------------------------------------------------------------------

sed 1d t.csv > bare.csv
run convert csv:bare.csv npz:got.npz --no-header --drop 1
check table_without_a_header_is_read_the_same cmp -s want.npz got.npz
run train --data csv:bare.csv $options --no-header --drop 1 --epochs 1 --save bare.npz
check header_that_is_none_is_said_and_not_told [ $status -eq 0 -a ! -s err ]
works predict_knows_that_there_was_no_header '^      59  [-0-9.e]*$' predict --load bare.npz --data csv:bare.csv
works evaluate_knows_that_there_was_no_header '^test: ' evaluate --load bare.npz --data csv:bare.csv
{ echo 1,2,3 && cat bare.csv; } > numbered.csv
works header_may_be_there_though_there_was_none '(60 examples' evaluate --load bare.npz --data csv:numbered.csv --no-no-header
cut -d , -f 1,2 bare.csv > bare-new.csv
works labels_without_a_header_may_be_missing '^      59  [-0-9.e]*$' predict --load bare.npz --data csv:bare-new.csv
awk 'BEGIN { for (i = 0; i < 30; i++) printf "%s,%d.5,%d\n", i % 2 ? "a" : "b", i, i % 7 }' > first.csv
works label_without_a_header_is_chosen_by_its_number '^mlp 2-4-2 .*(30 examples' train --data csv:first.csv $tiny --no-header --label 1
fails columns_without_a_header_are_numbered 1 "has no column 'a': its columns are '1', '2', '3'" train --data csv:first.csv $tiny --no-header --label a
fails no_header_is_for_tables 1 "no-header is for csv:FILE" train --data npz:want.npz $options --no-header
told="^warning: the first line of the table looks like a row, .* say --no-header"
# header_is_a_row NAME YES_OR_NO TEXT: whether a table that begins so draws the warning
header_is_a_row() {
    printf "$3" > maybe.csv
    run train --data csv:maybe.csv $tiny
    check "$1" [ $status -eq 0 ]
    check "$1_$2" sh -c "[ \$(grep -c '$told' err) -eq $([ $2 = yes ] && echo 1 || echo 0) ]"
}
header_is_a_row numbers_and_class yes '5.1,3.5,setosa\n4.9,3,setosa\n6,3,other\n6.1,2.9,other\n'
header_is_a_row numbers_alone yes '5.1,3.5,1\n4.9,3,0\n6,3,1\n6.1,2.9,0\n'
header_is_a_row categories_alone yes 'a,yes\nb,no\na,yes\nb,no\n'
header_is_a_row names no 'x,y,who\n4.9,3,0\n6,3,1\n6.1,2.9,0\n'
header_is_a_row numbered no '0,1,2\n4.9,3,0\n6,3,1\n6.1,2.9,0\n'
header_is_a_row years no '1990,2000,2010,who\n4.9,3,7,a\n6,3,6,b\n6.1,2.9,1,b\n'
header_is_a_row uneven_years no '1990,2000,2005,who\n4.9,3,7,a\n6,3,6,b\n6.1,2.9,1,b\n'
header_is_a_row index no ',x,who\n0,3,a\n1,3,b\n2,2.9,b\n'
run convert csv:first.csv csv:second.csv
check convert_tells_a_header_that_is_a_row grep -q "$told" err

# ---- standard output ------------------------------------------------------------------------------------

run predict --load plain.npz --data csv:plain.csv --out file.csv
"$muster" predict --load plain.npz --data csv:- --out - < plain.csv > streamed.csv 2> told
check predictions_go_to_standard_output cmp -s file.csv streamed.csv
check all_else_goes_to_standard_error grep -q plain.npz told
fails predictions_and_json_are_not_one_stream 2 "^error: --out -: standard output has the lines of --json" predict --load plain.npz --data csv:plain.csv --out - --json
check no_file_is_named_like_it [ ! -e - ]
"$muster" train --data csv:plain.csv --epochs 3 --devices cpu:1 --history - > rows.csv 2> told
check history_goes_to_standard_output [ "$(cut -d , -f 1 rows.csv | tr '\n' ' ')" = 'epoch 0 1 2 ' ]
check progress_goes_to_standard_error grep -q '^mlp ' told
{ sed 1q plain.csv && for i in $(seq 200); do sed 1d plain.csv; done; } > lengthy.csv
{ "$muster" predict --load plain.npz --data csv:lengthy.csv --out - 2> err; echo $? > closed_status; } | head -n 1 > out
check reader_of_predictions_that_leaves_is_no_error [ "$(cat closed_status)" -eq 141 -a "$(grep -c . err)" -le 1 ]
{ "$muster" train --data csv:plain.csv --epochs 20000 --devices cpu:1 --history - --checkpoint-dir left 2> err; echo $? > closed_status; } | head -n 1 > out
check training_whose_reader_of_history_leaves_is_kept [ "$(cat closed_status)" -eq 141 -a -e left/checkpoint ]
check reader_of_history_that_leaves_is_no_error [ "$(grep -c '^error' err)" -eq 0 ]
fails history_and_json_are_not_one_stream 2 "^error: --history -: standard output has the lines of --json" train --data csv:plain.csv $tiny --history - --json
if [ -e /dev/full ]; then
    "$muster" predict --load plain.npz --data csv:plain.csv --out - > /dev/full 2> told
    check full_output_is_an_error [ $? -eq 1 ]
    check full_output_is_told grep -q '^error: the predictions cannot be written: ' told
fi

# ---- weights of examples -----------------------------------------------------------------------------------

awk 'BEGIN { print "x,w,y,one"; for (i = 0; i < 60; i++) printf "%d,%s,%.2f,1\n", i * 7 % 13, i % 2 ? "2.5" : "0.5", i % 5 }' > heavy.csv
awk -F , -v OFS=, 'NR > 1 { $2 = 2 } { print }' heavy.csv > twice.csv
last_of() { grep "\"$1\":" out | tail -n 1 | sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p"; }
weigh="--loss mse --optimizer sgd --hidden-units none --epochs 3 --batch-size 20 --devices cpu:1 --no-shuffle --label y --json"
hash_of() { run train "$@" && value weights_sha256; }
plain=$(hash_of --data csv:heavy.csv $weigh --drop w,one --learning-rate 0.0625)
ones=$(hash_of --data csv:heavy.csv $weigh --drop w --sample-weight one --learning-rate 0.0625)
double=$(hash_of --data csv:twice.csv $weigh --drop one --sample-weight w --learning-rate 0.03125)
other=$(hash_of --data csv:heavy.csv $weigh --drop one --sample-weight w --learning-rate 0.0625 --save heavy.npz)
check weights_of_1_change_nothing [ -n "$plain" -a "$plain" = "$ones" ]
check weights_of_2_are_twice_the_learning_rate [ "$plain" = "$double" ]
check weights_change_the_training [ -n "$other" -a "$plain" != "$other" ]
run predict --load heavy.npz --data csv:heavy.csv --out heavy-p.csv
by_hand=$(paste -d , heavy-p.csv heavy.csv | awk -F , 'NR > 1 { s += $(NF - 2) * ($2 - $(NF - 1)) ^ 2 } END { printf "%.6f", s / (NR - 1) }')
run evaluate --load heavy.npz --data csv:heavy.csv --sample-weight w --json
check evaluate_weighs_the_loss awk -v a="$(value test_loss)" -v b="$by_hand" 'BEGIN { exit !(a > 0 && (a / b - 1) ^ 2 < 1e-8) }'
run train --data csv:heavy.csv $weigh --drop one --sample-weight w --learning-rate 0.0625 --validation-data csv:heavy.csv
check named_parts_have_weights_too awk -v a="$(last_of val_loss)" -v b="$by_hand" 'BEGIN { exit !(a > 0 && (a / b - 1) ^ 2 < 1e-8) }'
awk 'BEGIN { print "x,w,y"; for (i = 0; i < 60; i++) printf "%d,1,%.3f\n", i, i / 7 }' > values.csv
works labels_beside_weights_may_be_values '^mlp 1-500-1 .*mean_squared_error\|^done: .*mean_absolute_error' train --data csv:values.csv --sample-weight w --epochs 1 --devices cpu:1
fails weights_must_be_there 1 "has no column 'v'" train --data csv:heavy.csv $tiny --sample-weight v
fails weights_are_nothing_else 1 "column 'w' has the weights of the examples .*: name it in no other option" train --data csv:heavy.csv $tiny --sample-weight w --drop w
printf 'x,w,y\n1,1,a\n2,,b\n' > unweighed.csv
fails missing_weight_is_told 1 "line 3, column 'w': the weight is missing: fill it in" train --data csv:unweighed.csv $tiny --sample-weight w
printf 'x,w,y\n1,1,a\n2,much,b\n' > unweighed.csv
fails weight_that_is_text_is_told 1 "line 3, column 'w': 'much' is no number, '1' in a row above is one: correct one$" train --data csv:unweighed.csv $tiny --sample-weight w
fails label_is_no_weight 1 "column 'y' has the weights of the examples" train --data csv:heavy.csv $tiny --sample-weight y --label y
sed 's/,2.5,/,-1,/' heavy.csv > minus.csv && sed '5s/,2.5,\|,0.5,/,,/' heavy.csv > gap.csv && sed 's/,2.5,\|,0.5,/,a,/' heavy.csv > word.csv
fails weights_are_not_negative 1 "'minus.csv', line 3, column 'w': '-1' is no weight of an example" train --data csv:minus.csv $tiny --label y --sample-weight w
fails weights_are_not_missing 1 "'gap.csv', line 5, column 'w'" train --data csv:gap.csv $tiny --label y --sample-weight w --missing mean
fails weights_are_numbers 1 "column 'w' is text: the weights of examples are numbers" train --data csv:word.csv $tiny --label y --sample-weight w
fails weights_are_for_tables 1 "sample-weight is for csv:FILE" train --data npz:want.npz $options --sample-weight w

# ---- parts that are named ----------------------------------------------------------------------------------

houses_of() { awk -v n="$1" -v first="$2" 'BEGIN { print "id,city,area,kind"; for (i = first; i < first + n; i++)
    printf "%d,c%d,%d,%s\n", i, i % 4, i * 7 % 50, (i * 7 % 50 > 20 + i % 4 ? "big" : "small") }'; }
houses_of 80 0 > parts-train.csv && houses_of 40 100 > parts-test.csv && houses_of 30 200 > valid.csv
parts="--drop id --hidden-units 8 --batch-size 20 --epochs 2 --devices cpu:1 --json"
run train --data csv:parts $parts --evaluate
by_prefix=$(value test_loss)
run train --data csv:parts-train.csv $parts --test-data csv:parts-test.csv --validation-data csv:valid.csv --save parts.npz
check named_test_part_is_that_of_a_prefix [ -n "$by_prefix" -a "$(value test_loss)" = "$by_prefix" ]
validated=$(last_of val_loss)
run evaluate --load parts.npz --data csv:valid.csv --json
check named_validation_part_is_measured awk -v a="$(value test_loss)" -v b="$validated" 'BEGIN { exit !(a != "" && b != "" && (a - b) ^ 2 < 1e-10) }'
run evaluate --load parts.npz --json
check evaluate_takes_the_test_part_of_the_training awk -v a="$(value test_loss)" -v b="$by_prefix" 'BEGIN { exit !(a != "" && (a - b) ^ 2 < 1e-10) }'
works early_stopping_watches_the_named_part '^mlp' train --data csv:parts-train.csv --drop id --epochs 2 --devices cpu:1 --validation-data csv:valid.csv --patience 1 --monitor val_accuracy
fails validation_part_is_named_or_split 2 'validation-split.*validation-data\|validation-data.*validation-split' train --data csv:parts-train.csv $parts --validation-data csv:valid.csv --validation-split 0.2
fails named_part_must_be_there 1 "none.csv" train --data csv:parts-train.csv $parts --test-data csv:none.csv
cut -d , -f 1-3 valid.csv > unlabelled.csv
fails named_part_must_have_labels 1 "'csv:unlabelled.csv': the validation part has no labels" train --data csv:parts-train.csv $parts --validation-data csv:unlabelled.csv
fails named_part_must_have_the_columns 1 "'t.csv': has no column 'city'" train --data csv:parts-train.csv $parts --validation-data csv:t.csv
run convert csv:parts npz:parts-all.npz --drop id
works named_part_may_be_arrays '^test: ' train --data npz:parts-all.npz --epochs 1 --devices cpu:1 --test-data npz:parts-all.npz
mkdir -p talk/a talk/b && printf 'one two' > talk/a/1 && printf 'three four' > talk/b/1
works named_part_may_be_texts '^test: ' train --data texts:talk --epochs 1 --devices cpu:1 --test-data texts:talk

# ---- a model keeps how its table was read ------------------------------------------------------------

run train --data csv:semicolon.csv $options --delimiter ';' --drop id --epochs 1 --save s.npz
check training_takes_a_delimiter [ $status -eq 0 ]
works predict_takes_the_delimiter_of_training '^      59  [-0-9.e]*$' predict --load s.npz --data csv:semicolon.csv
"$muster" predict --load s.npz --data csv:semicolon.csv > want 2>&1
"$muster" predict --load s.npz --data csv:- < semicolon.csv > got 2>&1
check predict_reads_standard_input cmp -s want got
works predict_takes_another_delimiter '^      59  [-0-9.e]*$' predict --load s.npz --data csv:t.csv --delimiter ,

# ---- columns become numbers of mean 0 and one-hot rows, as by hand -----------------------------------

# houses ROWS SEED: the price depends on the city by no order of its names
houses() {
    echo 'city,kind,area,year,constant,price'
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed)
        split("700 150 420 880 260 610", base, " "); split("flat house loft", kind, " "); split("1 1.5 0.8", factor, " ")
        for (i = 0; i < n; i++) {
            c = int(rand() * 6) + 1; k = int(rand() * 3) + 1; area = 20 + int(rand() * 180); year = 1900 + int(rand() * 120)
            printf "city%d,%s,%d,%d,7,%.2f\n", c, kind[k], area, year, base[c] * factor[k] + 3 * area + (year - 1950) / 2
        }
    }'
}
houses 600 1 > h-train.csv
houses 200 2 > h-test.csv
# by_hand FILE...: the same table with the columns that the command makes, of the mean and deviation of the first file
by_hand() {
    awk -F , 'FNR == 1 { file++ }
        FNR > 1 && file == 1 { n++; a += $3; aa += $3 * $3; y += $4; yy += $4 * $4 }
        FNR > 1 && file == 2 { row[++rows] = $0 }
        END {
            a /= n; y /= n; da = sqrt(aa / n - a * a); dy = sqrt(yy / n - y * y)
            print "area,year,constant,c1,c2,c3,c4,c5,c6,k1,k2,k3,price"
            for (i = 1; i <= rows; i++) {
                split(row[i], x, ",")
                line = sprintf("%.9g,%.9g,0", (x[3] - a) / da, (x[4] - y) / dy)
                for (c = 1; c <= 6; c++) line = line "," (x[1] == "city" c)
                line = line "," (x[2] == "flat") "," (x[2] == "house") "," (x[2] == "loft")
                print line "," x[6]
            }
        }' "$@"
}
by_hand h-train.csv h-train.csv > hand-train.csv
by_hand h-train.csv h-test.csv > hand-test.csv
run convert csv:hand npz:hand.npz
learn="--loss mse --hidden-units 64 --batch-size 20 --epochs 150 --learning-rate 0.02 --schedule cosine --devices cpu:1 --evaluate --json"
# error_of ARGUMENT...: the mean absolute error on the test part
error_of() {
    run train $learn "$@"
    value test_mean_absolute_error
}
command=$(error_of --data csv:h --save h.npz) hand=$(error_of --data npz:hand.npz)
raw=$(error_of --data csv:h --raw-columns) embedded=$(error_of --data csv:h --embed-above 4)
check one_hot_by_hand_is_good awk -v e="$hand" 'BEGIN { exit !(e != "" && e < 20) }'
check columns_are_as_good_as_by_hand awk -v e="$command" -v h="$hand" 'BEGIN { exit !(e != "" && e < 1.1 * h) }'
check raw_columns_are_not_enough awk -v e="$raw" -v h="$hand" 'BEGIN { exit !(e > 4 * h) }'
check embedded_categories_are_good_too awk -v e="$embedded" -v r="$raw" 'BEGIN { exit !(e != "" && 4 * e < r) }'
works first_line_says_what_becomes_of_columns \
    '^mlp 12-8-1 .* on csv:h (600 examples: 3 numbers standardized, 2 columns of categories one-hot as 9), ' train --data csv:h $options --epochs 1
works first_line_says_what_is_embedded \
    ': 3 numbers standardized, 1 column of categories one-hot as 3, 1 column of categories embedded as 4), ' train --data csv:h $options --epochs 1 --embed-above 3
run train --data csv:h $options --epochs 1 --json
check event_says_what_becomes_of_columns grep -q '"numbers_standardized":3,"columns_one_hot":2,"columns_embedded":0,"features":12,' out

works numbers_can_be_categories ': 2 numbers standardized, 3 columns of categories one-hot as 10), ' \
    train --data csv:h $options --epochs 1 --categories constant --save zip.npz
works numbers_that_are_categories_stay_so '^test: ' evaluate --load zip.npz

# ---- a model takes raw rows --------------------------------------------------------------------------

run evaluate --load h.npz --json
# rows are added up in another order
same_error() { awk -v a="$(value test_mean_absolute_error)" -v b="$1" 'BEGIN { exit !(a > b * (1 - 1e-6) && a < b * (1 + 1e-6)) }'; }
check evaluate_gives_the_error_of_training same_error "$command"
run train --data csv:h $options --embed-above 4 --epochs 2 --checkpoint-dir ck --evaluate --json
trained=$(value test_mean_absolute_error)
run evaluate --checkpoint-dir ck --json
check checkpoint_with_embeddings_is_evaluated same_error "${trained:-none}"
# other columns in another order, another city, no price, another constant
{ echo 'year,constant,id,area,kind,city' && echo '1990,7,x,100,loft,city4' && echo '1990,8,y,100,loft,city9'; } > new.csv
works predict_takes_raw_rows '^       1  [-0-9.e]*$' predict --load h.npz --data csv:new.csv
check price_is_that_of_the_rule awk '$1 == "0" && $2 > 924 && $2 < 1124 { good = 1 } END { exit !good }' out
check unknown_category_is_no_wild_number awk '$1 == "1" && $2 > -500 && $2 < 2500 { good = 1 } END { exit !good }' out
works unknown_category_of_an_embedding_is_no_error '^       1  [-0-9.e]*$' predict --checkpoint-dir ck --data csv:new.csv
run convert csv:h tfrecord:h
run evaluate --load h.npz --data tfrecord:h --json
check records_of_the_table_are_taken same_error "$command"
fails other_columns_are_told 1 "no column 'city'" predict --load h.npz --data csv:t.csv
fails data_that_is_no_table_is_told 1 "trained on a table of other columns than the data has" evaluate --load h.npz --data npz:hand.npz

printf 'a;y\n1;u\n' > other.csv
printf 'a,y\n1,u\n2,v\n' > known.csv
run train --data csv:known.csv $tiny --save known.npz
fails other_delimiter_is_told_by_evaluate 1 "has no column 'a': its columns are 'a;y': for cells between semicolons say --delimiter ';'" evaluate --load known.npz --data csv:other.csv

printf 'x,flag,kind,y\n1,True,a,u\n2,False,b,v\n3,True,a,u\n' > flag-train.csv
printf 'x,flag,kind,y\n1,true,a,u\n2,false,c,v\n' > flag-test.csv
warned="^warning: column 'flag' has no category of the training in any row, such as 'False': the model cannot use this column"
for save in flag.npz flag.keras; do
    run train --data csv:flag $tiny --evaluate --save $save
    check "unknown_categories_of_the_test_part_are_told_with_$save" grep -q "$warned" err
    run evaluate --load $save
    check "evaluate_of_${save}_tells_unknown_categories" sh -c '[ "$(grep -c . err)" -eq 1 ] && grep -q "$1" err' - "$warned"
    run predict --load $save --data csv:flag-test.csv
    check "predict_of_${save}_tells_unknown_categories" sh -c '[ "$(grep -c . err)" -eq 1 ] && grep -q "$1" err' - "$warned"
    works "known_categories_of_${save}_are_not_told" '^ *2 ' predict --load $save --data csv:flag-train.csv
done

# the data of the training is read as there, whatever the columns are that it left out
for part in train test; do
    printf "id,when,label,\"1,5\",last\n1,2020-01-0$((${#part} - 3)),u,\"1,5\",$part\nx,2020-02-01,v,\"2,5\",b\n" > left-$part.csv
done
run train --data csv:left $tiny --drop id --dates when --label label --evaluate --save left.npz --json
want=$(value test_loss)
run evaluate --load left.npz --json
check evaluate_reads_the_data_of_the_training_as_there [ -n "$want" -a "$(value test_loss)" = "$want" ]

# labels of rows that are only predicted may be missing, or anything
printf 'a,y\n1,u\n2,v\n3,u\n' > known.csv
printf 'a,y\n1,0.5\n2,1.5\n3,2\n' > measured.csv
printf 'a\n1\n2\n' > alone.csv
for table in known measured; do
    run train --data csv:$table.csv $tiny --save $table.npz
    "$muster" predict --load $table.npz --data csv:alone.csv > want
    for label in '' '?' w 7; do
        printf "a,y\n1,$label\n2,$label\n" > strange.csv
        "$muster" predict --load $table.npz --data csv:strange.csv > got
        check "label_${label:-missing}_of_$table.csv_is_not_read_by_predict" sh -c '[ -s want ] && cmp -s want got'
        [ $table$label = measured7 ] ||
            fails "label_${label:-missing}_of_$table.csv_is_told_by_evaluate" 1 "'strange.csv', line 2, column 'y': " evaluate --load $table.npz --data csv:strange.csv
    done
done

# what is kept for validation does not count for mean and deviation
{ head -n 301 h-train.csv && awk 'BEGIN { for (i = 0; i < 300; i++) print "city1,flat,1000000,1950,7,1" }'; } > late.csv
run train --data csv:late.csv $options --validation-split 0.5 --validation-rows last --epochs 1 --save late.npz
head -n 301 h-train.csv > early.csv
run train --data csv:early.csv $options --epochs 1 --save early.npz
run inspect late.npz
grep normalization/mean out > want
run inspect early.npz
grep normalization/mean out > got
check validation_part_does_not_count sh -c '[ -s want ] && cmp -s want got'

# ---- numbers that are missing ------------------------------------------------------------------------

awk -F , 'BEGIN { OFS = "," } FNR > 1 && FNR % 7 == 0 { $3 = FNR % 2 ? "" : "NA" } { print }' h-train.csv > holes.csv
fails missing_numbers_are_refused 1 "'holes.csv', line 7, column 'area': the number is missing.*--missing mean" train --data csv:holes.csv $options
works missing_numbers_become_the_mean ': 3 numbers standardized, missing ones the mean, ' \
    train --data csv:holes.csv $options --missing mean --epochs 3 --save holes.npz
{ echo 'city,kind,area,year,constant' && echo 'city4,loft,NA,1990,7' && echo "city4,loft,$(awk -F , 'FNR > 1 && $3 + 0 { n++; s += $3 } END { printf "%.6f", s / n }' holes.csv),1990,7"; } > new.csv
run predict --load holes.npz --data csv:new.csv
check missing_number_is_predicted_as_the_mean awk '$1 == "0" { a = $2 } $1 == "1" { b = $2 } END { d = a - b; exit !(a != "" && b != "" && d * d < 1e-4 * a * a) }' out
fails model_that_refuses_refuses_again 1 "line 2, column 'area': the number is missing" predict --load h.npz --data csv:new.csv
fails missing_is_not_for_raw_columns 2 "missing mean is done by the layers that --raw-columns leaves out" train --data csv:h $options --missing mean --raw-columns
fails embedding_is_not_for_raw_columns 2 "embed-above is done by the layers that --raw-columns leaves out" train --data csv:h $options --embed-above 4 --raw-columns

# what is noted in the file of --load: the data, how it is read, and the layers
printf 'a;b;y\n1,5;2;0\n2,5;3;1\n2,5;4;0\n3,5;1;1\n' > comma.csv
for file in noted.npz noted.keras; do
    run train --data csv:comma.csv --delimiter ';' --hidden-units 3 --epochs 1 --save $file
    works training_goes_on_as_noted_in_$file "^[a-z.]* .* on csv:comma.csv (4 examples" train --load $file --epochs 1
    works data_that_is_named_is_read_as_noted_in_$file "^done: step" train --load $file --data csv:comma.csv --steps 1 --save again.$file
done
run train --load noted.npz --epochs 1
check layers_are_those_noted grep -q "^mlp 2-3-2 " out
run train --load again.noted.npz --epochs 1
check what_is_noted_goes_to_the_next_file [ "$status" = 0 ]
# goes_on NAME PATTERN ARGUMENTS...: what a training with ARGUMENTS saves is trained on by --load alone
goes_on() {
    name=$1 pattern=$2
    shift 2
    run train "$@" --hidden-units 3 --epochs 1 --save noted-$name.npz
    works training_goes_on_with_the_noted_$name "$pattern" train --load noted-$name.npz --epochs 1
}
printf '#\nx,y,w,z\n#\n1,a,2,5\n3,b,1,7\n2,a,1,9\n' > marked.csv
goes_on comment "^mlp 3-3-2 .*marked.csv (3 examples" --data csv:marked.csv --comment '#' --label y
grep -v '^#' marked.csv > weighed.csv
cut -d , -f 1,2,4 weighed.csv > bare-weights.csv
goes_on label "^mlp 3-3-2 " --data csv:weighed.csv --label y
goes_on weight "^mlp 2-3-2 " --data csv:weighed.csv --label y --sample-weight w
fails column_of_noted_weights_is_due 1 "has no column 'w'" train --load noted-weight.npz --data csv:bare-weights.csv
works noted_weights_can_be_left_out "^mlp 2-3-2 " train --load noted-weight.npz --data csv:bare-weights.csv --sample-weight '' --epochs 1
sed 1d weighed.csv > rows.csv
goes_on header "^mlp 3-3-2 .*rows.csv (3 examples" --data csv:rows.csv --no-header --label 2
printf 'x,y\n1,\351\n2,\374\n3,\351\n' > latin.csv
goes_on encoding "^mlp 1-3-2 .*latin.csv (3 examples" --data csv:latin.csv --encoding latin1
fails an_option_that_is_given_counts 1 "noted.npz" train --load noted.npz --hidden-units 5 --epochs 1

fails missing_is_for_tables 1 "missing is for csv:FILE" train --data npz:hand.npz $options --missing mean

end_of_checks
