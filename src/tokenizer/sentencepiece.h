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

/** The interface of the module. Ids are below num_ids. No function lets an exception out. */
typedef struct mst_sentencepiece_library {
    /** Opens the SIZE bytes of a model, which the library has no need of afterwards. MST_CORRUPT if it is none. */
    mst_status (*open)(const void *model, size_t size, mst_sentencepiece **out);
    void (*close)(mst_sentencepiece *model); /**< NULL is allowed */
    /** Sets *IDS to the N ids of a text, to be freed. */
    mst_status (*encode)(const mst_sentencepiece *model, const char *text, size_t size, int32_t **ids, int64_t *n);
    /** Sets *TEXT to the text of N ids, SIZE bytes, to be freed. */
    mst_status (*decode)(const mst_sentencepiece *model, const int32_t *ids, int64_t n, char **text, size_t *size);
    int32_t (*num_ids)(const mst_sentencepiece *model);
    const char *(*token)(const mst_sentencepiece *model, int32_t id);
    int32_t (*find)(const mst_sentencepiece *model, const char *token); /**< -1: there is none */
    /** What begins and ends a text, padding, and unknown, in the order of mst_special_token; -1: there is none. */
    void (*special)(const mst_sentencepiece *model, int64_t special[4]);
} mst_sentencepiece_library;

/** What the C++ of the module defines. */
extern const mst_sentencepiece_library mst_sentencepiece_functions;

#ifdef __cplusplus
}
#endif

#endif
