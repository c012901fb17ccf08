#include "tokenizer/token_ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/utf8.h"
#include "tokenizer/tokenizer.h"

mst_status mst_token_ids_append(mst_token_ids *ids, const int32_t *id, int64_t n) {
    MST_TRY(mst_grow(&ids->id, sizeof *ids->id, ids->count + n, &ids->capacity));
    if (n) memcpy(ids->id + ids->count, id, (size_t)n * sizeof *id);
    ids->count += n;
    return MST_OK;
}

mst_status mst_token_ids_of_file(const mst_tokenizer *tokenizer, const char *path, mst_token_ids *ids, int64_t *size) {
    void *data;
    size_t bytes;
    MST_TRY(mst_file_read(path, MST_TOKENIZER_MOST_BYTES, &data, &bytes));
    const size_t mark = mst_utf8_mark_size(data, bytes);
    const mst_status status = mst_tokenizer_encode(tokenizer, (const char *)data + mark, bytes - mark, NULL, ids);
    free(data);
    if (status) return mst_error_prefix("'%s'", path);
    *size = (int64_t)(bytes - mark);
    return MST_OK;
}
