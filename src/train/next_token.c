#include "train/next_token.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"

enum { STREAM = 0x67656e };          /* random stream of this file, apart from other uses of the seed */
enum { STEPS = 32, BINS = 32 * 32 }; /* bins per unit of logits, and in all; the last: weights < e^-31 of the most */

/* For qsort: larger logits first; equal logits by token. */
static int by_logit(const void *a, const void *b) {
    const mst_candidate *x = a, *y = b;
    if (x->logit != y->logit) return x->logit > y->logit ? -1 : 1;
    return (x->token > y->token) - (x->token < y->token);
}

static void take_candidates(const float *logits, int64_t count, mst_candidate *candidates) {
    for (int64_t i = 0; i < count; i++) candidates[i] = (mst_candidate){(double)logits[i], (int32_t)i};
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

/* Replaces the logit of each of N candidates by its weight exp((logit - MOST) / TEMPERATURE). Returns the sum. */
static double weigh(mst_candidate *candidate, int64_t n, double most, double temperature) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        candidate[i].logit = exp((candidate[i].logit - most) / temperature);
        sum += candidate[i].logit;
    }
    return sum;
}

/* The smallest number of first candidates whose weights add up to at least REACH; N if all are less. *PART: their
 * sum. */
static int64_t count_to(const mst_candidate *candidate, int64_t n, double reach, double *part) {
    int64_t kept = 0;
    for (*part = 0; kept < n && *part < reach; kept++) *part += candidate[kept].logit;
    return kept;
}

/* The bin of a logit: (MOST - logit) / TEMPERATURE in units of 1 / STEPS, at most BINS - 1. */
static int bin_of(double logit, double most, double temperature) {
    const double distance = (most - logit) / temperature * STEPS;
    return distance < BINS - 1 ? (int)distance : BINS - 1;
}

/* Moves the likeliest candidates to the front: whole bins, until their weights add up to at least REACH times the sum
 * of all. Returns the number of candidates moved; *SUM becomes the sum of all weights. */
static int64_t gather_likeliest(mst_candidate *candidate, int64_t n, double most, double temperature, double reach,
                                double *sum) {
    double weight[BINS] = {0}, part = 0;
    int64_t gathered = 0;
    int bins = 0;
    *sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const double one = exp((candidate[i].logit - most) / temperature);
        weight[bin_of(candidate[i].logit, most, temperature)] += one;
        *sum += one;
    }
    while (bins < BINS && part < reach * *sum) part += weight[bins++];
    for (int64_t i = 0; i < n; i++) {
        if (bin_of(candidate[i].logit, most, temperature) >= bins) continue;
        const mst_candidate moved = candidate[i];
        candidate[i] = candidate[gathered];
        candidate[gathered++] = moved;
    }
    return gathered;
}

/* Sorts the likeliest of N candidates, computes their weights, and returns how many of them add up to TOP_P of the sum
 * of all; *SUM becomes the sum of these. The result must be as if all candidates were sorted, and summed in that order.
 * To sort fewer, the sum of all is here taken in another order. The rounding error of each of the two sums is at most
 * n / 2^53 of it. If that could change the result, all candidates are sorted. */
static int64_t keep_top_p(const float *logits, mst_candidate *candidate, int64_t n, double most,
                          const mst_generate_options *o, double *sum) {
    const double rounding = 4 * (double)n * DBL_EPSILON;
    double all, before;
    int64_t sorted = gather_likeliest(candidate, n, most, o->temperature, o->top_p * (1 + 2 * rounding), &all);
    qsort(candidate, (size_t)sorted, sizeof *candidate, by_logit);
    (void)weigh(candidate, sorted, most, o->temperature);
    const int64_t least = count_to(candidate, sorted, o->top_p * all * (1 - rounding), &before);
    const int64_t kept = count_to(candidate, sorted, o->top_p * all * (1 + rounding), sum);
    if (kept == least && *sum >= o->top_p * all * (1 + rounding)) return kept;
    take_candidates(logits, n, candidate);
    qsort(candidate, (size_t)n, sizeof *candidate, by_logit);
    all = weigh(candidate, n, most, o->temperature);
    return count_to(candidate, n, o->top_p * all, sum);
}

mst_status mst_next_token(const float *logits, int64_t count, const mst_generate_options *o, uint64_t number,
                          mst_candidate *candidates, int32_t *out) {
    uint32_t word[4];
    MST_TRY(find_likeliest(logits, count, out));
    if (o->temperature == 0 || o->top_k == 1) return MST_OK;
    const double most = (double)logits[*out];
    int64_t n = o->top_k && o->top_k < count ? o->top_k : count;
    double sum;
    take_candidates(logits, count, candidates);
    if (o->top_p < 1 && n == count) {
        n = keep_top_p(logits, candidates, count, most, o, &sum);
    } else {
        if (o->top_k) sort_likeliest(candidates, count, n);
        sum = weigh(candidates, n, most, o->temperature);
        if (o->top_p < 1) n = count_to(candidates, n, o->top_p * sum, &sum);
    }
    const mst_rng rng = mst_rng_make(o->seed, STREAM, number);
    mst_rng_blocks(&rng, 0, 1, 0, word);
    double left = mst_rng_unit_f64(word[0], word[1]) * sum;
    int64_t i = 0;
    while (i < n - 1 && (left -= candidates[i].logit) >= 0) i++;
    while (i > 0 && candidates[i].logit == 0) i--; /* after rounding, I may be a candidate with the weight 0 */
    *out = candidates[i].token;
    return MST_OK;
}
