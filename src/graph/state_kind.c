#include "muster/store.h"

const char *const mst_state_kind_names[] = {"weight", "slot",   "average", "rule",   "rate",
                                            "step",   "metric", "cursor",  "random", NULL};

const char *mst_state_kind_name(mst_state_kind kind) {
    return (unsigned)kind < MST_NUM_STATE_KINDS ? mst_state_kind_names[kind] : "unknown";
}
