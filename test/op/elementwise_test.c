/* f32 kernels that call vector functions, compared with the f64 functions of libm over the range of f32. An element
 * has the same bits at every place of an array. The examples of the ops test the formulas and their special cases. */
#include <math.h>

#include "muster/ops.h"
#include "support/test.h"

enum { BLOCK = 1 << 12, LONGEST = 100 };

typedef struct unary {
    const char *op;
    double (*exact)(double);
    double relative; /* error that is allowed; 4 units in the last place are 4.8e-7 */
    double absolute;
} unary;

static double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

static double softplus(double x) {
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

/* this and gelu are NaN of -Inf, as in TensorFlow */
static double swish(double x) {
    return x * sigmoid(x);
}

static double gelu_of(double x) {
    return 0.5 * x * erfc(-x * sqrt(0.5));
}

static double elu_of(double x) {
    return x > 0 ? x : expm1(x);
}

/* the least normal number: below it the vector functions may give 0 */
#define LEAST 0x1p-126

static const unary list[] = {
    {"acos", acos, 5e-7, LEAST},         {"asin", asin, 5e-7, LEAST},
    {"atan", atan, 5e-7, LEAST},         {"cos", cos, 5e-7, LEAST},
    {"cosh", cosh, 5e-7, LEAST},         {"erf", erf, 5e-7, LEAST},
    {"exp", exp, 5e-7, LEAST},           {"expm1", expm1, 5e-7, LEAST},
    {"log", log, 5e-7, LEAST},           {"log1p", log1p, 5e-7, LEAST},
    {"sin", sin, 5e-7, LEAST},           {"sinh", sinh, 5e-7, LEAST},
    {"tan", tan, 5e-7, LEAST},           {"tanh", tanh, 5e-7, LEAST},
    {"elu", elu_of, 6e-7, LEAST},        {"sigmoid", sigmoid, 1e-6, LEAST},
    {"softplus", softplus, 1e-6, LEAST}, {"swish", swish, 1e-6, 1e-36}, /* e^-x is infinite before the product is 0 */
    {"gelu", gelu_of, 3e-5, 20 * LEAST},                                /* erfc of a rounded argument, far below 0 */
};

enum { NUM = sizeof list / sizeof *list };

/* DST may be SRC. */
static void run(const char *name, const float *src, float *dst, int64_t count) {
    const mst_op *op = mst_find_op(name);
    assert_non_null(op);
    const mst_shape shape = {.ndim = 1, .dim = {count}};
    const mst_array from = {.data = (void *)(uintptr_t)src, .count = count, .dtype = MST_F32, .shape = shape};
    const mst_array to = {.data = dst, .count = count, .dtype = MST_F32, .shape = shape};
    const mst_elu_options elu = {.alpha = 1};
    const mst_gelu_options gelu = {.approximate = false};
    const mst_kernel_args args = {.op = op,
                                  .options = strcmp(name, "elu") == 0 ? (const void *)&elu : &gelu,
                                  .name = name,
                                  .num_src = 1,
                                  .src = &from,
                                  .num_dst = 1,
                                  .dst = &to,
                                  .num_threads = 1};
    EXPECT_OK(op->reference(&args));
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void expect_near(const unary *u, float x, float got) {
    const double want = u->exact((double)x);
    const float rounded = (float)want;
    if (isnan(want) || isnan(got)) {
        if (isnan(want) && isnan(got)) return;
    } else if (isinf(rounded) || isinf(got)) {
        /* near the largest number either side of the rounding is right */
        if (rounded == got || fmin(fabs(want), fabs((double)got)) > 0x1.fffff0p127) return;
    } else if (fabs((double)got - want) <= u->relative * fabs(want) + u->absolute) {
        return;
    }
    fail_msg("%s of %a is %a, must be %a", u->op, (double)x, (double)got, want);
}

static void functions_are_those_of_f64_over_the_whole_range(void **state) {
    (void)state;
    enum { STRIDE = 5003 };
    static float src[BLOCK], dst[BLOCK];
    for (int k = 0; k < NUM; k++)
        for (uint64_t first = 0; first < 1ull << 32; first += (uint64_t)STRIDE * BLOCK) {
            for (uint64_t i = 0; i < BLOCK; i++) src[i] = float_of((uint32_t)(first + i * STRIDE));
            run(list[k].op, src, dst, BLOCK);
            for (int i = 0; i < BLOCK; i++) expect_near(&list[k], src[i], dst[i]);
        }
}

static void infinities_zeros_and_nan_are_as_in_f64(void **state) {
    (void)state;
    static const float special[] = {0,         -0.0f,        INFINITY,        -INFINITY, NAN,  1,     -1,
                                    0x1p-149f, -0x1p-149f,   0x1.fffffep127f, 88.7f,     89,   -88,   -104,
                                    1e10f,     -0x1.8p-127f, 3.14159274f,     710,       -710, 1e-4f, 0x1p-126f};
    enum { COUNT = sizeof special / sizeof *special };
    float dst[COUNT];
    for (int k = 0; k < NUM; k++) {
        run(list[k].op, special, dst, COUNT);
        for (int i = 0; i < COUNT; i++) expect_near(&list[k], special[i], dst[i]);
        /* the sign of a zero, where the function keeps it */
        if (list[k].exact(-0.0) == 0) assert_int_equal(signbit(list[k].exact(-0.0)) != 0, signbit(dst[1]) != 0);
    }
}

/* Some far out, which the vector functions treat by themselves. */
static void fill(float *src, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        src[i] = i % 17 == 5 ? 1e5f * (float)(i + 1) : i % 29 == 7 ? NAN : 0.037f * (float)(i - 40);
}

static void an_element_gives_the_same_bits_wherever_it_stands(void **state) {
    (void)state;
    float src[LONGEST], all[LONGEST], part[LONGEST], in_place[LONGEST];
    fill(src, LONGEST);
    for (int k = 0; k < NUM; k++) {
        run(list[k].op, src, all, LONGEST);
        for (int64_t n = 0; n <= LONGEST; n++) {
            const int64_t from = n % 7 < LONGEST - n ? n % 7 : 0;
            memset(part, 0x55, sizeof part);
            run(list[k].op, src + from, part, n);
            memcpy(in_place, src, sizeof src);
            run(list[k].op, in_place + from, in_place + from, n);
            assert_memory_equal(part, all + from, (size_t)n * sizeof *part);
            assert_memory_equal(in_place + from, part, (size_t)n * sizeof *part);
            /* nothing is written past the end */
            const size_t rest = (size_t)(LONGEST - n - from) * sizeof *src;
            assert_memory_equal(in_place + from + n, src + from + n, rest);
        }
    }
}

typedef struct binary {
    const char *op;
    mst_value (*build)(mst_value a, mst_value b);
    double (*exact)(double a, double b);
} binary;

/* All ways to broadcast along rows of odd lengths. */
static void powers_and_angles_broadcast(void **state) {
    (void)state;
    static const binary binaries[] = {{"pow", mst_pow, pow}, {"atan2", mst_atan2, atan2}};
    for (int64_t n = 1; n < 70; n += 11)
        for (int k = 0; k < 2; k++)
            for (int shape = 0; shape < 3; shape++) {
                mst_graph *graph = engine_graph();
                mst_tensor *a = engine_random(MST_F32, shape == 1 ? MST_SHAPE(3, 1) : MST_SHAPE(3, n), 0, 4, 1);
                mst_tensor *b = engine_random(MST_F32, shape == 2 ? MST_SHAPE(3, 1) : MST_SHAPE(3, n), -4, 4, 2);
                mst_value result = binaries[k].build(mst_constant(graph, a), mst_constant(graph, b));
                mst_session *session = engine_session(graph, NULL);
                mst_tensor *got = engine_fetch(session, NULL, 0, result);
                for (int64_t i = 0; i < 3 * n; i++) {
                    const double x = mst_tensor_get(a, shape == 1 ? i / n : i);
                    const double y = mst_tensor_get(b, shape == 2 ? i / n : i), want = binaries[k].exact(x, y);
                    if (fabs(mst_tensor_get(got, i) - want) > 5e-7 * fabs(want))
                        fail_msg("%s of %a and %a is %a, must be %a", binaries[k].op, x, y, mst_tensor_get(got, i),
                                 want);
                }
                mst_tensor_release(a);
                mst_tensor_release(b);
                mst_tensor_release(got);
                engine_end(graph, session);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_those_of_f64_over_the_whole_range),
        cmocka_unit_test(infinities_zeros_and_nan_are_as_in_f64),
        cmocka_unit_test(an_element_gives_the_same_bits_wherever_it_stands),
        cmocka_unit_test(powers_and_angles_broadcast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
