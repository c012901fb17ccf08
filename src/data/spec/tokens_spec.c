/* tokens:FILE: the tokens of a long text, cut into examples of one length, for models that predict the next token. */
#include "data/spec/data_spec.h"
#include "data/spec/tokens_part.h"

static mst_status tokens_spec_open_part(const char *argument, bool test, const mst_data_options *options,
                                        mst_dataset **out) {
    return mst_tokens_part_open(argument, false, test, options, out);
}

static bool tokens_spec_validation(const char *argument, char *path, size_t size) {
    return mst_tokens_part_validation(argument, false, path, size);
}

const mst_data_spec mst_data_spec_tokens = {
    .form = "tokens:FILE",
    .help =
        "tokens of a long text; models predict the next one: FILE.u16, .u32, .npy, or the bytes of any file "
        "(with --tokenizer: its text as ids); or a folder with train and test files",
    .takes = MST_SPEC_TEXTS | MST_SPEC_TOKENIZER | MST_SPEC_LONG_TEXT,
    .validation = tokens_spec_validation,
    .open_with = tokens_spec_open_part,
};
