/** exponential: exp(x) */
#ifdef MST_ACTIVATION_HEADER
enum { MST_EXPONENTIAL = 11 };
#endif
#include "layer/activation/activation.h"

const mst_activation_form mst_activation_form_exponential = {.build = mst_exp};
