/* The random number generator: published values, independence of how a sequence is cut, and moments of the
 * distributions. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum { MANY = 100000 };

/* Known answers of philox4x32 with 10 rounds, as published with the paper's code. */
static void philox_gives_the_published_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint32_t out[4];
        mst_rng_philox(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].answer, sizeof out);
    }
}

static void many_blocks_are_the_single_blocks(void **state) {
    (void)state;
    enum { N = 70 };
    const mst_rng rng = mst_rng_make(7, 8, 0x123456789ABCDEFu);
    const uint64_t first = 0xFFFFFFF0u; /* crosses from the first word of the counter to the second */
    uint32_t all[4 * N];
    mst_rng_blocks(&rng, first, N, 3, all);
    for (uint64_t i = 0; i < N; i++) {
        const uint64_t block = first + i;
        const uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32) | 3u << 16, 0x89ABCDEFu, 0x01234567u};
        uint32_t one[4];
        mst_rng_philox(counter, rng.key, one);
        assert_memory_equal(all + 4 * i, one, sizeof one);
    }
}

/* Worked out by a second implementation, in Python. */
static void sequences_have_the_values_of_their_definition(void **state) {
    (void)state;
    const mst_rng rng = mst_rng_make(1, 2, 3);
    float f[28];
    double d[103];
    assert_true(mst_rng_mix(0, 0) == 0x48218226ff3cd4bfu && mst_rng_mix(1, 2) == 0x081a5c1377856b73u);
    assert_true(mst_rng_hash_name("") == 0xf52a15e9a9b5e89bu && mst_rng_hash_name("dropout") == 0xf6a24e93a4bc2815u);
    mst_rng_fill_uniform_f32(&rng, 0, 5, f);
    assert_true((double)f[0] == 0.25698065757751465 && (double)f[4] == 0.4830535650253296);
    mst_rng_fill_uniform_f64(&rng, 0, 3, d);
    assert_true(d[0] == 0.2569806889290288 && d[2] == 0.48305358647219865);
    mst_rng_fill_normal_f32(&rng, 0, 5, f);
    assert_float_equal(f[0], -0.9374510253834212, 1e-6);
    assert_float_equal(f[3], 1.5474188939560494, 1e-6);
    mst_rng_fill_normal_f64(&rng, 0, 3, d);
    assert_true(fabs(d[0] + 0.13248263456978782) < 1e-14 && fabs(d[1] - 0.7592857429144827) < 1e-14);
    mst_rng_fill_truncated_f32(&rng, 0, 28, f); /* 25 and 27 are redrawn */
    assert_float_equal(f[0], -0.9374510253834212, 1e-6);
    assert_float_equal(f[25], -0.7078281766675691, 1e-6);
    assert_float_equal(f[27], 1.2729615514932577, 1e-6);
    mst_rng_fill_truncated_f64(&rng, 0, 103, d);
    assert_true(fabs(d[22] + 0.6845286970099018) < 1e-14 && fabs(d[102] - 0.04567666625976511) < 1e-14);
    static const uint64_t wide[] = {4740457000559361546u, 5118844120291842241u, 8910765883540176286u,
                                    4028717981122952449u, 6885949425063526832u, 10240751377850527892u};
    for (uint64_t i = 0; i < 6; i++) assert_true(mst_rng_integer(&rng, i, 3ull << 62) == wide[i]);
    static const uint64_t digits[] = {6, 1, 6, 1, 2, 2, 6, 1};
    for (uint64_t i = 0; i < 8; i++) assert_true(mst_rng_integer(&rng, i, 10) == digits[i]);
}

/* Elements 0 to N - 1 for growing N, then the rest from the multiple of 4 before it. */
#define EXPECT_CUTS(fill, type)                                                  \
    do {                                                                         \
        static type all[1000], part[1000];                                       \
        fill(&rng, 0, 1000, all);                                                \
        for (int64_t n = 0; n < 1000; n = n * 5 / 4 + 1) {                       \
            memset(part, 0, sizeof part);                                        \
            fill(&rng, 0, n, part);                                              \
            assert_memory_equal(all, part, (size_t)n * sizeof *all);             \
            for (int64_t i = n; i < 1000; i++) assert_true(part[i] == 0);        \
            fill(&rng, (uint64_t)n / 4 * 4, 1000 - n / 4 * 4, part + n / 4 * 4); \
            assert_memory_equal(all, part, sizeof all);                          \
        }                                                                        \
    } while (0)

static void an_element_does_not_depend_on_where_its_sequence_is_cut(void **state) {
    (void)state;
    const mst_rng rng = mst_rng_make(11, 12, 13);
    EXPECT_CUTS(mst_rng_fill_uniform_f32, float);
    EXPECT_CUTS(mst_rng_fill_uniform_f64, double);
    EXPECT_CUTS(mst_rng_fill_normal_f32, float);
    EXPECT_CUTS(mst_rng_fill_normal_f64, double);
    EXPECT_CUTS(mst_rng_fill_truncated_f32, float);
    EXPECT_CUTS(mst_rng_fill_truncated_f64, double);
}

/* Of the pair that a redrawn number comes from, and of the attempt: each number within bounds is what it was before. */
static void truncated_normals_are_the_normals_but_for_those_outside(void **state) {
    (void)state;
    static float normal[MANY], truncated[MANY];
    const mst_rng rng = mst_rng_make(3, 1, 4);
    mst_rng_fill_normal_f32(&rng, 0, MANY, normal);
    mst_rng_fill_truncated_f32(&rng, 0, MANY, truncated);
    int redrawn = 0;
    for (int i = 0; i < MANY; i++) {
        assert_true(fabsf(truncated[i]) <= 2);
        if (fabsf(normal[i]) <= 2) {
            assert_true(normal[i] == truncated[i]);
            continue;
        }
        redrawn++;
        for (uint32_t attempt = 1;; attempt++) { /* by the formula, in f64 */
            uint32_t word[4];
            mst_rng_blocks(&rng, (uint64_t)i / 4, 1, attempt, word);
            const uint32_t *pair = word + i % 4 / 2 * 2;
            const double u = ((double)(float)pair[0] + 1) * 0x1p-32, v = (double)mst_rng_unit_f32(pair[1]);
            const double angle = 6.28318530717958648 * v;
            const double want = sqrt(-2 * log(u)) * (i % 2 ? sin(angle) : cos(angle));
            if (fabs(want) > 2) continue;
            assert_true(fabs((double)truncated[i] - want) < 1e-5);
            break;
        }
    }
    assert_true(redrawn > MANY / 25 && redrawn < MANY / 20);
}

static void seed_stream_and_step_each_give_another_sequence(void **state) {
    (void)state;
    static const uint64_t key[][3] = {{0, 0, 0}, {1, 0, 0},          {0, 1, 0},          {0, 0, 1},
                                      {1, 1, 0}, {1ull << 63, 0, 0}, {0, 1ull << 63, 0}, {0, 0, 1ull << 63}};
    enum { N = sizeof key / sizeof *key, COUNT = 64 };
    float value[N][COUNT];
    for (int i = 0; i < N; i++) {
        const mst_rng rng = mst_rng_make(key[i][0], key[i][1], key[i][2]);
        mst_rng_fill_uniform_f32(&rng, 0, COUNT, value[i]);
        for (int k = 0; k < i; k++)
            for (int j = 0; j < COUNT; j++)
                if (value[i][j] == value[k][j]) assert_true(j > 0 && value[i][j - 1] != value[k][j - 1]);
    }
}

typedef struct moments {
    double mean, variance, fourth, lowest, highest;
} moments;

static moments measure(const double *x, int n) {
    moments m = {.lowest = x[0], .highest = x[0]};
    for (int i = 0; i < n; i++) {
        m.mean += x[i] / n;
        m.lowest = fmin(m.lowest, x[i]);
        m.highest = fmax(m.highest, x[i]);
    }
    for (int i = 0; i < n; i++) {
        m.variance += pow(x[i] - m.mean, 2) / n;
        m.fourth += pow(x[i] - m.mean, 4) / n;
    }
    return m;
}

static moments measure_floats(const float *x, int n) {
    static double wide[MANY];
    for (int i = 0; i < n; i++) wide[i] = (double)x[i];
    return measure(wide, n);
}

static void expect_moments(moments m, double mean, double variance, double fourth) {
    assert_true(fabs(m.mean - mean) < 0.02);
    assert_true(fabs(m.variance - variance) < 0.03);
    assert_true(fabs(m.fourth - fourth) < 0.15);
}

static void distributions_have_their_moments(void **state) {
    (void)state;
    static float f[MANY];
    static double d[MANY];
    const mst_rng rng = mst_rng_make(5, 6, 7);
    mst_rng_fill_uniform_f32(&rng, 0, MANY, f);
    moments m = measure_floats(f, MANY);
    expect_moments(m, 0.5, 1.0 / 12, 1.0 / 80);
    assert_true(m.lowest >= 0 && m.highest < 1 && m.lowest < 0.001 && m.highest > 0.999);
    mst_rng_fill_uniform_f64(&rng, 0, MANY, d);
    m = measure(d, MANY);
    expect_moments(m, 0.5, 1.0 / 12, 1.0 / 80);
    assert_true(m.lowest >= 0 && m.highest < 1);
    mst_rng_fill_normal_f32(&rng, 0, MANY, f);
    expect_moments(measure_floats(f, MANY), 0, 1, 3);
    mst_rng_fill_normal_f64(&rng, 0, MANY, d);
    expect_moments(measure(d, MANY), 0, 1, 3);
    /* of a normal cut at 2: variance 1 - 4 phi(2) / (2 Phi(2) - 1) = 0.774, fourth moment 1.4162 */
    mst_rng_fill_truncated_f32(&rng, 0, MANY, f);
    m = measure_floats(f, MANY);
    expect_moments(m, 0, 0.7737, 1.4162);
    assert_true(m.lowest >= -2 && m.highest <= 2 && m.highest > 1.99);
    mst_rng_fill_truncated_f64(&rng, 0, MANY, d);
    m = measure(d, MANY);
    expect_moments(m, 0, 0.7737, 1.4162);
    assert_true(m.lowest >= -2 && m.highest <= 2);
}

static void integers_are_even_also_where_the_range_is_no_power_of_two(void **state) {
    (void)state;
    enum { RANGE = 7 };
    int64_t count[RANGE] = {0}, thirds[3] = {0};
    for (uint64_t i = 0; i < MANY; i++) {
        const uint64_t x = mst_rng_below(1, 2, i, RANGE);
        assert_true(x < RANGE);
        count[x]++;
        /* of this range a plain remainder would give the lower third twice as often as each other */
        thirds[mst_rng_below(1, 3, i, 3ull << 62) >> 62]++;
    }
    for (int i = 0; i < RANGE; i++) assert_true(fabs((double)count[i] - MANY / (double)RANGE) < 600);
    for (int i = 0; i < 3; i++) assert_true(fabs((double)thirds[i] - MANY / 3.0) < 800);
    assert_true(mst_rng_below(1, 2, 3, 1) == 0);
}

static void shuffle_keeps_the_elements_and_depends_on_seed_and_stream(void **state) {
    (void)state;
    enum { N = 1000 };
    int64_t a[N], b[N], other_seed[N], other_stream[N];
    bool seen[N] = {false};
    for (int64_t i = 0; i < N; i++) a[i] = b[i] = other_seed[i] = other_stream[i] = i;
    mst_rng_shuffle(a, N, 1, 2);
    mst_rng_shuffle(b, N, 1, 2);
    mst_rng_shuffle(other_seed, N, 3, 2);
    mst_rng_shuffle(other_stream, N, 1, 3);
    assert_memory_equal(a, b, sizeof a);
    for (int64_t i = 0; i < N; i++) b[i] = i;
    for (int64_t i = N - 1; i > 0; i--) {
        const uint64_t drawn = mst_rng_below(1, 2, (uint64_t)i, (uint64_t)i + 1);
        const int64_t other = b[drawn];
        b[drawn] = b[i];
        b[i] = other;
    }
    assert_memory_equal(a, b, sizeof a);
    assert_memory_not_equal(a, other_seed, sizeof a);
    assert_memory_not_equal(a, other_stream, sizeof a);
    for (int i = 0; i < N; i++) {
        assert_true(a[i] >= 0 && a[i] < N && !seen[a[i]]);
        seen[a[i]] = true;
    }
    mst_rng_shuffle(a, 0, 1, 2);
    mst_rng_shuffle(NULL, 0, 1, 2);
}

static void shuffle_gives_each_order_as_often(void **state) {
    (void)state;
    enum { TIMES = 24000, ORDERS = 24 };
    int count[256] = {0};
    for (uint64_t seed = 0; seed < TIMES; seed++) {
        int64_t x[4] = {0, 1, 2, 3};
        mst_rng_shuffle(x, 4, seed, 0);
        count[x[0] * 64 + x[1] * 16 + x[2] * 4 + x[3]]++;
    }
    int orders = 0;
    double chi_squared = 0;
    for (int i = 0; i < 256; i++) {
        if (!count[i]) continue;
        orders++;
        chi_squared += pow(count[i] - TIMES / (double)ORDERS, 2) / (TIMES / (double)ORDERS);
    }
    assert_int_equal(orders, ORDERS);
    assert_true(chi_squared < 50); /* 23 degrees of freedom: 1 in 1000 is above 49.7 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_answers),
        cmocka_unit_test(many_blocks_are_the_single_blocks),
        cmocka_unit_test(sequences_have_the_values_of_their_definition),
        cmocka_unit_test(an_element_does_not_depend_on_where_its_sequence_is_cut),
        cmocka_unit_test(truncated_normals_are_the_normals_but_for_those_outside),
        cmocka_unit_test(seed_stream_and_step_each_give_another_sequence),
        cmocka_unit_test(distributions_have_their_moments),
        cmocka_unit_test(integers_are_even_also_where_the_range_is_no_power_of_two),
        cmocka_unit_test(shuffle_keeps_the_elements_and_depends_on_seed_and_stream),
        cmocka_unit_test(shuffle_gives_each_order_as_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
