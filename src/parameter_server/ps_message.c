#include "parameter_server/ps_message.h"

#define BIT(kind) MST_TASK_MESSAGE_BIT(MST_TASK_MESSAGE_PARAMETER_SERVER, MST_PS_##kind)

_Static_assert(MST_PS_END - MST_TASK_MESSAGE_PARAMETER_SERVER <= 64, "a set of kinds is 64 bits");

const mst_protocol mst_ps_protocol = {
    .first = MST_TASK_MESSAGE_PARAMETER_SERVER,
    .end = MST_PS_END,
    .overtakes = BIT(GRADIENTS) | BIT(VALUES) | BIT(ORDER),
    .lends = BIT(GRADIENTS) | BIT(VALUES),
    .texts = BIT(FAILED) | BIT(NOTICE),
    .fails_without_memory = true,
};
