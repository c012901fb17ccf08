/** softsign: x / (1 + |x|) */
#ifdef MST_ACTIVATION_HEADER
enum { MST_SOFTSIGN = 17 };
#endif
#include "layer/activation/activation.h"

static mst_value softsign_build(mst_value x) {
    return mst_div(x, mst_add(mst_abs(x), mst_ones_like(x)));
}

const mst_activation_form mst_activation_form_softsign = {.build = softsign_build};
