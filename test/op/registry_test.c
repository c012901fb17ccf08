/* Runs every example of every op: inference, values, engine against reference kernel, gradients, aliasing, empty and
 * one-element shapes, errors. An op is covered as soon as its file is there. */
#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "graph/body.h"
#include "support/engine.h"
#include "support/op_case.h"
#include "support/sanitized.h"
#include "support/test.h"

enum {
    MOST_OPS = 512,
    NAME_SIZE = 96,
    MOST_ELEMENTS = 24 /* of a gradient that are compared */
};

/* Ops that are differentiated less than twice; the next order must be a clean error. */
static const struct {
    const char *op;
    int orders;
    const char *reason;
} less_than_twice[] = {
    {"lstm", 1, "has its own gradient op"},
    {"lstm_grad", 0, "is the gradient of lstm, whose second is not there"},
    {"gru", 1, "has its own gradient op"},
    {"gru_grad", 0, "is the gradient of gru, whose second is not there"},
    {"simple_rnn", 1, "has its own gradient op"},
    {"simple_rnn_grad", 0, "is the gradient of simple_rnn, whose second is not there"},
    {"reduce_prod_others", 1, "is the gradient of reduce_prod, whose third is not there"},
    {"reduce_prod_others_grad", 0, "is the second gradient of reduce_prod, whose third is not there"},
};

enum { NUM_LESS = sizeof less_than_twice / sizeof *less_than_twice };

static int failures;
static bool as_given; /* only what sessions give for the examples as they are */

static void report(const op_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void report(const op_case *c, const char *format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    print_error("%s: %s\n", c->label, text);
    failures++;
}

/* ---- comparing ---- */

static bool is_near(double a, double b, double tolerance) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    if (a == b) return true;
    return fabs(a - b) <= tolerance * fmax(1, fabs(b));
}

static double tolerance_of(const op_case *c, mst_dtype dtype) {
    if (c->example->tolerance > 0) return c->example->tolerance;
    return dtype == MST_F32 ? 1e-5 : dtype == MST_F64 ? 1e-10 : 0;
}

static void expect_values(const op_case *c, const char *what, const mst_tensor *got, const double *wanted) {
    const mst_dtype dtype = mst_tensor_dtype(got);
    for (int64_t e = 0; e < mst_tensor_count(got); e++) {
        if (is_near(engine_get(got, e), wanted[e], tolerance_of(c, dtype))) continue;
        report(c, "%s: element %lld is %.17g, must be %.17g", what, (long long)e, engine_get(got, e), wanted[e]);
        return;
    }
}

static void expect_same(const op_case *c, const char *what, const mst_tensor *got, const mst_tensor *wanted) {
    const mst_dtype dtype = mst_tensor_dtype(wanted);
    char have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
    if (mst_tensor_dtype(got) != dtype || !mst_shape_equal(mst_tensor_shape(got), mst_tensor_shape(wanted))) {
        report(c, "%s: is %s%s, must be %s%s", what, mst_dtype_name(mst_tensor_dtype(got)),
               mst_shape_print(mst_tensor_shape(got), have, sizeof have), mst_dtype_name(dtype),
               mst_shape_print(mst_tensor_shape(wanted), want, sizeof want));
        return;
    }
    if (dtype == MST_STRING && !engine_same_bits(got, wanted)) report(c, "%s: other strings", what);
    for (int64_t e = 0; e < mst_tensor_count(got); e++) {
        if (is_near(mst_tensor_get(got, e), mst_tensor_get(wanted, e), tolerance_of(c, dtype))) continue;
        report(c, "%s: element %lld is %.17g, must be %.17g", what, (long long)e, mst_tensor_get(got, e),
               mst_tensor_get(wanted, e));
        return;
    }
}

/* ---- errors ---- */

static void expect_clean_error(const op_case *c, mst_status status) {
    const mst_error_info *error = mst_error();
    if (error->code != status || !error->message[0] || strchr(error->message, '\n'))
        report(c, "status '%s' with the message '%s' of status '%s'", mst_status_name(status), error->message,
               mst_status_name(error->code));
    if (status == MST_INTERNAL) report(c, "a mistake of the library: %s", error->message);
}

/* Building, planning or running must fail with WANTED. */
static void expect_failure(op_case *c, mst_status wanted) {
    mst_status status = op_case_build(c, OP_FED);
    if (!status) {
        mst_tensor *output = NULL;
        status = op_case_run(c, &c->out, 1, &output);
        op_case_release(&output, 1);
    }
    if (status != wanted)
        report(c, "gives '%s', must fail with '%s'", mst_status_name(status), mst_status_name(wanted));
    if (status) expect_clean_error(c, status);
    if (status && !strstr(mst_error()->message, c->op->name))
        report(c, "the message '%s' does not name the op", mst_error()->message);
}

/* ---- values ---- */

/* All outputs from a session, compared with those of the reference kernel. */
static void check_engine(op_case *c, const char *what, mst_tensor *const *wanted) {
    mst_value fetches[OP_MOST_DST];
    mst_tensor *outputs[OP_MOST_DST] = {NULL};
    for (int k = 0; k < c->num_dst; k++) fetches[k] = mst_value_output(c->out, k);
    const mst_status status = op_case_run(c, fetches, c->num_dst, outputs);
    if (status) report(c, "%s fails: %s", what, mst_error()->message);
    for (int k = 0; k < c->num_dst && !status && !(c->op->flags & MST_OP_NO_VALUE); k++) {
        char output[96];
        snprintf(output, sizeof output, "output %d, %s against reference kernel", k, what);
        expect_same(c, output, outputs[k], wanted[k]);
    }
    op_case_release(outputs, c->num_dst);
}

/* Inference with open dimensions must agree with that of known ones, where it is possible at all. */
static void check_open(op_case *c, mst_tensor *const *wanted) {
    const mst_status status = op_case_build(c, OP_FED_OPEN);
    if (status) {
        expect_clean_error(c, status);
        return;
    }
    for (int k = 0; k < c->num_dst; k++) {
        const mst_spec spec = mst_value_spec(mst_value_output(c->out, k));
        const mst_shape known = mst_tensor_shape(wanted[k]);
        bool agrees = spec.dtype == mst_tensor_dtype(wanted[k]) && spec.shape.ndim == known.ndim;
        for (int i = 0; agrees && i < known.ndim; i++)
            agrees = spec.shape.dim[i] == -1 || spec.shape.dim[i] == known.dim[i];
        char open[MST_SHAPE_TEXT], closed[MST_SHAPE_TEXT];
        if (!agrees)
            report(c, "output %d is %s%s while dimensions are open, then %s", k, mst_dtype_name(spec.dtype),
                   mst_shape_print(spec.shape, open, sizeof open), mst_shape_print(known, closed, sizeof closed));
    }
    check_engine(c, "session with open dimensions", wanted);
}

/* What a kernel gives must not depend on what its memory held before. */
static void check_twice(op_case *c, mst_tensor *const *wanted) {
    mst_tensor *dst[OP_MOST_DST] = {NULL};
    if (op_case_reference(c, -1, dst)) {
        report(c, "again: %s", mst_error()->message);
        return;
    }
    for (int k = 0; k < c->num_dst; k++) {
        const uint8_t *bytes = mst_tensor_data(dst[k]);
        const size_t size = mst_tensor_bytes(dst[k]);
        if (size && memcmp(bytes, mst_tensor_data(wanted[k]), size) != 0)
            report(c, "output %d has other bits the second time", k);
        for (size_t i = 0; i < size && mst_tensor_dtype(dst[k]) == MST_BOOL; i++)
            if (bytes[i] > 1) report(c, "output %d: a bool of %d", k, bytes[i]);
    }
    op_case_release(dst, c->num_dst);
}

static void check_aliasing(op_case *c, mst_tensor *const *wanted) {
    for (int i = 0; i < c->example->num_src; i++) {
        if (mst_tensor_dtype(c->value[i]) != mst_tensor_dtype(wanted[0]) ||
            mst_tensor_count(c->value[i]) != mst_tensor_count(wanted[0]))
            continue;
        mst_tensor *dst[OP_MOST_DST] = {NULL};
        if (op_case_reference(c, i, dst)) {
            report(c, "over source %d: %s", i, mst_error()->message);
            continue;
        }
        for (int k = 0; k < c->num_dst; k++) expect_same(c, "written over a source", dst[k], wanted[k]);
        op_case_release(dst, c->num_dst);
    }
}

/* ---- gradients ---- */

/* sum over the values of (sum of value * weights), with weights in [-1, 1] that depend on the place alone; MST_NONE
 * without values. */
static mst_value weighted_sum(op_case *c, const mst_value *value, const mst_shape *shape, int count) {
    mst_value total = MST_NONE;
    for (int k = 0; k < count; k++) {
        if (mst_value_is_none(value[k])) continue;
        const int64_t elements = mst_shape_count(shape[k]);
        const mst_rng rng = mst_rng_make((uint64_t)k, (uint64_t)elements, 0);
        double *weight = calloc((size_t)elements + 1, sizeof *weight);
        assert_non_null(weight);
        mst_rng_fill_uniform_f64(&rng, 0, elements, weight);
        for (int64_t e = 0; e < elements; e++) weight[e] = 2 * weight[e] - 1;
        mst_value weighted = mst_mul(value[k], mst_values(c->graph, MST_F64, shape[k], weight));
        free(weight);
        mst_value sum = mst_reduce_sum(.src = weighted);
        total = mst_value_is_none(total) ? sum : mst_add(total, sum);
    }
    return total;
}

static double number(op_case *c, mst_value value) {
    mst_tensor *tensor = NULL;
    if (op_case_run(c, &value, 1, &tensor)) {
        report(c, "for finite differences: %s", mst_error()->message);
        return NAN;
    }
    const double x = mst_tensor_get(tensor, 0);
    mst_tensor_release(tensor);
    return x;
}

static double difference(op_case *c, mst_value total, int i, int64_t e) {
    const double x = mst_tensor_get(c->value[i], e), step = 1e-5 * fmax(1, fabs(x));
    mst_tensor_set(c->value[i], e, x + step);
    const double above = number(c, total), upper = mst_tensor_get(c->value[i], e);
    mst_tensor_set(c->value[i], e, x - step);
    const double below = number(c, total), lower = mst_tensor_get(c->value[i], e);
    mst_tensor_set(c->value[i], e, x);
    return (above - below) / (upper - lower);
}

/* Each element is two more runs of the same graph, where a sanitizer finds nothing new, nor do devices of another type
 * that run the same kernels, and which an interpreter of programs makes slow. */
static int64_t most_elements(void) {
    return SANITIZED || getenv("MUSTER_TEST_DEVICE") ? 2 : MOST_ELEMENTS;
}

/* GRADIENT of TOTAL with respect to source I against central differences, at up to most_elements() elements. */
static void expect_slopes(op_case *c, const char *what, mst_value total, int i, mst_value gradient) {
    mst_tensor *slope = NULL;
    if (!mst_value_is_none(gradient) && op_case_run(c, &gradient, 1, &slope)) {
        report(c, "%s by source %d: %s", what, i, mst_error()->message);
        return;
    }
    char have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
    if (slope && (mst_tensor_dtype(slope) != MST_F64 ||
                  !mst_shape_equal(mst_tensor_shape(slope), mst_tensor_shape(c->value[i])))) {
        report(c, "%s by source %d is %s%s, the source f64%s", what, i, mst_dtype_name(mst_tensor_dtype(slope)),
               mst_shape_print(mst_tensor_shape(slope), have, sizeof have),
               mst_shape_print(mst_tensor_shape(c->value[i]), want, sizeof want));
        mst_tensor_release(slope);
        return;
    }
    const int64_t count = mst_tensor_count(c->value[i]), most = most_elements(), stride = (count + most - 1) / most;
    for (int64_t e = 0; e < count; e += stride) {
        const double have = slope ? mst_tensor_get(slope, e) : 0, want = difference(c, total, i, e);
        if (is_near(have, want, 2e-6)) continue;
        report(c, "%s by source %d: element %lld is %.12g, finite differences give %.12g", what, i, (long long)e, have,
               want);
        break;
    }
    mst_tensor_release(slope);
}

static bool is_differentiated(const op_case *c, int i) {
    return mst_tensor_dtype(c->value[i]) == MST_F64 && !c->example->src[i].no_grad;
}

static int orders_of(const mst_op *op) {
    for (int k = 0; k < NUM_LESS; k++)
        if (strcmp(less_than_twice[k].op, op->name) == 0) return less_than_twice[k].orders;
    return 2;
}

/* Gradients of TOTAL by all sources, of ORDER 1 or 2; false where there are none. */
static bool expect_all_slopes(op_case *c, const char *what, int order, mst_value total, mst_value *gradient) {
    if (mst_value_is_none(total)) return false;
    mst_gradients(total, c->src, c->example->num_src, gradient);
    const mst_status status = mst_graph_check(c->graph);
    if (status) expect_clean_error(c, status);
    if (!status != (order <= orders_of(c->op)))
        report(c, "%s: %s", what, status ? mst_error()->message : "is there, against the list of those that are not");
    for (int i = 0; i < c->example->num_src && !status; i++) {
        if (is_differentiated(c, i))
            expect_slopes(c, what, total, i, gradient[i]);
        else
            gradient[i] = MST_NONE;
    }
    return !status;
}

/* The graph anew, with the gradient of the outputs in the bit mask OUTPUTS. */
static void check_gradient(op_case *c, op_source source, unsigned outputs, bool second, mst_tensor *const *wanted) {
    mst_value value[OP_MOST_DST], gradient[MST_EXAMPLE_SRC];
    mst_shape dst_shape[OP_MOST_DST], src_shape[MST_EXAMPLE_SRC];
    const char *how = source == OP_FED_OPEN ? ", dimensions open," : "";
    char what[96];
    if (op_case_build(c, source)) return; /* tested by itself */
    for (int k = 0; k < c->num_dst; k++) {
        dst_shape[k] = mst_tensor_shape(wanted[k]);
        value[k] = outputs >> k & 1u ? mst_value_output(c->out, k) : MST_NONE;
    }
    snprintf(what, sizeof what, "gradient of outputs 0x%x%s", outputs, how);
    if (!expect_all_slopes(c, what, 1, weighted_sum(c, value, dst_shape, c->num_dst), gradient) || !second) return;
    for (int i = 0; i < c->example->num_src; i++) src_shape[i] = mst_tensor_shape(c->value[i]);
    snprintf(what, sizeof what, "second gradient%s", how);
    expect_all_slopes(c, what, 2, weighted_sum(c, gradient, src_shape, c->example->num_src), gradient);
}

/* Of each output alone, then of all together and again of that. */
static void check_gradients(op_case *c, mst_tensor *const *wanted) {
    unsigned outputs = 0;
    bool any = false;
    for (int i = 0; i < c->example->num_src; i++) any = any || is_differentiated(c, i);
    const int num_dst = c->num_dst;
    for (int k = 0; k < num_dst; k++) outputs |= (unsigned)(mst_tensor_dtype(wanted[k]) == MST_F64) << k;
    if (!c->op->grad || !any || !outputs) return;
    if (engine_compiles() && c->variant != OP_AS_GIVEN) return; /* an interpreter of programs is slow */
    for (op_source source = OP_FED; source <= OP_FED_OPEN; source++) {
        for (int k = 0; k < num_dst; k++)
            if ((outputs >> k & 1u) && outputs != 1u << k) check_gradient(c, source, 1u << k, false, wanted);
        check_gradient(c, source, outputs, true, wanted);
    }
}

/* ---- one example ---- */

static void check_all(op_case *c) {
    mst_tensor *wanted[OP_MOST_DST] = {NULL};
    mst_status status = op_case_build(c, OP_FED);
    if (!status) status = op_case_reference(c, -1, wanted);
    if (status) {
        expect_clean_error(c, status);
        if (c->variant == OP_AS_GIVEN) report(c, "fails: %s", mst_error()->message);
        return;
    }
    const int num_dst = c->num_dst;
    for (int k = 0; k < num_dst && k < MST_EXAMPLE_DST && c->variant == OP_AS_GIVEN; k++)
        if (c->example->expect[k]) expect_values(c, "reference kernel", wanted[k], c->example->expect[k]);
    check_twice(c, wanted);
    check_engine(c, "session", wanted);
    if (as_given) {
        op_case_release(wanted, num_dst);
        return;
    }
    if (c->op->may_alias) check_aliasing(c, wanted);
    check_gradients(c, wanted);
    check_open(c, wanted);
    if (op_case_build(c, OP_COMPUTED))
        report(c, "of computed sources: %s", mst_error()->message);
    else
        check_engine(c, "session with computed sources", wanted);
    if (op_case_build(c, OP_CONSTANT))
        report(c, "of constants: %s", mst_error()->message);
    else
        check_engine(c, "session with constants", wanted);
    op_case_release(wanted, num_dst);
}

static void check_dtype(const mst_op *op, const mst_example *example, mst_dtype dtype) {
    op_case c;
    if (example->fails) {
        op_case_begin(&c, op, example, dtype, OP_AS_GIVEN);
        expect_failure(&c, example->fails);
        op_case_end(&c);
        return;
    }
    for (op_variant variant = OP_AS_GIVEN; variant < OP_NUM_VARIANTS; variant++) {
        if (variant != OP_AS_GIVEN && (as_given || example->num_src == 0)) break;
        op_case_begin(&c, op, example, dtype, variant);
        check_all(&c);
        op_case_end(&c);
    }
}

static void check_example(const mst_op *op, const mst_example *example) {
    bool is_open = false;
    for (int i = 0; i < example->num_src; i++) is_open = is_open || example->src[i].dtype == MST_NO_DTYPE;
    if (!is_open) check_dtype(op, example, MST_NO_DTYPE);
    for (int dtype = 1; dtype < MST_NUM_DTYPES && is_open; dtype++)
        if (op_case_dtypes(op, example) & MST_DTYPE_BIT(dtype)) check_dtype(op, example, (mst_dtype)dtype);
}

static void check_op(void **state) {
    const mst_op *op = *state;
    failures = 0;
    const bool has_options = mst_op_has_body(op); /* ops without examples of their own: op/loop_test.c tests them */
    if (op->num_examples == 0 && !has_options &&
        !(op->flags & (MST_OP_PLACEHOLDER | MST_OP_VARIABLE | MST_OP_NO_VALUE)))
        fail_msg("%s has no example", op->name);
    for (int i = 0; i < op->num_examples; i++) check_example(op, &op->examples[i]);
    if (failures) fail_msg("%s: %d failures", op->name, failures);
}

/* ---- the list ---- */

static void ops_have_names_of_their_own(void **state) {
    (void)state;
    for (int i = 0; mst_op_at(i); i++) {
        assert_ptr_equal(mst_find_op(mst_op_at(i)->name), mst_op_at(i));
        assert_non_null(mst_op_at(i)->infer);
        assert_non_null(mst_op_at(i)->reference);
    }
}

static void exceptions_name_ops_and_have_a_reason(void **state) {
    (void)state;
    for (int k = 0; k < NUM_LESS; k++) {
        assert_non_null(mst_find_op(less_than_twice[k].op));
        assert_true(less_than_twice[k].reason[0] != '\0');
    }
}

/* Arguments: names of the ops to test; none: all. --as-given before them: only what sessions give for the examples as
 * they are, where each other program would have to be compiled. --list: prints the names. */
int main(int argc, char **argv) {
    static struct CMUnitTest tests[MOST_OPS + 2] = {
        cmocka_unit_test(ops_have_names_of_their_own),
        cmocka_unit_test(exceptions_name_ops_and_have_a_reason),
    };
    static char name[MOST_OPS][NAME_SIZE];
    size_t count = 2;
    as_given = argc > 1 && strcmp(argv[1], "--as-given") == 0;
    argc -= as_given;
    argv += as_given;
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        for (int i = 0; mst_op_at(i); i++) puts(mst_op_at(i)->name);
        return 0;
    }
    for (int i = 0; mst_op_at(i) && count < MOST_OPS; i++) {
        bool wanted = argc < 2;
        for (int k = 1; k < argc; k++) wanted = wanted || strcmp(argv[k], mst_op_at(i)->name) == 0;
        if (!wanted) continue;
        snprintf(name[count], NAME_SIZE, "%s_does_what_its_examples_say", mst_op_at(i)->name);
        tests[count] = (struct CMUnitTest){
            .name = name[count], .test_func = check_op, .initial_state = (void *)(uintptr_t)mst_op_at(i)};
        count++;
    }
    return _cmocka_run_group_tests("registry", tests, count, NULL, NULL);
}
