/** swish: x / (1 + exp(-x)) */
#include "layer/activation/activation.h"

#ifdef MST_ACTIVATION_HEADER
enum { MST_SWISH = 7 };
#endif

const mst_activation_form mst_activation_form_swish = {.build = mst_swish};
