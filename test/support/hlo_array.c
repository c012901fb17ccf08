/* The interpreter of StableHLO (support/hlo_interpreter.h): types, shapes and strides of arrays, and copies between
 * arrays with any strides. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/hlo_inside.h"

static const struct {
    const char *name;
    int bits, class;
} types[] = {
    [HLO_F32] = {"f32", 32, HLO_IS_FLOAT},      [HLO_F64] = {"f64", 64, HLO_IS_FLOAT},
    [HLO_BF16] = {"bf16", 16, HLO_IS_FLOAT},    [HLO_I8] = {"i8", 8, HLO_IS_SIGNED},
    [HLO_I16] = {"i16", 16, HLO_IS_SIGNED},     [HLO_I32] = {"i32", 32, HLO_IS_SIGNED},
    [HLO_I64] = {"i64", 64, HLO_IS_SIGNED},     [HLO_UI8] = {"ui8", 8, HLO_IS_UNSIGNED},
    [HLO_UI16] = {"ui16", 16, HLO_IS_UNSIGNED}, [HLO_UI32] = {"ui32", 32, HLO_IS_UNSIGNED},
    [HLO_UI64] = {"ui64", 64, HLO_IS_UNSIGNED}, [HLO_I1] = {"i1", 1, HLO_IS_BOOL},
};

const char *hlo_type_name(hlo_type type) {
    return types[type].name;
}

int hlo_type_bits(hlo_type type) {
    return types[type].bits;
}

size_t hlo_type_size(hlo_type type) {
    return (size_t)(types[type].bits + 7) / 8;
}

int hlo_type_class(hlo_type type) {
    return types[type].class;
}

bool hlo_type_find(const char *name, int length, hlo_type *type) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].name) == (size_t)length && !memcmp(types[i].name, name, (size_t)length)) {
            *type = (hlo_type)i;
            return true;
        }
    }
    return false;
}

bool hlo_same_shape(const hlo_array *a, const hlo_array *b) {
    return a->ndim == b->ndim && !memcmp(a->dim, b->dim, (size_t)a->ndim * sizeof *a->dim);
}

bool hlo_same_type(const hlo_array *a, const hlo_array *b) {
    return a->type == b->type && hlo_same_shape(a, b);
}

hlo_array hlo_scalar_of(hlo_type type) {
    return (hlo_array){.type = type, .count = 1};
}

bool hlo_count(hlo_array *type) {
    const int64_t most = HLO_MOST_BYTES / (int64_t)hlo_type_size(type->type);
    bool empty = false;
    type->count = 1;
    for (int i = 0; i < type->ndim; i++) {
        if (type->dim[i] == 0) {
            empty = true;
            continue;
        }
        if (type->dim[i] > most / type->count) return false;
        type->count *= type->dim[i];
    }
    if (empty) type->count = 0;
    return true;
}

const char *hlo_type_text(const hlo_array *type, char *text, size_t size) {
    int at = snprintf(text, size, "tensor<");
    for (int i = 0; i < type->ndim && at > 0 && (size_t)at < size; i++)
        at += snprintf(text + at, size - (size_t)at, "%lldx", (long long)type->dim[i]);
    if (at > 0 && (size_t)at < size) snprintf(text + at, size - (size_t)at, "%s>", types[type->type].name);
    return text;
}

bool hlo_list_has(const hlo_list *list, int64_t number) {
    for (int i = 0; i < list->num; i++)
        if (list->at[i] == number) return true;
    return false;
}

void hlo_strides(const hlo_array *type, int64_t *stride) {
    int64_t step = 1;
    for (int i = type->ndim - 1; i >= 0; i--) {
        stride[i] = step;
        step *= type->dim[i];
    }
}

bool hlo_next_index(int ndim, const int64_t *dim, int64_t *index) {
    for (int i = ndim - 1; i >= 0; i--) {
        if (++index[i] < dim[i]) return true;
        index[i] = 0;
    }
    return false;
}

#define COPY_LINE(size) \
    for (int64_t i = 0; i < n; i++) memcpy(dst + i * dst_step * (size), src + i * src_step * (size), size)

static void copy_line(char *dst, int64_t dst_step, const char *src, int64_t src_step, int64_t n, size_t size) {
    if (size == 1)
        COPY_LINE(1);
    else if (size == 2)
        COPY_LINE(2);
    else if (size == 4)
        COPY_LINE(4);
    else
        COPY_LINE(8);
}

void hlo_copy(int ndim, const int64_t *dim, void *dst, const int64_t *dst_stride, const void *src,
              const int64_t *src_stride, size_t size) {
    int64_t index[HLO_MOST_DIMS] = {0};
    const int64_t one = 1, n = ndim ? dim[ndim - 1] : one;
    const int64_t dst_step = ndim ? dst_stride[ndim - 1] : one, src_step = ndim ? src_stride[ndim - 1] : one;
    const int outer = ndim ? ndim - 1 : 0;
    for (int i = 0; i < ndim; i++)
        if (dim[i] <= 0) return;
    do {
        int64_t to = 0, from = 0;
        for (int i = 0; i < outer; i++) {
            to += index[i] * dst_stride[i];
            from += index[i] * src_stride[i];
        }
        char *dst_line = (char *)dst + to * (int64_t)size;
        const char *src_line = (const char *)src + from * (int64_t)size;
        if (dst_step == 1 && src_step == 1)
            memcpy(dst_line, src_line, (size_t)n * size);
        else
            copy_line(dst_line, dst_step, src_line, src_step, n, size);
    } while (hlo_next_index(outer, dim, index));
}

void hlo_array_free(hlo_array *array) {
    free(array->data);
    array->data = NULL;
}
