#!/bin/sh
# Folders of Hugging Face in all commands. Usage: huggingface_test.sh PATH_OF_MUSTER
set -u
# shellcheck disable=SC2034
muster=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/support/checks.sh"

awk 'BEGIN { for (i = 0; i < 60; i++) printf "the cat sees the dog. " }' > book.txt
mkdir gpt2 llama
cat > gpt2/config.json << 'end'
{"model_type": "gpt2", "n_layer": 1, "n_embd": 16, "n_head": 2, "n_positions": 16, "vocab_size": 128,
 "activation_function": "gelu_new", "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0, "bos_token_id": 7}
end
cat > llama/config.json << 'end'
{"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 16, "intermediate_size": 24, "num_attention_heads": 4,
 "num_key_value_heads": 2, "max_position_embeddings": 16, "vocab_size": 128}
end
data="--data tokens:book.txt --devices cpu:1"
training="$data --max-tokens 128 --sequence-length 16 --epochs 2"

# ---- training ----------------------------------------------------------------------------------------

for kind in gpt2 llama; do
    # shellcheck disable=SC2086
    works ${kind}_begins_with_new_weights 'perplexity = ' train --model $kind $training --metrics perplexity --save trained-$kind/
    check ${kind}_has_both_files test -s trained-$kind/config.json -a -s trained-$kind/model.safetensors
    # shellcheck disable=SC2086
    works ${kind}_is_evaluated '^test: loss = ' evaluate --load trained-$kind $data
    grep '^test: ' out > first
    # shellcheck disable=SC2086
    works ${kind}_is_trained_on 'loss = ' train --load trained-$kind $training --save trained-$kind
    # shellcheck disable=SC2086
    works ${kind}_has_changed '^test: loss = ' evaluate --load trained-$kind/ $data
    check ${kind}_has_other_weights sh -c '! cmp -s first out'
    # shellcheck disable=SC2086
    works ${kind}_predicts 'predictions: p.npy' predict --load trained-$kind $data --out p.npy
done
works checkpoint_is_written 'loss = ' train --model llama --data tokens:book.txt --max-tokens 128 --devices cpu:1 \
    --sequence-length 16 --checkpoint-dir run
works checkpoint_of_llama_is_evaluated '^test: loss = ' evaluate --checkpoint-dir run --data tokens:book.txt --devices cpu:1

# shellcheck disable=SC2086
works texts_may_be_shorter 'loss = ' train --load trained-gpt2 $data --sequence-length 5 --save short/
check positions_stay grep -q '"n_positions": 16' short/config.json
works and_of_llama 'loss = ' train --model llama --data tokens:book.txt --max-tokens 128 --devices cpu:1 \
    --sequence-length 5 --save short-llama/
check its_positions_stay grep -q '"max_position_embeddings": 16' short-llama/config.json
works llama_may_have_more 'loss = ' train --model llama --data tokens:book.txt --max-tokens 128 --devices cpu:1 \
    --sequence-length 20 --save short-llama/
fails but_not_longer_than_positions 1 '20 positions: the network has weights for 16' train --load trained-gpt2 \
    --data tokens:book.txt --sequence-length 20

# ---- conversions and reports ----------------------------------------------------------------------------

works folder_becomes_onnx 'm.onnx from trained-gpt2' convert trained-gpt2 m.onnx
works folder_becomes_keras 'm.keras from trained-llama' convert trained-llama m.keras
works keras_becomes_a_folder 'back/ from m.keras' convert m.keras back/
check weights_come_back cmp trained-llama/model.safetensors back/model.safetensors
fails folder_that_is_there_is_kept 1 'is there already' convert m.keras back/
fails folder_needs_a_slash 2 'FOLDER/' convert m.keras new
fails onnx_becomes_no_folder 1 'holds GPT-2 or Llama' convert m.onnx new/
check no_folder_is_left test ! -e new
works folder_is_inspected 'gpt2: Hugging Face, gpt2, 1 layer of width 16, 2 heads' inspect trained-gpt2
printf '{}' > trained-gpt2/tokenizer.json
works its_tokenizer_is_told 'a tokenizer, for --tokenizer' inspect trained-gpt2
works and_as_json '"model_type":"llama".*"is_taken":true' inspect --json trained-llama

# ---- errors ----------------------------------------------------------------------------------------------

sed 's/"n_head": 2/"n_head": 3/' gpt2/config.json > c && mkdir heads && mv c heads/config.json
fails heads_must_divide_the_width 1 'heads/config.json.*"n_head", 3' train --model heads --data tokens:book.txt
fails folder_without_weights 1 'has neither model.safetensors' evaluate --load gpt2 --data tokens:book.txt
fails networks_of_the_command_are_not_written 1 'GPT-2 or Llama.*not one row of tokens$' train --data fashion-mnist --save new/
check and_no_folder_is_made test ! -e new
fails save_needs_a_name_that_says_the_kind 2 'onnx or /' train --data tokens:book.txt --model llama --save x

end_of_checks
