/** SentencePiece models. The module `sentencepiece` (module/module.h) runs them by the library of that name, which is
 *  C++: this header is read by both languages. */
#ifndef MUSTER_TOKENIZER_SENTENCEPIECE_H
#define MUSTER_TOKENIZER_SENTENCEPIECE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_sentencepiece mst_sentencepiece;

/** The interface of the module. Ids are below num_ids. No function throws an exception. */
typedef struct mst_sentencepiece_library {
    /** Opens the model in the SIZE bytes at MODEL, which are not needed afterwards. MST_CORRUPT if they are not a
     *  model. */
    mst_status (*open)(const void *model, size_t size, mst_sentencepiece **out);
    void (*close)(mst_sentencepiece *model); /**< NULL is allowed */
    /** Sets *IDS to the *N ids of a text; the caller frees them with free(). */
    mst_status (*encode)(const mst_sentencepiece *model, const char *text, size_t size, int32_t **ids, int64_t *n);
    /** Sets *TEXT to the text of N ids, of *SIZE bytes; the caller frees it with free(). */
    mst_status (*decode)(const mst_sentencepiece *model, const int32_t *ids, int64_t n, char **text, size_t *size);
    int32_t (*num_ids)(const mst_sentencepiece *model);
    const char *(*token)(const mst_sentencepiece *model, int32_t id);
    int32_t (*find)(const mst_sentencepiece *model, const char *token); /**< -1: there is none */
    /** The ids of the special tokens, in the order of mst_special_token; -1: there is none. */
    void (*special)(const mst_sentencepiece *model, int64_t special[4]);
} mst_sentencepiece_library;

/** Defined in sentencepiece.cc. */
extern const mst_sentencepiece_library mst_sentencepiece_functions;

#ifdef __cplusplus
}
#endif

#endif
