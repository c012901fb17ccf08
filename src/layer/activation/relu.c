/** relu: max(x, 0) */
#include "layer/activation/activation.h"

#ifdef MST_ACTIVATION_HEADER
enum { MST_RELU = 1 };
#endif

const mst_activation_form mst_activation_form_relu = {.build = mst_relu};
