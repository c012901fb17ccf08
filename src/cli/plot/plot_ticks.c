#include <math.h>

#include "cli/plot/plot.h"

int plot_ticks(double low, double high, int count, double tick[PLOT_TICKS]) {
    const double rough = (high - low) / (count > 1 ? count : 1), power = pow(10, floor(log10(rough)));
    const double part = rough / power, step = power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
    int n = 0;
    /* 0 is written as such, since K may be -0, which prints as "-0" */
    for (double k = ceil(low / step); n < PLOT_TICKS && k * step <= high; k++) tick[n++] = k == 0 ? 0 : k * step;
    return n;
}
