/* The interpreter of StableHLO (support/hlo_interpreter.h): checks that several ops share. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/hlo_inside.h"

bool hlo_wrong(const hlo_check *c, const char *format, ...) {
    va_list list;
    const int n = snprintf(c->error, c->error_size, "line %d: stablehlo.%s: ", c->op->line, c->op->row->name);
    if (n < 0 || (size_t)n >= c->error_size) return false;
    va_start(list, format);
    vsnprintf(c->error + n, c->error_size - (size_t)n, format, list);
    va_end(list);
    return false;
}

const hlo_array *hlo_operand_type(const hlo_check *c, int i) {
    return &c->program->value[c->op->operand[i]];
}

const hlo_array *hlo_result_type(const hlo_check *c, int i) {
    return &c->program->value[c->op->result + i];
}

bool hlo_want_results(const hlo_check *c, int num) {
    HLO_WANT(c->op->num_results == num, "it has %d results, not %d", c->op->num_results, num);
    return true;
}

bool hlo_want_result(const hlo_check *c, int i, const hlo_array *type) {
    char have[HLO_TYPE_TEXT], want[HLO_TYPE_TEXT];
    HLO_WANT(i < c->op->num_results, "it has %d results, not %d or more", c->op->num_results, i + 1);
    HLO_WANT(hlo_same_type(hlo_result_type(c, i), type), "result %d is %s, not %s", i,
             hlo_type_text(hlo_result_type(c, i), have, sizeof have), hlo_type_text(type, want, sizeof want));
    return true;
}

bool hlo_want_operand(const hlo_check *c, int i, const hlo_array *type) {
    char have[HLO_TYPE_TEXT], want[HLO_TYPE_TEXT];
    HLO_WANT(hlo_same_type(hlo_operand_type(c, i), type), "operand %d is %s, not %s", i,
             hlo_type_text(hlo_operand_type(c, i), have, sizeof have), hlo_type_text(type, want, sizeof want));
    return true;
}

bool hlo_want_list(const hlo_check *c, const char *name, int num, int64_t least) {
    const hlo_list *list = hlo_list_of(c->op, name);
    if (!list) return true;
    HLO_WANT(list->num == num, "%s has %d numbers, not %d", name, list->num, num);
    for (int i = 0; i < num; i++)
        HLO_WANT(list->at[i] >= least && list->at[i] <= HLO_MOST_BYTES, "%s has %lld, which is not from %lld to %lld",
                 name, (long long)list->at[i], (long long)least, (long long)HLO_MOST_BYTES);
    return true;
}

bool hlo_want_dims(const hlo_check *c, const char *what, const hlo_list *dims, int ndim) {
    for (int i = 0; i < dims->num; i++) {
        HLO_WANT(dims->at[i] >= 0 && dims->at[i] < ndim, "%s has %lld, but there are %d dimensions", what,
                 (long long)dims->at[i], ndim);
        for (int k = 0; k < i; k++)
            HLO_WANT(dims->at[k] != dims->at[i], "%s has %lld twice", what, (long long)dims->at[i]);
    }
    return true;
}

bool hlo_want_region(const hlo_check *c, int i, const hlo_array *in, int num_in, const hlo_array *out, int num_out) {
    const hlo_region *region = &c->op->region[i];
    char have[HLO_TYPE_TEXT], want[HLO_TYPE_TEXT];
    HLO_WANT(region->num_arguments == num_in, "region %d has %d arguments, not %d", i, region->num_arguments, num_in);
    HLO_WANT(region->num_returned == num_out, "region %d returns %d values, not %d", i, region->num_returned, num_out);
    for (int k = 0; k < num_in; k++) {
        const hlo_array *type = &c->program->value[region->first + k];
        HLO_WANT(hlo_same_type(type, &in[k]), "argument %d of region %d is %s, not %s", k, i,
                 hlo_type_text(type, have, sizeof have), hlo_type_text(&in[k], want, sizeof want));
    }
    for (int k = 0; k < num_out; k++) {
        const hlo_array *type = &c->program->value[region->returned[k]];
        HLO_WANT(hlo_same_type(type, &out[k]), "value %d returned by region %d is %s, not %s", k, i,
                 hlo_type_text(type, have, sizeof have), hlo_type_text(&out[k], want, sizeof want));
    }
    return true;
}

bool hlo_want_body(const hlo_check *c, int i, int num) {
    hlo_array types[2 * HLO_MOST_REDUCED];
    HLO_WANT(num <= HLO_MOST_REDUCED, "there are more than %d arrays", HLO_MOST_REDUCED);
    for (int k = 0; k < num; k++) types[k] = types[num + k] = hlo_scalar_of(hlo_operand_type(c, k)->type);
    return hlo_want_region(c, i, types, 2 * num, types, num);
}
