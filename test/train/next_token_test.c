/* mst_next_token with top_p: tokens are selected, and not all sorted. The rule is that of a sort of all, which is done
 * here. */
#include "train/next_token.h"

#include <math.h>
#include <time.h>

#include "base/rng.h"
#include "support/test.h"

enum { MOST = 50257, STREAM = 0x67656e };

static int by_logit(const void *a, const void *b) {
    const mst_candidate *x = a, *y = b;
    if (x->logit != y->logit) return x->logit > y->logit ? -1 : 1;
    return (x->token > y->token) - (x->token < y->token);
}

/* The token that a sort of all leads to: the likeliest ones, until their part of the sum is top_p; one of these. */
static int32_t by_sort(const float *logits, int64_t n, const mst_generate_options *o, uint64_t number,
                       mst_candidate *all) {
    double sum = 0, part = 0;
    int64_t kept = 0, i = 0;
    uint32_t word[4];
    for (int64_t k = 0; k < n; k++) all[k] = (mst_candidate){(double)logits[k], (int32_t)k};
    qsort(all, (size_t)n, sizeof *all, by_logit);
    const double most = all[0].logit;
    for (int64_t k = 0; k < n; k++) sum += all[k].logit = exp((all[k].logit - most) / o->temperature);
    while (kept < n && part < o->top_p * sum) part += all[kept++].logit;
    const mst_rng rng = mst_rng_make(o->seed, STREAM, number);
    mst_rng_blocks(&rng, 0, 1, 0, word);
    double left = mst_rng_unit_f64(word[0], word[1]) * part;
    while (i < kept - 1 && (left -= all[i].logit) >= 0) i++;
    while (i > 0 && all[i].logit == 0) i--;
    return all[i].token;
}

static void expect_as_by_sort(const float *logits, int64_t n, double temperature, double top_p, int draws) {
    mst_candidate *a = calloc((size_t)n, sizeof *a), *b = calloc((size_t)n, sizeof *b);
    const mst_generate_options o = {.temperature = temperature, .top_p = top_p, .seed = 11};
    for (int i = 0; i < draws; i++) {
        int32_t token;
        EXPECT_OK(mst_next_token(logits, n, &o, (uint64_t)i, a, &token));
        const int32_t expected = by_sort(logits, n, &o, (uint64_t)i, b);
        if (token != expected)
            fail_msg("%d logits, temperature %g, top_p %g, draw %d: token %d, not %d", (int)n, temperature, top_p, i,
                     token, expected);
    }
    free(a);
    free(b);
}

/* Logits with about the spread of a normal distribution of standard deviation SPREAD. */
static float *random_logits(int64_t n, double spread, uint64_t seed) {
    float *logits = calloc((size_t)n, sizeof *logits);
    const mst_rng rng = mst_rng_make(seed, 1, 1);
    for (int64_t i = 0; i < n; i++) {
        uint32_t word[4];
        double sum = -2;
        mst_rng_blocks(&rng, (uint64_t)i, 1, 0, word);
        for (int k = 0; k < 4; k++) sum += word[k] / 4294967296.0;
        logits[i] = (float)(spread * sqrt(3) * sum);
    }
    return logits;
}

static void tokens_are_those_of_a_sort_of_all(void **state) {
    static const double spread[] = {0.01, 1, 3, 30}, p[] = {1e-9, 0.1, 0.5, 0.9, 0.95, 0.999, 1 - 1e-12};
    (void)state;
    for (int s = 0; s < 4; s++) {
        float *logits = random_logits(MOST, spread[s], (uint64_t)s);
        for (int i = 0; i < 7; i++) expect_as_by_sort(logits, MOST, i % 2 ? 1 : 0.7, p[i], 3);
        for (int n = 1; n < 60; n++) expect_as_by_sort(logits + 100 * n, n, 1.3, p[n % 7], 20);
        free(logits);
    }
}

static void equal_logits_are_taken_in_their_order(void **state) {
    float logits[1000];
    (void)state;
    for (int i = 0; i < 1000; i++) logits[i] = (float)(i % 3);
    for (int n = 1; n < 1000; n += 37)
        for (double p = 0.125; p < 1; p += 0.125) expect_as_by_sort(logits, n, 1, p, 10);
    for (int i = 0; i < 1000; i++) logits[i] = 5; /* 1/8 of a sum is exactly the part of some: rounding would decide */
    for (int n = 8; n < 1000; n += 8)
        for (double p = 0.125; p < 1; p += 0.125) expect_as_by_sort(logits, n, 1, p, 10);
}

static void tokens_that_are_excluded_are_not_drawn(void **state) {
    float logits[300];
    (void)state;
    for (int i = 0; i < 300; i++) logits[i] = i % 5 ? -INFINITY : (float)(i % 7);
    expect_as_by_sort(logits, 300, 1, 0.9, 50);
    expect_as_by_sort(logits, 300, 1e-300, 0.9, 5);
    expect_as_by_sort(logits, 300, 1e6, 0.9999, 50);
}

/* The least time of a draw, in seconds. */
static double least_seconds(const float *logits, const mst_generate_options *o, mst_candidate *room) {
    double least = 1e9;
    for (int i = 0; i < 20; i++) {
        struct timespec a, b;
        int32_t token;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        EXPECT_OK(mst_next_token(logits, MOST, o, (uint64_t)i, room, &token));
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        const double seconds = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        if (seconds < least) least = seconds;
    }
    return least;
}

/* Without top_p all tokens are weighed, and none is sorted. */
static void top_p_takes_no_sort_of_all(void **state) {
    (void)state;
    float *logits = random_logits(MOST, 3, 5);
    mst_candidate *room = calloc(MOST, sizeof *room);
    const double all = least_seconds(logits, &(mst_generate_options){.temperature = 1, .top_p = 1}, room);
    const double part = least_seconds(logits, &(mst_generate_options){.temperature = 1, .top_p = 0.9}, room);
    print_message("a token of %d: %.3f ms, with top_p %.3f ms\n", MOST, 1e3 * all, 1e3 * part);
    assert_true(part < 6 * all);
    free(room);
    free(logits);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_those_of_a_sort_of_all),
        cmocka_unit_test(equal_logits_are_taken_in_their_order),
        cmocka_unit_test(tokens_that_are_excluded_are_not_drawn),
        cmocka_unit_test(top_p_takes_no_sort_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
