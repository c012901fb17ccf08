#include "graph/graphdef.h"

#include <stdbool.h>
#include <string.h>

#include "tensor/tensor_check.h"

/* ---- dtypes and shapes ---- */

static const Muster__DataType types[MST_NUM_DTYPES] = {
    [MST_NO_DTYPE] = MUSTER__DATA_TYPE__DT_INVALID, [MST_F32] = MUSTER__DATA_TYPE__DT_FLOAT,
    [MST_F64] = MUSTER__DATA_TYPE__DT_DOUBLE,       [MST_I32] = MUSTER__DATA_TYPE__DT_INT32,
    [MST_I64] = MUSTER__DATA_TYPE__DT_INT64,        [MST_U8] = MUSTER__DATA_TYPE__DT_UINT8,
    [MST_BOOL] = MUSTER__DATA_TYPE__DT_BOOL,        [MST_BF16] = MUSTER__DATA_TYPE__DT_BFLOAT16,
    [MST_STRING] = MUSTER__DATA_TYPE__DT_STRING,
};

Muster__DataType mst_dtype_to_proto(mst_dtype dtype) {
    return types[dtype];
}

mst_dtype mst_dtype_from_proto(Muster__DataType type) {
    enum { REFERENCE = 100 };
    for (int i = 1; i < MST_NUM_DTYPES; i++)
        if (type == types[i] || (int)type == (int)types[i] + REFERENCE) return (mst_dtype)i;
    return MST_NO_DTYPE;
}

mst_status mst_shape_from_proto(const Muster__TensorShapeProto *proto, mst_shape *out) {
    *out = MST_SCALAR;
    if (!proto) return MST_OK; /* an empty message is not in the file */
    if (proto->unknown_rank) return MST_FAIL(MST_INVALID, "the number of dimensions is not given");
    if (proto->n_dim > MST_MAX_NDIM)
        return MST_FAIL(MST_INVALID, "%zu dimensions, at most %d are possible", proto->n_dim, MST_MAX_NDIM);
    out->ndim = (int32_t)proto->n_dim;
    for (int i = 0; i < out->ndim; i++) out->dim[i] = proto->dim[i]->size;
    return MST_OK;
}

/* ---- tensors ---- */

static mst_status check_bools(const uint8_t *data, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (data[i] > 1) return MST_FAIL(MST_CORRUPT, "element %lld of a bool tensor is %d", (long long)i, data[i]);
    return MST_OK;
}

static mst_status from_content(const Muster__TensorProto *proto, mst_tensor *tensor) {
    if (proto->tensor_content.len != mst_tensor_bytes(tensor))
        return MST_FAIL(MST_CORRUPT, "a tensor has %zu bytes, its shape needs %zu", proto->tensor_content.len,
                        mst_tensor_bytes(tensor));
    memcpy(mst_tensor_data(tensor), proto->tensor_content.data, proto->tensor_content.len);
    if (mst_tensor_dtype(tensor) == MST_BOOL) return check_bools(mst_tensor_data(tensor), mst_tensor_count(tensor));
    return MST_OK;
}

static size_t list_length(const Muster__TensorProto *proto, mst_dtype dtype) {
    switch (dtype) {
        case MST_F32: return proto->n_float_val;
        case MST_F64: return proto->n_double_val;
        case MST_I64: return proto->n_int64_val;
        case MST_BOOL: return proto->n_bool_val;
        case MST_BF16: return proto->n_half_val;
        case MST_STRING: return proto->n_string_val;
        default: return proto->n_int_val;
    }
}

static mst_status strings_from_list(const Muster__TensorProto *proto, mst_tensor *tensor) {
    for (size_t i = 0; i < (size_t)mst_tensor_count(tensor); i++) {
        const ProtobufCBinaryData *from = &proto->string_val[i < proto->n_string_val ? i : proto->n_string_val - 1];
        const mst_string string = {.data = (const char *)from->data, .length = from->len};
        MST_TRY(mst_tensor_set_string(tensor, (int64_t)i, string));
    }
    return MST_OK;
}

static void from_list(const Muster__TensorProto *proto, mst_tensor *tensor) {
    const mst_dtype dtype = mst_tensor_dtype(tensor);
    const int64_t length = (int64_t)list_length(proto, dtype);
    void *data = mst_tensor_data(tensor);
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) {
        const int64_t from = i < length ? i : length - 1;
        switch (dtype) {
            case MST_F32: ((float *)data)[i] = proto->float_val[from]; break;
            case MST_F64: ((double *)data)[i] = proto->double_val[from]; break;
            case MST_I32: ((int32_t *)data)[i] = proto->int_val[from]; break;
            case MST_I64: ((int64_t *)data)[i] = proto->int64_val[from]; break;
            case MST_U8: ((uint8_t *)data)[i] = (uint8_t)proto->int_val[from]; break;
            case MST_BF16: ((uint16_t *)data)[i] = (uint16_t)proto->half_val[from]; break;
            default: ((uint8_t *)data)[i] = proto->bool_val[from] != 0; break;
        }
    }
}

/* Checks that the file has the elements of the tensor. If one repeated value fills the shape, the tensor may not take
 * more memory than the budget *SPARE. */
static mst_status check_length(const Muster__TensorProto *proto, mst_dtype dtype, int64_t count, size_t *spare) {
    enum { BLOCK = 32 }; /* bytes that a small allocation takes besides its own */
    if (proto->tensor_content.len) return MST_OK;
    const size_t length = list_length(proto, dtype);
    if (length > (size_t)count)
        return MST_FAIL(MST_CORRUPT, "a tensor has %zu values, its shape needs %lld", length, (long long)count);
    const size_t made = (size_t)count - length;
    size_t element = mst_dtype_size(dtype);
    if (dtype == MST_STRING && length) element += BLOCK + proto->string_val[length - 1].len;
    if (made > *spare / element)
        return MST_FAIL(MST_INVALID,
                        "a tensor of %lld elements is given by %zu: the tensors of a file that are filled up are too "
                        "large together",
                        (long long)count, length);
    *spare -= made * element;
    return MST_OK;
}

mst_status mst_tensor_from_proto(const Muster__TensorProto *proto, size_t *spare, mst_tensor **out) {
    const mst_dtype dtype = mst_dtype_from_proto(proto->dtype);
    mst_shape shape;
    int64_t count;
    if (!dtype)
        return MST_FAIL(MST_INVALID, "a tensor is of TensorFlow's dtype number %d, which Muster does not have",
                        (int)proto->dtype);
    MST_TRY(mst_shape_from_proto(proto->tensor_shape, &shape));
    MST_TRY(mst_tensor_check(dtype, shape, &count));
    if (dtype == MST_STRING && proto->tensor_content.len)
        return MST_FAIL(MST_UNIMPLEMENTED, "a tensor of strings is in tensor_content: write it as string_val");
    MST_TRY(check_length(proto, dtype, count, spare));
    if (proto->tensor_content.len && proto->tensor_content.len / mst_dtype_size(dtype) < (size_t)count)
        return MST_FAIL(MST_CORRUPT, "a tensor has %zu bytes, too few for its shape", proto->tensor_content.len);
    mst_tensor *tensor;
    MST_TRY(mst_tensor_create(dtype, shape, &tensor));
    mst_status status = MST_OK;
    if (proto->tensor_content.len)
        status = from_content(proto, tensor);
    else if (dtype == MST_STRING && proto->n_string_val)
        status = strings_from_list(proto, tensor);
    else if (list_length(proto, dtype)) /* no elements: the tensor stays zero */
        from_list(proto, tensor);
    if (status)
        mst_tensor_release(tensor);
    else
        *out = tensor;
    return status;
}
