/** Objectives of models that the command makes and that give a row of numbers for each position of an example, such as
 *  a U-Net for each pixel. */
#ifndef MUSTER_CLI_MODEL_POSITIONS_H
#define MUSTER_CLI_MODEL_POSITIONS_H

#include "cli/model/objective.h"

/** Counts the classes in the labels of DATA, component 1, in one pass: OUT becomes the largest class + 1, at least 2.
 *  IGNORE_CLASS is the value of --ignore-class, whose labels are not counted; NULL: not given. MST_INVALID if a label
 *  is no class number; the message tells its row, and its file if there is one. */
MST_CHECKED mst_status positions_count(const char *ignore_class, mst_dataset *data, int64_t *out);
/** Sets OUT to the objective of LOSS for labels with a value for each pixel. If LOSS takes class numbers, the labels
 *  are [height, width], and the output has CLASSES numbers for each pixel. Otherwise the output has as many numbers for
 *  each pixel as the labels of DATA. OUT->ignore_class is used, and kept. Checks the first labels; with WITH_CLASSES
 *  also that they are below CLASSES. */
MST_CHECKED mst_status positions_choose(mst_loss loss, int64_t classes, bool with_classes, mst_dataset *data,
                                        objective *out);

/** The same for a model that predicts the token after each position of a long text. The labels, [positions], are tokens
 *  below VOCABULARY. The metric is the perplexity. */
MST_CHECKED mst_status positions_choose_tokens(mst_loss loss, int64_t vocabulary, mst_dataset *data, objective *out);

#endif
