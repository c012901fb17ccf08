/* The devices of several tasks as one list. Of a device of another task, this process knows the type, the name, and
 * which devices have the same memory domain. Each domain of another task is represented by a stand-in, which is only
 * compared with other domains. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "device/device.h"
#include "module/module.h"

/* ---- stand-ins ---- */

static mst_status no_alloc(mst_domain *domain, size_t bytes, void **out) {
    (void)domain, (void)bytes;
    *out = NULL;
    return MST_FAIL(MST_INTERNAL, "memory of a device of another task was asked for");
}

static void no_free(mst_domain *domain, void *data, size_t bytes) {
    (void)domain, (void)data, (void)bytes;
}

static mst_status no_copy(mst_domain *to, void *dst, mst_domain *from, const void *src, size_t bytes) {
    (void)to, (void)dst, (void)from, (void)src, (void)bytes;
    return MST_FAIL(MST_INTERNAL, "memory of a device of another task was copied");
}

static const mst_domain_type host_of_another_task = {.size = sizeof host_of_another_task,
                                                     .name = "host of another task",
                                                     .host = true,
                                                     .alloc = no_alloc,
                                                     .free = no_free,
                                                     .copy = no_copy};
static const mst_domain_type memory_of_another_task = {.size = sizeof memory_of_another_task,
                                                       .name = "of another task",
                                                       .alloc = no_alloc,
                                                       .free = no_free,
                                                       .copy = no_copy};

/* ---- describing ---- */

mst_device_description mst_device_describe(const mst_devices *devices, int i) {
    mst_device_description out = {.domain = 0, .added = devices->device[i].added};
    memcpy(out.name, devices->device[i].text, sizeof out.name);
    if (devices->device[i].domain == &mst_domain_host) return out;
    while (devices->device[out.domain].domain != devices->device[i].domain) out.domain++;
    out.domain++; /* a domain's number is the number of its first device, counted from 1 */
    return out;
}

static mst_status find_type(const char *name, const mst_device_type **out) {
    if ((*out = mst_device_type_find(name, strlen(name)))) return MST_OK;
    return mst_module_for_device_type(name, strlen(name), out);
}

/* Makes *OUT from the description of a device of TASK. DOMAIN is the array of the stand-ins for the task's domains. */
static mst_status describe(const mst_device_description *from, int32_t task, mst_domain *domain, int32_t most,
                           mst_device *out) {
    char text[MST_DEVICE_TEXT];
    const bool ended = memchr(from->name, '\0', sizeof from->name) != NULL;
    *out = (mst_device){.task = task, .num_threads = 1, .first_core = -1, .added = from->added, .physical = -1};
    if (!ended || from->domain < 0 || from->domain > most)
        return MST_FAIL(MST_INVALID, "task %d describes a device that cannot be", task);
    MST_TRY(mst_device_name_parse(from->name, &out->name));
    const mst_device_name *n = &out->name;
    const bool full = *n->job && n->replica >= 0 && n->task >= 0 && *n->type && n->index >= 0;
    if (!full || strcmp(mst_device_name_print(n, text), from->name) != 0)
        return MST_FAIL(MST_INVALID, "task %d describes a device as '%s', which is no full name", task, from->name);
    memcpy(out->text, text, sizeof text);
    const mst_status status = find_type(out->name.type, &out->type);
    if (status == MST_NOT_FOUND)
        return MST_FAIL(MST_INVALID,
                        "%s is of a type that is not known here: put its module into a folder of MUSTER_MODULE_PATH on "
                        "all tasks",
                        from->name);
    out->domain = &domain[from->domain];
    return status;
}

/* ---- joining ---- */

static mst_status join_own(const mst_devices *own, const mst_task_devices *task, int32_t self, mst_devices *out) {
    bool same = task->count == own->count;
    for (int i = 0; i < own->count && same; i++) same = strcmp(own->device[i].text, task->device[i].name) == 0;
    if (!same)
        return MST_FAIL(MST_INVALID, "the devices of %s are not those that it has described to the other tasks",
                        own->device[0].text);
    for (int i = 0; i < own->count; i++) {
        out->device[out->count] = own->device[i];
        out->device[out->count++].task = self;
    }
    return MST_OK;
}

/* Adds the devices of another task. DOMAIN has room for one stand-in for the host's memory, and one for each device. */
static mst_status join_other(const mst_task_devices *task, int32_t number, mst_domain *domain, mst_devices *out) {
    for (int32_t i = 0; i <= task->count; i++)
        domain[i] = (mst_domain){.type = i ? &memory_of_another_task : &host_of_another_task, .index = i};
    for (int32_t i = 0; i < task->count; i++) {
        MST_TRY(describe(&task->device[i], number, domain, task->count, &out->device[out->count]));
        out->count++;
    }
    return MST_OK;
}

/* Whether device I does not compile, or its task has a CPU, as mst_devices_create ensures. */
static bool has_host(const mst_devices *devices, int i) {
    return !devices->device[i].type->compiles || mst_device_host_device(devices, i) >= 0;
}

static mst_status join_all(const mst_devices *own, const mst_task_devices *task, mst_devices *out, mst_names *index) {
    mst_domain *domain = out->other_domains;
    for (int32_t t = 0; t < out->num_tasks; t++) {
        out->host[t] = t == out->self ? &mst_domain_host : domain;
        if (t == out->self)
            MST_TRY(join_own(own, &task[t], t, out));
        else
            MST_TRY(join_other(&task[t], t, domain, out));
        domain += task[t].count + 1;
    }
    for (int i = 0; i < out->count; i++) {
        if (mst_names_get(index, out->device[i].text) >= 0)
            return MST_FAIL(MST_INVALID, "two tasks have a device of the name %s", out->device[i].text);
        if (!has_host(out, i))
            return MST_FAIL(MST_INVALID, "%s compiles, and its task describes no CPU", out->device[i].text);
        MST_TRY(mst_names_set(index, out->device[i].text, i));
    }
    return MST_OK;
}

mst_status mst_devices_join(mst_devices *own, const mst_task_devices *task, int32_t num_tasks, int32_t self) {
    mst_devices joined = {.num_tasks = num_tasks, .self = self};
    mst_names index = {0};
    size_t count = 0;
    if (num_tasks < 1 || self < 0 || self >= num_tasks)
        return MST_FAIL(MST_INVALID, "task %d of %d tasks is none", self, num_tasks);
    for (int32_t t = 0; t < num_tasks; t++) {
        if (task[t].count < 1) return MST_FAIL(MST_INVALID, "task %d has no devices", t);
        count += (size_t)task[t].count;
    }
    joined.device = calloc(count, sizeof *joined.device);
    joined.other_domains = calloc(count + (size_t)num_tasks, sizeof *joined.other_domains);
    joined.host = calloc((size_t)num_tasks, sizeof *joined.host);
    const bool room = joined.device && joined.other_domains && joined.host;
    const mst_status status = room ? join_all(own, task, &joined, &index) : MST_NO_MEMORY("for %zu devices", count);
    joined.index = index;
    if (status) {
        mst_devices_free(&joined);
        return status;
    }
    mst_devices_free(own);
    *own = joined;
    return MST_OK;
}

bool mst_device_is_here(const mst_devices *devices, int i) {
    return devices->device[i].task == devices->self;
}

mst_domain *mst_device_host(const mst_devices *devices, int i) {
    return devices->host ? devices->host[devices->device[i].task] : &mst_domain_host;
}
