#!/bin/sh
# Language models by the command: a text is learnt, and written on. Usage: generate_test.sh PATH_OF_MUSTER
# lists of options are split on purpose
# shellcheck disable=SC2086,SC2154
set -u
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"

i=0
while [ $i -lt 150 ]; do
    printf 'the cat sees the dog. \nthe dog sees a bird. \na bird sees the cat. \n'
    i=$((i + 1))
done > book.txt
mkdir parts && cp book.txt parts/train.txt && head -n 60 book.txt > parts/val.txt
small="--sequence-length 24 --batch-size 20 --optimizer adamw --learning-rate 0.01"
gpt="--data lines:book.txt --model gpt:2x32 --heads 4 $small"

# ---- training ----------------------------------------------------------------------------------------

works text_is_learnt 'done: step 160, loss = [01]\.[0-9]*, perplexity = [1-9]\.' train $gpt --steps 160 --devices cpu:1 --save g.keras --checkpoint-dir run
check first_line_tells_the_model grep -q '^gpt:2x32 ([0-9,]* parameters, .* on lines:book.txt' out
one=$(sed -n 's/^weights sha256: //p' out)
for elsewhere in '--devices cpu:2' '--devices cpu:4/1' '--devices cpu:2 --strategy towers'; do
    run train $gpt --steps 160 $elsewhere
    check "same_weights_with_$(echo $elsewhere | tr -c 'a-z0-9\n' _)" [ "$one" = "$(sed -n 's/^weights sha256: //p' out)" ]
done
run train $gpt --steps 25 --devices cpu:1 --checkpoint-dir half
run train $gpt --steps 160 --devices cpu:2 --checkpoint-dir half
check same_weights_after_a_break [ "$one" = "$(sed -n 's/^weights sha256: //p' out)" ]
works same_bytes_as_tokens "$one" train $gpt --data tokens:book.txt --steps 160 --devices cpu:1
works folder_has_a_test_part 'test: loss = .*perplexity' train $gpt --data lines:parts --steps 30 --evaluate
works and_a_validation_part 'done: .*perplexity = [0-9.]*, val_loss = .*val_perplexity' train $gpt --data lines:parts --steps 3
works of_tokens_too 'val_perplexity' train $gpt --data tokens:parts --steps 3
works file_is_a_validation_part 'val_perplexity' train $gpt --steps 3 --validation-data lines:parts/val.txt
works file_is_a_test_part 'test: loss = .*perplexity' train $gpt --steps 3 --test-data tokens:parts/val.txt
works folder_is_a_test_part 'test: loss = .*perplexity' train $gpt --steps 3 --test-data lines:parts
works file_is_evaluated 'test: loss = [01]\.[0-9]*, perplexity = [1-9]\.' evaluate --load g.keras --data lines:book.txt
works checkpoint_is_evaluated 'test: loss = [01]\.[0-9]*, perplexity = [1-9]\.' evaluate --checkpoint-dir run --data lines:book.txt
works training_goes_on 'done: step 165, loss = [01]\.[0-9]*, perplexity' train --load g.keras --data lines:book.txt --steps 5 --batch-size 20
run convert g.keras folder/
works folder_of_hugging_face_tells_the_perplexity 'test: loss = [01]\.[0-9]*, perplexity = [1-9]\.' evaluate --load folder --data lines:book.txt
works without_a_model_it_is_a_gpt '^gpt:4x256 ' train --data lines:book.txt --steps 1 --batch-size 2 --sequence-length 8
works doctor_knows_it 'gpt:2x64 of \[128\]' doctor --data lines:book.txt --model gpt:2x64

# ---- writing -----------------------------------------------------------------------------------------

# writes NAME PATTERN ARGUMENT...: exit status 0, the pattern on standard output, and the speed on standard error
writes() {
    name=$1 pattern=$2
    shift 2
    run generate "$@"
    if [ "$status" -ne 0 ] || ! grep -q -e "$pattern" out; then
        failed "$name" "exit status $status, or not: $pattern"
    elif ! grep -q '^[0-9]* tokens after [0-9]*' err || [ "$(wc -l < err)" -ne 1 ]; then
        failed "$name" "standard error does not tell the speed alone"
    else
        ok "$name"
    fi
}

writes likeliest_text_is_that_of_the_book '^the cat sees the $' --load g.keras --text 'the cat s' --temperature 0 --max-new-tokens 8
cp out first
writes checkpoint_writes_the_same '^the cat' --checkpoint-dir run --text 'the cat s' --temperature 0 --max-new-tokens 8
check as_the_file cmp -s out first
writes drawn_text '^the cat' --load g.keras --text 'the cat' --seed 3 --devices cpu:1/1
cp out first
for devices in cpu:1/2 cpu:2; do
    run generate --load g.keras --text 'the cat' --seed 3 --devices $devices
    check "is_the_same_on_$devices" cmp -s out first
done
run generate --load g.keras --text 'the cat' --seed 4
check another_seed_draws_another_text [ "$(cat out)" != "$(cat first)" ]
writes text_longer_than_the_positions '^the cat' --load g.keras --text 'the cat' --max-new-tokens 100
check has_all_tokens [ "$(wc -c < out)" -eq 108 ]
printf 'a bird s\n' > prompt
"$muster" generate --load g.keras --text - --temperature 0 --max-new-tokens 3 < prompt > out 2> err
check standard_input_is_gone_on_with grep -q '^a bird sees$' out
run generate --load g.keras --text 'a bird s' --temperature 0 --max-new-tokens 3 --json
check json_has_text_and_tokens grep -q '^{"event":"generated","text":"ees","tokens":\[101,101,115\],"prompt_tokens":8,' out
check json_is_alone [ ! -s err ]

# a reader that leaves ends it at once: so many tokens would take hours
(
    "$muster" generate --load g.keras --text 'a bird' --max-new-tokens 1000000000 2> err
    echo $? > left
) | head -c 8 > out
check reader_that_leaves_ends_it grep -q '^a bird' out
check with_the_status_of_a_signal [ "$(cat left)" -eq 141 ]
"$muster" generate --load g.keras --text 'a bird' --max-new-tokens 1000000000 > out 2> err &
process=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s out ] || sleep 1; done
kill -INT $process
wait $process
check interrupt_ends_it [ $? -eq 130 ]
check and_tells_how_far_it_came grep -q '^[0-9]* tokens after 6' err

# ---- a tokenizer -------------------------------------------------------------------------------------

if [ -e "$(dirname "$muster")/libmuster-pcre2.so" ]; then
    cp "$here/cli/tiny_tokenizer.json" tiny.json
    printf 'the cat at\nthe hat\n%.0s' 1 2 3 4 5 6 7 8 9 10 > cat.txt
    llama="--model llama:1x32 --heads 4 --key-value-heads 2 --sequence-length 8 --batch-size 4 --optimizer adamw --learning-rate 0.01 --devices cpu:1"
    works ids_are_learnt 'done: step 60' train --data lines:cat.txt --tokenizer tiny.json $llama --steps 60 --save l.keras
    one=$(sed -n 's/^weights sha256: //p' out)
    run convert lines:cat.txt tokens:cat.u16 --tokenizer tiny.json
    works as_those_of_a_file "$one" train --data tokens:cat.u16 --tokenizer tiny.json $llama --steps 60
    rm tiny.json
    writes tokenizer_is_in_the_model '^ the cat at$' --load l.keras --text 'the cat' --temperature 0 --max-new-tokens 2
    works and_evaluates_text 'test: loss' evaluate --load l.keras --data lines:cat.txt
    fails tokenizer_that_is_not_there 1 "'tiny.json'" train --data lines:cat.txt --tokenizer tiny.json $llama --steps 60
    works file_of_ids_needs_no_tokenizer 'done: step 3' train --data tokens:cat.u16 --max-tokens 300 $llama --steps 3 --save ids.keras
    fails ids_are_no_text 1 'the model has 300 tokens, which are no bytes' generate --load ids.keras --text 'the'
else
    printf 'skip tokenizers: this build has no module pcre2\n'
fi

# ---- bad input ---------------------------------------------------------------------------------------

fails sizes_are_missing 2 'model gpt: say how many layers, .* such as gpt:6x384' train --data lines:book.txt --model gpt
fails sizes_are_no_numbers 2 'such as llama:6x384' train --data lines:book.txt --model llama:6x38y
fails heads_do_not_divide 1 '3 heads need a width that is a multiple of 3' train $gpt --heads 3
fails heads_of_rotary_positions_are_even 1 'multiple of 64' train $gpt --model llama:2x32 --heads 32
fails key_heads_do_not_divide 1 'key-value-heads 3: must divide the number of heads, 4' train $gpt --key-value-heads 3
fails heads_are_for_attention 2 'heads is not for a model without attention' train --data idx:nowhere --heads 2
fails other_data_is_told 2 'takes one long text: lines:FILE or tokens:FILE' train --data idx:nowhere --model gpt:2x32
fails other_models_are_told 2 'take --model gpt:6x384' train --data lines:book.txt --model text_cnn
fails other_losses_are_told 1 'is trained by sparse_categorical_crossentropy' train $gpt --loss mse
fails hidden_units_are_not_for_it 2 'hidden-units is not for --model gpt:2x32' train $gpt --hidden-units 3
fails classes_are_those_of_the_data 2 'classes is not for --model gpt:2x32' train $gpt --classes 30
printf 'short' > short.txt
fails text_is_too_short 1 "'short.txt': has 5 tokens: examples of 24 need at least 25" train $gpt --data lines:short.txt
fails text_is_not_there 1 "'none.txt'" train $gpt --data lines:none.txt
fails part_is_not_there 1 'the folder has no train.txt' train $gpt --data lines:run
fails model_is_missing 2 'which model' generate --text a
fails file_is_not_there 1 'nosuch.keras' generate --load nosuch.keras --text a
fails file_has_no_network 1 'is no file of a whole model' generate --load book.txt --text a
fails folder_has_no_checkpoint 1 'parts' generate --checkpoint-dir parts --text a
fails text_is_needed 1 'say --text TEXT' generate --load g.keras
run train --data lines:book.txt --max-tokens 128 --model gpt:1x16 $small --steps 1 --save ascii.keras
fails byte_is_no_token 1 'byte 0 of the text is 195, .* bytes are 0 to 127, .* with --max-tokens 256' generate --load ascii.keras --text 'é'
writes any_byte_is_a_token '^é' --load g.keras --text 'é' --max-new-tokens 1
for from in '--load g.keras' '--checkpoint-dir run'; do
    fails "predict_names_the_command_that_writes_$(echo "$from" | tr -c 'a-z\n' _)" 1 \
        "is a language model, which goes on with a text by muster generate $from --text TEXT" predict $from --text 'the cat'
    fails "of_a_file_of_texts_too_$(echo "$from" | tr -c 'a-z\n' _)" 1 "muster generate $from" predict $from --data texts:book.txt
done
echo 'the cat' | "$muster" predict --load g.keras --text - > out 2> err
check texts_on_standard_input_too grep -q '^error: .* by muster generate --load g.keras' err
works tokens_are_predicted '' predict --load g.keras --data lines:parts/val.txt --out p.npy
fails nothing_is_padded 1 '--pad is for texts:PATH' train $gpt --pad front
head -c 4000 book.txt > wide.u32
fails ids_of_another_width_are_told 1 "'wide.u32': token 0 is 543516788: .* another number of bytes" train $gpt --data tokens:wide.u32
fails temperature_is_a_number 2 'temperature' generate --load g.keras --text a --temperature warm
fails probability_is_below_1 2 'top-p' generate --load g.keras --text a --top-p 2
printf '{"class_name": "Sequential", "config": {"name": "s", "layers": [{"class_name": "InputLayer", "config": {"name": "in",
    "batch_shape": [null, 8, 8]}}, {"class_name": "Dense", "config": {"name": "d", "units": 3}}]}}' > net.json
printf 'x,y\n1,2\n2,4\n3,6\n' > table.csv
run train --data csv:table.csv --steps 1 --batch-size 2 --validation-split 0 --hidden-units 3 --save table.keras
fails model_of_a_table_writes_no_text 1 'table.keras.: begins with no embedding' generate --load table.keras --text a
fails network_without_weights 1 'has a network without weights' generate --load net.json --text a

end_of_checks
