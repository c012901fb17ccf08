/** Decides whether the labels of a table are classes or numbers to be predicted, if the user gives no loss. */
#ifndef MUSTER_CLI_MODEL_LABEL_KIND_H
#define MUSTER_CLI_MODEL_LABEL_KIND_H

#include "muster/dataset.h"

typedef struct label_kind {
    bool are_numbers;
    int64_t different; /**< the number of different labels, if the decision may be wrong; 0: the decision is certain */
} label_kind;

/** Looks at all labels of DATA, component 1, in one pass. Names are classes, and so are the labels of data that is
 *  not a table. Several columns of labels are to be predicted. Labels that are not all whole numbers are to be
 *  predicted. Whole numbers are classes if there are at most 20 different ones. If there are more, they are to be
 *  predicted in any of these cases: one is negative; more than half of the numbers from 0 to the largest are missing;
 *  there are fewer than 10 rows per different number; more than a tenth of the different numbers occur once.
 *  Otherwise they are classes. */
MST_CHECKED mst_status label_kind_find(mst_dataset *data, label_kind *out);

#endif
