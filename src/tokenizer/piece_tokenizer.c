#include "tokenizer/piece_tokenizer.h"

#include <stdlib.h>

#include "base/no_memory.h"
#include "module/module.h"
#include "tokenizer/piece_check.h"
#include "tokenizer/sentencepiece.h"
#include "tokenizer/token_ids.h"

typedef struct piece_tokenizer {
    mst_tokenizer base;
    const mst_sentencepiece_library *library;
    mst_sentencepiece *model;
} piece_tokenizer;

static const piece_tokenizer *of(const mst_tokenizer *base) {
    return (const piece_tokenizer *)base;
}

static mst_status piece_tokenizer_encode(const mst_tokenizer *base, const char *text, size_t size,
                                         const mst_encode_options *o, mst_token_ids *ids) {
    const piece_tokenizer *t = of(base);
    const int32_t begin = (int32_t)base->special[MST_SPECIAL_BEGIN], end = (int32_t)base->special[MST_SPECIAL_END];
    int32_t *found;
    int64_t n;
    MST_TRY(t->library->encode(t->model, text ? text : "", size, &found, &n));
    mst_status status = MST_OK;
    if (o->add_special && base->adds_begin && begin >= 0) status = mst_token_ids_append(ids, &begin, 1);
    if (!status) status = mst_token_ids_append(ids, found, n);
    if (!status && o->add_special && base->adds_end && end >= 0) status = mst_token_ids_append(ids, &end, 1);
    free(found);
    return status;
}

static mst_status piece_tokenizer_decode(const mst_tokenizer *base, const int32_t *ids, int64_t n,
                                         const mst_decode_options *o, char **text, size_t *size) {
    (void)o;
    return of(base)->library->decode(of(base)->model, ids, n, text, size);
}

static int64_t piece_tokenizer_num_ids(const mst_tokenizer *base) {
    return of(base)->library->num_ids(of(base)->model);
}

static const char *piece_tokenizer_token(const mst_tokenizer *base, int64_t id) {
    return of(base)->library->token(of(base)->model, (int32_t)id);
}

static int64_t piece_tokenizer_find(const mst_tokenizer *base, const char *token) {
    return of(base)->library->find(of(base)->model, token);
}

static void piece_tokenizer_free(mst_tokenizer *base) {
    of(base)->library->close(((piece_tokenizer *)base)->model);
    free(base);
}

static const mst_tokenizer_type piece_type = {.encode = piece_tokenizer_encode,
                                              .decode = piece_tokenizer_decode,
                                              .num_ids = piece_tokenizer_num_ids,
                                              .token = piece_tokenizer_token,
                                              .find = piece_tokenizer_find,
                                              .free = piece_tokenizer_free};

mst_status mst_piece_tokenizer_create(const mst_tokenizer_file *file, mst_tokenizer **out) {
    const void *library;
    MST_TRY(mst_module_interface("sentencepiece", &library));
    MST_TRY(mst_piece_check(file->data, file->size));
    piece_tokenizer *t = calloc(1, sizeof *t);
    if (!t) return MST_NO_MEMORY("for a tokenizer");
    t->base.type = &piece_type;
    t->library = library;
    const mst_status status = t->library->open(file->data, file->size, &t->model);
    if (status) {
        free(t);
        return status;
    }
    t->library->special(t->model, t->base.special);
    *out = &t->base;
    return MST_OK;
}
