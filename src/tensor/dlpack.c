/* Tensors as DLPack. The structs have the layout of https://dmlc.github.io/dlpack/latest/c_api.html (ABI version 0). */
#include "muster/dlpack.h"

#include <stdlib.h>

#include "base/argument.h"
#include "base/no_memory.h"

enum { DEVICE_CPU = 1 };
enum { CODE_INT = 0, CODE_UINT = 1, CODE_FLOAT = 2, CODE_BFLOAT = 4, CODE_BOOL = 6 };

typedef struct DLDevice {
    int32_t device_type, device_id;
} DLDevice;

typedef struct DLDataType {
    uint8_t code, bits;
    uint16_t lanes;
} DLDataType;

typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

static const DLDataType types[MST_NUM_DTYPES] = {
    [MST_F32] = {CODE_FLOAT, 32, 1},   [MST_F64] = {CODE_FLOAT, 64, 1}, [MST_I32] = {CODE_INT, 32, 1},
    [MST_I64] = {CODE_INT, 64, 1},     [MST_U8] = {CODE_UINT, 8, 1},    [MST_BOOL] = {CODE_BOOL, 8, 1},
    [MST_BF16] = {CODE_BFLOAT, 16, 1},
};

/* A view and the shape that it points to. */
typedef struct view {
    DLManagedTensor managed;
    int64_t shape[MST_MAX_NDIM];
} view;

static void delete_view(DLManagedTensor *self) {
    mst_tensor_release(self->manager_ctx);
    free(self);
}

mst_status mst_tensor_to_dlpack(mst_tensor *tensor, DLManagedTensor **out) {
    if (MST_IS_NULL(tensor) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    if (!types[mst_tensor_dtype(tensor)].bits)
        return MST_FAIL(MST_UNIMPLEMENTED, "dlpack: a tensor of %s cannot be given: DLPack has numbers only",
                        mst_dtype_name(mst_tensor_dtype(tensor)));
    view *v = calloc(1, sizeof *v);
    if (!v) return MST_NO_MEMORY("for a view (dlpack)");
    mst_shape shape = mst_tensor_shape(tensor);
    for (int i = 0; i < shape.ndim; i++) v->shape[i] = shape.dim[i];
    v->managed = (DLManagedTensor){.dl_tensor = {.data = mst_tensor_data(tensor),
                                                 .device = {DEVICE_CPU, 0},
                                                 .ndim = shape.ndim,
                                                 .dtype = types[mst_tensor_dtype(tensor)],
                                                 .shape = v->shape},
                                   .manager_ctx = mst_tensor_retain(tensor),
                                   .deleter = delete_view};
    *out = &v->managed;
    return MST_OK;
}

static mst_dtype find_dtype(DLDataType type) {
    for (int d = 1; d < MST_NUM_DTYPES; d++)
        if (types[d].bits && types[d].code == type.code && types[d].bits == type.bits && types[d].lanes == type.lanes)
            return (mst_dtype)d;
    return MST_NO_DTYPE;
}

static bool is_row_major(const DLTensor *t) {
    int64_t stride = 1;
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] == 0) return true; /* the strides of an empty tensor do not matter */
    for (int i = t->ndim - 1; t->strides && i >= 0; i--) {
        if (t->shape[i] != 1 && t->strides[i] != stride) return false;
        if (__builtin_mul_overflow(stride, t->shape[i], &stride)) return true; /* too large: refused later as a shape */
    }
    return true;
}

static void release_managed(void *context) {
    DLManagedTensor *managed = context;
    if (managed->deleter) managed->deleter(managed);
}

mst_status mst_tensor_from_dlpack(DLManagedTensor *managed, mst_tensor **out) {
    if (MST_IS_NULL(managed) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    const DLTensor *t = &managed->dl_tensor;
    mst_dtype dtype = find_dtype(t->dtype);
    if (t->device.device_type != DEVICE_CPU)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "dlpack: the tensor is on device type %d, must be on the CPU: copy it there first",
                        t->device.device_type);
    if (!dtype)
        return MST_FAIL(MST_UNIMPLEMENTED, "dlpack: no dtype for code %d with %d bits and %d lanes", t->dtype.code,
                        t->dtype.bits, t->dtype.lanes);
    if (t->ndim < 0 || t->ndim > MST_MAX_NDIM)
        return MST_FAIL(MST_UNIMPLEMENTED, "dlpack: %d dimensions, at most %d are possible", t->ndim, MST_MAX_NDIM);
    if (t->ndim > 0 && !t->shape)
        return MST_FAIL(MST_INVALID, "dlpack: the tensor has %d dimensions and no shape", t->ndim);
    if (!is_row_major(t))
        return MST_FAIL(MST_UNIMPLEMENTED, "dlpack: the tensor is not dense and row-major: make it contiguous first");
    char *data = t->data ? (char *)t->data + t->byte_offset : NULL;
    if ((uintptr_t)data % mst_dtype_size(dtype))
        return MST_FAIL(MST_UNIMPLEMENTED, "dlpack: the data is not aligned to %zu bytes: copy the tensor first",
                        mst_dtype_size(dtype));
    return mst_tensor_wrap(dtype, mst_shape_make(t->ndim, t->shape), data, release_managed, managed, out);
}
