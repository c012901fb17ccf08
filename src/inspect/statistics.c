#include "inspect/statistics.h"

#include <stdio.h>

#include "base/number.h"

static double mean_of(const mst_statistics *s) {
    return s->sum / (double)s->finite;
}

const char *mst_statistics_print(const mst_statistics *s, char text[MST_STATISTICS_TEXT]) {
    char range[96] = "", nan[40] = "", infinite[40] = "";
    if (s->finite == 1)
        mst_format(range, sizeof range, "  %.6g", s->least);
    else if (s->finite)
        mst_format(range, sizeof range, "  %.6g to %.6g, mean %.6g", s->least, s->greatest, mean_of(s));
    if (s->nan) snprintf(nan, sizeof nan, "%s%lld NaN", s->finite ? ", " : "  ", (long long)s->nan);
    if (s->infinite)
        snprintf(infinite, sizeof infinite, "%s%lld infinite", s->finite || s->nan ? ", " : "  ",
                 (long long)s->infinite);
    snprintf(text, MST_STATISTICS_TEXT, "%s%s%s", range, nan, infinite);
    return text;
}

void mst_report_statistics(mst_report *report, json_t *item, const mst_statistics *s) {
    if (s->finite) {
        mst_report_set(report, item, "min", mst_report_number(s->least));
        mst_report_set(report, item, "max", mst_report_number(s->greatest));
        mst_report_set(report, item, "mean", mst_report_number(mean_of(s)));
    }
    mst_report_set(report, item, "nan", json_integer(s->nan));
    mst_report_set(report, item, "infinite", json_integer(s->infinite));
}
