#include "data/text/text_data.h"

mst_status mst_text_data_make(const char *path, mst_dataset *texts, const mst_data_options *options,
                              mst_dataset **out) {
    mst_text_options o = {.component = 0};
    if (options) {
        o.max_tokens = options->max_tokens;
        o.sequence_length = options->sequence_length;
        o.pad_front = options->pad_front;
        o.schema = options->schema;
    }
    const mst_status status = mst_dataset_vectorize_text(texts, &o, out);
    mst_dataset_release(texts);
    return status ? mst_error_prefix("'%s'", path) : MST_OK;
}
