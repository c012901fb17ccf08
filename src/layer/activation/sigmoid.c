/** sigmoid: 1 / (1 + exp(-x)) */
#ifdef MST_ACTIVATION_HEADER
enum { MST_SIGMOID = 9 };
#endif
#include "layer/activation/activation.h"

const mst_activation_form mst_activation_form_sigmoid = {.build = mst_sigmoid};
