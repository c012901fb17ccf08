#!/bin/sh
# Parts of data: a validation part beside the train part, and lists and patterns of files. Usage: parts_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
options="--hidden-units 4 --batch-size 20 --devices cpu:1 --epochs 1 --json"
sha() { value weights_sha256; }

# table NAME FIRST LAST: rows FIRST to LAST of one table
table() {
    awk -v first="$2" -v last="$3" 'BEGIN {
        print "x,city,kind"
        for (i = first; i <= last; i++) printf "%.3f,%s,%s\n", i / 90, substr("abc", i % 3 + 1, 1), i * 7 % 5 < 2 ? "no" : "yes"
    }' > "$1"
}

# ---- val beside train --------------------------------------------------------------------------------

mkdir data
table t-train.csv 1 60 && cp t-train.csv data/train.csv
table t-val.csv 61 80 && cp t-val.csv data/valid.csv
table t-test.csv 81 90 && cp t-test.csv data/test.csv
run train --data csv:t-train.csv --validation-data csv:t-val.csv $options
want=$(value val_loss)
check validation_part_is_measured [ -n "$want" ]
run train --data csv:t $options
check val_beside_train_of_a_table [ "$(value val_loss)" = "$want" ]
check val_is_told grep -q '"validation_data":"csv:t-val.csv"' out
run train --data csv:data $options --evaluate
check parts_of_a_folder_of_tables [ "$(value val_loss)" = "$want" ]
check test_part_of_a_folder_of_tables grep -q '"test_loss"' out
works first_line_tells_it '^mlp .*, validated on csv:data/valid.csv, ' train --data csv:data --hidden-units 4 --devices cpu:1 --epochs 1 --batch-size 20
run train --data csv:t $options --validation-split 0
check no_validation_part_if_so_asked [ -z "$(value val_loss)" ]
run train --data csv:t $options --validation-data csv:t-test.csv
check named_part_comes_first [ -n "$(value val_loss)" ] && check other_part_other_loss [ "$(value val_loss)" != "$want" ]
for class in good bad; do
    for part in train validation; do
        mkdir -p texts/$part/$class
        for i in 1 2 3 4 5 6; do echo "$class word $i of $part" > texts/$part/$class/$i.txt; done
    done
done
run train --data texts:texts --sequence-length 16 --max-tokens 20 --batch-size 4 --devices cpu:1 --epochs 1 --json --save t.keras
check validation_folder_of_texts grep -q '"val_loss":[0-9]' out
check its_name_is_told grep -q '"validation_data":"texts:texts/validation"' out
for class in good bad; do
    for part in train val; do
        mkdir -p pictures/$part/$class
        for i in 1 2 3 4; do
            echo iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg== |
                base64 -d > pictures/$part/$class/$i.png
        done
    done
done
run train --data images:pictures --image-size 2 --hidden-units 4 --batch-size 4 --devices cpu:1 --epochs 1 --json
check validation_folder_of_pictures grep -q '"val_loss":[0-9]' out
check its_folder_is_told grep -q '"validation_data":"images:pictures/val"' out

# ---- texts on standard input -------------------------------------------------------------------------

printf 'good word\n%%\nbad word\n' > new.txt
run predict --load t.keras --data texts:new.txt
cp out want.txt
run predict --load t.keras --text - < new.txt
check texts_of_standard_input cmp -s out want.txt
run predict --load t.keras --data texts:- < new.txt
check spec_of_standard_input cmp -s out want.txt
check both_texts_are_predicted [ "$(grep -c '^ *[01] ' out)" = 2 ]
fails no_text_is_told 1 "'standard input': has no texts" predict --load t.keras --text - < /dev/null
printf 'caf\351' > latin1.txt
fails standard_input_that_is_no_utf8_is_told 1 "'standard input': .*encoding" predict --load t.keras --text - < latin1.txt
works encoding_of_standard_input '^ *0 ' predict --load t.keras --text - --encoding latin1 < latin1.txt
# ---- lists and patterns of files ---------------------------------------------------------------------

table all.csv 1 60
mkdir many
table many/1.csv 1 20 && table many/3.csv 41 60
table rest.csv 21 40
awk -F, '{ print $3 "," $1 "," $2 }' rest.csv > many/2.csv # columns in another order
run train --data csv:all.csv $options
want=$(sha)
# same_as_whole NAME ARGUMENT...: a training on the same rows gives the same weights
same_as_whole() {
    name=$1
    shift
    run "$@"
    check "$name" [ "$(sha)" = "$want" ]
}
same_as_whole list_of_tables train --data csv:many/1.csv,many/2.csv,many/3.csv $options
same_as_whole pattern_of_tables train --data 'csv:many/*.csv' $options
same_as_whole list_with_a_pattern train --data 'csv:many/[12].csv,many/3.csv' $options
cp all.csv 'a,b*.csv' && mkdir other && table other/b.csv 1 3
same_as_whole comma_and_star_of_a_real_name train --data 'csv:a,b*.csv' $options
same_as_whole backslash_before_a_comma train --data 'csv:a\,b*.csv' $options
table p-train.csv 1 30 && table q-train.csv 31 60 && table p-test.csv 61 70 && table q-test.csv 71 80
same_as_whole list_of_prefixes train --data csv:p,q $options --evaluate
table pq-test.csv 61 80
loss=$(value test_loss)
run train --data csv:all.csv $options --test-data csv:pq-test.csv
check tests_of_all_prefixes_are_measured [ "$(value test_loss)" = "$loss" ]
fails pattern_that_matches_nothing_is_told 1 "'many/x\*.csv': no file has such a name" train --data 'csv:many/x*.csv' $options
fails file_of_a_list_that_is_missing_is_told 1 "many/4.csv" train --data csv:many/1.csv,many/4.csv $options
fails name_that_is_empty_is_told 1 'a name is empty between commas' train --data csv:many/1.csv, $options
sed '1s/city/town/' many/3.csv > town.csv
fails other_columns_are_told 1 "'town.csv': has no column 'city', which 'all.csv' has: the tables of a list need the same columns" train --data csv:all.csv,town.csv $options
sed '5s/^[^,]*,/x,/' many/3.csv > text.csv
fails cell_is_named_with_its_own_file 1 "'text.csv', line 5, column 'x'" train --data csv:all.csv,text.csv $options
for n in 1 2 3; do run convert csv:many/$n.csv npz:$n.npz --label kind; done
run convert csv:all.csv npz:all.npz --label kind
run convert csv:many/2.csv npz:2.npz --label kind
run train --data npz:all.npz $options --raw-columns --classes 2
want=$(sha)
run convert csv:rest.csv npz:2.npz --label kind --overwrite
same_as_whole pattern_of_arrays train --data 'npz:[123].npz' $options --raw-columns --classes 2
for n in 1 3; do run convert csv:many/$n.csv tfrecord:r$n --label kind; done
run convert csv:rest.csv tfrecord:r2 --label kind
run train --data csv:all.csv $options --raw-columns
run convert csv:all.csv tfrecord:rall --label kind
run train --data tfrecord:rall $options --raw-columns --classes 2
want=$(sha)
same_as_whole pattern_of_records train --data 'tfrecord:r[123]-train-*' $options --raw-columns --classes 2
mkdir more && cp -r texts/train more/one && mkdir -p more/two/new && echo 'a new word' > more/two/new/1.txt
run train --data texts:more/one,more/two --sequence-length 16 --max-tokens 20 --batch-size 4 --devices cpu:1 --epochs 1 --json --save list.keras
check texts_of_all_folders [ "$(grep '"event":"start"' out | sed 's/.*"examples":\([0-9]*\).*/\1/')" = 13 ]
run predict --load list.keras --data texts:new.txt
check classes_are_those_of_all_folders grep -q '^ *0  \(bad\|good\|new\) ' out
run train --data 'images:pictures/[tv]*' --image-size 2 --hidden-units 4 --batch-size 4 --devices cpu:1 --epochs 1 --json
check pictures_of_all_folders [ "$(grep '"event":"start"' out | sed 's/.*"examples":\([0-9]*\).*/\1/')" = 16 ]
end_of_checks
