/** How `muster convert` writes rows as tf.train.Example, and how a data spec finds inputs and labels in any Example.
 *
 *  Written are "image_raw" (u8, a bytes_list) or "x" (other inputs), "label" or "y", and "shape", the dimensions of an
 *  input; with "image_raw" also "pixels", how many they are, since readers of MNIST for TensorFlow 1 ask for it. Read
 *  are also other names that people use.
 */
#ifndef MUSTER_DATA_EXAMPLE_FORM_H
#define MUSTER_DATA_EXAMPLE_FORM_H

#include "data/dataset.h"
#include "data/number_bytes.h"

/** Inputs, and labels if there are any, as features of the Example in SIZE bytes at DATA: their number to *COUNT, 1
 *  or 2. Names are copied to TEXT. MST_INVALID if inputs cannot be told or used. */
enum { MST_FORM_TEXT = 256 };
MST_CHECKED mst_status mst_example_form_find(const void *data, size_t size, mst_feature features[2],
                                             char text[2][MST_FORM_TEXT], int *count);

/** The same by NAMES, N of them: the first NUM_INPUTS are inputs, rows of numbers, the others labels. *COUNT is N, or
 *  NUM_INPUTS if the Example has no label. MST_NOT_FOUND, naming what there is, if another name is missing. */
MST_CHECKED mst_status mst_example_form_named(const void *data, size_t size, const char *const *names, int num_inputs,
                                              int n, mst_feature *features, int *count);

/** Looks at the bytes of INPUT, elements of u8, in another Example too: of one that tells their shape nothing is to be
 *  seen. Whether still another may show more. */
bool mst_example_form_look(const void *data, size_t size, const mst_feature *input, mst_number_look *look);

#endif
