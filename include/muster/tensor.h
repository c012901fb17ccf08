/** Element types, shapes and tensors. */
#ifndef MUSTER_TENSOR_H
#define MUSTER_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/named.h"
#include "muster/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mst_dtype {
    MST_NO_DTYPE = 0,
    MST_F32,
    MST_F64,
    MST_I32,
    MST_I64,
    MST_U8,
    MST_BOOL,   /**< one byte, 0 or 1 */
    MST_BF16,   /**< the upper half of an f32. For storing values: cast them to f32 to compute */
    MST_STRING, /**< an mst_string: bytes and their number. Can only be moved and compared */
    MST_NUM_DTYPES
} mst_dtype;

/** The precision in which products of matrices and of convolutions are computed. The names are those of Keras, and
 *  "tensorfloat32" for TF32, a format with 10 bits of mantissa. */
typedef enum mst_precision {
    MST_PRECISION_DEFAULT = 0,
    MST_FLOAT32,        /**< f32 */
    MST_MIXED_BFLOAT16, /**< factors are rounded to bf16, products are summed in f32; everything else is f32 */
    /** Devices that compile may round f32 factors: GPUs to TF32, TPUs to bf16. Products are summed in f32, and
     *  everything else is f32. On CPUs, and on all other devices with kernels, it is the same as MST_FLOAT32. */
    MST_TENSORFLOAT32
} mst_precision;
/** "default", "float32", "mixed_bfloat16", "tensorfloat32"; ended by NULL. */
MST_API extern const char *const mst_precision_names[];

/** Bytes of one element. */
MST_API size_t mst_dtype_size(mst_dtype dtype);
/** "f32", "i64", "string", ... */
MST_API const char *mst_dtype_name(mst_dtype dtype);
/** The dtype of a name, MST_NO_DTYPE if there is none. */
MST_API mst_dtype mst_dtype_from_name(const char *name);
/** f32, f64 or bf16. */
MST_API bool mst_dtype_is_float(mst_dtype dtype);

#define MST_MAX_NDIM 8

/** Row-major dimensions. ndim 0 is a scalar. A dimension of -1 is not known yet (only in a graph). */
typedef struct mst_shape {
    int32_t ndim;
    int64_t dim[MST_MAX_NDIM];
} mst_shape;

MST_API mst_shape mst_shape_make(int ndim, const int64_t *dim);
/** MST_SHAPE(100, 784) */
#ifdef __cplusplus
extern "C++" {
template <class... T>
inline mst_shape mst_shape_of_(T... dim) {
    const int64_t list[] = {static_cast<int64_t>(dim)...};
    return mst_shape_make(static_cast<int>(sizeof...(dim)), list);
}
}
#define MST_SHAPE(...) mst_shape_of_(__VA_ARGS__)
#else
#define MST_SHAPE(...) \
    mst_shape_make((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]){__VA_ARGS__})
#endif
#define MST_SCALAR mst_shape_make(0, NULL)

/** Product of the dimensions: 1 for a scalar, -1 if one is not known, INT64_MAX if the product is larger than that. */
MST_API int64_t mst_shape_count(mst_shape shape);
MST_API bool mst_shape_equal(mst_shape a, mst_shape b);
/** "[100, 784]", unknown dimensions as "?". Writes at most SIZE bytes and returns TEXT. */
MST_API char *mst_shape_print(mst_shape shape, char *text, size_t size);
#define MST_SHAPE_TEXT 200 /**< bytes that hold any printed shape */

/** An element of a tensor of dtype MST_STRING: `length` bytes of any value, even 0. In a tensor that was created or
 *  copied, a zero byte follows, which `length` does not count. */
typedef struct mst_string {
    const char *data; /**< may be NULL if LENGTH is 0 */
    size_t length;
} mst_string;
/** A string of the characters of TEXT, without the zero byte at its end. They are not copied. */
MST_API mst_string mst_string_of(const char *text);
/** Same length and same bytes. */
MST_API bool mst_string_equal(mst_string a, mst_string b);

/** A dense row-major array, reference counted. Memory is aligned to 64 bytes. A tensor of strings is an array of
 *  mst_string, and owns their bytes. */
typedef struct mst_tensor mst_tensor;

/** A new tensor of zeros, or of empty strings, with one reference owned by the caller. */
MST_API MST_CHECKED mst_status mst_tensor_create(mst_dtype dtype, mst_shape shape, mst_tensor **out);
/** Makes a tensor over memory of the caller. RELEASE (may be NULL) is called with CONTEXT when the last reference is
 *  released. DATA must be aligned to the element. The bytes of strings belong to the caller too. */
MST_API MST_CHECKED mst_status mst_tensor_wrap(mst_dtype dtype, mst_shape shape, void *data,
                                               void (*release)(void *context), void *context, mst_tensor **out);
/** Makes a tensor with a copy of DATA. For strings, DATA is an array of mst_string, whose bytes are copied. */
MST_API MST_CHECKED mst_status mst_tensor_copy(mst_dtype dtype, mst_shape shape, const void *data, mst_tensor **out);
MST_API mst_tensor *mst_tensor_retain(mst_tensor *tensor);
/** Drops one reference; NULL is allowed. */
MST_API void mst_tensor_release(mst_tensor *tensor);

MST_API mst_dtype mst_tensor_dtype(const mst_tensor *tensor);
MST_API mst_shape mst_tensor_shape(const mst_tensor *tensor);
MST_API int64_t mst_tensor_count(const mst_tensor *tensor);
/** Bytes of the elements; for strings sizeof(mst_string) each, whatever their lengths. */
MST_API size_t mst_tensor_bytes(const mst_tensor *tensor);
/** The elements. The strings of a tensor that owns them must be written only by mst_tensor_set_string. */
MST_API void *mst_tensor_data(const mst_tensor *tensor);
/** Number of references; 1 means that nobody else can see a write. */
MST_API int mst_tensor_references(const mst_tensor *tensor);
/** Element I (flat) as double; bool gives 0 or 1, a string 0. */
MST_API double mst_tensor_get(const mst_tensor *tensor, int64_t i);
/** Sets element I (flat) from a double, converted as by mst_cast. A float becomes the nearest value. An integer is cut
 * towards 0 and to the range of the dtype; NaN gives 0. A bool becomes value != 0. A string does not change. */
MST_API void mst_tensor_set(mst_tensor *tensor, int64_t i, double value);
/** Element I (flat) of a tensor of strings, valid as long as TENSOR exists and the element is not set; its data is
 *  never NULL. If TENSOR has another dtype or no element I: an empty string, and an error. */
MST_API mst_string mst_tensor_get_string(const mst_tensor *tensor, int64_t i);
/** Sets element I (flat) to a copy of VALUE. MST_INVALID if TENSOR has another dtype, no element I, or wraps strings
 *  of the caller. */
MST_API MST_CHECKED mst_status mst_tensor_set_string(mst_tensor *tensor, int64_t i, mst_string value);
/** The elements as text, in NumPy's form; the caller frees it with free(). If there are more than 1000 elements, only
 *  the first and last three along each axis are shown:
 *
 *      [[0.  0.5 1. ]
 *       [1.5 2.  2.5]]
 */
MST_API MST_CHECKED mst_status mst_tensor_print(const mst_tensor *tensor, char **text);

#ifdef __cplusplus
}
#endif
#endif
