#include "cli/top/top_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/byte_count.h"
#include "base/clock.h"
#include "base/escape.h"
#include "cli/json_events.h"

static const char *const doings[] = {"idle", "waiting", "training", "validating", "serving", "done"};
_Static_assert(sizeof doings / sizeof *doings == MST_NUM_TASK_DOINGS, "a word for each");

/* The work of a task between its last two answers, or since it began: examples per second, and shares of its time from
 * 0 to 1. -1: not known. `wait` includes the time of the network. */
typedef struct shares {
    double examples_per_sec, data, compute, wait;
} shares;

void top_row_lost(top_row *row, const char *why) {
    snprintf(row->why, sizeof row->why, "%s", why);
    mst_make_plain(row->why); /* it may come from another task */
}

/* Copies the lines about devices in REPORT, as many as there is room for. */
static void keep_devices(top_row *row, const mst_task_report *report) {
    mst_task_device device;
    size_t at = 0, kept = 0;
    for (row->num_devices = 0; mst_task_report_device(report, &at, &device); row->num_devices++)
        if (at < sizeof row->devices) kept = at;
    if (kept) memcpy(row->devices, report->devices, kept);
    row->devices[kept] = '\0';
}

/* Reads the device whose line begins at byte *AT of row->devices, and moves *AT to the next line. False at the end. */
static bool next_device(const top_row *row, size_t *at, mst_task_device *out) {
    const mst_task_report kept = {.devices = row->devices, .devices_bytes = strlen(row->devices)};
    return mst_task_report_device(&kept, at, out);
}

void top_row_hear(top_row *row, const mst_task_report *report, int number) {
    if (report->self != number) {
        snprintf(row->why, sizeof row->why, "another task listens at its address");
        return;
    }
    row->why[0] = '\0';
    row->heard = mst_clock_now();
    snprintf(row->whom, sizeof row->whom, "%.*s", (int)report->whom_bytes, report->whom);
    mst_make_plain(row->whom);
    row->before = row->now;
    row->now = *report;
    row->now.whom = row->now.tasks = row->now.devices = NULL;
    keep_devices(row, report);
    row->num_answers++;
}

static shares find_shares(const top_row *row) {
    const mst_task_report *now = &row->now, *before = &row->before;
    const bool goes_on = row->num_answers > 1 && before->elapsed > 0 && now->elapsed > before->elapsed &&
                         now->examples >= before->examples && now->data >= before->data && now->wait >= before->wait;
    const mst_task_report none = {.examples = 0}, *since = goes_on ? before : &none;
    const double elapsed = (double)(now->elapsed - since->elapsed);
    shares s = {-1, -1, -1, -1};
    if (!row->num_answers || *row->why || elapsed <= 0) return s;
    s.wait = (double)(now->wait - since->wait) / elapsed;
    if (now->data >= 0) s.data = (double)(now->data - since->data) / elapsed;
    s.compute = 1 - s.wait - (s.data > 0 ? s.data : 0);
    if (s.compute < 0) s.compute = 0;
    if (now->examples >= 0) s.examples_per_sec = (double)(now->examples - since->examples) * 1e9 / elapsed;
    return s;
}

static bool is_training_worker(const top_row *row) {
    return row->now.data >= 0 && (row->now.doing == MST_TASK_TRAINS || row->now.doing == MST_TASK_VALIDATES);
}

double top_rows_network(const top_row *row, int count) {
    double least = -1;
    for (int i = 0; i < count; i++) {
        const double wait = find_shares(&row[i]).wait;
        if (row[i].now.doing == MST_TASK_SERVES && !*row[i].why) continue;
        if (wait < 0 || !is_training_worker(&row[i])) return -1; /* others may wait for this worker */
        if (least < 0 || wait < least) least = wait;
    }
    return least;
}

/* Subtracts the share of the network from the waiting time of a worker. Returns the share that was subtracted; -1: not
 * known. */
static double take_network(const top_row *row, shares *s, double network) {
    if (network < 0 || s->wait < 0 || !is_training_worker(row)) return -1;
    if (network > s->wait) network = s->wait;
    s->wait -= network;
    return network;
}

/* ---- a table ---- */

enum { DEVICES = 20, MEMORY = 21, MOST_KIND = 15 }; /* columns */

static void print_share(double share) {
    if (share < 0)
        printf("  %7s", "-");
    else
        printf("  %6.0f%%", 100 * share);
}

/* Prints "2 x NVIDIA H200", and the memory of the device on which most is in use: "1.2 GB of 140.6 GB". */
static void print_devices(const top_row *row) {
    char what[DEVICES + 1] = "-", memory[MEMORY + 1] = "-", used[MST_BYTES_TEXT], limit[MST_BYTES_TEXT];
    mst_task_device device, first, most;
    size_t at = 0;
    if (next_device(row, &at, &first)) {
        most = first;
        while (next_device(row, &at, &device))
            if (device.in_use > most.in_use) most = device;
        const int type = (int)strcspn(first.name, ":");
        snprintf(what, sizeof what, "%d x %.*s", row->num_devices, *first.kind ? MOST_KIND : type,
                 *first.kind ? first.kind : first.name);
        mst_bytes_print(most.in_use, used, sizeof used);
        mst_bytes_print(most.limit, limit, sizeof limit);
        if (most.in_use > 0)
            snprintf(memory, sizeof memory, "%s%s%s", used, most.limit > 0 ? " of " : "", most.limit > 0 ? limit : "");
    }
    printf("  %-*s  %*s", DEVICES, what, MEMORY, memory);
}

void top_row_print_head(int name_width) {
    printf("%-*s  %10s  %12s  %7s  %7s  %7s  %7s  %7s  %-*s  %*s  %s\n", name_width, "task", "step", "examples/s",
           "data", "compute", "network", "wait", "heard", DEVICES, "devices", MEMORY, "memory", "state");
}

void top_row_print(const top_row *row, double network, int name_width) {
    shares s = find_shares(row);
    network = take_network(row, &s, network);
    printf("%-*s", name_width, row->name);
    if (row->num_answers && row->now.step >= 0)
        printf("  %10" PRId64, row->now.step);
    else
        printf("  %10s", "-");
    if (s.examples_per_sec < 0)
        printf("  %12s", "-");
    else
        printf("  %12.1f", s.examples_per_sec);
    print_share(s.data);
    print_share(s.compute);
    print_share(network);
    print_share(s.wait);
    if (row->heard)
        printf("  %5.1f s", (double)(mst_clock_now() - row->heard) / 1e9);
    else
        printf("  %7s", "-");
    print_devices(row);
    if (*row->why)
        printf("  lost: %s\n", row->why);
    else
        printf("  %s%s%s\n", doings[row->now.doing], *row->whom ? " for " : "", row->whom);
}

/* ---- JSON ---- */

static json_t *share_or_null(double share) {
    return share < 0 ? json_null() : json_number(share);
}

static json_t *bytes_or_null(int64_t bytes) {
    return bytes > 0 ? json_integer(bytes) : json_null();
}

/* The devices; null if they are not known. */
static json_t *make_devices(const top_row *row) {
    json_t *list = row->num_devices ? json_array() : json_null();
    mst_task_device device;
    for (size_t at = 0; next_device(row, &at, &device);) {
        json_t *one = json_object();
        json_add(&one, "", "name", json_text(device.name));
        json_add(&one, "", "kind", *device.kind ? json_text(device.kind) : json_null());
        json_add(&one, "", "memory_in_use", bytes_or_null(device.in_use));
        json_add(&one, "", "memory", bytes_or_null(device.limit));
        json_array_append_new(list, one);
    }
    return list;
}

mst_status top_row_write_json(const top_row *row, double network) {
    shares s = find_shares(row);
    const bool has_step = row->num_answers && row->now.step >= 0;
    network = take_network(row, &s, network);
    json_t *event = json_event("task");
    json_add(&event, "", "task", json_text(row->name));
    json_add(&event, "", "address", json_text(row->address));
    json_add(&event, "", "state", json_string(*row->why ? "lost" : doings[row->now.doing]));
    if (*row->why) json_add(&event, "", "why", json_text(row->why));
    if (!*row->why && *row->whom) json_add(&event, "", "waits_for", json_text(row->whom));
    json_add(&event, "", "step", has_step ? json_integer(row->now.step) : json_null());
    json_add(&event, "", "examples_per_sec", share_or_null(s.examples_per_sec));
    json_add(&event, "", "data", share_or_null(s.data));
    json_add(&event, "", "compute", share_or_null(s.compute));
    json_add(&event, "", "network", share_or_null(network));
    json_add(&event, "", "wait", share_or_null(s.wait));
    json_add(&event, "", "devices", make_devices(row));
    json_add(&event, "", "heard", row->heard ? json_number((double)(mst_clock_now() - row->heard) / 1e9) : json_null());
    return json_write(event);
}
