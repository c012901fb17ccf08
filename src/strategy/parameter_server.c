/** parameter-server: parameter servers keep the variables of a cluster (muster/server.h). Each worker computes the
 *  gradients of the shards of its window, sends them to the servers, and gets the new values. */
#ifdef MST_STRATEGY_HEADER
enum { MST_STRATEGY_PARAMETER_SERVER = 5 };
#endif
#include "strategy/strategy.h"

/* In a worker's graph the variables are copies, mirrored over the worker's devices. There is no update. */
const mst_strategy_form mst_strategy_form_parameter_server = {.help = "workers compute, parameter servers update",
                                                              .scope = "replica",
                                                              .mirrored = true,
                                                              .apart = true,
                                                              .device = mst_strategy_device_spread};
