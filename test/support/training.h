/** Small data sets and models to train. */
#ifndef MUSTER_TEST_SUPPORT_TRAINING_H
#define MUSTER_TEST_SUPPORT_TRAINING_H

#include "muster/muster.h"

/** ROWS rows of FEATURES f32 numbers in [-2, 2] and an i32 label in [0, classes), which the numbers decide with a
 *  margin: the class whose fixed random direction they lie nearest to. */
mst_dataset *training_data(int64_t rows, int64_t features, int64_t classes, unsigned seed);
/** The tensors of the same data. */
void training_tensors(int64_t rows, int64_t features, int64_t classes, unsigned seed, mst_tensor *out[2]);
/** A model of one hidden layer of tanh units, with L2 on the weights. */
mst_model *training_model(int64_t hidden, int64_t classes, float l2);

#endif
