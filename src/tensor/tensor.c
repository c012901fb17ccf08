/* Tensors: a reference count, a dtype and a shape over memory of the tensor or of a caller.
 *
 * The member `release` is the function that frees the memory. It is mst_buffer_free for tensors that are created here,
 * and the caller's function for wrapped memory (mst_tensor_wrap). Tensors of mst_tensor_create_untouched have whole
 * pages if they are large, so that each page is first touched by the thread that will use it. Dtype, shape and address
 * never change, so threads share tensors without a lock; only the reference count is atomic. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/bf16.h"
#include "base/no_memory.h"
#include "base/saturate.h"
#include "muster/tensor.h"
#include "tensor/buffer.h"
#include "tensor/string.h"
#include "tensor/tensor_check.h"

/* A tensor of strings is an array of mst_string {address, length}, which kernels and copies move like any element of
 * 16 bytes. The bytes have no reference count. A tensor that was created owns the bytes of its strings, one block of
 * malloc() for each. All other arrays of mst_string, such as a value in a step, refer to bytes of a tensor that exists
 * longer. */
struct mst_tensor {
    atomic_int references;
    mst_dtype dtype;
    bool owns_strings; /* it frees the bytes of its elements */
    mst_shape shape;
    int64_t count;
    void *data;
    void (*release)(void *context);
    void *context;
};

mst_status mst_tensor_check(mst_dtype dtype, mst_shape shape, int64_t *count) {
    char text[MST_SHAPE_TEXT];
    if (dtype <= MST_NO_DTYPE || dtype >= MST_NUM_DTYPES)
        return MST_FAIL(MST_INVALID, "tensor: %d is no dtype: use MST_F32, MST_I64, ...", (int)dtype);
    if (shape.ndim < 0 || shape.ndim > MST_MAX_NDIM)
        return MST_FAIL(MST_INVALID, "tensor: %d dimensions, at most %d are possible", shape.ndim, MST_MAX_NDIM);
    int64_t elements = 1;
    bool empty = false, overflow = false;
    for (int i = 0; i < shape.ndim; i++) {
        if (shape.dim[i] < 0)
            return MST_FAIL(MST_INVALID, "tensor: shape %s has a negative dimension",
                            mst_shape_print(shape, text, sizeof text));
        /* an empty tensor is checked for overflow too, because its strides are products of the other dimensions */
        if (shape.dim[i] == 0) empty = true;
        overflow |= shape.dim[i] > 0 && __builtin_mul_overflow(elements, shape.dim[i], &elements);
    }
    if (overflow || elements > INT64_MAX / 16)
        return MST_FAIL(MST_OUT_OF_MEMORY, "tensor: shape %s is too large", mst_shape_print(shape, text, sizeof text));
    *count = empty ? 0 : elements;
    return MST_OK;
}

mst_status mst_tensor_wrap(mst_dtype dtype, mst_shape shape, void *data, void (*release)(void *context), void *context,
                           mst_tensor **out) {
    if (MST_IS_NULL(out)) return MST_INVALID;
    int64_t count;
    *out = NULL;
    MST_TRY(mst_tensor_check(dtype, shape, &count));
    if (count > 0 && MST_IS_NULL(data)) return MST_INVALID;
    mst_tensor *tensor = malloc(sizeof *tensor);
    if (!tensor) return MST_NO_MEMORY("for a tensor");
    *tensor = (mst_tensor){.references = 1,
                           .dtype = dtype,
                           .shape = shape,
                           .count = count,
                           .data = data,
                           .release = release,
                           .context = context};
    *out = tensor;
    return MST_OK;
}

mst_status mst_tensor_create(mst_dtype dtype, mst_shape shape, mst_tensor **out) {
    if (MST_IS_NULL(out)) return MST_INVALID;
    int64_t count;
    void *data;
    *out = NULL;
    MST_TRY(mst_tensor_check(dtype, shape, &count));
    MST_TRY(mst_buffer_alloc((size_t)count * mst_dtype_size(dtype), &data));
    mst_status status = mst_tensor_wrap(dtype, shape, data, mst_buffer_free, data, out);
    if (status)
        mst_buffer_free(data);
    else
        (*out)->owns_strings = dtype == MST_STRING;
    return status;
}

/* Pages and their number of bytes. */
typedef struct pages {
    void *data;
    size_t size;
} pages;

static void free_pages(void *context) {
    pages *p = context;
    mst_pages_free(p->data, p->size);
    free(p);
}

mst_status mst_tensor_create_untouched(mst_dtype dtype, mst_shape shape, mst_tensor **out) {
    enum { LARGE = 1 << 20 };
    int64_t count;
    *out = NULL;
    MST_TRY(mst_tensor_check(dtype, shape, &count));
    const size_t size = (size_t)count * mst_dtype_size(dtype);
    if (size < LARGE) return mst_tensor_create(dtype, shape, out);
    pages *p = malloc(sizeof *p);
    if (!p) return MST_NO_MEMORY("for a tensor");
    mst_status status = mst_pages_alloc(size, &p->data);
    p->size = size;
    if (status) {
        free(p);
        return status;
    }
    status = mst_tensor_wrap(dtype, shape, p->data, free_pages, p, out);
    if (status) free_pages(p);
    return status;
}

mst_status mst_tensor_copy(mst_dtype dtype, mst_shape shape, const void *data, mst_tensor **out) {
    if (MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    if (mst_shape_count(shape) > 0 && MST_IS_NULL(data)) return MST_INVALID;
    MST_TRY(mst_tensor_create(dtype, shape, out));
    mst_status status = MST_OK;
    if (dtype == MST_STRING)
        status = mst_tensor_copy_strings(*out, data);
    else if ((*out)->count)
        memcpy((*out)->data, data, mst_tensor_bytes(*out));
    if (!status) return MST_OK;
    mst_tensor_release(*out);
    *out = NULL;
    return status;
}

mst_tensor *mst_tensor_retain(mst_tensor *tensor) {
    if (MST_IS_NULL(tensor)) return NULL;
    atomic_fetch_add_explicit(&tensor->references, 1, memory_order_relaxed);
    return tensor;
}

void mst_tensor_release(mst_tensor *tensor) {
    if (!tensor || atomic_fetch_sub_explicit(&tensor->references, 1, memory_order_acq_rel) > 1) return;
    for (int64_t i = 0; i < tensor->count && tensor->owns_strings; i++)
        free((void *)(uintptr_t)((const mst_string *)tensor->data)[i].data);
    if (tensor->release) tensor->release(tensor->context);
    free(tensor);
}

bool mst_tensor_owns(const mst_tensor *tensor) {
    return tensor->dtype != MST_STRING || tensor->owns_strings;
}

mst_dtype mst_tensor_dtype(const mst_tensor *tensor) {
    if (MST_IS_NULL(tensor)) return MST_NO_DTYPE;
    return tensor->dtype;
}

mst_shape mst_tensor_shape(const mst_tensor *tensor) {
    if (MST_IS_NULL(tensor)) return (mst_shape){0};
    return tensor->shape;
}

int64_t mst_tensor_count(const mst_tensor *tensor) {
    if (MST_IS_NULL(tensor)) return 0;
    return tensor->count;
}

size_t mst_tensor_bytes(const mst_tensor *tensor) {
    if (MST_IS_NULL(tensor)) return 0;
    return (size_t)tensor->count * mst_dtype_size(tensor->dtype);
}

void *mst_tensor_data(const mst_tensor *tensor) {
    if (MST_IS_NULL(tensor)) return NULL;
    return tensor->data;
}

int mst_tensor_references(const mst_tensor *tensor) {
    if (MST_IS_NULL(tensor)) return 0;
    return atomic_load_explicit(&tensor->references, memory_order_acquire);
}

double mst_tensor_get(const mst_tensor *tensor, int64_t i) {
    if (MST_IS_NULL(tensor)) return 0;
    switch (tensor->dtype) {
        case MST_F32: return (double)((const float *)tensor->data)[i];
        case MST_F64: return ((const double *)tensor->data)[i];
        case MST_I32: return ((const int32_t *)tensor->data)[i];
        case MST_I64: return (double)((const int64_t *)tensor->data)[i];
        case MST_U8:
        case MST_BOOL: return ((const uint8_t *)tensor->data)[i];
        case MST_BF16: return (double)mst_bf16_value(((const uint16_t *)tensor->data)[i]);
        default: return 0;
    }
}

void mst_tensor_set(mst_tensor *tensor, int64_t i, double value) {
    if (MST_IS_NULL(tensor)) return;
    switch (tensor->dtype) {
        case MST_F32: ((float *)tensor->data)[i] = (float)value; break;
        case MST_F64: ((double *)tensor->data)[i] = value; break;
        case MST_I32: ((int32_t *)tensor->data)[i] = mst_saturate_i32(value); break;
        case MST_I64: ((int64_t *)tensor->data)[i] = mst_saturate_i64(value); break;
        case MST_U8: ((uint8_t *)tensor->data)[i] = mst_saturate_u8(value); break;
        case MST_BOOL: ((uint8_t *)tensor->data)[i] = value != 0; break;
        case MST_BF16: ((uint16_t *)tensor->data)[i] = mst_bf16_of((float)value); break;
        default: break;
    }
}
