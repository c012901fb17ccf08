/** The range and the mean of numbers, and how many of them are not finite. */
#ifndef MUSTER_INSPECT_STATISTICS_H
#define MUSTER_INSPECT_STATISTICS_H

#include <math.h>

#include "inspect/inspector.h"

typedef struct mst_statistics {
    double least, greatest, sum; /**< of the finite numbers */
    int64_t finite, nan, infinite;
} mst_statistics;

/** The statistics of no numbers, as an initial value. */
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

/** Size of a text for statistics. */
enum { MST_STATISTICS_TEXT = 192 };
/** Writes "  0 to 14, mean 7, 2 NaN, 1 infinite" to TEXT; "  14" for one number; "" for none. Returns TEXT. */
const char *mst_statistics_print(const mst_statistics *s, char text[MST_STATISTICS_TEXT]);
/** Sets the members min, max, mean, nan and infinite of ITEM. */
void mst_report_statistics(mst_report *report, json_t *item, const mst_statistics *s);

#endif
