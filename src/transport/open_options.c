#include "transport/open_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "transport/time_limits.h"

static const double MOST_SECONDS = 86400;
enum { DEFAULT_CONTROL = 1 << 20, DEFAULT_KEPT = 1 << 30 };

static mst_status check_numbers(const mst_transport_options *o) {
    if (o->num_tasks < 1 || o->self < 0 || o->self >= o->num_tasks)
        return MST_FAIL(MST_INVALID, "task %d of %d tasks: the number of a task is at least 0 and below their number",
                        o->self, o->num_tasks);
    if (o->instance == 0) return MST_FAIL(MST_INVALID, "task %d: its instance is 0, which stands for none", o->self);
    if (!(o->timeout >= 0 && o->timeout <= MOST_SECONDS))
        return MST_FAIL(MST_INVALID, "task %d: timeout %g s: give 0 to %g s", o->self, o->timeout, MOST_SECONDS);
    return MST_OK;
}

static mst_status copy_addresses(const mst_transport_options *from, mst_open_options *to) {
    const char *listen = from->bind ? from->bind : from->address[from->self];
    if (!listen) return MST_FAIL(MST_INVALID, "task %d has no address to listen on: give one for it", from->self);
    if (!(to->listen = strdup(listen))) return MST_NO_MEMORY("for the address of a task");
    if (!(to->lists = strdup(from->lists ? from->lists : ""))) return MST_NO_MEMORY("for the lists of tasks");
    if (!(to->address = calloc((size_t)from->num_tasks, sizeof *to->address)))
        return MST_NO_MEMORY("for the addresses of %d tasks", from->num_tasks);
    for (int32_t i = 0; i < from->num_tasks; i++)
        if (from->address[i] && !(to->address[i] = strdup(from->address[i])))
            return MST_NO_MEMORY("for the addresses of %d tasks", from->num_tasks);
    return MST_OK;
}

mst_status mst_open_options_copy(const mst_transport_options *options, mst_open_options *out) {
    MST_TRY(check_numbers(options));
    *out = (mst_open_options){.num_tasks = options->num_tasks,
                              .self = options->self,
                              .has_keys = options->keys && !options->keys->is_token,
                              .has_token = options->keys && options->keys->is_token,
                              .insecure = options->insecure,
                              .only_connects = options->only_connects,
                              .instance = options->instance,
                              .timeout = options->timeout > 0 ? options->timeout : MST_TASK_TIMEOUT,
                              .most_control = options->most_control ? options->most_control : DEFAULT_CONTROL,
                              .most_kept = options->most_kept ? options->most_kept : DEFAULT_KEPT,
                              .report = options->report};
    if (options->keys) out->keys = *options->keys;
    return copy_addresses(options, out);
}

void mst_open_options_free(mst_open_options *options) {
    for (int32_t i = 0; options->address && i < options->num_tasks; i++) free(options->address[i]);
    free(options->address);
    free(options->listen);
    free(options->lists);
    explicit_bzero(&options->keys, sizeof options->keys);
}

mst_status mst_check_peer(const mst_open_options *options, int32_t task) {
    if (task >= 0 && task < options->num_tasks && (task != options->self || options->only_connects)) return MST_OK;
    return MST_FAIL(MST_INVALID, "task %d of %d exchanges messages with other tasks, and %d is none of them",
                    options->self, options->num_tasks, task);
}

mst_status mst_check_control(const mst_open_options *options, int32_t task, size_t bytes) {
    MST_TRY(mst_check_peer(options, task));
    if (bytes <= options->most_control) return MST_OK;
    return MST_FAIL(MST_INVALID, "a control message of %zu bytes to task %d is longer than the %zu that are allowed",
                    bytes, task, options->most_control);
}
