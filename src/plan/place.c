/* place: gives each node a device.
 *
 * A node goes to the device that it asks for. Parts of the name that it leaves open are those of device 0. A node that
 * writes a variable runs where the variable is, and a fetch runs where its value is. A mirrored variable is put on the
 * first of its devices until the pass distribute gives each device a copy. If the device does not exist, or cannot run
 * the node, soft placement takes another device of the same task that can; mst_devices_fallback (device/device.c)
 * decides which. Without soft placement this is an error, which lists the devices that could.
 *
 * Beside devices that compile there is a CPU, the host. Two kinds of nodes run there instead of on the device that
 * compiles, even if they ask for that device. One kind is variables with numbers of a step, such as global_step. The
 * other is nodes that are used only for first values of variables, so that first values have the bits of CPUs. A node
 * that the device cannot run goes to the host too, unless the user has asked for the device: a strategy may have chosen
 * it (mst_soft_device_push). */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/type_name.h"
#include "muster/ops.h"
#include "op/list.h"
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

static bool has_strings(const mst_spec *spec, int count) {
    for (int i = 0; i < count; i++)
        if (spec[i].dtype == MST_STRING) return true;
    return false;
}

/* Whether nodes of OP need no program. These are feeds, variables and groups of nodes; also updates and sums of rows,
 * because later passes replace them by other nodes. */
static bool needs_no_program(const mst_op *op) {
    return op == &mst_op_apply_gradients || op == &mst_op_leaf_rows ||
           (op->flags & (MST_OP_PLACEHOLDER | MST_OP_VARIABLE | MST_OP_NO_VALUE));
}

static bool can_compile_bodies(const mst_device_type *type, const mst_op *op, const void *options);

static bool can_compile_node(const mst_device_type *type, const mst_node *node) {
    mst_spec spec[FEW];
    const int count = node->num_src < FEW ? node->num_src : FEW;
    for (int i = 0; i < count; i++) spec[i] = node->src[i].node->dst[node->src[i].index];
    if (has_strings(node->dst, node->num_dst)) return false;
    if (needs_no_program(node->op)) return true;
    return type->supports(node->op, count, spec) && can_compile_bodies(type, node->op, node->options);
}

/* Whether devices of TYPE, which compiles, can run all nodes of the bodies of an op. */
static bool can_compile_bodies(const mst_device_type *type, const mst_op *op, const void *options) {
    for (const mst_field *field = op->fields; field && field->name; field++) {
        if (field->type != MST_FIELD_TYPE_GRAPH) continue;
        const mst_graph *body = *(mst_graph *const *)(const void *)((const char *)options + field->offset);
        for (int64_t i = 0; body && i < body->num_nodes; i++)
            if (!can_compile_node(type, body->node[i])) return false;
    }
    return true;
}

static bool compiles(const mst_plan *plan, int device) {
    return device >= 0 && plan->host->devices->device[device].type->compiles;
}

static bool supports(const mst_plan *plan, const mst_plan_node *node, int device) {
    const mst_device_type *type = plan->host->devices->device[device].type;
    mst_spec spec[FEW];
    const int count = read_specs(plan, node, spec);
    if (!type->compiles) return type->supports(op_of(node), count, spec);
    for (int i = 0; i < node->num_src; i++)
        if (has_strings(&plan->value[node->src[i]].spec, 1)) return false;
    for (int i = 0; i < node->num_dst; i++)
        if (has_strings(&plan->value[node->dst + i].spec, 1)) return false;
    if (node->op == &mst_op_feed || needs_no_program(node->op)) return true;
    if (node->writer && !(node->op->flags & MST_OP_VIEW)) return false; /* no output is the variable's new value */
    return type->supports(node->op, count, spec) && can_compile_bodies(type, node->op, node->options);
}

/* ---- nodes of the host ---- */

/* Whether NODE is a variable with numbers of a step, such as the learning rate or global_step. */
static bool is_number_of_step(const mst_plan_node *node) {
    const unsigned numbers = 1u << MST_STATE_RULE | 1u << MST_STATE_RATE | 1u << MST_STATE_STEP |
                             1u << MST_STATE_METRIC | 1u << MST_STATE_CURSOR | 1u << MST_STATE_RANDOM;
    if (!(node->op->flags & MST_OP_VARIABLE)) return false;
    return numbers >> ((const mst_variable_options *)node->options)->kind & 1u;
}

/* Whether source I of NODE is the first value of the variable that NODE assigns to. */
static bool is_first_value(const mst_plan *plan, const mst_plan_node *node, int i) {
    if (node->op != &mst_op_assign || i != 1) return false;
    const mst_plan_node *variable = &plan->node[plan->value[node->src[0]].node];
    const mst_plan_node *maker = &plan->node[plan->value[node->src[1]].node];
    if (!(variable->op->flags & MST_OP_VARIABLE)) return false;
    const mst_value first = ((const mst_variable_options *)variable->options)->initial;
    return maker->origin == first.node && node->src[1] - maker->dst == first.index;
}

enum { FOR_FIRST_VALUES = 1, FOR_OTHERS = 2 };

/* Sets FOR_WHAT of each node: whether first values of variables, other nodes, or both need it. The walk goes from the
 * last node to the first, so all users of a node have been visited before it. */
static void find_uses(const mst_plan *plan, uint8_t *for_what) {
    for (int64_t n = plan->num_nodes - 1; n >= 0; n--) {
        const mst_plan_node *node = &plan->node[n];
        const bool runs = !(node->writer || (node->op->flags & MST_OP_VARIABLE));
        const uint8_t its_own = runs && for_what[n] == FOR_FIRST_VALUES ? FOR_FIRST_VALUES : FOR_OTHERS;
        for (int i = 0; i < node->num_src && !node->dead; i++)
            for_what[plan->value[node->src[i]].node] |= is_first_value(plan, node, i) ? FOR_FIRST_VALUES : its_own;
        for (int i = 0; i < node->num_control && !node->dead; i++) for_what[node->control[i]] |= its_own;
    }
}

typedef struct placer {
    mst_plan *plan;
    uint8_t *for_what; /* by node; NULL: no device compiles */
    /* The result of the last look-up: most neighbouring nodes were made under one scope and ask for the same device. */
    const char *asked;
    int device;
} placer;

static mst_status prepare(placer *p) {
    const mst_devices *devices = p->plan->host->devices;
    bool any = false;
    for (int i = 0; i < devices->count; i++) any |= compiles(p->plan, i);
    if (!any) return MST_OK;
    p->for_what = calloc((size_t)p->plan->num_nodes + 1, sizeof *p->for_what);
    if (!p->for_what) return MST_NO_MEMORY("for a plan");
    find_uses(p->plan, p->for_what);
    return MST_OK;
}

/* Whether NODE runs on the host if it asks for a device that compiles. */
static bool is_of_host(const placer *p, const mst_plan_node *node) {
    if (node->op->flags & MST_OP_VARIABLE) return is_number_of_step(node);
    return p->for_what && p->for_what[node - p->plan->node] == FOR_FIRST_VALUES;
}

/* ---- finding a device ---- */

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
                                 int device) {
    const bool own_task = mst_devices_have_task(plan->host->devices, name);
    char could[512], full[MST_DEVICE_TEXT];
    MST_FAIL(MST_INVALID, "node '%s' (%s) was put on %s, which %s; it could run on %s: change the device scope%s",
             node->name, node->op->name, mst_device_name_print(name, full),
             compiles(plan, device) ? "cannot run it"
             : device >= 0          ? "has no kernel for it"
             : own_task             ? "is not there"
                                    : "belongs to a task that this session does not run on",
             candidates(plan, node, could, sizeof could), own_task ? " or allow soft placement" : "");
    return mst_error_at(node->name, full);
}

static mst_status place_on_another_device(const mst_plan *plan, mst_plan_node *node, const char *asked) {
    mst_device_name given, name;
    mst_spec spec[FEW];
    const int count = read_specs(plan, node, spec);
    int device;
    MST_TRY(mst_device_name_parse(asked, &given));
    MST_TRY(find_device(plan, asked, &name, &device));
    const int fallback = mst_devices_fallback(plan->host->devices, &name, op_of(node), count, spec);
    const bool is_chosen = node->origin && node->origin->soft; /* by the library, not by the user */
    /* a node that asks for no device in particular may leave one that compiles, even without soft placement */
    const bool is_asked = ((*given.type || given.index >= 0) && !is_chosen) || !compiles(plan, device);
    const bool may_move =
        (plan->host->options->allow_soft_placement || !is_asked) && mst_devices_have_task(plan->host->devices, &name);
    if (!may_move || fallback < 0) return fail_placement(plan, node, &name, device);
    node->device = fallback;
    return MST_OK;
}

static mst_status place_asked(placer *p, mst_plan_node *node, const char *asked) {
    const mst_plan *plan = p->plan;
    if (asked != p->asked) {
        mst_device_name name;
        MST_TRY(find_device(plan, asked, &name, &p->device));
        p->asked = asked;
    }
    if (compiles(plan, p->device) && is_of_host(p, node)) {
        node->device = mst_device_host_device(plan->host->devices, p->device);
        return MST_OK;
    }
    if (p->device < 0 || !supports(plan, node, p->device)) return place_on_another_device(plan, node, asked);
    node->device = p->device;
    return MST_OK;
}

/* Puts a variable that is mirrored on several devices, such as "/device:CPU:0,/device:CPU:1", on the first of these.
 * On the host it has one copy. */
static mst_status place_mirrored(placer *p, mst_plan_node *node) {
    mst_arena *memory = &p->plan->memory;
    const mst_variable_options *variable = node->options;
    char *first = mst_arena_string(memory, variable->mirrored);
    if (!first) return MST_NO_MEMORY("for a plan");
    first[strcspn(first, ",")] = '\0';
    MST_TRY(place_asked(p, node, first));
    if (!compiles(p->plan, p->device) || compiles(p->plan, node->device)) return MST_OK;
    mst_variable_options *one_copy = mst_arena_copy(memory, variable, sizeof *one_copy);
    if (!one_copy) return MST_NO_MEMORY("for a plan");
    one_copy->mirrored = NULL;
    node->options = one_copy;
    return MST_OK;
}

/* Puts a node that writes variables on the device of the first of them. If a device compiles, variables with numbers of
 * a step count only if there are no others, because the host has them. */
static mst_status place_writer(const placer *p, mst_plan_node *node) {
    const mst_plan *plan = p->plan;
    bool found = false;
    node->device = 0;
    for (int i = 0; i < node->num_src; i++) {
        if (!mst_plan_writes(node, i)) continue;
        const mst_plan_node *variable = &plan->node[plan->value[node->src[i]].node];
        const bool counts = !p->for_what || !is_number_of_step(variable);
        if (!found || counts) node->device = variable->device;
        if (counts) break;
        found = true;
    }
    if (!compiles(plan, node->device) || supports(plan, node, node->device)) return MST_OK;
    const char *full = plan->host->devices->device[node->device].text;
    MST_FAIL(MST_INVALID, "node '%s' (%s) writes a variable on %s, which cannot run it: put the variable on a CPU",
             node->name, node->op->name, full);
    return mst_error_at(node->name, full);
}

static bool is_port(const mst_plan_node *node) {
    return node->op == &mst_op_feed || node->op == &mst_op_fetch;
}

/* The device that the node asks for, if soft placement has put it on another one; else NULL. */
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

static mst_status place_node(placer *p, mst_plan_node *node) {
    mst_plan *plan = p->plan;
    const bool is_variable = (node->op->flags & MST_OP_VARIABLE) != 0;
    if (node->op == &mst_op_fetch) {
        const int32_t from = node->num_src ? plan->value[node->src[0]].node : node->control[0];
        node->device = plan->node[from].device;
    } else if (node->writer) {
        MST_TRY(place_writer(p, node));
    } else if (is_variable && ((const mst_variable_options *)node->options)->mirrored) {
        MST_TRY(place_mirrored(p, node));
    } else {
        MST_TRY(place_asked(p, node, node->asked));
    }
    if (is_variable) plan->state[plan->value[node->dst].index].device = node->device;
    return MST_OK;
}

static mst_status place_all(placer *p) {
    mst_plan *plan = p->plan;
    MST_TRY(prepare(p));
    for (int64_t i = 0; i < plan->num_nodes; i++) {
        mst_plan_node *node = &plan->node[i];
        MST_TRY(place_node(p, node));
        if (plan->host->options->placement_log && !node->dead && (node->origin || !is_port(node)))
            log_node(plan, node, plan->host->options->placement_log);
    }
    return MST_OK;
}

mst_status mst_plan_place(mst_plan *plan) {
    placer p = {.plan = plan, .device = -1};
    const mst_status status = place_all(&p);
    free(p.for_what);
    return status;
}
