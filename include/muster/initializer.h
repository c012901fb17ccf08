/** Initial values of variables, by the formulas of Keras and TensorFlow.
 *
 *  The kinds with their formulas (the enum mst_initializer_kind) and the macro of each, such as
 *  mst_constant_initializer(0.1), are in muster/initializers.h.
 *
 *  An mst_initializer is a plain value, which needs no freeing. One whose members are all 0 is glorot_uniform. A
 *  parameter that is 0 takes its default. The random numbers are keyed by the graph's seed and `seed`. Their
 *  distributions are the same as TensorFlow's, their bits are not.
 */
#ifndef MUSTER_INITIALIZER_H
#define MUSTER_INITIALIZER_H

#pragma GCC system_header /* see muster/named.h */

#include "muster/graph.h"
#include "muster/initializers.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mst_fan { MST_FAN_IN = 0, MST_FAN_OUT, MST_FAN_AVERAGE } mst_fan;
typedef enum mst_distribution {
    MST_TRUNCATED_NORMAL = 0, /**< scaled so that the variance is right after the truncation */
    MST_UNTRUNCATED_NORMAL,
    MST_UNIFORM
} mst_distribution;

typedef struct mst_initializer {
    int zero_;
    mst_initializer_kind kind;
    double value;                  /**< constant */
    double low, high;              /**< random_uniform: default -0.05, 0.05 if both are 0 */
    double mean, stddev;           /**< random_normal, truncated_normal: default 0, 0.05 */
    double scale;                  /**< variance_scaling, orthogonal: default 1 */
    mst_fan fan;                   /**< variance_scaling */
    mst_distribution distribution; /**< variance_scaling */
    uint64_t seed;                 /**< default: a different one for each variable */
    mst_tensor *tensor;            /**< tensor: retained by the graph that uses it */
} mst_initializer;

#define MST_INITIALIZER_(name, ...) MST_NAMED_WITH(mst_initializer, kind, MST_INITIALIZER_##name, __VA_ARGS__)

/** Sets *FAN_IN and *FAN_OUT to the numbers of inputs and outputs of a unit whose weights have SHAPE, as Keras counts
 *  them. A scalar has 1 and 1, a vector [n] has n and n, a matrix [in, out] has in and out. The kernel of a
 *  convolution, [..., in, out], has in * size and out * size, where size is the product of the dimensions before
 *  `in`. */
MST_API void mst_shape_fans(mst_shape shape, double *fan_in, double *fan_out);

/** The initial value of a variable of DTYPE and SHAPE (all dimensions known) as a value of GRAPH. Random kinds need f32
 *  or f64. MST_INVALID on the graph for other dtypes, and if a parameter is out of range. */
MST_API mst_value mst_initializer_value(mst_graph *graph, mst_initializer initializer, mst_dtype dtype,
                                        mst_shape shape);
/** "glorot_uniform", ... */
MST_API const char *mst_initializer_name(mst_initializer_kind kind);

#ifdef __cplusplus
}
#endif
#endif
