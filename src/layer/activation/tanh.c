/** tanh: tanh(x) */
#include "layer/activation/activation.h"

#ifdef MST_ACTIVATION_HEADER
enum { MST_TANH = 8 };
#endif

const mst_activation_form mst_activation_form_tanh = {.build = mst_tanh};
