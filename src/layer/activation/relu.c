/** relu: max(x, 0) */
#ifdef MST_ACTIVATION_HEADER
enum { MST_RELU = 1 };
#endif
#include "layer/activation/activation.h"

const mst_activation_form mst_activation_form_relu = {.build = mst_relu};
