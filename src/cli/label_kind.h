/** What the labels of a table are where no loss says it: classes, or numbers to be predicted. */
#ifndef MUSTER_CLI_LABEL_KIND_H
#define MUSTER_CLI_LABEL_KIND_H

#include "muster/dataset.h"

typedef struct label_kind {
    bool are_numbers;
    int64_t different; /**< of numbers of which one could think otherwise: how many there are; 0: there is no doubt */
} label_kind;

/** Looks at all labels of DATA, component 1, in one pass. Names are classes, and so are the labels of data that is no
 *  table. Numbers that are not whole are to be predicted; and so are whole ones, where there are more than 20 different
 *  ones, if they do not look like class numbers: one is negative, most of the numbers from 0 to the largest are not
 *  there, there are fewer than 10 rows of each, or one of ten is there only once. */
MST_CHECKED mst_status label_kind_find(mst_dataset *data, label_kind *out);

#endif
