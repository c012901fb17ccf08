#include "sessions/session_message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION(kind) MST_TASK_MESSAGE_BIT(MST_TASK_MESSAGE_SESSIONS, MST_SESSION_##kind)
#define PART(kind) MST_TASK_MESSAGE_BIT(MST_TASK_MESSAGE_SESSIONS, MST_PART_##kind)

_Static_assert(MST_SESSION_END - MST_TASK_MESSAGE_SESSIONS <= 64, "a set of kinds is 64 bits");

const mst_protocol mst_session_protocol = {
    .first = MST_TASK_MESSAGE_SESSIONS,
    .end = MST_SESSION_END,
    /* FORGET of a plan must not come before an earlier RUN of that plan: both go the same way */
    .overtakes = SESSION(RUN) | SESSION(FORGET) | SESSION(ANSWER) | PART(RUN) | PART(DECIDE) | PART(VOTE) | PART(DONE) |
                 PART(VALUE),
};

enum { EACH_DEVICE = 32 /* bytes of the shortest description */, EACH_TENSOR = 8, MOST_DOMAIN = 1 << 20 };
static const double MOST_TIMEOUT = 1e9; /* seconds */

void mst_open_message_put(mst_wire_writer *w, const mst_open_message *o) {
    mst_wire_put_number(w, (uint64_t)o->first);
    mst_wire_put_number(w, o->soft_placement);
    mst_wire_put_number(w, o->check_numerics);
    mst_wire_put_number(w, o->logs);
    mst_wire_put_number(w, o->plans);
    mst_wire_put_text(w, o->plan_pass ? o->plan_pass : "");
    mst_wire_put_number(w, (uint64_t)o->memory_limit);
    mst_wire_put_number(w, (uint64_t)o->runs);
    mst_wire_put_real(w, o->timeout);
    mst_wire_put_bytes(w, o->graph, o->graph_bytes);
}

void mst_open_message_get(mst_wire_reader *r, int32_t num_tasks, mst_open_message *out) {
    *out = (mst_open_message){.first = (int32_t)mst_wire_get_within(r, 0, num_tasks - 1)};
    out->soft_placement = mst_wire_get_within(r, 0, 1);
    out->check_numerics = mst_wire_get_within(r, 0, 1);
    out->logs = mst_wire_get_within(r, 0, 1);
    out->plans = mst_wire_get_within(r, 0, 1);
    out->plan_pass = mst_wire_get_text(r);
    out->memory_limit = mst_wire_get_within(r, 0, INT64_MAX);
    out->runs = mst_wire_get_within(r, 0, INT64_MAX / 2);
    out->timeout = mst_wire_get_real(r);
    if (!(out->timeout > 0 && out->timeout <= MOST_TIMEOUT)) r->wrong = true;
    out->graph = mst_wire_get_bytes(r, &out->graph_bytes);
}

void mst_task_devices_put(mst_wire_writer *w, const mst_task_devices *devices) {
    mst_wire_put_number(w, (uint64_t)devices->count);
    for (int32_t i = 0; i < devices->count; i++) {
        mst_wire_put_text(w, devices->device[i].name);
        mst_wire_put_number(w, (uint64_t)devices->device[i].domain);
        mst_wire_put_number(w, devices->device[i].added);
    }
}

void mst_task_devices_get(mst_wire_reader *r, mst_task_devices *out) {
    const int32_t count = mst_wire_get_count(r, EACH_DEVICE);
    mst_device_description *device = calloc((size_t)count + 1, sizeof *device);
    if (!device) r->no_memory = true;
    for (int32_t i = 0; i < count && device; i++) {
        const char *name = mst_wire_get_text(r);
        if (strlen(name) >= sizeof device[i].name) r->wrong = true;
        snprintf(device[i].name, sizeof device[i].name, "%s", name);
        device[i].domain = (int32_t)mst_wire_get_within(r, 0, MOST_DOMAIN);
        device[i].added = mst_wire_get_within(r, 0, 1);
    }
    *out = (mst_task_devices){device ? count : 0, device};
}

int32_t mst_session_task_at(int32_t first, int32_t place) {
    if (place == 0) return first;
    return place <= first ? place - 1 : place;
}

int32_t mst_session_place_of(int32_t first, int32_t task) {
    if (task == first) return 0;
    return task < first ? task + 1 : task;
}

mst_tensor **mst_tensors_get(mst_wire_reader *r, int32_t *count) {
    *count = mst_wire_get_count(r, EACH_TENSOR);
    mst_tensor **tensors = calloc((size_t)*count + 1, sizeof *tensors);
    if (!tensors) r->no_memory = true;
    for (int32_t i = 0; i < *count && tensors; i++) tensors[i] = mst_wire_get_optional(r);
    if (!r->wrong && !r->no_memory) return tensors;
    mst_tensors_free(tensors, *count);
    *count = 0;
    return NULL;
}

void mst_tensors_free(mst_tensor **tensors, int32_t count) {
    for (int32_t i = 0; tensors && i < count; i++) mst_tensor_release(tensors[i]);
    free(tensors);
}
