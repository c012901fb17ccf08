/* Writes a trace as Chrome's trace events, whose times are microseconds since the trace began. The format:
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "run/trace.h"

enum { PROCESS = 1, NAME_TEXT = 300 };
static const double MICROSECONDS = 1e-3;   /* microseconds in a nanosecond */
static const int64_t SHORTEST_WAIT = 1000; /* nanoseconds: a shorter wait is not drawn */

static const char *const kind_name[] = {
    [MST_DO_RUN] = "kernel", [MST_DO_WAIT] = "wait",    [MST_DO_REACH] = "",      [MST_DO_SEND] = "send",
    [MST_DO_FEED] = "feed",  [MST_DO_RECEIVE] = "copy", [MST_DO_FETCH] = "fetch", [MST_DO_START] = "send",
    [MST_DO_AWAIT] = "wait", [MST_DO_GATE] = "wait"};

/* Whether DID is work, not a wait or a point that was reached. */
static bool is_work(const mst_traced *did) {
    return did->kind != MST_DO_REACH && did->kind != MST_DO_WAIT && did->kind != MST_DO_AWAIT &&
           did->kind != MST_DO_GATE;
}

static bool is_drawn(const mst_traced *did) {
    return is_work(did) || (did->kind != MST_DO_REACH && did->end - did->begin >= SHORTEST_WAIT);
}

static void trace_write_add(json_t *events, json_t *event) {
    json_array_append_new(events, event); /* out of memory: EVENT is NULL and this fails; checked at the end */
}

static const char *short_name(const char *device) {
    const char *name = strstr(device, "device:");
    return name ? name + strlen("device:") : device;
}

/* The lane of the programs of a device. The lane of the device itself has the number of the device. */
static int lane_of_programs(const mst_traced_run *run, int device) {
    return run->num_devices + device;
}

static const char *category_of(const mst_traced_run *run, int lane, const mst_traced *did) {
    if (did->compiles) return "compile";
    if (lane >= run->num_devices) return "program";
    if (did->kind == MST_DO_RUN && run->device[lane].num_programs > 0) return "start";
    return kind_name[did->kind];
}

static void add_slice(json_t *events, const mst_traced_run *run, int lane, const mst_traced *did) {
    char name[NAME_TEXT];
    if (did->kind == MST_DO_WAIT)
        snprintf(name, sizeof name, "wait for %s", short_name(run->device[did->other].name));
    else if (did->compiles)
        snprintf(name, sizeof name, "compile %s", did->name);
    else
        snprintf(name, sizeof name, "%s", did->kind == MST_DO_GATE ? "wait for all" : did->name);
    trace_write_add(events,
                    json_pack("{s:s, s:s, s:s, s:i, s:i, s:f, s:f, s:{s:s, s:I, s:I}}", "ph", "X", "name", name, "cat",
                              category_of(run, lane, did), "pid", PROCESS, "tid", lane, "ts",
                              (double)did->begin * MICROSECONDS, "dur", (double)(did->end - did->begin) * MICROSECONDS,
                              "args", "op", did->op, "bytes", (json_int_t)did->bytes, "run", (json_int_t)run->step));
}

/* ---- arrows ---- */

static const mst_traced *drawn_before(const mst_traced_device *device, int64_t i) {
    while (--i >= 0)
        if (is_drawn(&device->did[i])) return &device->did[i];
    return NULL;
}

static const mst_traced *work_after(const mst_traced_device *device, int64_t i) {
    while (++i < device->num_did)
        if (is_work(&device->did[i])) return &device->did[i];
    return NULL;
}

static int64_t find_point(const mst_traced_device *device, int32_t point) {
    for (int64_t i = 0; i < device->num_did; i++)
        if (device->did[i].kind == MST_DO_REACH && device->did[i].point == point) return i;
    return -1;
}

/* Adds an arrow from the last work of the other device before the point to the next work of this device after its
 * wait. */
static void add_arrow(json_t *events, const mst_traced_run *run, int lane, int64_t wait, int64_t *number) {
    const mst_traced *did = &run->device[lane].did[wait];
    const mst_traced_device *other = &run->device[did->other];
    const int64_t reach = find_point(other, did->point);
    const mst_traced *from = reach < 0 ? NULL : drawn_before(other, reach), *to = work_after(&run->device[lane], wait);
    if (!from || !to) return;
    const json_int_t id = ++*number;
    trace_write_add(
        events, json_pack("{s:s, s:s, s:s, s:I, s:i, s:i, s:f}", "ph", "s", "name", "transfer", "cat", "transfer", "id",
                          id, "pid", PROCESS, "tid", did->other, "ts", (double)from->begin * MICROSECONDS));
    trace_write_add(
        events, json_pack("{s:s, s:s, s:s, s:s, s:I, s:i, s:i, s:f}", "ph", "f", "bp", "e", "name", "transfer", "cat",
                          "transfer", "id", id, "pid", PROCESS, "tid", lane, "ts", (double)to->begin * MICROSECONDS));
}

/* ---- the whole trace ---- */

static void add_device(json_t *events, const mst_traced_run *run, int lane, int64_t *arrows) {
    const mst_traced_device *device = &run->device[lane];
    char name[NAME_TEXT];
    for (int64_t i = 0; i < device->num_did; i++) {
        if (is_drawn(&device->did[i])) add_slice(events, run, lane, &device->did[i]);
        if (device->did[i].kind == MST_DO_WAIT) add_arrow(events, run, lane, i, arrows);
    }
    for (int64_t i = 0; i < device->num_programs; i++)
        add_slice(events, run, lane_of_programs(run, lane), &device->program[i]);
    snprintf(name, sizeof name, "memory of %s", short_name(device->name));
    for (int64_t i = 0; i < device->num_memory; i++)
        trace_write_add(events, json_pack("{s:s, s:s, s:s, s:i, s:f, s:{s:I}}", "ph", "C", "cat", "memory", "name",
                                          name, "pid", PROCESS, "ts", (double)device->memory[i].time * MICROSECONDS,
                                          "args", "bytes", (json_int_t)device->memory[i].bytes));
}

static void add_lane(json_t *events, int lane, int place, const char *name) {
    trace_write_add(events, json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "ph", "M", "name", "thread_name", "pid", PROCESS,
                                      "tid", lane, "args", "name", name));
    trace_write_add(events, json_pack("{s:s, s:s, s:i, s:i, s:{s:i}}", "ph", "M", "name", "thread_sort_index", "pid",
                                      PROCESS, "tid", lane, "args", "sort_index", place));
}

static bool has_programs(const mst_trace *trace, int device) {
    for (int64_t i = 0; i < trace->num_runs; i++)
        if (device < trace->run[i].num_devices && trace->run[i].device[device].num_programs > 0) return true;
    return false;
}

/* Names the lanes. The lane of the programs of a device comes below the lane of the device itself. */
static void add_names(json_t *events, const mst_trace *trace) {
    const mst_traced_run *run = &trace->run[0];
    char name[NAME_TEXT];
    int place = 0;
    trace_write_add(events, json_pack("{s:s, s:s, s:i, s:{s:s}}", "ph", "M", "name", "process_name", "pid", PROCESS,
                                      "args", "name", "Muster"));
    for (int device = 0; device < run->num_devices; device++) {
        add_lane(events, device, place++, short_name(run->device[device].name));
        if (!has_programs(trace, device)) continue;
        snprintf(name, sizeof name, "programs of %s", short_name(run->device[device].name));
        add_lane(events, lane_of_programs(run, device), place++, name);
    }
}

mst_status mst_trace_write(const mst_trace *trace, const char *path) {
    if (MST_IS_NULL(trace) || MST_IS_NULL(path)) return MST_INVALID;
    int64_t arrows = 0;
    if (trace->num_lost) return MST_NO_MEMORY("for %lld runs of a trace", (long long)trace->num_lost);
    json_t *events = json_array();
    pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&trace->lock);
    if (trace->num_runs) add_names(events, trace);
    for (int64_t i = 0; i < trace->num_runs; i++)
        for (int lane = 0; lane < trace->run[i].num_devices; lane++) add_device(events, &trace->run[i], lane, &arrows);
    pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&trace->lock);
    json_t *root = json_pack("{s:o, s:s}", "traceEvents", events, "displayTimeUnit", "ms");
    char *text = root ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(root);
    if (!text) return MST_NO_MEMORY("to write a trace");
    mst_status status = mst_file_write(path, text, strlen(text));
    free(text);
    return status;
}
