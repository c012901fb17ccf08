/** swish: x / (1 + exp(-x)) */
#ifdef MST_ACTIVATION_HEADER
enum { MST_SWISH = 7 };
#endif
#include "layer/activation/activation.h"

const mst_activation_form mst_activation_form_swish = {.build = mst_swish};
