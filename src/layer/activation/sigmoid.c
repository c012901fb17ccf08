/** sigmoid: 1 / (1 + exp(-x)) */
#include "layer/activation/activation.h"

#ifdef MST_ACTIVATION_HEADER
enum { MST_SIGMOID = 9 };
#endif

const mst_activation_form mst_activation_form_sigmoid = {.build = mst_sigmoid};
