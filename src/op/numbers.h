/* Includes the file that MST_TEMPLATE names once for each dtype of numbers, with these macros:
 *
 *   T                the type of an element
 *   WIDE             double for floats; uint64_t for integers, in which sums and products wrap around
 *   MODULAR          T for floats; for integers the unsigned type of the same size, in which sums and products wrap
 *                    around
 *   LOWEST, HIGHEST  of T
 *   IS_NAN(x)        whether the element x is no number
 *   MST_NAME(name)   name with the name of the dtype at its end: name_f32, ...
 *
 * There is no guard: it may be included several times. */
#define T float
#define MODULAR float
#define WIDE double
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define IS_NAN(x) ((x) != (x))
#define MST_NAME(name) name##_f32
#include MST_TEMPLATE
#undef T
#undef MODULAR
#undef MST_NAME

#define T double
#define MODULAR double
#define MST_NAME(name) name##_f64
#include MST_TEMPLATE
#undef T
#undef MODULAR
#undef WIDE
#undef LOWEST
#undef HIGHEST
#undef IS_NAN
#undef MST_NAME

#define T int32_t
#define MODULAR uint32_t
#define WIDE uint64_t
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#define IS_NAN(x) false
#define MST_NAME(name) name##_i32
#include MST_TEMPLATE
#undef T
#undef MODULAR
#undef LOWEST
#undef HIGHEST
#undef MST_NAME

#define T int64_t
#define MODULAR uint64_t
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#define MST_NAME(name) name##_i64
#include MST_TEMPLATE
#undef T
#undef MODULAR
#undef LOWEST
#undef HIGHEST
#undef MST_NAME

#define T uint8_t
#define MODULAR uint8_t
#define LOWEST 0
#define HIGHEST UINT8_MAX
#define MST_NAME(name) name##_u8
#include MST_TEMPLATE
#undef T
#undef MODULAR
#undef WIDE
#undef LOWEST
#undef HIGHEST
#undef IS_NAN
#undef MST_NAME

#undef MST_TEMPLATE

/* The table of what the template defined as MST_NAME(name), by dtype. */
#ifndef MST_BY_NUMBER
#define MST_BY_NUMBER(name)                                                                             \
    [MST_F32] = &name##_f32, [MST_F64] = &name##_f64, [MST_I32] = &name##_i32, [MST_I64] = &name##_i64, \
    [MST_U8] = &name##_u8
#endif
