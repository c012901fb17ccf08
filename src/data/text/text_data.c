#include "data/text/text_data.h"

#include <string.h>

mst_status mst_text_data_make(const char *path, mst_dataset *texts, const mst_data_options *options,
                              mst_dataset **out) {
    mst_text_options o = {.component = 0};
    if (options && options->raw_texts) {
        *out = texts;
        return MST_OK;
    }
    if (options) {
        o.max_tokens = options->max_tokens;
        o.sequence_length = options->sequence_length;
        o.pad_front = options->pad_front;
        o.schema = options->schema;
        o.keep_texts = options->keep_texts;
        o.tokenizer = options->tokenizer;
    }
    const mst_status status = mst_dataset_vectorize_text(texts, &o, out);
    mst_dataset_release(texts);
    if (status == MST_INVALID && strstr(mst_error()->message, "is not UTF-8"))
        return MST_FAIL(status, "'%s': %s, or say its --encoding (in C: .encoding)", path, mst_error()->message);
    return status ? mst_error_prefix("'%s'", path) : MST_OK;
}
