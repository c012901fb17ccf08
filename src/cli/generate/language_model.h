/** A language model that was saved, with its tokenizer. */
#ifndef MUSTER_CLI_GENERATE_LANGUAGE_MODEL_H
#define MUSTER_CLI_GENERATE_LANGUAGE_MODEL_H

#include "muster/model.h"
#include "muster/tokenizer.h"

typedef struct language_model_options {
    const char *load, *checkpoint_dir; /**< one of them is given */
    const char *tokenizer;             /**< NULL: the one that is noted with the model */
} language_model_options;

typedef struct language_model {
    mst_model *model;
    mst_tokenizer *tokenizer; /**< NULL: tokens are bytes */
    int64_t vocabulary;       /**< tokens are below it */
    bool is_foreign;          /**< the tokenizer is not that of a training here: it puts its tokens around a text */
} language_model;

/** Opens the model and its tokenizer. Close OUT also after a failure. MST_INVALID if the file has no network, or if
 *  without a tokenizer the model has more tokens than there are bytes. */
MST_CHECKED mst_status language_model_open(const language_model_options *o, language_model *out);
void language_model_close(language_model *model);

#endif
