/** Sums of the gradients of several steps (rule/accumulate.h) as Keras has them: with the gradients of penalties, which
 *  the update here adds to the mean. */
#ifndef MUSTER_MODEL_FILE_KERAS_GRADIENT_SUMS_H
#define MUSTER_MODEL_FILE_KERAS_GRADIENT_SUMS_H

#include "model/describe.h"
#include "model/model.h"

typedef struct mst_gradient_sums {
    mst_model *model;
    mst_model_description description;
    double number; /**< how many gradients of penalties are added to each sum */
} mst_gradient_sums;

/** A negative NUMBER takes them away. Free it also after a failure. */
MST_CHECKED mst_status mst_gradient_sums_begin(mst_model *model, double number, mst_gradient_sums *out);
/** *OUT: SUM, that of the weight of this name, with the gradients of penalties; for the caller. */
MST_CHECKED mst_status mst_gradient_sums_of(const mst_gradient_sums *sums, const char *weight, mst_tensor *sum,
                                            mst_tensor **out);
void mst_gradient_sums_free(mst_gradient_sums *sums);

#endif
