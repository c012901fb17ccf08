#!/bin/sh
# Parts of data: a validation part beside the train part. Usage: parts_test.sh PATH_OF_MUSTER
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
end_of_checks
