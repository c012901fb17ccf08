/* lines:FILE: a long text, line ends included, cut into examples of one length, for models that predict the next
 * token. */
#include "data/spec/data_spec.h"
#include "data/spec/tokens_part.h"

static mst_status lines_spec_open_part(const char *argument, bool test, const mst_data_options *options,
                                       mst_dataset **out) {
    return mst_tokens_part_open(argument, true, test, options, out);
}

static bool lines_spec_validation(const char *argument, char *path, size_t size) {
    return mst_tokens_part_validation(argument, true, path, size);
}

const mst_data_spec mst_data_spec_lines = {
    .form = "lines:FILE",
    .help =
        "a text file; models predict its next token: ids of --tokenizer, else bytes; or a folder with "
        "train.txt and test.txt or val.txt",
    .takes = MST_SPEC_TEXTS | MST_SPEC_TOKENIZER | MST_SPEC_LONG_TEXT,
    .validation = lines_spec_validation,
    .open_with = lines_spec_open_part,
};
