#include "base/failure.h"

#include <stdio.h>

void mst_failure_keep(mst_failure *failure, mst_status code) {
    failure->code = code;
    failure->derived = false;
    failure->message[0] = failure->node[0] = failure->device[0] = '\0';
    failure->file = "";
    failure->line = 0;
    if (!code) return;
    const mst_error_info *error = mst_error();
    if (error->code != code) {
        snprintf(failure->message, sizeof failure->message, "%s, without a message", mst_status_name(code));
        return;
    }
    snprintf(failure->message, sizeof failure->message, "%s", error->message);
    snprintf(failure->node, sizeof failure->node, "%s", error->node);
    snprintf(failure->device, sizeof failure->device, "%s", error->device);
    failure->file = error->file;
    failure->line = error->line;
}

mst_status mst_failure_restore(const mst_failure *failure) {
    if (!failure->code) return MST_OK;
    mst_error_set(failure->code, failure->file, failure->line, "%s", failure->message);
    return mst_error_at(failure->node, failure->device);
}
