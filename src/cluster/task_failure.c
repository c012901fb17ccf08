#include "cluster/task_failure.h"

#include <stdio.h>
#include <string.h>

void mst_task_failure_set(mst_task_failure *failure, mst_status code, int32_t task, int64_t state_number,
                          const char *format, ...) {
    *failure = (mst_task_failure){.code = code, .task = task, .state_number = state_number};
    va_list list;
    va_start(list, format);
    vsnprintf(failure->message, sizeof failure->message, format, list);
    va_end(list);
}

void mst_task_failure_from(mst_task_failure *failure, const mst_failure *source, int32_t task, int64_t state_number) {
    mst_task_failure_set(failure, source->code, task, state_number, "%s", source->message);
    failure->derived = source->derived;
    snprintf(failure->node, sizeof failure->node, "%s", source->node);
    snprintf(failure->device, sizeof failure->device, "%s", source->device);
}

void mst_task_failure_add_steps(mst_task_failure *failure) {
    const size_t length = strlen(failure->message);
    if (failure->state_number > 0)
        snprintf(failure->message + length, sizeof failure->message - length,
                 "; the job had made %lld steps, starts of epochs included", (long long)failure->state_number);
}

void mst_task_failure_prefix(mst_task_failure *failure, const char *prefix) {
    char message[sizeof failure->message];
    const int length = snprintf(message, sizeof message, "%s", failure->message);
    snprintf(failure->message, sizeof failure->message, "%s: %.*s", prefix, length, message);
}

mst_failure mst_task_failure_plain(const mst_task_failure *from) {
    mst_failure to = {.code = from->code, .derived = from->derived, .file = __FILE__, .line = __LINE__};
    snprintf(to.message, sizeof to.message, "%s", from->message);
    snprintf(to.node, sizeof to.node, "%s", from->node);
    snprintf(to.device, sizeof to.device, "%s", from->device);
    return to;
}
