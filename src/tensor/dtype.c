#include <string.h>

#include "base/argument.h"
#include "muster/tensor.h"

static const struct {
    const char *name;
    size_t size;
} dtypes[MST_NUM_DTYPES] = {
    [MST_NO_DTYPE] = {"none", 0}, [MST_F32] = {"f32", 4},   [MST_F64] = {"f64", 8},
    [MST_I32] = {"i32", 4},       [MST_I64] = {"i64", 8},   [MST_U8] = {"u8", 1},
    [MST_BOOL] = {"bool", 1},     [MST_BF16] = {"bf16", 2}, [MST_STRING] = {"string", sizeof(mst_string)},
};

const char *const mst_precision_names[] = {"default", "float32", "mixed_bfloat16", "tensorfloat32", NULL};

size_t mst_dtype_size(mst_dtype dtype) {
    return (unsigned)dtype < MST_NUM_DTYPES ? dtypes[dtype].size : 0;
}

const char *mst_dtype_name(mst_dtype dtype) {
    return (unsigned)dtype < MST_NUM_DTYPES ? dtypes[dtype].name : "unknown";
}

mst_dtype mst_dtype_from_name(const char *name) {
    if (MST_IS_NULL(name)) return MST_NO_DTYPE;
    for (int i = 1; i < MST_NUM_DTYPES; i++)
        if (strcmp(name, dtypes[i].name) == 0) return (mst_dtype)i;
    return MST_NO_DTYPE;
}

bool mst_dtype_is_float(mst_dtype dtype) {
    return dtype == MST_F32 || dtype == MST_F64 || dtype == MST_BF16;
}
