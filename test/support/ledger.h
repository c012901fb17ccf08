/** Whether a pipeline gives each of its rows once, whatever interrupts it. Its rows tell their number. */
#ifndef MUSTER_TEST_SUPPORT_LEDGER_H
#define MUSTER_TEST_SUPPORT_LEDGER_H

#include "muster/dataset.h"

typedef struct ledger {
    /** The pipeline of shard SHARD, over all epochs, anew. */
    mst_dataset *(*build)(const void *context, int64_t shard);
    const void *context;
    /** The numbers of the next rows of IT, of at most STOP elements and at most MAX rows; how many they are, -1 on
     *  failure. */
    int64_t (*read)(mst_iterator *it, int64_t stop, int64_t *rows, int64_t max);
    int64_t num_rows, num_shards, num_epochs;
    /** What happens between the save and the restore of a position; NULL: nothing. */
    void (*interrupt)(const void *context);
} ledger;

/** All rows come once for each epoch, over all shards, if the pipeline is restarted again and again. */
void ledger_expect_each_row_once(const ledger *l);
/** A pipeline that is restored gives what would have followed, and so does one that skips as many elements. */
void ledger_expect_same_after_restore(const ledger *l);
/** Any number in a position may be anything: an error, or an iterator that gives some rows. */
void ledger_expect_no_harm_by_positions(const ledger *l);

#endif
