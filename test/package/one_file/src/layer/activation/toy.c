/** toy: -x */
#include "layer/activation/activation.h"

#ifdef MST_ACTIVATION_HEADER
enum { MST_TOY = NEXT };
#endif

const mst_activation_form mst_activation_form_toy = {.build = mst_neg};
