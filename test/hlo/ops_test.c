/* Every example of every op that has StableHLO, dtype by dtype, as a program of one op: the interpreter's results against
 * those of the reference kernel. Integers and bools must be the same, floats within the tolerance of the example. Where
 * the kernel fails on the values, the word of faults must not be 0.
 *
 * With MUSTER_HLO_FOLDER, what another interpreter needs to check the same programs is written there: N.mlir, N.bin
 * (arguments, then results) and a line in `list` (test/parity/hlo.py). MUSTER_HLO_OP: only this op. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bf16.h"
#include "graph/graph.h"
#include "support/hlo_case.h"
#include "support/hlo_interpreter.h"
#include "support/test.h"

/* Ops without StableHLO, and why. They run on the CPU of their task, or a session carries them out itself. */
static const struct {
    const char *op, *reason;
} on_host[] = {
    {"batch_norm_add", "only plans for CPU kernels have it"},
    {"batch_norm_grad_sums", "only plans for CPU kernels have it"},
    {"batch_norm_statistics", "only plans for CPU kernels have it"},
    {"conv2d_grads", "only plans for CPU kernels have it"},
    {"conv2d_statistics", "only plans for CPU kernels have it"},
    {"fused_batch_norm", "only plans for CPU kernels have it"},
    {"fused_batch_norm_grad", "only plans for CPU kernels have it"},
    {"fused_conv2d", "only plans for CPU kernels have it"},
    {"fused_matmul", "only plans for CPU kernels have it"},
    {"max_pool2d_relu_grad", "only plans for CPU kernels have it"},
    {"normalized_conv2d", "only plans for CPU kernels have it"},
    {"normalized_conv2d_weights_grad", "only plans for CPU kernels have it"},
    {"orthonormalize", "initial values are made on the host"},
};

enum { MOST_OPS = 512, NUM_ON_HOST = sizeof on_host / sizeof *on_host };

static int failures, programs;
static FILE *list;

static void report(const op_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void report(const op_case *c, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_error("%s: %s\n", c->label, text);
    failures++;
}

/* ---- files for another interpreter ---- */

static const char *folder(void) {
    return getenv("MUSTER_HLO_FOLDER");
}

static FILE *open_file(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder(), name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    return file;
}

static void write_values(FILE *file, const hlo_value *value, int count) {
    for (int i = 0; i < count; i++)
        if (value[i].bytes) assert_int_equal(fwrite(value[i].data, value[i].bytes, 1, file), 1);
}

static double tolerance_of(const op_case *c) {
    if (c->example->tolerance > 0) return c->example->tolerance;
    for (int k = 0; k < c->num_dst; k++)
        if (c->out.node->dst[k].dtype == MST_F32) return 1e-5;
    return 1e-10;
}

static void keep_files(const hlo_case *h) {
    char name[32];
    if (!list) list = open_file("list");
    snprintf(name, sizeof name, "%d.mlir", programs);
    FILE *text = open_file(name);
    fputs(h->text, text);
    fclose(text);
    snprintf(name, sizeof name, "%d.bin", programs);
    FILE *values = open_file(name);
    write_values(values, h->argument, h->num_arguments);
    write_values(values, h->wanted, h->fails ? 0 : h->num_results);
    fclose(values);
    fprintf(list, "%d %g %d %s\n", programs, tolerance_of(h->of), h->fails != MST_OK, h->of->label);
}

/* ---- the interpreter ---- */

static hlo_type type_of(mst_dtype dtype) {
    switch ((int)dtype) {
        case MST_F32: return HLO_F32;
        case MST_F64: return HLO_F64;
        case MST_BF16: return HLO_BF16;
        case MST_I32: return HLO_I32;
        case MST_I64: return HLO_I64;
        case MST_U8: return HLO_UI8;
        case MST_BOOL: return HLO_I1;
        default: return dtype == MST_HLO_U32 ? HLO_UI32 : HLO_UI64;
    }
}

static hlo_array array_of(const hlo_value *value) {
    hlo_array array = {.type = type_of(value->spec.dtype), .ndim = value->spec.shape.ndim, .count = 1};
    for (int i = 0; i < array.ndim; i++) array.count *= array.dim[i] = value->spec.shape.dim[i];
    array.data = (void *)(uintptr_t)value->data;
    return array;
}

static double element(const hlo_array *array, int64_t i) {
    switch (array->type) {
        case HLO_F32: return (double)((const float *)array->data)[i];
        case HLO_F64: return ((const double *)array->data)[i];
        case HLO_BF16: return (double)mst_bf16_value(((const uint16_t *)array->data)[i]);
        default: return 0;
    }
}

static bool is_near(double a, double b, double tolerance) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= tolerance * fmax(1, fabs(b));
}

static void compare(const op_case *c, int k, const hlo_array *got, const hlo_value *value) {
    const hlo_array wanted = array_of(value);
    const bool is_float = got->type == HLO_F32 || got->type == HLO_F64 || got->type == HLO_BF16;
    if (got->type != wanted.type || got->count != wanted.count) {
        report(c, "result %d has %lld elements of %s, must have %lld of %s", k, (long long)got->count,
               hlo_type_name(got->type), (long long)wanted.count, hlo_type_name(wanted.type));
        return;
    }
    if (!is_float) {
        if (value->bytes && memcmp(got->data, wanted.data, value->bytes) != 0)
            report(c, "result %d has other values than the reference kernel", k);
        return;
    }
    const double tolerance = got->type == HLO_BF16 ? 0 : tolerance_of(c);
    for (int64_t e = 0; e < got->count; e++)
        if (!is_near(element(got, e), element(&wanted, e), tolerance)) {
            report(c, "result %d: element %lld is %.17g, must be %.17g", k, (long long)e, element(got, e),
                   element(&wanted, e));
            return;
        }
}

static void check_fault(const hlo_case *h, int32_t word) {
    if (!h->fails) {
        if (word) report(h->of, "the word of faults is %d, the reference kernel does not fail", word);
        return;
    }
    const mst_status status = word ? mst_hlo_program_fault(h->program, word) : MST_OK;
    if (status != h->fails)
        report(h->of, "fails with '%s' (%s), must fail with '%s'", mst_status_name(status),
               status ? mst_error()->message : "", mst_status_name(h->fails));
    else if (!strstr(mst_error()->message, h->of->op->name))
        report(h->of, "the message '%s' does not name the op", mst_error()->message);
}

static void interpret(const hlo_case *h) {
    char error[512];
    hlo_array argument[HLO_MOST_ARGUMENTS], result[OP_MOST_DST + 1];
    hlo_program *program = hlo_parse(h->text, error, sizeof error);
    if (!program) {
        report(h->of, "%s in\n%s", error, h->text);
        return;
    }
    for (int i = 0; i < h->num_arguments; i++) argument[i] = array_of(&h->argument[i]);
    const int num_results = hlo_num_results(program);
    if (num_results != h->num_results + h->may_fail)
        report(h->of, "the program has %d results", num_results);
    else if (!hlo_run(program, argument, h->num_arguments, result, error, sizeof error))
        report(h->of, "%s in\n%s", error, h->text);
    else {
        for (int k = 0; k < h->num_results && !h->fails; k++) compare(h->of, k, &result[k], &h->wanted[k]);
        if (h->may_fail)
            check_fault(h, *(const int32_t *)result[h->num_results].data);
        else if (h->fails)
            report(h->of, "the reference kernel fails, the program cannot");
        for (int k = 0; k < num_results; k++) hlo_array_free(&result[k]);
    }
    hlo_program_free(program);
}

/* ---- examples ---- */

static void check(op_case *c) {
    hlo_case h;
    if (op_case_build(c, OP_FED)) return; /* an example of an error when building, or a variant that cannot be */
    if (hlo_case_begin(&h, c)) {
        report(c, "%s", mst_error()->message);
    } else {
        programs++;
        interpret(&h);
        if (folder()) keep_files(&h);
    }
    hlo_case_end(&h);
}

static void check_example(const mst_op *op, const mst_example *example) {
    bool is_open = false;
    for (int i = 0; i < example->num_src; i++) is_open |= !example->src[i].dtype;
    for (int d = MST_F32; d < MST_NUM_DTYPES; d++) {
        if (d == MST_STRING || (is_open ? !(op_case_dtypes(op, example) & MST_DTYPE_BIT(d)) : d != MST_F32)) continue;
        for (int variant = OP_AS_GIVEN; variant < OP_NUM_VARIANTS; variant++) {
            op_case c;
            if (variant != OP_AS_GIVEN && (example->fails || (d != MST_F32 && d != MST_I32))) continue;
            op_case_begin(&c, op, example, (mst_dtype)d, (op_variant)variant);
            check(&c);
            op_case_end(&c);
        }
    }
}

static void test_examples(void **state) {
    (void)state;
    const char *only = getenv("MUSTER_HLO_OP");
    for (int i = 0; i < MOST_OPS && mst_op_at(i); i++) {
        const mst_op *op = mst_op_at(i);
        if ((!op->hlo && !op->lower) || (only && strcmp(only, op->name) != 0)) continue;
        for (int k = 0; k < op->num_examples; k++) check_example(op, &op->examples[k]);
    }
    if (list) fclose(list);
    print_message("%d programs\n", programs);
    assert_int_equal(failures, 0);
    assert_true(programs > 0);
}

static void test_an_op_has_stablehlo_or_is_the_hosts(void **state) {
    (void)state;
    for (int i = 0; i < MOST_OPS && mst_op_at(i); i++) {
        const mst_op *op = mst_op_at(i);
        int listed = 0;
        for (int k = 0; k < NUM_ON_HOST; k++) listed += strcmp(on_host[k].op, op->name) == 0;
        if (listed == !(op->hlo || op->lower)) continue;
        print_error("%s %s\n", op->name,
                    listed ? "is listed here as an op of the host, and has StableHLO"
                           : "has neither .hlo nor .lower, and is not listed here as an op of the host");
        failures++;
    }
    for (int k = 0; k < NUM_ON_HOST; k++)
        if (!mst_find_op(on_host[k].op)) {
            print_error("%s, listed here, is no op\n", on_host[k].op);
            failures++;
        }
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_an_op_has_stablehlo_or_is_the_hosts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
