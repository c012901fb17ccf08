#!/bin/sh
# Texts: training on a column of a table, on folders of files and on files with lines of %, and what a model keeps of
# them. Usage: text_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"
learnt='accuracy = \(0.9[5-9][0-9]*\|1.0000\) (200 examples)'
options="--sequence-length 16 --batch-size 20 --epochs 8 --devices cpu:1"

# sentences CLASS WORD...: 100 sentences in which some words are the class's own
sentences() {
    awk -v class="$1" -v own="$2" -v seed="$3" 'BEGIN {
        srand(seed); n = split(own, word, " "); m = split("The a of on, and then It was there again.", common, " ")
        for (i = 0; i < 100; i++) {
            text = ""
            for (j = 0; j < 8 + i % 5; j++)
                text = text (j ? " " : "") (rand() < 0.5 ? word[1 + int(rand() * n)] : common[1 + int(rand() * m)])
            print class "\t" text
        }
    }'
}
for part in train test; do
    seed=$([ $part = train ] && echo 1 || echo 2)
    { sentences sport "ball Goal! team match" "$seed" && sentences science "atom energy, Star cell" "$seed"; } > $part.tsv
    awk -F '\t' 'BEGIN { print "id,quote,topic" } { printf "%d,\"%s\",%s\n", NR, $2, $1 }' $part.tsv > t-$part.csv
    for class in sport science; do
        mkdir -p folders/$part/$class files/$part
        awk -F '\t' -v class=$class -v folder="folders/$part/$class" '$1 == class { print $2 > (folder "/" NR ".txt"); close(folder "/" NR ".txt") }' $part.tsv
        awk -F '\t' -v class=$class '$1 == class { print $2; print "%" }' $part.tsv > files/$part/$class
    done
done

# ---- training ----------------------------------------------------------------------------------------

works column_of_texts_is_learnt "$learnt" train --data csv:t --text quote --label topic $options --evaluate --save t.safetensors
check model_is_the_text_cnn grep -q '^text_cnn (' out
run train --data texts:folders $options --evaluate --json --save t.keras
check folders_of_texts_are_learnt grep -Eq '"test_accuracy":(0\.9[5-9]|1\.0)' out
run train --data texts:files $options --evaluate --json --checkpoint-dir run
check files_with_percent_lines_are_learnt grep -Eq '"test_accuracy":(0\.9[5-9]|1\.0)' out
few="--data texts:folders --sequence-length 16 --batch-size 20 --epochs 1 --json"
run train $few --devices cpu:1
one=$(value weights_sha256)
for elsewhere in '--devices cpu:2' '--devices cpu:4' '--devices cpu:2 --strategy towers'; do
    run train $few $elsewhere
    check "same_weights_with_$(echo $elsewhere | tr -c 'a-z0-9\n' _)" [ "$one" = "$(value weights_sha256)" ]
done
run train --data csv:t --text quote --label topic $options --max-tokens 5 --summary
check max_tokens_is_the_vocabulary grep -q 'Embedding.*35 ' out

# ---- a network that splits texts itself ---------------------------------------------------------------

cat > split.json << 'END'
{"class_name": "Sequential", "config": {"name": "split", "layers": [
    {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [null, 1], "dtype": "string"}},
    {"class_name": "TextVectorization", "config": {"name": "words", "output_sequence_length": 16,
        "vocabulary": ["ball", "goal", "team", "match", "atom", "energy", "star", "cell"]}},
    {"class_name": "Embedding", "config": {"name": "table", "input_dim": 10, "output_dim": 6}},
    {"class_name": "GlobalAveragePooling1D", "config": {"name": "mean"}},
    {"class_name": "Dense", "config": {"name": "end", "units": 2}}]}}
END
weights() { sed -n 's/^weights sha256: //p' out; }
splits="--model split.json --optimizer adam --learning-rate 0.05 --batch-size 20 --epochs 8"
works network_that_splits_texts_learns "$learnt" train --data texts:folders $splits --devices cpu:1 --evaluate --save split.keras
one=$(weights)
check and_prints_its_weights [ ${#one} = 64 ]
for elsewhere in '--devices cpu:2' '--devices cpu:4 --strategy towers'; do
    run train --data texts:folders $splits $elsewhere
    check "same_weights_with_$(echo $elsewhere | tr -c 'a-z0-9\n' _)" [ "$one" = "$(weights)" ]
done
works its_file_takes_texts "$learnt" evaluate --load split.keras --data texts:folders
printf 'A goal, a match!\n%%\nAtom STAR\n%%\n' > two.txt
works and_names_their_classes '^ *1  *science' predict --load split.keras --data texts:two.txt
printf 'A goal, a match!\n' > in
works also_of_standard_input '^ *0  *sport' predict --load split.keras --text - < in
works also_of_a_column "$learnt" train --data csv:t --text quote --label topic $splits --evaluate --save column.keras
works whose_name_is_kept "$learnt" evaluate --load column.keras --data csv:t-test.csv
printf 'quote\n"A goal, a match!"\nAtom STAR\n' > alone.csv
works a_column_of_texts_may_be_alone '^ *1  *science' predict --load split.keras --data csv:alone.csv --text quote
cat > bare.py << 'END'
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[2], "w") as new:
    for name in old.namelist():  # without the note of the training, as other programs write it
        data = old.read(name)
        if name == "metadata.json": data = json.dumps({k: v for k, v in json.loads(data).items() if "muster" not in k}).encode()
        new.writestr(name, data)
END
python3 bare.py split.keras bare.keras
works also_for_a_file_of_another_program '^ *1 ' predict --load bare.keras --data csv:alone.csv --text quote
mkdir new-texts && printf 'A goal' > new-texts/a.txt && printf 'Atom STAR' > new-texts/b.txt
works whose_files_are_named '^new-texts/b.txt ' predict --load bare.keras --data texts:new-texts
works its_length_can_be_changed '^ *1  *science' predict --load split.keras --data texts:two.txt --sequence-length 2
works folds_need_no_new_words '2 folds' train --data texts:folders $splits --folds 2
sed 's/"output_sequence_length": 16,//' split.json > open.json
run train --data texts:folders --model open.json --batch-size 20 --steps 2
check network_without_a_length_is_told grep -q "'open.json': layer 'words' has no output_sequence_length: it takes 300 words" err
sed 's/"vocabulary": [^]]*\]/"vocabulary": null/' split.json > empty.json
fails vocabulary_is_missing 1 "layer 'words' (TextVectorization): it has no vocabulary" train --data texts:folders --model empty.json
fails words_have_their_numbers 2 "max-tokens is not for a network that splits texts itself" \
    train --data texts:folders --model split.json --max-tokens 9
fails a_network_of_strings_takes_no_pictures 2 "takes texts: give texts:PATH" train --data idx:nowhere --model split.json
fails numbers_are_no_texts 1 "takes texts, and 'npz:x.npz' has none" evaluate --load split.keras --data npz:x.npz
fails length_of_numbers_is_known 1 "does not split texts itself" predict --load t.keras --data texts:two.txt --sequence-length 5

run train $few --devices cpu:1 --pad front --evaluate --save front.keras
check zeros_can_be_in_front [ "$one" != "$(value weights_sha256)" ]
loss=$(value test_loss)
run evaluate --load front.keras --devices cpu:1 --json
# the losses of other batches are added up in another order
check where_they_stay_for_the_model awk -v a="$loss" -v b="$(value test_loss)" 'BEGIN { exit !(a - b < 1e-6 && b - a < 1e-6) }'
fails zeros_are_for_texts 1 "pad is for texts:PATH" train --data idx:nowhere --pad front

# ---- predictions -------------------------------------------------------------------------------------

printf '%s\n' quote '"A goal, and the ball!"' '"Energy of an atom,"' '""' > new.csv
works column_of_texts_is_predicted '^ *0  sport  *[01]' predict --load t.safetensors --data csv:new.csv
check second_text_is_of_science grep -q '^ *1  science ' out
check empty_text_is_predicted grep -q '^ *2  s' out
printf 'A goal, and the ball!\n%%\nEnergy of an atom,\n' > new.txt
works file_of_texts_is_predicted '^ *0  sport  *[01]' predict --load t.keras --data texts:new.txt
check second_text_of_the_file_is_of_science grep -q '^ *1  science ' out
mkdir inbox
echo 'Energy of an atom,' > inbox/2.txt && echo 'A goal, and the ball!' > inbox/1.txt
works folder_of_files_is_predicted_with_their_names '^inbox/1.txt  sport  *[01]' predict --load t.keras --data texts:inbox
check second_file_is_of_science grep -q '^inbox/2.txt  science ' out
run predict --load t.keras --data texts:inbox/ --json
check events_name_the_files grep -q '"event":"prediction","file":"inbox/2.txt","class":0,"name":"science"' out
fails files_without_classes_are_not_evaluated 1 "'texts:inbox': the data has no labels: evaluate needs them" evaluate --load t.keras --data texts:inbox
works checkpoint_predicts_too '^ *0  sport  *[01]' predict --checkpoint-dir run --data texts:new.txt
works evaluate_takes_the_data_of_training "$learnt" evaluate --load t.safetensors
works evaluate_takes_the_folders_of_training "$learnt" evaluate --load t.keras
works evaluate_takes_other_texts "$learnt" evaluate --load t.keras --data texts:files

# the vocabulary of --load stays: texts of other words are unknown tokens to it, not new numbers
printf 'text,class\nball ball ball goal,sport\nzebra atom,science\n' > other.csv
works training_goes_on_with_the_vocabulary_of_the_model 'done: step 1, loss = 0\.[0-9]*, accuracy = 1.0000' \
    train --load t.keras --data csv:other.csv --text text --epochs 1 --batch-size 2 --shards 1 --devices cpu:1 --save more.keras
sed 's/^quote/text/' new.csv > text.csv
works model_that_went_on_predicts '^ *0  sport  *[01]' predict --load more.keras --data csv:text.csv

sed '1s/.*/number,words,about/' t-test.csv > same.csv
# a table of the same kinds of texts, whose columns have other names than files have
works texts_of_files_are_evaluated_on_a_table "$learnt" evaluate --load t.keras --data csv:t --text quote --label topic
works training_goes_on_with_a_table '^done: ' train --load t.keras --data csv:t --text quote --label topic --epochs 1 --batch-size 20 \
    --evaluate --save table.keras
works model_that_went_on_with_a_table_is_evaluated "$learnt" evaluate --load table.keras --data csv:t
works texts_of_a_table_are_evaluated_on_another "$learnt" evaluate --load t.safetensors --data csv:same.csv --text words --label about
fails columns_of_texts_are_named 1 "has no column 'words': its columns are 'id', 'quote', 'topic'" evaluate --load t.keras --data csv:t --text words
fails labels_of_texts_are_named 1 "the data has no labels, which evaluate needs: 't-t.*has no column 'class': its columns are 'id', 'quote', 'topic'" \
    evaluate --load t.keras --data csv:t --text quote

# ---- bad input ---------------------------------------------------------------------------------------

train="train $options"
fails missing_column_is_told 1 "'t-train.csv': has no column 'nope': its columns are 'id', 'quote', 'topic'" $train --data csv:t --text nope
fails label_and_text_differ 1 "column 'quote' cannot be the label and the text" $train --data csv:t --text quote --label quote
fails text_is_for_tables 1 'text is for csv:FILE' $train --data texts:folders --text quote
printf 'a b\0c\n' > zero
fails a_text_with_a_byte_of_zero_is_told 1 "'zero': byte 3 is 0, which no text has" predict --load t.keras --data texts:zero
fails max_tokens_is_for_texts 1 'max-tokens is for texts:PATH' $train --data csv:t --max-tokens 50
fails mlp_does_not_take_texts 2 'model mlp takes numbers, and the data has texts' $train --data csv:t --text quote --model mlp
fails text_cnn_takes_texts 2 'model text_cnn takes texts, and the data has none' train --data csv:t --model text_cnn
fails short_texts_are_told 1 '--sequence-length 5: --model text_cnn takes texts of at least 12 tokens' train --data csv:t --text quote --sequence-length 5
printf 'quote\ncaf\351\n' > latin1.csv
fails pictures_are_no_texts 1 "'t.keras': the model takes numbers of words, not pictures" predict --load t.keras photo.png
fails text_that_is_not_utf8_is_told 1 "'latin1.csv': text of row 0: byte 3, 0xe9, is not UTF-8" predict --load t.safetensors --data csv:latin1.csv
printf 'caf\351\n' > files/test/sport
fails file_that_is_not_utf8_is_told 1 "'files/test/sport': byte 3, 0xe9, is not UTF-8" $train --data texts:files --evaluate
fails column_of_training_is_told 1 "'text.csv': has no column 'quote'" predict --load t.safetensors --data csv:text.csv
printf 'quote,topic\n,a\n!,b\n' > empty.csv
fails texts_without_words_are_told 1 "'empty.csv': .*the texts have no tokens" $train --data csv:empty.csv --text quote
mkdir none
fails folder_without_texts_is_told 1 "'none': has no texts" $train --data texts:none
fails folder_without_parts_has_no_test_part 1 'has no test part' $train --data texts:folders/train --evaluate
mkdir -p folders/test/art
echo paint > folders/test/art/1
fails new_class_is_told 1 "/art': class 'art' was not there in training" evaluate --load t.keras

# ids of subwords: the model keeps the tokenizer, whose file is gone then
if [ -e "$(dirname "$muster")/libmuster-pcre2.so" ]; then
    cp "$here/cli/tiny_tokenizer.json" tiny.json
    works subwords_are_learnt "$learnt" $train --data csv:t --text quote --tokenizer tiny.json --sequence-length 48 \
        --save subwords.keras --evaluate
    rm tiny.json
    echo 'atom energy star cell atom' > one.txt
    works subwords_need_no_file_to_evaluate "$learnt" evaluate --load subwords.keras
    works subwords_need_no_file_to_predict '  science ' predict --load subwords.keras --data texts:one.txt
    cp "$here/cli/tiny_tokenizer.json" tiny.json
    works network_without_vocabulary_is_made 'subwords.onnx from' convert subwords.keras subwords.onnx
    works subwords_of_a_network_without_vocabulary '^ *0 ' predict --load subwords.onnx --data texts:one.txt --tokenizer tiny.json
    printf 'the cat at\nthe hat\n' > cat.txt
    # " the", " ", "c", "at", " a", "t", unknown, and so on
    works text_becomes_tokens 'cat.u16 from lines:cat.txt: 13 tokens of 58, for 1.46 bytes' \
        convert lines:cat.txt tokens:cat.u16 --tokenizer tiny.json
    check tokens_are_ids [ "$(od -An -v -tu2 cat.u16 | tr -s ' \n' ' ')" = " 48 2 5 50 49 22 1 22 47 2 10 50 1 " ]
    works tokens_in_32_bits ' 13 tokens' convert lines:cat.txt tokens:cat.u32 --tokenizer tiny.json
    check are_twice_as_long [ "$(wc -c < cat.u32)" -eq $((2 * $(wc -c < cat.u16))) ]
    works tokens_of_numpy ' 13 tokens' convert lines:cat.txt tokens:cat.npy --tokenizer tiny.json
    check have_a_header grep -aq "{'descr': '<u2', 'fortran_order': False, 'shape': (13,), }" cat.npy
    check and_the_same_ids [ "$(tail -c 26 cat.npy | od -An -v -tu2)" = "$(od -An -v -tu2 cat.u16)" ]
    works texts_end_with_their_token ' tokens of 58' convert texts:folders/train tokens:all.u16 --tokenizer tiny.json
    check each_of_them [ "$(od -An -v -w2 -tu2 all.u16 | grep -c '^ *0$')" -eq 200 ]
    fails tokens_that_are_there_are_kept 1 "'cat.u16': is there already" convert lines:cat.txt tokens:cat.u16 --tokenizer tiny.json
    fails tokens_need_a_tokenizer 2 'say --tokenizer' convert lines:cat.txt tokens:new.u16
    fails tokens_need_an_ending 1 "'new': must end in .u16" convert lines:cat.txt tokens:new --tokenizer tiny.json
    fails tokens_are_of_text 1 "'csv:t': tokens are made of lines:FILE" convert csv:t tokens:new.u16 --tokenizer tiny.json
    fails tokenizer_is_for_tokens 2 'is for tokens:FILE' convert csv:t npz:new.npz --tokenizer tiny.json
    rm tiny.json
    fails tokenizer_that_is_absent_is_told 1 "'tiny.json': " $train --data csv:t --text quote --tokenizer tiny.json
    fails tokenizer_is_of_texts 1 "tokenizer is for texts:PATH" train --data npz:ids.npz --tokenizer tiny.json
else
    printf 'skip subwords: this build has no module pcre2\n'
fi

# numbers of words: 60 texts of NumPy, those of class 1 with numbers from 6 to 10, the others from 1 to 5
base64 -d > ids.npz << 'end'
UEsDBC0AAAAIAAAAIQB4sGc0//////////8FABQAeC5ucHkBABAAWwQAAAAAAADgAQAAAAAAAKVTTWvbQBC1tNqVtPScs29ywZicQgiBHAo5dK
kdCjn0UIxsb3DAX6zlgokDvYTGoJs3/6v/KN2dHU3Vc3cso9mdeW/mzeo0vP9y9y3q/Og8FTO9nZriqlscRkW/WzysTWXK1XhtZtpv35aLrXb7
23m50c7vXZz3P/a7z93/WPJn8vabdWDVZ6vdcrMfjKdrowfL3aJ6LI0p97b+MDZ6ul5tK7ObVvZkaw6Rtk5XsxBysqrzYj9FE/vLfrU9FanrFz
tnNZ9V+432KfHo0h5fwymro4MdDoef392CP3VT2cnxu+25n8pV6ixXUgkdfKky8hIVK+YIOHjMWey8GDwJubkSGJshToZ+wBUY6zFzZBAQFzzu
zGEifuQejtkCciRGxf5BHs+bEW7DxyDf1QsevFGlma9SpXTi+4qJP3F7CdXAned8qkL4fFSDA0c4iyG2yRPYY0bKeRRO1QSWNicYKgJ6+HyMTg
g3Bk0Y4jDQIcKuvL4p1unVb+Yg6V2AVqKlvQSmZmZtXUM3nPA59ttUEub7d7qBP8cz0bo1MOvA05qSpFpTrEkibxK6Qp4cO2h6A1zCYv/MLqIZ
+57CnWlm1VYtoi4F3B+B3HCTWh1lQSHSmoVZYGawrHUnPbt2X9PgD1BLAwQtAAAACAAAACEAtrfQe///////////BQAUAHkubnB5AQAQALwAAA
AAAAAAWwAAAAAAAACb7BfqGxDJyFDGUK2eklqcXKRupaBeU2qorqOgnpZfVFKUmBefX5SSChJ3S8wpTgWKF2ckFqQC+RpmBjqaOgq1CuQDLkZG
BgZGEABSDBASjKEUTA5Cw1WAmQwAUEsBAi0DLQAAAAgAAAAhAHiwZzTgAQAAWwQAAAUAAAAAAAAAAAAAAIABAAAAAHgubnB5UEsBAi0DLQAAAA
gAAAAhALa30HtbAAAAvAAAAAUAAAAAAAAAAAAAAIABFwIAAHkubnB5UEsFBgAAAAACAAIAZgAAAKkCAAAAAA==
end
works numbers_of_words_are_inspected '^  x  *60 lists of integers, [0-9]* to [0-9]* long  1 to 10, mean' inspect ids.npz
run inspect --json ids.npz
check numbers_of_words_are_inspected_as_json grep -q '"objects":.{"name":"x","is_read":true,"count":60,' out
# NumPy would call os.system("touch touched") to read it
base64 -d > call.npz << 'end'
UEsDBBQAAAAIAAAAIQBze/FW4gAAADsBAAAFAAAAeC5ucHmb7BfqGxDJyFDGUK2eklqcXKRupaBe
46+uo6Cell9UUpSYF59flJIKEnZLzClOBYoXZyQWpAL5GoY6mjoKtQqUAK4GlqkbGCCgRyyvNLeg
Ui8+Ob8oVS+3NKckM7GoKLFySg9PfFFqcn5ecUlRaXLJlMlTeljBKqf0sOelQJRMnuLN0DrFmTFp
SvuUoCka3ozejK1TMph7WFNKKgtSQVqY/C2mdHZAZJl7GGum+Pn5ef0HAjDhbV8yJakzFmhyQX5x
ZsWUHrbiyuKS1FyQTt6S/NLkDAUwmZoypRVoRCJQtR4AUEsBAhQDFAAAAAgAAAAhAHN78VbiAAAA
OwEAAAUAAAAAAAAAAAAAAIABAAAAAHgubnB5UEsFBgAAAAABAAEAMwAAAAUBAAAAAA==
end
works objects_that_call_something_are_not_read "objects of Python, not read: .* asks for 'posix.system'" inspect call.npz
check and_call_nothing [ ! -e touched ]
works numbers_of_words_are_learnt 'test: loss = .*accuracy = 1.0' train --data word-ids:ids.npz --sequence-length 16 --max-tokens 20 --batch-size 8 --epochs 12 --shards 1 --devices cpu:1 --evaluate --save ids.keras
works numbers_of_words_are_evaluated 'accuracy = 1.0' evaluate --load ids.keras --data word-ids:ids.npz
works numbers_of_words_are_predicted '^ *11 ' predict --load ids.keras --data word-ids:ids.npz
fails numbers_of_words_are_not_a_model_of_texts 1 "takes no data such as 'word-ids:ids.npz'" predict \
    --load t.keras --data word-ids:ids.npz

# ---- tokens of a long text ----------------------------------------------------------------------------

awk 'BEGIN { for (i = 0; i < 200; i++) printf "the cat sees the dog. " }' > book.txt
cat > next.json << 'end'
{"class_name": "Sequential", "config": {"name": "next", "layers": [
  {"class_name": "InputLayer", "config": {"name": "x", "batch_shape": [null, 16], "dtype": "int32"}},
  {"class_name": "Embedding", "config": {"name": "e", "input_dim": 128, "output_dim": 8}},
  {"class_name": "Dense", "config": {"name": "d", "units": 128, "activation": "softmax"}}]}}
end
works a_network_learns_the_next_token 'perplexity = ' train --data tokens:book.txt --max-tokens 128 --model next.json \
    --sequence-length 16 --epochs 2 --metrics perplexity --devices cpu:1 --save next.keras
works its_length_is_known_to_evaluate '^test: .*perplexity = .*(274 examples)' evaluate --load next.keras --data tokens:book.txt
works and_to_predict 'predictions: next.npy' predict --load next.keras --data tokens:book.txt --out next.npy
fails other_networks_predict_no_tokens 2 "'tokens:book.txt': is for a network that predicts the token after each" \
    train --data tokens:book.txt --model text_cnn

end_of_checks
