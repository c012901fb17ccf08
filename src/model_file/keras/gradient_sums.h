/** Sums of the gradients of several steps (rule/accumulate.h) in files of Keras. Keras' sums contain the gradients of
 *  penalties. The sums of this library do not: its update adds these gradients to the mean. */
#ifndef MUSTER_MODEL_FILE_KERAS_GRADIENT_SUMS_H
#define MUSTER_MODEL_FILE_KERAS_GRADIENT_SUMS_H

#include "model/describe.h"
#include "model/model.h"

typedef struct mst_gradient_sums {
    mst_model *model;
    mst_model_description description;
    double number; /**< how many gradients of penalties are added to each sum */
} mst_gradient_sums;

/** Begins a conversion. NUMBER becomes the member of that name; if it is below 0, gradients of penalties are
 *  subtracted. Free OUT also after a failure. */
MST_CHECKED mst_status mst_gradient_sums_begin(mst_model *model, double number, mst_gradient_sums *out);
/** Sets *OUT, owned by the caller, to SUM with the gradients of penalties added. SUM is the sum of the gradients of the
 *  weight named WEIGHT. */
MST_CHECKED mst_status mst_gradient_sums_of(const mst_gradient_sums *sums, const char *weight, mst_tensor *sum,
                                            mst_tensor **out);
void mst_gradient_sums_free(mst_gradient_sums *sums);

#endif
