/** Subword tokenizers: they turn text into ids and ids into text, as published language models expect it.
 *
 *      mst_tokenizer *tokenizer;
 *      mst_token_ids ids = {0};
 *      MST_TRY(mst_tokenizer_open("gpt2", &tokenizer));
 *      MST_TRY(mst_tokenizer_encode(tokenizer, "Hello world", 11, NULL, &ids)); // 15496 995
 *      free(ids.id);
 *      mst_tokenizer_close(tokenizer);
 *
 *  Byte-level BPE (GPT-2, Llama 3): a pattern cuts the text into words. The bytes of a word are symbols, and pairs of
 *  neighbours are merged: first the pair of the lowest rank, and of equal pairs the leftmost. Ids are those of Hugging
 *  Face's `tokenizers`. It needs the module `pcre2`. Source: R. Sennrich et al., Neural Machine Translation of Rare
 *  Words with Subword Units, 2016; A. Radford et al., Language Models are Unsupervised Multitask Learners, 2019.
 *
 *  SentencePiece models are run by the library SentencePiece, in the module `sentencepiece`.
 *
 *  A tokenizer does not change: several threads may use one at a time.
 */
#ifndef MUSTER_TOKENIZER_H
#define MUSTER_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_tokenizer mst_tokenizer;

/** A list of ids. Zero-initialised is empty. `id` belongs to the caller, who frees it with free(). */
typedef struct mst_token_ids {
    int32_t *id;
    int64_t count, capacity; /**< ids in the list, and those for which it has memory */
} mst_token_ids;

/** Opens a tokenizer. PATH is one of:
 *
 *  - tokenizer.json of Hugging Face, or another .json file of this form. Supported are the model BPE without dropout;
 *    the pre-tokenizers ByteLevel, Split and Digits, and a Sequence of them; the post-processors ByteLevel and
 *    TemplateProcessing, and a Sequence of them; the decoder ByteLevel; added tokens without single_word;
 *  - vocab.json of GPT-2, with merges.txt beside it. "<|endoftext|>" is its special token;
 *  - a SentencePiece model, a .model file;
 *  - a folder, such as of a model of Hugging Face, with tokenizer.model, tokenizer.json, spiece.model, or the two files
 *    of GPT-2. A tokenizer_config.json in it names the special tokens for mst_tokenizer_special.
 *
 *  Close the tokenizer after success. Fails with MST_NOT_FOUND or MST_IO if a file cannot be read, with MST_CORRUPT
 *  if it contradicts itself, with MST_UNIMPLEMENTED if it has a part that is not supported (the message names it), with
 *  MST_UNAVAILABLE if the module is missing. */
MST_API MST_CHECKED mst_status mst_tokenizer_open(const char *path, mst_tokenizer **out);
/** NULL is allowed. */
MST_API void mst_tokenizer_close(mst_tokenizer *tokenizer);

typedef struct mst_encode_options {
    int zero_;
    /** Adds the special tokens that the file defines around each text, such as <|begin_of_text|> before it. For
     *  SentencePiece, add_bos_token and add_eos_token of tokenizer_config.json decide; without these, the token that
     *  begins a text is added. */
    bool add_special;
    bool plain; /**< special tokens that occur in the text are encoded as ordinary text: for untrusted text */
} mst_encode_options;
/** Appends to IDS the ids of the SIZE bytes at TEXT, UTF-8, which may contain zero bytes. OPTIONS may be NULL. After a
 *  failure the list is as before. Fails with MST_INVALID if TEXT is not UTF-8 (the message names the byte), or if the
 *  vocabulary has no token for one of its bytes. Time grows as n log n with the length of the longest word. */
MST_API MST_CHECKED mst_status mst_tokenizer_encode(const mst_tokenizer *tokenizer, const char *text, size_t size,
                                                    const mst_encode_options *options, mst_token_ids *ids);

typedef struct mst_decode_options {
    int zero_;
    bool keep_special; /**< write special tokens too, such as <|endoftext|>; SentencePiece never does */
    /** Keeps bytes that are not UTF-8, such as the first bytes of a character whose other bytes are missing. False:
     *  each incomplete character, and each other invalid byte, becomes U+FFFD. */
    bool raw_bytes;
} mst_decode_options;
/** Sets *TEXT to the text of N ids, and *SIZE to its number of bytes; a zero byte follows. The caller frees it with
 *  free(). OPTIONS may be NULL. MST_INVALID if an id is not in the vocabulary. */
MST_API MST_CHECKED mst_status mst_tokenizer_decode(const mst_tokenizer *tokenizer, const int32_t *ids, int64_t n,
                                                    const mst_decode_options *options, char **text, size_t *size);

/** The largest id plus one: the rows that an embedding needs. */
MST_API int64_t mst_tokenizer_num_ids(const mst_tokenizer *tokenizer);
/** The token of an id as the file writes it, such as "Ġthe"; NULL: there is none. Valid until the tokenizer is
 *  closed. */
MST_API const char *mst_tokenizer_token(const mst_tokenizer *tokenizer, int64_t id);
/** The id of a token as the file writes it; -1: there is none. */
MST_API int64_t mst_tokenizer_find(const mst_tokenizer *tokenizer, const char *token);

/** Special tokens: at the beginning of a text, at its end, in the padding after it, and for unknown characters. */
typedef enum mst_special_token {
    MST_SPECIAL_BEGIN = 0,
    MST_SPECIAL_END,
    MST_SPECIAL_PADDING,
    MST_SPECIAL_UNKNOWN,
    MST_NUM_SPECIAL
} mst_special_token;
/** The id of a special token; -1: there is none. */
MST_API int64_t mst_tokenizer_special(const mst_tokenizer *tokenizer, mst_special_token token);

#ifdef __cplusplus
}
#endif

#endif
