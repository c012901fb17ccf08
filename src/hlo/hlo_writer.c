/* The text of a program: names, types, numbers, operations and regions. */
#include "hlo/hlo_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bf16.h"
#include "base/no_memory.h"
#include "base/number.h"

void mst_hlo_keep(mst_hlo_program *p, mst_status status) {
    if (status && !p->failure.code) mst_failure_keep(&p->failure, status);
}

mst_hlo mst_hlo_fail(mst_lower *l, const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    mst_format_list(text, sizeof text, format, list);
    va_end(list);
    mst_hlo_keep(l->program, MST_FAIL(MST_INTERNAL, "%s '%s' as StableHLO: %s", l->op ? l->op->name : "update",
                                      l->name ? l->name : "", text));
    return MST_NO_HLO;
}

bool mst_hlo_lacks(mst_lower *l, mst_hlo x) {
    if (l->program->failure.code) return true;
    const mst_hlo_program *p = l->program;
    if (x.id > 0 && x.id < p->num_values) {
        const mst_hlo_value *v = &p->value[x.id];
        if (v->depth <= p->depth && v->region == p->region[v->depth]) return false;
        mst_hlo_fail(l, "uses a value of a function of elements outside of it");
        return true;
    }
    mst_hlo_fail(l, "uses a value that is not there");
    return true;
}

mst_spec mst_hlo_spec(const mst_lower *l, mst_hlo x) {
    if (x.id <= 0 || x.id >= l->program->num_values) return (mst_spec){.dtype = MST_NO_DTYPE};
    return l->program->value[x.id].spec;
}

/* ---- text ---- */

void mst_hlo_write(mst_hlo_program *p, mst_hlo_text *text, const char *format, ...) {
    if (p->failure.code) return;
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int size = mst_format_list(NULL, 0, format, list);
    va_end(list);
    const mst_status status = size < 0 ? MST_FAIL(MST_INTERNAL, "cannot write a program")
                                       : mst_grow(&text->data, 1, text->size + size + 1, &text->capacity);
    mst_hlo_keep(p, status);
    if (!status) {
        mst_format_list(text->data + text->size, (size_t)size + 1, format, again);
        text->size += size;
    }
    va_end(again);
}

void mst_hlo_write_name(mst_hlo_program *p, mst_hlo_text *text, mst_hlo x) {
    const mst_hlo_value *v = &p->value[x.id];
    mst_hlo_write(p, text, v->is_source ? "%%a%d" : "%%%d", v->number);
    if (v->part >= 0) mst_hlo_write(p, text, "#%d", v->part);
}

static const char *type_name(mst_dtype dtype) {
    /* the cast is needed because MST_HLO_U32 and MST_HLO_U64 are not enumerators of mst_dtype */
    switch ((int)dtype) {
        case MST_F32: return "f32";
        case MST_F64: return "f64";
        case MST_I32: return "i32";
        case MST_I64: return "i64";
        case MST_U8: return "ui8";
        case MST_BOOL: return "i1";
        case MST_BF16: return "bf16";
        case MST_NUM_DTYPES + 1: return "ui32";
        case MST_NUM_DTYPES + 2: return "ui64";
        default: return NULL;
    }
}

void mst_hlo_write_type(mst_hlo_program *p, mst_hlo_text *text, const mst_spec *spec) {
    if (p->failure.code) return;
    const char *name = type_name(spec->dtype);
    if (!name)
        mst_hlo_keep(p, MST_FAIL(MST_UNIMPLEMENTED, "StableHLO has no elements of %s", mst_dtype_name(spec->dtype)));
    mst_hlo_write(p, text, "tensor<");
    for (int i = 0; i < spec->shape.ndim; i++) mst_hlo_write(p, text, "%lldx", (long long)spec->shape.dim[i]);
    mst_hlo_write(p, text, "%s>", name ? name : "");
}

static void write_list(mst_hlo_program *p, mst_hlo_text *text, int count, const mst_hlo *x,
                       void (*write)(mst_hlo_program *, mst_hlo_text *, mst_hlo)) {
    mst_hlo_write(p, text, "(");
    for (int i = 0; i < count; i++) {
        if (i) mst_hlo_write(p, text, ", ");
        write(p, text, x[i]);
    }
    mst_hlo_write(p, text, ")");
}

static void write_type_of(mst_hlo_program *p, mst_hlo_text *text, mst_hlo x) {
    mst_hlo_write_type(p, text, &p->value[x.id].spec);
}

void mst_hlo_write_types(mst_hlo_program *p, mst_hlo_text *text, int count, const mst_hlo *x) {
    write_list(p, text, count, x, write_type_of);
}

/* Writes NUMBER with a decimal point: MLIR reads no float without one. */
static void write_with_point(mst_hlo_program *p, mst_hlo_text *text, const char *number) {
    const size_t mantissa = strcspn(number, "e");
    const bool has_point = memchr(number, '.', mantissa) != NULL;
    mst_hlo_write(p, text, "%.*s%s%s", (int)mantissa, number, has_point ? "" : ".0", number + mantissa);
}

/* Writes VALUE as an integer of DTYPE: rounded to the nearest one, limited to the range of DTYPE; NaN becomes 0. */
static void write_integer(mst_hlo_program *p, mst_hlo_text *text, mst_dtype dtype, double value) {
    const bool is_unsigned = dtype == MST_U8 || dtype == MST_HLO_U32 || dtype == MST_HLO_U64;
    const int bits = dtype == MST_U8 ? 8 : dtype == MST_I32 || dtype == MST_HLO_U32 ? 32 : 64;
    const uint64_t most = UINT64_MAX >> (64 - bits + !is_unsigned); /* the largest value: a sign takes one bit */
    value = nearbyint(value);
    if (isnan(value) || value == 0 || (is_unsigned && value < 0))
        mst_hlo_write(p, text, "0");
    else if (value >= (double)most)
        mst_hlo_write(p, text, "%llu", (unsigned long long)most);
    else if (value <= -(double)most - 1)
        mst_hlo_write(p, text, "-%llu", (unsigned long long)most + 1);
    else
        mst_hlo_write(p, text, "%.0f", value);
}

void mst_hlo_write_number(mst_hlo_program *p, mst_hlo_text *text, mst_dtype dtype, double value) {
    char number[MST_NUMBER_TEXT];
    switch ((int)dtype) {
        case MST_F32: {
            const float rounded = (float)value;
            uint32_t bits;
            memcpy(&bits, &rounded, sizeof bits);
            if (isfinite(rounded))
                write_with_point(p, text, mst_number_print_f32(rounded, number));
            else
                mst_hlo_write(p, text, "0x%08X", bits);
            return;
        }
        case MST_BF16: mst_hlo_write(p, text, "0x%04X", mst_bf16_of((float)value)); return;
        case MST_F64: {
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            if (isfinite(value))
                write_with_point(p, text, mst_number_print_f64(value, number));
            else
                mst_hlo_write(p, text, "0x%016llX", (unsigned long long)bits);
            return;
        }
        case MST_BOOL: mst_hlo_write(p, text, value != 0 ? "true" : "false"); return;
        default: write_integer(p, text, dtype, value); return;
    }
}

mst_hlo mst_hlo_value_add(mst_hlo_program *p, const mst_hlo_value *value) {
    if (p->failure.code) return MST_NO_HLO;
    const mst_status status = mst_grow(&p->value, sizeof *p->value, p->num_values + 1, &p->value_capacity);
    mst_hlo_keep(p, status);
    if (status) return MST_NO_HLO;
    p->value[p->num_values] = *value;
    p->value[p->num_values].depth = value->is_source ? 0 : p->depth;
    p->value[p->num_values].region = value->is_source ? 0 : p->region[p->depth];
    return (mst_hlo){(int)p->num_values++};
}

/* ---- operations ---- */

static void indent(mst_hlo_program *p) {
    mst_hlo_write(p, &p->body, "%*s", 4 + 2 * p->depth, "");
}

void mst_hlo_begin(mst_lower *l, const char *operation, int count, const mst_hlo *src, int num_dst, const mst_spec *dst,
                   mst_hlo *result) {
    mst_hlo_program *p = l->program;
    for (int k = 0; k < num_dst; k++) result[k] = MST_NO_HLO;
    if (!mst_hlo_can_begin(l, operation, count, src, num_dst, dst)) return;
    const int number = ++p->next_number;
    for (int k = 0; k < num_dst; k++)
        result[k] =
            mst_hlo_value_add(p, &(mst_hlo_value){.number = number, .part = num_dst > 1 ? k : -1, .spec = dst[k]});
    indent(p);
    mst_hlo_write(p, &p->body, "%%%d", number);
    if (num_dst > 1) mst_hlo_write(p, &p->body, ":%d", num_dst);
    mst_hlo_write(p, &p->body, " = \"stablehlo.%s\"", operation);
    write_list(p, &p->body, count, src, mst_hlo_write_name);
}

void mst_hlo_end(mst_lower *l, const char *attributes, int count, const mst_hlo *src, int num_dst,
                 const mst_hlo *result) {
    mst_hlo_program *p = l->program;
    if (p->failure.code) return;
    if (!attributes) {
        mst_hlo_fail(l, "attributes that are NULL, or longer than %d bytes", MST_HLO_ATTRIBUTES);
        return;
    }
    if (*attributes) mst_hlo_write(p, &p->body, " %s", attributes);
    mst_hlo_write(p, &p->body, " : ");
    mst_hlo_write_types(p, &p->body, count, src);
    mst_hlo_write(p, &p->body, " -> ");
    if (num_dst == 1)
        write_type_of(p, &p->body, result[0]);
    else
        mst_hlo_write_types(p, &p->body, num_dst, result);
    mst_hlo_write(p, &p->body, "\n");
}

void mst_hlo_call(mst_lower *l, const char *operation, const char *attributes, int count, const mst_hlo *src,
                  int num_dst, const mst_spec *dst, mst_hlo *result) {
    mst_hlo_begin(l, operation, count, src, num_dst, dst, result);
    mst_hlo_end(l, attributes, count, src, num_dst, result);
    if (!l->program->failure.code) return;
    for (int k = 0; k < num_dst; k++) result[k] = MST_NO_HLO;
}

/* ---- regions ---- */

static bool is_like(const mst_spec *a, const mst_spec *b) {
    return a->dtype == b->dtype && mst_shape_equal(a->shape, b->shape);
}

static void check_results(mst_lower *l, const mst_hlo_region *r, const mst_hlo *result) {
    for (int k = 0; k < r->num_results; k++) {
        if (mst_hlo_lacks(l, result[k])) return;
        const mst_spec have = mst_hlo_spec(l, result[k]);
        if (!is_like(&have, &r->result[k])) mst_hlo_fail(l, "result %d of a function has another type", k);
    }
}

void mst_hlo_write_region(mst_lower *l, const mst_hlo_region *r) {
    mst_hlo_program *p = l->program;
    mst_hlo *argument = calloc((size_t)r->num_arguments + (size_t)r->num_results + 2, sizeof *argument);
    if (!argument) {
        mst_hlo_keep(p, MST_NO_MEMORY("for a function of a program"));
        return;
    }
    if (!r->function) {
        mst_hlo_fail(l, "a function that is NULL");
        free(argument);
        return;
    }
    if (p->depth >= MST_HLO_DEPTH) mst_hlo_fail(l, "more than %d functions within each other", MST_HLO_DEPTH);
    if (p->failure.code) {
        free(argument);
        return;
    }
    const mst_hlo word_outside = p->fault_word;
    const bool no_faults = p->no_faults;
    mst_hlo *result = argument + r->num_arguments + 1;
    const int num_arguments = r->num_arguments + r->takes_word, num_results = r->num_results + r->gives_word;
    const mst_spec word = {.dtype = MST_I32, .shape = MST_SCALAR};
    mst_hlo_write(p, &p->body, "%s{\n", r->is_first ? " (" : ", ");
    indent(p);
    mst_hlo_write(p, &p->body, "^bb0(");
    p->region[++p->depth] = ++p->num_regions;
    for (int i = 0; i < num_arguments; i++) {
        const mst_spec *spec = i < r->num_arguments ? &r->argument[i] : &word;
        argument[i] = mst_hlo_value_add(p, &(mst_hlo_value){.number = ++p->next_number, .part = -1, .spec = *spec});
        if (p->failure.code) break;
        if (i) mst_hlo_write(p, &p->body, ", ");
        mst_hlo_write_name(p, &p->body, argument[i]);
        mst_hlo_write(p, &p->body, ": ");
        mst_hlo_write_type(p, &p->body, spec);
    }
    mst_hlo_write(p, &p->body, "):\n");
    if (r->takes_word) p->fault_word = argument[r->num_arguments];
    p->no_faults = !r->gives_word;
    if (!p->failure.code) r->function(l, r->context, argument, result);
    check_results(l, r, result);
    if (r->gives_word) result[r->num_results] = p->fault_word;
    p->fault_word = word_outside;
    p->no_faults = no_faults;
    indent(p);
    mst_hlo_write(p, &p->body, "\"stablehlo.return\"");
    if (!p->failure.code) {
        write_list(p, &p->body, num_results, result, mst_hlo_write_name);
        mst_hlo_write(p, &p->body, " : ");
        mst_hlo_write_types(p, &p->body, num_results, result);
    }
    p->depth--;
    mst_hlo_write(p, &p->body, " -> ()\n");
    indent(p);
    mst_hlo_write(p, &p->body, "}%s", r->is_last ? ")" : "");
    free(argument);
}

void mst_hlo_call_region(mst_lower *l, const char *operation, const char *attributes, int count, const mst_hlo *src,
                         const mst_hlo_region *region, int num_dst, const mst_spec *dst, mst_hlo *result) {
    mst_hlo_region only = *region;
    only.is_first = only.is_last = true;
    mst_hlo_begin(l, operation, count, src, num_dst, dst, result);
    mst_hlo_write_region(l, &only);
    mst_hlo_end(l, attributes, count, src, num_dst, result);
}

void mst_hlo_apply(mst_lower *l, void *operation, const mst_hlo *argument, mst_hlo *result) {
    const char *const *name = operation;
    const mst_spec spec = mst_hlo_spec(l, argument[0]);
    mst_hlo_call(l, *name, "", 2, argument, 1, &spec, result);
}

/* ---- attributes ---- */

static void append(mst_hlo_attributes *a, const char *format, va_list list) {
    const int room = MST_HLO_ATTRIBUTES - a->size;
    const int size = mst_format_list(a->text + a->size, (size_t)room, format, list);
    a->is_cut |= size >= room;
    a->size += size < room ? size : room - 1;
}

static void attribute_print(mst_hlo_attributes *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void attribute_print(mst_hlo_attributes *a, const char *format, ...) {
    va_list list;
    va_start(list, format);
    append(a, format, list);
    va_end(list);
}

static void separate(mst_hlo_attributes *a) {
    attribute_print(a, a->size ? ", " : "{");
}

void mst_hlo_attribute(mst_hlo_attributes *a, const char *format, ...) {
    separate(a);
    va_list list;
    va_start(list, format);
    append(a, format, list);
    va_end(list);
}

static void add_array(mst_hlo_attributes *a, const char *name, int count, const int64_t *number, bool zero_is_one) {
    separate(a);
    attribute_print(a, "%s = array<i64", name);
    for (int i = 0; i < count; i++)
        attribute_print(a, "%s%lld", i ? ", " : ": ", (long long)(zero_is_one && !number[i] ? 1 : number[i]));
    attribute_print(a, ">");
}

void mst_hlo_attribute_array(mst_hlo_attributes *a, const char *name, int count, const int64_t *number) {
    add_array(a, name, count, number, false);
}

void mst_hlo_attribute_steps(mst_hlo_attributes *a, const char *name, int count, const int64_t *number) {
    add_array(a, name, count, number, true);
}

void mst_hlo_attribute_padding(mst_hlo_attributes *a, int count, const int64_t *low, const int64_t *high) {
    separate(a);
    attribute_print(a, "padding = dense<[");
    for (int i = 0; i < count; i++)
        attribute_print(a, "%s[%lld, %lld]", i ? ", " : "", (long long)low[i], (long long)high[i]);
    attribute_print(a, "]> : tensor<%dx2xi64>", count);
}

const char *mst_hlo_axes_text(const mst_axes *axes, char *text) {
    int size = mst_format(text, MST_HLO_AXES, "[");
    for (int i = 0; i < axes->count && size < MST_HLO_AXES - 16; i++)
        size += mst_format(text + size, (size_t)(MST_HLO_AXES - size), "%s%d", i ? ", " : "", axes->axis[i]);
    mst_format(text + size, (size_t)(MST_HLO_AXES - size), "]");
    return text;
}

void mst_hlo_attribute_axes(mst_hlo_attributes *a, const char *name, const mst_axes *axes) {
    int64_t number[MST_MAX_NDIM] = {0};
    for (int i = 0; i < axes->count; i++) number[i] = axes->axis[i];
    mst_hlo_attribute_array(a, name, axes->count, number);
}

const char *mst_hlo_attributes_end(mst_hlo_attributes *a) {
    if (a->size) attribute_print(a, "}");
    return a->is_cut ? NULL : a->text;
}
