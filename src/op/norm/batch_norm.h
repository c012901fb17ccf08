/** Code that batch_norm, its gradient and the ops fused from them share. Their source is a matrix [rows, channels]:
 *  channels are the last axis, and all other axes together make the rows. */
#ifndef MUSTER_OP_BATCH_NORM_H
#define MUSTER_OP_BATCH_NORM_H

#include <math.h>

#include "muster/hlo.h"
#include "muster/op.h"
#include "muster/ops.h"

extern const mst_field mst_batch_norm_fields[];

/** Checks source 0, which must have floats and two dimensions or more. Sources FIRST to LAST must have its dtype and
 *  one element for each channel. */
MST_CHECKED mst_status mst_batch_norm_infer(mst_infer *c, int first, int last);

/** The rows, cut into parts. Each part has `rows_of_part` rows, the last may have fewer; the cut depends only on the
 *  shape. */
typedef struct mst_batch_rows {
    int64_t rows, channels, rows_of_part, parts;
} mst_batch_rows;
mst_batch_rows mst_batch_rows_of(const mst_shape *src);
/** The number of rows in part PART. */
static inline int64_t mst_batch_rows_in(const mst_batch_rows *b, int64_t part) {
    const int64_t left = b->rows - part * b->rows_of_part;
    return left < b->rows_of_part ? left : b->rows_of_part;
}
/** The number of parts in each share, if the rows are also cut into SHARES shares of ROWS rows (the last may have
 *  fewer). 0: some parts lie in more than one share. */
static inline int64_t mst_batch_parts_of_share(const mst_batch_rows *b, int64_t shares, int64_t rows) {
    if (shares == 1) return b->parts;
    return rows % b->rows_of_part == 0 ? rows / b->rows_of_part : 0;
}
/** The number of whole parts in the first ROWS rows. */
static inline int64_t mst_batch_parts_before(const mst_batch_rows *b, int64_t rows) {
    return rows == b->rows ? b->parts : rows / b->rows_of_part;
}
/** The end of COUNT parts from BEGIN on: one past the last, at most the number of all parts. */
static inline int64_t mst_batch_parts_end(const mst_batch_rows *b, int64_t begin, int64_t count) {
    return begin + count < b->parts ? begin + count : b->parts;
}
/** The factor by which a channel is multiplied: the term MST_BATCH_SCALE. */
static inline double mst_batch_scale(double gamma, double variance, double epsilon) {
    return gamma / sqrt(variance + epsilon);
}
/** Bytes of workspace: two sums for each part and channel, and four numbers for each channel. */
size_t mst_batch_norm_workspace(const mst_infer *c, int num_threads);

/** The range to which an activation clips its output. */
typedef struct mst_batch_limits {
    double low, high;
} mst_batch_limits;
/** The source of batch_norm_add that is added to the output. */
enum { MST_BATCH_WHAT = 3 };
/** The kernel of batch_norm. Clips the output to LIMITS, then adds source MST_BATCH_WHAT, if there is one. */
MST_CHECKED mst_status mst_batch_norm_run(const mst_kernel_args *a, double epsilon, mst_batch_limits limits);

/** Activations of fused_batch_norm and its gradient. The plan makes these ops out of batch_norm and the activation
 *  after it. */
typedef enum mst_batch_activation { MST_BATCH_RELU, MST_BATCH_RELU6, MST_BATCH_LINEAR } mst_batch_activation;
extern const char *const mst_batch_activations[];
mst_batch_limits mst_batch_limits_for(int activation);
/** Fills LIMITS in and returns it; returns NULL if the activation does not clip. */
const mst_batch_limits *mst_batch_grad_limits(int activation, mst_batch_limits *limits);
/** The kernel of the gradient. With six sources, source 2 is beta, which activations need. */
MST_CHECKED mst_status mst_batch_norm_grad_run(const mst_kernel_args *a, double epsilon, int activation);
typedef struct mst_fused_batch_norm_options {
    int zero_;
    double epsilon;
    int activation; /**< mst_batch_activation */
} mst_fused_batch_norm_options;
extern const mst_field mst_fused_batch_norm_fields[];

/** Terms of a batch norm: the numbers for each channel from which an output or a gradient is computed.
 *
 *      output    [MST_BATCH_TERMS, channels]: mean, scale, beta      scale (src - mean) + beta
 *      gradient  [MST_BATCH_GRAD_TERMS, channels]: also shift, slope scale (gradient - shift - slope (src - mean)) */
enum {
    MST_BATCH_MEAN,
    MST_BATCH_SCALE,
    MST_BATCH_BETA,
    MST_BATCH_TERMS,
    MST_BATCH_SHIFT = MST_BATCH_TERMS,
    MST_BATCH_SLOPE,
    MST_BATCH_GRAD_TERMS
};
/** Computes ROWS rows of the output of batch_norm, with the same bits as the op. In functions whose names end in _bf16
 *  the sources are bf16, and all else is f32. */
void mst_batch_normalize_f32(const float *terms, mst_batch_limits limits, const float *src, int64_t rows,
                             int64_t channels, float *dst);
void mst_batch_normalize_bf16(const float *terms, mst_batch_limits limits, const uint16_t *src, int64_t rows,
                              int64_t channels, float *dst);
void mst_batch_normalize_f64(const double *terms, mst_batch_limits limits, const double *src, int64_t rows,
                             int64_t channels, double *dst);
/** Computes ROWS rows of output 0 of batch_norm_grad or fused_batch_norm_grad. LIMITS: see mst_batch_grad_limits. */
void mst_batch_differentiate_f32(const float *terms, const mst_batch_limits *limits, const float *src,
                                 const float *gradient, int64_t rows, int64_t channels, float *dst);
void mst_batch_differentiate_bf16(const float *terms, const mst_batch_limits *limits, const uint16_t *src,
                                  const uint16_t *gradient, int64_t rows, int64_t channels, float *dst);
void mst_batch_differentiate_f64(const double *terms, const mst_batch_limits *limits, const double *src,
                                 const double *gradient, int64_t rows, int64_t channels, double *dst);
/** Sources and outputs of batch_norm_statistics, for code that computes it while a part of the source is in the cache.
 *  Arrays have the dtype in the name of the function that gets them. */
typedef struct mst_batch_statistics {
    mst_batch_rows rows;
    const void *src, *gamma, *beta;
    double epsilon;
    void *sums;                    /**< workspace [parts][2][channels]: means, and sums of squares, of each part */
    void *terms, *mean, *variance; /**< outputs */
} mst_batch_statistics;
/** mst_batch_measure_part measures part PART, whose rows of the source are ROWS; mst_batch_measure measures parts BEGIN
 *  to END - 1. When all parts have been measured, mst_batch_conclude makes the outputs. */
void mst_batch_measure_part_f32(const mst_batch_statistics *statistics, int64_t part, const float *rows);
void mst_batch_measure_part_bf16(const mst_batch_statistics *statistics, int64_t part, const uint16_t *rows);
void mst_batch_measure_part_f64(const mst_batch_statistics *statistics, int64_t part, const double *rows);
void mst_batch_measure_f32(const mst_batch_statistics *statistics, int64_t begin, int64_t end);
void mst_batch_measure_f64(const mst_batch_statistics *statistics, int64_t begin, int64_t end);
void mst_batch_conclude_f32(const mst_batch_statistics *statistics);
void mst_batch_conclude_f64(const mst_batch_statistics *statistics);
/** Sources and outputs of batch_norm_grad_sums, for code that computes it while a part of the gradient is in the cache.
 *  Arrays have the dtype in the name of the function that gets them. */
typedef struct mst_batch_sums {
    mst_batch_rows rows;
    const void *src, *gradient;
    const void *src_terms, *variance; /**< outputs 0 and 2 of batch_norm_statistics */
    double epsilon;
    int activation;
    void *sums;                   /**< workspace [parts][2][channels] */
    void *terms, *dgamma, *dbeta; /**< outputs */
} mst_batch_sums;
/** The number of elements of `sums`, of mst_batch_statistics or mst_batch_sums. */
static inline int64_t mst_batch_sums_count(const mst_batch_rows *rows) {
    return rows->parts * 2 * rows->channels;
}
/** mst_batch_add_up_part adds up part PART, whose rows are SRC and GRADIENT; mst_batch_add_up adds up parts BEGIN to
 *  END - 1. When all parts have been added up, mst_batch_join makes the outputs. */
void mst_batch_add_up_part_f32(const mst_batch_sums *sums, int64_t part, const float *src, const float *gradient);
void mst_batch_add_up_part_bf16(const mst_batch_sums *sums, int64_t part, const uint16_t *src,
                                const uint16_t *gradient);
void mst_batch_add_up_part_f64(const mst_batch_sums *sums, int64_t part, const double *src, const double *gradient);
void mst_batch_add_up_f32(const mst_batch_sums *sums, int64_t begin, int64_t end);
void mst_batch_add_up_f64(const mst_batch_sums *sums, int64_t begin, int64_t end);
void mst_batch_join_f32(const mst_batch_sums *sums);
void mst_batch_join_f64(const mst_batch_sums *sums);
/** The kernels of batch_norm_statistics and of batch_norm_grad_sums. */
MST_CHECKED mst_status mst_batch_statistics_run(const mst_kernel_args *a, double epsilon);
MST_CHECKED mst_status mst_batch_grad_sums_run(const mst_kernel_args *a, double epsilon, int activation);

/** All axes but the last. */
mst_axes mst_batch_axes(const mst_shape *src);
/** The number of rows of SRC, at least 1, as a scalar of its dtype in StableHLO. */
mst_hlo mst_batch_rows_number(mst_lower *l, const mst_spec *src);
/** These add nodes to the graph: the sum of VALUE over all axes but the last, and the number of rows of SRC in its
 *  dtype. */
mst_value mst_batch_sum(mst_value value);
mst_value mst_batch_count(mst_value src);
/** Adds the node batch_norm_grad, and returns its output 0; outputs 1 and 2 are the gradients of gamma and beta. */
mst_value mst_batch_norm_gradient(const mst_batch_norm_options *options, mst_value src, mst_value gamma, mst_value mean,
                                  mst_value variance, mst_value gradient);

#endif
