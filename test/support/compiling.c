#include "support/compiling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "run/backend.h"
#include "support/test.h"

/* ---- the type: what would run is an error ---- */

static mst_status no_alloc(mst_domain *domain, size_t bytes, void **out) {
    (void)domain, (void)bytes;
    *out = NULL;
    return MST_FAIL(MST_UNIMPLEMENTED, "ACCEL has no memory");
}
static void no_free(mst_domain *domain, void *data, size_t bytes) {
    (void)domain, (void)data, (void)bytes;
}
static mst_status no_copy(mst_domain *to, void *dst, mst_domain *from, const void *src, size_t bytes) {
    (void)to, (void)dst, (void)from, (void)src, (void)bytes;
    return MST_FAIL(MST_UNIMPLEMENTED, "ACCEL has no memory");
}
static const mst_domain_type domain_type = {
    .size = sizeof(mst_domain_type), .name = "accel", .alloc = no_alloc, .free = no_free, .copy = no_copy};

static mst_status no_compile(const mst_plan *plan, int device, void **executable) {
    (void)plan, (void)device;
    *executable = NULL;
    return MST_FAIL(MST_UNIMPLEMENTED, "ACCEL runs nothing");
}
static void no_destroy(void *context) {
    (void)context;
}
static mst_status no_bind(void *executable, const mst_binding *binding, void **instance) {
    (void)executable, (void)binding;
    *instance = NULL;
    return MST_FAIL(MST_UNIMPLEMENTED, "ACCEL runs nothing");
}
static mst_status no_execute(void *instance, int32_t first, int32_t end, struct mst_frame *frame) {
    (void)instance, (void)first, (void)end, (void)frame;
    return MST_FAIL(MST_UNIMPLEMENTED, "ACCEL runs nothing");
}
static const mst_backend backend = {.size = sizeof(mst_backend),
                                    .compile = no_compile,
                                    .destroy = no_destroy,
                                    .bind = no_bind,
                                    .unbind = no_destroy,
                                    .execute = no_execute};

static bool has_text(const mst_op *op, int num_src, const mst_spec *src) {
    (void)num_src, (void)src;
    return op->hlo || op->lower;
}

static mst_status find_domain(int index, mst_domain **out) {
    enum { MOST = 4 };
    static mst_domain domains[MOST] = {
        {.type = &domain_type, .index = 0},
        {.type = &domain_type, .index = 1},
        {.type = &domain_type, .index = 2},
        {.type = &domain_type, .index = 3},
    };
    if (index >= MOST) return MST_FAIL(MST_INVALID, "more than %d devices ACCEL", (int)MOST);
    *out = &domains[index];
    return MST_OK;
}

static const char *const no_engines[] = {NULL};
static const mst_device_type accel = {.size = sizeof(mst_device_type),
                                      .name = "ACCEL",
                                      .compiles = true,
                                      .engines = no_engines,
                                      .supports = has_text,
                                      .domain = find_domain,
                                      .backend = &backend};

int compiling_register(void **state) {
    (void)state;
    return mst_device_type_register(&accel) ? -1 : 0;
}

mst_device_type compiling_type(void) {
    return accel;
}

/* ---- placing ---- */

/* Writes a line for each variable of which the devices will have copies. */
static void log_copies(const mst_plan *plan, FILE *file) {
    for (int64_t s = 0; s < plan->num_states; s++)
        for (int64_t n = 0; n < plan->num_nodes; n++) {
            const mst_plan_node *node = &plan->node[n];
            if (node->origin != plan->state[s].variable) continue;
            const mst_variable_options *o = node->options;
            if (o->mirrored) fprintf(file, "%s is on %s\n", node->name, o->mirrored);
        }
}

mst_status compiling_place(mst_graph *graph, const char *devices, bool soft, const mst_feed *feed, mst_value fetch,
                           char **log) {
    mst_devices list;
    char *text = NULL;
    size_t size;
    mst_plan *plan = calloc(1, sizeof *plan);
    assert_non_null(plan);
    EXPECT_OK(mst_graph_check(graph));
    EXPECT_OK(mst_devices_create(devices, NULL, 0, NULL, &list));
    const mst_session_options options = {.allow_soft_placement = soft, .placement_log = open_memstream(&text, &size)};
    const mst_plan_host host = {.devices = &list, .options = &options};
    assert_non_null(options.placement_log);
    *plan = (mst_plan){.graph = graph,
                       .host = &host,
                       .feed = feed,
                       .num_feeds = feed != NULL,
                       .fetch = &fetch,
                       .num_fetches = 1,
                       .step_state = -1,
                       .vote = -1};
    mst_status status = mst_plan_prune(plan);
    if (!status) status = mst_plan_infer(plan);
    if (!status) status = mst_plan_place(plan);
    if (!status) log_copies(plan, options.placement_log);
    mst_plan_destroy(plan);
    mst_devices_free(&list);
    fclose(options.placement_log);
    *log = status ? NULL : text;
    if (status) free(text);
    return status;
}

void compiling_expect(const char *log, const char *name, const char *device) {
    const size_t length = strlen(name);
    char where[256], line[512];
    snprintf(where, sizeof where, "): /job:localhost/replica:0/task:0%s", device);
    for (const char *at = log; *at; at = strchrnul(at, '\n') + 1) {
        if (strncmp(at, name, length) != 0 || strncmp(at + length, ": (", 3) != 0) continue;
        snprintf(line, sizeof line, "%.*s", (int)(strchrnul(at, '\n') - at), at);
        const char *found = strstr(line, where), *after = found ? found + strlen(where) : "?";
        if (*after && *after != ',') fail_msg("not on %s: %s", device, line);
        return;
    }
    fail_msg("no line about '%s' in\n%s", name, log);
}
