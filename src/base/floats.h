/* Includes the file that MST_TEMPLATE names once for float and once for double, with these macros:
 *
 *   T               the type of an element
 *   MST_NAME(name)  name with the name of the dtype at its end: name_f32, name_f64
 *
 * There is no guard: it may be included several times. */
#define T float
#define MST_NAME(name) name##_f32
#include MST_TEMPLATE
#undef T
#undef MST_NAME

#define T double
#define MST_NAME(name) name##_f64
#include MST_TEMPLATE
#undef T
#undef MST_NAME

#undef MST_TEMPLATE
