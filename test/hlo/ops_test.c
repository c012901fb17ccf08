/* Every example of every op that has StableHLO, as a program of one op. With MUSTER_HLO_FOLDER, what an authority needs to
 * check the same programs is written there: N.mlir, N.bin (arguments, then results) and a line in `list`. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "graph/graph.h"
#include "support/hlo_case.h"
#include "support/test.h"

/* Ops without StableHLO, which run on the CPU of their task. */
static const struct {
    const char *op, *reason;
} on_host[] = {
    {"", ""},
};

enum { MOST_OPS = 512 };

static int failures, programs;
static FILE *list;

static double tolerance_of(const op_case *c, mst_dtype dtype) {
    if (!mst_dtype_is_float(dtype)) return 0;
    if (c->example->tolerance > 0) return c->example->tolerance;
    return dtype == MST_F32 ? 1e-5 : dtype == MST_F64 ? 1e-10 : 0;
}

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

static void keep_for_authority(const hlo_case *h) {
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
    fprintf(list, "%d %g %d %s\n", programs, tolerance_of(h->of, h->of->out.node->dst[0].dtype), h->fails != MST_OK,
            h->of->label);
}

static void check(op_case *c) {
    hlo_case h;
    if (op_case_build(c, OP_FED)) return;
    const mst_status status = hlo_case_begin(&h, c);
    if (status) {
        print_error("%s: %s\n", c->label, mst_error()->message);
        failures++;
    } else {
        programs++;
        if (folder()) keep_for_authority(&h);
    }
    hlo_case_end(&h);
}

static void check_example(const mst_op *op, const mst_example *example) {
    for (int d = MST_F32; d < MST_NUM_DTYPES; d++) {
        op_case c;
        bool has_open = false;
        for (int i = 0; i < example->num_src; i++) has_open = has_open || !example->src[i].dtype;
        if (!has_open && d != MST_F32) continue;
        if (has_open && !(op_case_dtypes(op, example) & MST_DTYPE_BIT(d))) continue;
        if (d == MST_STRING) continue;
        op_case_begin(&c, op, example, (mst_dtype)d, OP_AS_GIVEN);
        check(&c);
        op_case_end(&c);
    }
}

static void test_examples(void **state) {
    (void)state;
    for (int i = 0; i < MOST_OPS && mst_op_at(i); i++) {
        const mst_op *op = mst_op_at(i);
        const char *only = getenv("MUSTER_HLO_OP");
        if ((!op->hlo && !op->lower) || (only && strcmp(only, op->name) != 0)) continue;
        for (int k = 0; k < op->num_examples; k++)
            if (op->examples[k].fails != MST_INVALID) check_example(op, &op->examples[k]);
    }
    if (list) fclose(list);
    print_message("%d programs\n", programs);
    assert_int_equal(failures, 0);
}

static void test_all_ops_are_known(void **state) {
    (void)state;
    for (int i = 0; i < MOST_OPS && mst_op_at(i); i++) {
        const mst_op *op = mst_op_at(i);
        bool is_listed = false;
        for (size_t k = 0; k < sizeof on_host / sizeof *on_host; k++)
            is_listed = is_listed || strcmp(on_host[k].op, op->name) == 0;
        if (is_listed == (op->hlo || op->lower)) print_message("%s\n", op->name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_all_ops_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
