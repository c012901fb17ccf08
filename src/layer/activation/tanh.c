/** tanh: tanh(x) */
#ifdef MST_ACTIVATION_HEADER
enum { MST_TANH = 8 };
#endif
#include "layer/activation/activation.h"

const mst_activation_form mst_activation_form_tanh = {.build = mst_tanh};
