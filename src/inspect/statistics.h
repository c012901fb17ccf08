/** Range and mean of numbers, and how many are not finite. */
#ifndef MUSTER_INSPECT_STATISTICS_H
#define MUSTER_INSPECT_STATISTICS_H

#include <math.h>

#include "inspect/inspector.h"

typedef struct mst_statistics {
    double least, greatest, sum; /**< of those that are finite */
    int64_t finite, nan, infinite;
} mst_statistics;

/** The statistics of no numbers, to begin with. */
#define MST_STATISTICS ((mst_statistics){.least = INFINITY, .greatest = -INFINITY})

static inline void mst_statistics_add(mst_statistics *s, double value) {
    if (!isfinite(value)) {
        if (isnan(value))
            s->nan++;
        else
            s->infinite++;
        return;
    }
    s->finite++;
    s->sum += value;
    if (value < s->least) s->least = value;
    if (value > s->greatest) s->greatest = value;
}

/** Bytes that hold them as text. */
enum { MST_STATISTICS_TEXT = 192 };
/** "  0 to 14, mean 7, 2 NaN, 1 infinite"; "  14" of one number; "" of none. Returns TEXT. */
const char *mst_statistics_print(const mst_statistics *s, char text[MST_STATISTICS_TEXT]);
/** The members min, max, mean, nan and infinite of ITEM. */
void mst_report_statistics(mst_report *report, json_t *item, const mst_statistics *s);

#endif
