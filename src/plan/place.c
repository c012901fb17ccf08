/* place: gives each node a device.
 *
 * A node goes to the device that it asks for. Parts of the name that it leaves open are those of device 0. A node that
 * writes a variable runs where the variable is, and a fetch runs where its value is. A mirrored variable is put on the
 * first of its devices until the pass distribute gives each device a copy. If the device does not exist, or cannot run
 * the node, soft placement takes another device of the same task that can. Without soft placement this is an error,
 * which lists the devices that could. */
#include <string.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/type_name.h"
#include "muster/ops.h"
#include "plan/plan.h"

/* The op that the node's device must be able to run; for a feed the op whose output is fed. */
static const mst_op *op_of(const mst_plan_node *node) {
    return node->op == &mst_op_feed ? mst_node_op(node->origin) : node->op;
}

/* Room for the specs of the node's sources. A device type sees only the first few. */
enum { FEW = 16 };

static int read_specs(const mst_plan *plan, const mst_plan_node *node, mst_spec *spec) {
    const int count = node->num_src < FEW ? node->num_src : FEW;
    for (int i = 0; i < count; i++) spec[i] = plan->value[node->src[i]].spec;
    return count;
}

static bool supports(const mst_plan *plan, const mst_plan_node *node, int device) {
    mst_spec spec[FEW];
    const int count = read_specs(plan, node, spec);
    return plan->host->devices->device[device].type->supports(op_of(node), count, spec);
}

static const char *candidates(const mst_plan *plan, const mst_plan_node *node, char *text, size_t size) {
    size_t used = 0;
    *text = '\0';
    for (int i = 0; i < plan->host->devices->count && used < size; i++)
        if (supports(plan, node, i))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     plan->host->devices->device[i].text);
    return used ? text : "no device here";
}

/* Sets OUT to the device that ASKED names; -1: it does not exist. */
static mst_status find_device(const mst_plan *plan, const char *asked, mst_device_name *name, int *out) {
    const mst_devices *devices = plan->host->devices;
    MST_TRY(mst_device_name_parse(asked, name));
    mst_device_name_fill(name, &devices->device[0].name);
    *out = mst_devices_find(devices, name);
    return MST_OK;
}

static mst_status fail_placement(const mst_plan *plan, const mst_plan_node *node, const mst_device_name *name,
                                 bool there) {
    const bool own_task = mst_devices_have_task(plan->host->devices, name);
    char could[512], full[MST_DEVICE_TEXT];
    MST_FAIL(MST_INVALID, "node '%s' (%s) was put on %s, which %s; it could run on %s: change the device scope%s",
             node->name, node->op->name, mst_device_name_print(name, full),
             there      ? "has no kernel for it"
             : own_task ? "is not there"
                        : "belongs to a task that this session does not run on",
             candidates(plan, node, could, sizeof could), own_task ? " or allow soft placement" : "");
    return mst_error_at(node->name, full);
}

static mst_status place_on_another_device(const mst_plan *plan, mst_plan_node *node, const char *asked) {
    mst_device_name name;
    mst_spec spec[FEW];
    const int count = read_specs(plan, node, spec);
    int device;
    MST_TRY(find_device(plan, asked, &name, &device));
    const int fallback = mst_devices_fallback(plan->host->devices, &name, op_of(node), count, spec);
    const bool may_move =
        plan->host->options->allow_soft_placement && mst_devices_have_task(plan->host->devices, &name);
    if (!may_move || fallback < 0) return fail_placement(plan, node, &name, device >= 0);
    node->device = fallback;
    return MST_OK;
}

/* The result of the last look-up: most neighbouring nodes were made under one scope and ask for the same device. */
typedef struct last_device {
    const char *asked;
    int device;
} last_device;

static mst_status place_asked(const mst_plan *plan, mst_plan_node *node, const char *asked, last_device *last) {
    if (asked != last->asked) {
        mst_device_name name;
        MST_TRY(find_device(plan, asked, &name, &last->device));
        last->asked = asked;
    }
    if (last->device < 0 || !supports(plan, node, last->device)) return place_on_another_device(plan, node, asked);
    node->device = last->device;
    return MST_OK;
}

/* Puts a variable that is mirrored on MIRRORED, such as "/device:CPU:0,/device:CPU:1", on the first of these
 * devices. */
static mst_status place_mirrored(mst_plan *plan, mst_plan_node *node, const char *mirrored, last_device *last) {
    char *first = mst_arena_string(&plan->memory, mirrored);
    if (!first) return MST_NO_MEMORY("for a plan");
    first[strcspn(first, ",")] = '\0';
    return place_asked(plan, node, first, last);
}

static int32_t written_device(const mst_plan *plan, const mst_plan_node *node) {
    for (int i = 0; i < node->num_src; i++)
        if (mst_plan_writes(node, i)) return plan->node[plan->value[node->src[i]].node].device;
    return 0;
}

static bool is_port(const mst_plan_node *node) {
    return node->op == &mst_op_feed || node->op == &mst_op_fetch;
}

/* The device that the node asked for, if soft placement has put it on another one; else NULL. */
static const char *asked_in_vain(const mst_plan *plan, const mst_plan_node *node) {
    mst_device_name name;
    int device;
    const bool is_variable = (node->op->flags & MST_OP_VARIABLE) != 0;
    if (is_variable && ((const mst_variable_options *)node->options)->mirrored) return NULL;
    if (node->op == &mst_op_fetch || node->writer || !node->asked || !*node->asked) return NULL;
    if (find_device(plan, node->asked, &name, &device)) return NULL;
    return device == node->device ? NULL : node->asked;
}

static void log_node(const mst_plan *plan, const mst_plan_node *node, FILE *file) {
    const char *moved_from = asked_in_vain(plan, node);
    char text[64];
    fprintf(file, "%s: (%s): %s", node->name, mst_op_type_name(op_of(node), text, sizeof text),
            plan->host->devices->device[node->device].text);
    if (moved_from) fprintf(file, ", moved from %s", moved_from);
    fputc('\n', file);
}

static mst_status place_node(mst_plan *plan, mst_plan_node *node, last_device *last) {
    const bool is_variable = (node->op->flags & MST_OP_VARIABLE) != 0;
    const mst_variable_options *variable = is_variable ? node->options : NULL;
    if (node->op == &mst_op_fetch) {
        const int32_t from = node->num_src ? plan->value[node->src[0]].node : node->control[0];
        node->device = plan->node[from].device;
    } else if (node->writer) {
        node->device = written_device(plan, node);
    } else if (variable && variable->mirrored) {
        MST_TRY(place_mirrored(plan, node, variable->mirrored, last));
    } else {
        MST_TRY(place_asked(plan, node, node->asked, last));
    }
    if (is_variable) plan->state[plan->value[node->dst].index].device = node->device;
    return MST_OK;
}

mst_status mst_plan_place(mst_plan *plan) {
    last_device last = {NULL, -1};
    for (int64_t i = 0; i < plan->num_nodes; i++) {
        mst_plan_node *node = &plan->node[i];
        MST_TRY(place_node(plan, node, &last));
        if (plan->host->options->placement_log && !node->dead && (node->origin || !is_port(node)))
            log_node(plan, node, plan->host->options->placement_log);
    }
    return MST_OK;
}
