#include "support/hlo_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bf16.h"
#include "base/rng.h"
#include "graph/graph.h"
#include "support/hlo_interpreter.h"
#include "support/test.h"

hlo_value hlo_value_of(const mst_tensor *tensor) {
    return (hlo_value){.spec = {.dtype = mst_tensor_dtype(tensor), .shape = mst_tensor_shape(tensor)},
                       .data = mst_tensor_data(tensor),
                       .bytes = mst_tensor_bytes(tensor)};
}

/* The words that a source takes in step 0 of a graph of the seed 0, as the reference kernel of op_case_reference. */
static hlo_value words_of(hlo_case *h, int i, const mst_hlo_source *source) {
    uint32_t *word = h->word[i];
    word[0] = word[1] = 0;
    if (source->kind == MST_HLO_SOURCE_KEY) {
        const mst_rng rng = mst_rng_make(0, source->stream, 0);
        word[0] = rng.key[0];
        word[1] = rng.key[1];
    }
    return (hlo_value){.spec = source->spec, .data = word, .bytes = 2 * sizeof *word};
}

static void set_arguments(hlo_case *h, mst_tensor *const *value) {
    int next = 0;
    h->num_arguments = mst_hlo_program_num_sources(h->program);
    assert_in_range(h->num_arguments, 0, HLO_MOST_ARGUMENTS);
    for (int i = 0; i < h->num_arguments; i++) {
        const mst_hlo_source *source = mst_hlo_program_source_at(h->program, i);
        if (source->kind == MST_HLO_SOURCE_VALUE)
            h->argument[i] = hlo_value_of(value[next++]);
        else if (source->kind == MST_HLO_SOURCE_TENSOR)
            h->argument[i] = hlo_value_of(source->tensor);
        else
            h->argument[i] = words_of(h, i, source);
    }
}

mst_status hlo_case_write(hlo_case *h, const mst_node *node, mst_tensor *const *value) {
    mst_hlo src[HLO_MOST_ARGUMENTS], dst[HLO_MOST_RESULTS];
    mst_spec src_spec[HLO_MOST_ARGUMENTS], dst_spec[HLO_MOST_RESULTS];
    const char *src_name[HLO_MOST_ARGUMENTS];
    assert_in_range(node->num_src, 0, HLO_MOST_ARGUMENTS);
    assert_in_range(node->num_dst, 1, HLO_MOST_RESULTS);
    MST_TRY(mst_hlo_program_create(&h->program));
    for (int i = 0; i < node->num_src; i++) {
        src_spec[i] = hlo_value_of(value[i]).spec;
        src_name[i] = mst_value_name(node->src[i]);
        src[i] = mst_hlo_program_source(h->program, &src_spec[i]);
    }
    MST_TRY(mst_node_infer(node->op, node->options, node->name, node->num_src, src_spec, src_name, node->num_dst,
                           dst_spec));
    mst_lower l = {.op = node->op,
                   .options = node->options,
                   .name = node->name,
                   .num_src = node->num_src,
                   .src = src,
                   .src_spec = src_spec,
                   .num_dst = node->num_dst,
                   .dst = dst,
                   .dst_spec = dst_spec,
                   .precision = h->precision};
    MST_TRY(mst_hlo_program_op(h->program, &l));
    for (int k = 0; k < node->num_dst; k++) mst_hlo_program_result(h->program, dst[k]);
    MST_TRY(mst_hlo_program_finish(h->program, &h->text));
    set_arguments(h, value);
    h->num_results = node->num_dst;
    h->may_fail = mst_hlo_program_num_faults(h->program) > 0;
    return MST_OK;
}

int hlo_case_round(char *text) {
    static const char highest[] = "<precision HIGHEST>", lowest[] = "<precision DEFAULT>";
    int count = 0;
    for (char *at = text; (at = strstr(at, highest)); count++) memcpy(at, lowest, sizeof lowest - 1);
    return count;
}

int hlo_case_expect_rounded(const char *label, const mst_node *node, mst_tensor *const *value) {
    hlo_case exact = {.precision = MST_FLOAT32}, rounded = {.precision = MST_TENSORFLOAT32};
    EXPECT_OK(hlo_case_write(&exact, node, value));
    EXPECT_OK(hlo_case_write(&rounded, node, value));
    char *text = strdup(exact.text);
    assert_non_null(text);
    const int count = hlo_case_round(text);
    if (strcmp(text, rounded.text) != 0) fail_msg("%s: not\n%s\nbut\n%s", label, text, rounded.text);
    free(text);
    hlo_case_end(&exact);
    hlo_case_end(&rounded);
    return count;
}

mst_status hlo_case_begin(hlo_case *h, op_case *c) {
    *h = (hlo_case){.label = c->label, .culprit = c->op->name};
    MST_TRY(hlo_case_write(h, c->out.node, c->value));
    h->fails = op_case_reference(c, -1, h->output);
    for (int k = 0; k < c->num_dst && !h->fails; k++) h->wanted[k] = hlo_value_of(h->output[k]);
    return MST_OK;
}

mst_hlo hlo_case_argument(hlo_case *h, const mst_tensor *tensor) {
    assert_in_range(h->num_arguments, 0, HLO_MOST_ARGUMENTS - 1);
    h->argument[h->num_arguments] = hlo_value_of(tensor);
    return mst_hlo_program_source(h->program, &h->argument[h->num_arguments++].spec);
}

void hlo_case_result(hlo_case *h, mst_hlo value, const mst_tensor *wanted) {
    assert_in_range(h->num_results, 0, HLO_MOST_RESULTS - 1);
    h->wanted[h->num_results++] = hlo_value_of(wanted);
    mst_hlo_program_result(h->program, value);
}

void hlo_case_finish(hlo_case *h) {
    EXPECT_OK(mst_hlo_program_finish(h->program, &h->text));
    h->may_fail = mst_hlo_program_num_faults(h->program) > 0;
}

void hlo_case_end(hlo_case *h) {
    mst_hlo_program_destroy(h->program);
    op_case_release(h->output, OP_MOST_DST);
}

/* ---- the interpreter ---- */

static void report(const hlo_case *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void report(const hlo_case *h, const char *format, ...) {
    va_list arguments;
    print_error("%s: ", h->label);
    va_start(arguments, format);
    vprint_error(format, arguments);
    va_end(arguments);
    print_error("\n");
}

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

static bool agrees(const hlo_case *h, int k, const hlo_array *got) {
    const hlo_array wanted = array_of(&h->wanted[k]);
    const bool is_float = got->type == HLO_F32 || got->type == HLO_F64 || got->type == HLO_BF16;
    if (got->type != wanted.type || got->count != wanted.count) {
        report(h, "result %d has %lld elements of %s, must have %lld of %s", k, (long long)got->count,
               hlo_type_name(got->type), (long long)wanted.count, hlo_type_name(wanted.type));
        return false;
    }
    if (!is_float) {
        if (!h->wanted[k].bytes || memcmp(got->data, wanted.data, h->wanted[k].bytes) == 0) return true;
        report(h, "result %d has other values than the reference", k);
        return false;
    }
    const double tolerance = got->type == HLO_BF16 ? 0 : h->tolerance;
    for (int64_t e = 0; e < got->count; e++)
        if (!is_near(element(got, e), element(&wanted, e), tolerance)) {
            report(h, "result %d: element %lld is %.17g, must be %.17g", k, (long long)e, element(got, e),
                   element(&wanted, e));
            return false;
        }
    return true;
}

static bool fault_agrees(const hlo_case *h, int32_t word) {
    const mst_status status = word ? mst_hlo_program_fault(h->program, word) : MST_OK;
    if (status != h->fails)
        report(h, "fails with '%s' (%s), must fail with '%s'", mst_status_name(status),
               status ? mst_error()->message : "", mst_status_name(h->fails));
    else if (status && !strstr(mst_error()->message, h->culprit))
        report(h, "the message '%s' does not name '%s'", mst_error()->message, h->culprit);
    else
        return true;
    return false;
}

static bool results_agree(const hlo_case *h, const hlo_array *result) {
    bool same = true;
    for (int k = 0; k < h->num_results && !h->fails; k++) same = agrees(h, k, &result[k]) && same;
    if (h->may_fail) return fault_agrees(h, *(const int32_t *)result[h->num_results].data) && same;
    if (h->fails) report(h, "the reference fails, the program cannot");
    return same && !h->fails;
}

bool hlo_case_agrees(const hlo_case *h) {
    char error[512];
    bool same = false;
    hlo_array argument[HLO_MOST_ARGUMENTS], result[HLO_MOST_RESULTS + 1];
    hlo_program *program = hlo_parse(h->text, error, sizeof error);
    const int num_results = program ? hlo_num_results(program) : 0;
    for (int i = 0; i < h->num_arguments; i++) argument[i] = array_of(&h->argument[i]);
    if (!program) {
        report(h, "%s in\n%s", error, h->text);
    } else if (num_results != h->num_results + h->may_fail) {
        report(h, "the program has %d results", num_results);
    } else if (!hlo_run(program, argument, h->num_arguments, result, error, sizeof error)) {
        report(h, "%s in\n%s", error, h->text);
    } else {
        same = results_agree(h, result);
        for (int k = 0; k < num_results; k++) hlo_array_free(&result[k]);
    }
    hlo_program_free(program);
    return same;
}
