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
    int64_t max_tokens; /**< at most so many new tokens; default 100 */
    /** The logits are divided by it: below 1 likely tokens become likelier. Default 1; MST_ZERO: always the likeliest
     *  token, of equal ones the first */
    double temperature;
    int64_t top_k; /**< only the K likeliest tokens are drawn from; 0: all */
    /** Of these only the fewest likeliest whose probabilities add up to P; default 1 (Holtzman et al., 2019, "The
     *  Curious Case of Neural Text Degeneration", https://arxiv.org/abs/1904.09751) */
    double top_p;
    uint64_t seed;       /**< of what is drawn; the same seed gives the same tokens */
    int64_t vocabulary;  /**< only tokens below it are drawn, such as those that a tokenizer has; 0: all */
    const int32_t *end;  /**< [num_ends]: the text ends after one of these tokens */
    int64_t num_ends;    /**< 0: it ends after max_tokens */
    const char *devices; /**< as in mst_session_options, of which the first is used; default "cpu" */
    /** Called with each new token; false ends the text. May be NULL. */
    bool (*each)(void *context, int32_t token);
    void *context;          /**< of `each` */
    double *prompt_seconds; /**< NULL, or where the time until the first new token is written */
} mst_generate_options;

/** Appends to OUT new tokens of MODEL that go on after PROMPT, [num_prompt], at least 1. OPTIONS may be NULL. PROMPT
 *  may be in OUT. After a failure OUT has the tokens that were made before it.
 *
 *  MODEL has one input, tokens [n, positions], and one output, [n, positions, vocabulary], the logits of the token
 *  after each position, as that of mst_gpt. Each step computes one position: keys and values of attention are kept.
 *  That takes layers which look at other positions in no other way than causal mst_multi_head_attention; else
 *  MST_UNIMPLEMENTED, and the message names the layer. A text that becomes longer than `positions` goes on from its
 *  last half.
 *
 *  The weights are those of the model's store. It runs on the first device; its tokens depend neither on the number of
 *  threads nor on that of devices. One call at a time for each model. MST_INVALID if a token or an option is out of
 *  range, or if logits are NaN. */
MST_API MST_CHECKED mst_status mst_generate(mst_model *model, const int32_t *prompt, int64_t num_prompt,
                                            const mst_generate_options *options, mst_token_ids *out);

#ifdef __cplusplus
}
#endif
#endif
