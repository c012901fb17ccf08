/** Text from a language model, token by token.
 *
 *      mst_token_ids ids = {0};
 *      MST_TRY(mst_tokenizer_encode(tokenizer, "Once upon a time", 16, NULL, &ids));
 *      MST_TRY(mst_generate(model, ids.id, ids.count, &(mst_generate_options){.max_tokens = 50}, &ids));
 */
#ifndef MUSTER_GENERATE_H
#define MUSTER_GENERATE_H

#include "muster/model.h"
#include "muster/tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_generate_options {
    int zero_;
    int64_t max_tokens; /**< largest number of new tokens; default 100 */
    /** The logits are divided by it. Below 1, likely tokens become likelier. Default 1. MST_ZERO: always the likeliest
     *  token; the first if several are equal */
    double temperature;
    int64_t top_k; /**< only the K likeliest tokens are drawn from; 0: all */
    /** Nucleus sampling, after top_k: tokens are drawn only from the smallest set of likeliest tokens whose
     *  probabilities have a sum of at least top_p. Default 1: all. Source: Holtzman et al., 2019, "The Curious Case of
     *  Neural Text Degeneration", https://arxiv.org/abs/1904.09751 */
    double top_p;
    uint64_t seed;      /**< of the random draws; the same seed gives the same tokens */
    int64_t vocabulary; /**< only tokens below it are drawn: for a tokenizer with fewer tokens than the model; 0: all */
    const int32_t *end; /**< [num_ends]: the text ends after one of these tokens, or at max_tokens */
    int64_t num_ends;   /**< 0: only max_tokens and `each` end the text */
    const char *devices; /**< as in mst_session_options; only the first is used; default "cpu" */
    /** Called with each new token; false ends the text. May be NULL. */
    bool (*each)(void *context, int32_t token);
    void *context;          /**< of `each` */
    double *prompt_seconds; /**< gets the time until the first new token; NULL: not wanted */
} mst_generate_options;

/** Continues PROMPT, [num_prompt], by tokens of MODEL, and appends them to OUT. PROMPT has at least one token, and may
 *  be in OUT. OPTIONS may be NULL. After a failure OUT has the tokens that were made before it.
 *
 *  MODEL has one input, tokens [n, positions]. Its one output, [n, positions, vocabulary], is the logits of the token
 *  after each position. The model of mst_gpt has this form. The keys and values of attention are kept, so that only the
 *  new position is computed for each token. Layers may therefore use other positions only by causal
 *  mst_multi_head_attention. If a layer uses them otherwise, the call fails with MST_UNIMPLEMENTED and names the layer.
 *  If the text becomes longer than `positions`, its last half is computed again, as the beginning of a new context.
 *
 *  The weights are those of the model's store. The model runs on the first device. The tokens do not depend on the
 *  number of threads or devices. One call at a time for each model. MST_INVALID if a token or an option is out of
 *  range, or if logits are NaN. */
MST_API MST_CHECKED mst_status mst_generate(mst_model *model, const int32_t *prompt, int64_t num_prompt,
                                            const mst_generate_options *options, mst_token_ids *out);

#ifdef __cplusplus
}
#endif
#endif
