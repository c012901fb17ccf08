/** How `muster convert` writes rows as tf.train.Example, and how a data spec finds inputs and labels in any Example.
 *
 *  Inputs are written as "image_raw" (u8, a bytes_list) or "x" (others), labels as "label" or "y". "shape" has the
 *  dimensions of an input. With "image_raw", "pixels" has the number of its elements: programs for MNIST in
 *  TensorFlow 1 need that feature. Other common names of features are read too.
 */
#ifndef MUSTER_DATA_EXAMPLE_FORM_H
#define MUSTER_DATA_EXAMPLE_FORM_H

#include "data/dataset.h"
#include "data/number_bytes.h"

/** Finds the inputs, and the labels if there are any, among the features of the Example in SIZE bytes at DATA. *COUNT
 *  is their number, 1 or 2; their names are copied to TEXT. MST_INVALID if the inputs cannot be found or used. */
enum { MST_FORM_TEXT = 256 };
MST_CHECKED mst_status mst_example_form_find(const void *data, size_t size, mst_feature features[2],
                                             char text[2][MST_FORM_TEXT], int *count);

/** The same for features with the N given NAMES: the first NUM_INPUTS are inputs, rows of numbers, the others labels.
 *  *COUNT is N, or NUM_INPUTS if the Example has none of the labels. Any other missing feature is MST_NOT_FOUND; the
 *  message names the features that there are. */
MST_CHECKED mst_status mst_example_form_named(const void *data, size_t size, const char *const *names, int num_inputs,
                                              int n, mst_feature *features, int *count);

/** Bytes without a shape may in truth be larger numbers, such as float32 by NumPy's tobytes. Adds what the bytes of
 *  INPUT in another Example look like to LOOK (data/number_bytes.h), unless that Example gives a shape. Returns whether
 *  more Examples could still change the answer. */
bool mst_example_form_look(const void *data, size_t size, const mst_feature *input, mst_number_look *look);

#endif
