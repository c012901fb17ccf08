#include "train/next_token.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"

enum { STREAM = 0x67656e }; /* tells these numbers from others of the seed */

/* The largest logit first, of equal ones the token that is first. */
static int by_logit(const void *a, const void *b) {
    const mst_candidate *x = a, *y = b;
    if (x->logit != y->logit) return x->logit > y->logit ? -1 : 1;
    return (x->token > y->token) - (x->token < y->token);
}

/* Moves the candidate at place I of a heap of N down. The least likely one of a heap is at place 0. */
static void move_down(mst_candidate *heap, int64_t n, int64_t i) {
    for (int64_t least = i;; i = least) {
        for (int64_t child = 2 * i + 1; child < n && child <= 2 * i + 2; child++)
            if (by_logit(&heap[child], &heap[least]) > 0) least = child;
        if (least == i) return;
        const mst_candidate moved = heap[i];
        heap[i] = heap[least];
        heap[least] = moved;
    }
}

/* Moves the K likeliest of COUNT candidates to the front, the likeliest first. A heap has the K likeliest so far. */
static void sort_likeliest(mst_candidate *candidates, int64_t count, int64_t k) {
    if (k < count) {
        for (int64_t i = k / 2 - 1; i >= 0; i--) move_down(candidates, k, i);
        for (int64_t i = k; i < count; i++) {
            if (by_logit(&candidates[i], &candidates[0]) > 0) continue;
            candidates[0] = candidates[i];
            move_down(candidates, k, 0);
        }
    }
    qsort(candidates, (size_t)k, sizeof *candidates, by_logit);
}

/* Finds the token with the largest logit. */
static mst_status find_likeliest(const float *logits, int64_t count, int32_t *out) {
    int64_t best = 0;
    for (int64_t i = 0; i < count; i++) {
        if (isnan(logits[i]))
            return MST_FAIL(MST_INVALID, "generate: the logit of token %lld is NaN: the model's weights are not good",
                            (long long)i);
        if (logits[i] > logits[best]) best = i;
    }
    *out = (int32_t)best;
    if (isfinite(logits[best])) return MST_OK;
    return MST_FAIL(MST_INVALID, "generate: the largest logit is %g, must be finite: the model's weights are not good",
                    (double)logits[best]);
}

/* Turns the logits of N candidates into e to their difference from MOST, divided by the temperature. Returns the
 * sum. */
static double weigh(mst_candidate *candidate, int64_t n, double most, double temperature) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        candidate[i].logit = exp((candidate[i].logit - most) / temperature);
        sum += candidate[i].logit;
    }
    return sum;
}

mst_status mst_next_token(const float *logits, int64_t count, const mst_generate_options *o, uint64_t number,
                          mst_candidate *candidates, int32_t *out) {
    uint32_t word[4];
    MST_TRY(find_likeliest(logits, count, out));
    if (o->temperature == 0 || o->top_k == 1) return MST_OK;
    const double most = (double)logits[*out];
    for (int64_t i = 0; i < count; i++) candidates[i] = (mst_candidate){(double)logits[i], (int32_t)i};
    int64_t n = o->top_k && o->top_k < count ? o->top_k : count;
    if (o->top_k || o->top_p < 1) sort_likeliest(candidates, count, n);
    double sum = weigh(candidates, n, most, o->temperature);
    if (o->top_p < 1) {
        double part = 0;
        int64_t kept = 0;
        while (kept < n && part < o->top_p * sum) part += candidates[kept++].logit;
        n = kept > 0 ? kept : 1;
        sum = kept > 0 ? part : candidates[0].logit;
    }
    const mst_rng rng = mst_rng_make(o->seed, STREAM, number);
    mst_rng_blocks(&rng, 0, 1, 0, word);
    double left = mst_rng_unit_f64(word[0], word[1]) * sum;
    int64_t i = 0;
    while (i < n - 1 && (left -= candidates[i].logit) >= 0) i++;
    while (i > 0 && candidates[i].logit == 0) i--; /* rounding has led to one that cannot be drawn */
    *out = candidates[i].token;
    return MST_OK;
}
