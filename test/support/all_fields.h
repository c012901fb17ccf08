/** An op with an option of each type. */
#ifndef MUSTER_TEST_SUPPORT_ALL_FIELDS_H
#define MUSTER_TEST_SUPPORT_ALL_FIELDS_H

#include "muster/op.h"

typedef struct all_options {
    int zero_;
    bool flag, keep_dims;
    int32_t axis;
    int64_t large;
    uint64_t seeds;
    float rate;
    double factor;
    mst_dtype dtype;
    mst_shape shape;
    mst_axes axes;
    const char *text;
    mst_tensor *tensor;
    int join;
    mst_value initial;
    struct {
        int member;
    } nested;
    const void *pointer;
} all_options;

/** Any number of sources; the output is an f32 scalar. Not registered. */
extern const mst_op all_op;

/** Fills the options that are numbers, text, dtype, shape and axes from 16 random words; STRING has room for 13 bytes
 *  and must outlive OPTIONS. */
void all_options_random(const uint32_t *word, char *string, all_options *options);

#endif
