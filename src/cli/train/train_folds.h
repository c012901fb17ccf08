/** `muster train --folds K`: k-fold cross validation. The train part is read once. Each fold in turn is kept for
 *  validation, and a new model is trained on the others:
 *
 *      read  ->  fold 1: split, train, measure  ->  ...  ->  fold K: split, train, measure  ->  means, deviations
 */
#ifndef MUSTER_CLI_TRAIN_TRAIN_FOLDS_H
#define MUSTER_CLI_TRAIN_TRAIN_FOLDS_H

#include "cli/train/training.h"

/** One of the numbers that each fold gives. */
typedef struct fold_measure {
    char name[80]; /**< "val_loss" */
    double *value; /**< [folds] */
} fold_measure;

enum { MOST_FOLD_MEASURES = 3 * (1 + MST_MAX_METRICS) }; /* of training, validation and test */

typedef struct train_folds {
    int count, fold;           /**< number of folds; the one that is kept for validation now, from 0 */
    mst_dataset *train, *test; /**< as they were read for the first fold; test may be NULL */
    int64_t image_size;        /**< of pictures */
    mst_loss loss;             /**< this and the next two: found from the whole train part, as in `training` */
    label_kind labels;
    int64_t label_classes;
    bool has_warned; /**< the user was told that a part lacks some classes */
    fold_measure measure[MOST_FOLD_MEASURES];
    int num_measures;
    double seconds;
} train_folds;

/** Checks that the options of T fit folds. Returns an exit status and prints an error if it is not 0. */
int train_folds_check(const training *t);
/** Keeps what the first fold has read, for the others. */
void train_folds_keep(training *t);
/** Gives T, a later fold, what train_folds_keep has kept; O are its options. */
void train_folds_reuse(training *t, train_options *o);
/** Splits the train part of T. Which category or word each number stands for is then learnt again, only from the rows
 *  that are trained on. Returns as train_folds_check. */
int train_folds_split(training *t);
/** Keeps and shows what the fold of T gave. BEST: the weights are those of the best epoch. */
MST_CHECKED mst_status train_folds_end(training *t, bool best);
/** Shows the mean and the sample standard deviation of each measure. */
MST_CHECKED mst_status train_folds_done(const train_folds *folds, bool json);
void train_folds_free(train_folds *folds);

#endif
