/* place: a device for each node: the one asked for, with open fields as device 0 has them; a writer without a wish goes
 * to its variable, a fetch to what it fetches. */
#include <ctype.h>
#include <string.h>

#include "graph/graph.h"
#include "plan/plan.h"

/* "leaky_relu" -> "LeakyRelu" */
static const char *type_name(const mst_op *op, char *text, size_t size) {
    if (op->tf_name) return op->tf_name;
    size_t used = 0;
    bool upper = true;
    for (const char *from = op->name; *from && used + 1 < size; from++) {
        if (*from == '_')
            upper = true;
        else {
            text[used++] = upper ? (char)toupper((unsigned char)*from) : *from;
            upper = false;
        }
    }
    text[used] = '\0';
    return text;
}

/* What the node asks of its device: a feed, to hold what the fed node makes. */
static const mst_op *op_of(const mst_plan_node *node) {
    return node->op == &mst_op_feed ? mst_node_op(node->origin) : node->op;
}

static bool supports(const mst_plan *plan, const mst_plan_node *node, int device) {
    enum { FEW = 16 };
    mst_spec spec[FEW];
    for (int i = 0; i < node->num_src && i < FEW; i++) spec[i] = plan->value[node->src[i]].spec;
    return plan->host->devices->device[device].type->supports(op_of(node), node->num_src < FEW ? node->num_src : FEW,
                                                              spec);
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

static mst_status place_asked(const mst_plan *plan, mst_plan_node *node) {
    const mst_devices *devices = plan->host->devices;
    mst_device_name name;
    MST_TRY(mst_device_name_parse(node->asked, &name));
    mst_device_name_fill(&name, &devices->device[0].name);
    int device = mst_devices_find(devices, &name);
    bool there = device >= 0;
    if (there && supports(plan, node, device)) {
        node->device = device;
        return MST_OK;
    }
    if (plan->host->options->allow_soft_placement)
        for (int i = 0; i < devices->count; i++)
            if (strcmp(devices->device[i].type->name, "CPU") == 0 && supports(plan, node, i)) {
                node->device = i;
                return MST_OK;
            }
    char could[512], full[MST_DEVICE_TEXT];
    MST_FAIL(MST_INVALID,
             "node '%s' (%s) was put on %s, which %s; it could run on %s: change the device scope or allow "
             "soft placement",
             node->name, node->op->name, mst_device_name_print(&name, full),
             there ? "has no kernel for it" : "is not there", candidates(plan, node, could, sizeof could));
    return mst_error_at(node->name, full);
}

static int32_t written_device(const mst_plan *plan, const mst_plan_node *node) {
    for (int i = 0; i < node->num_src; i++)
        if (mst_plan_writes(node, i)) return plan->node[plan->value[node->src[i]].node].device;
    return 0;
}

static bool is_port(const mst_plan_node *node) {
    return node->op == &mst_op_feed || node->op == &mst_op_fetch;
}

static void log_node(const mst_plan *plan, const mst_plan_node *node, FILE *file) {
    char text[64];
    fprintf(file, "%s: (%s): %s\n", node->name, type_name(op_of(node), text, sizeof text),
            plan->host->devices->device[node->device].text);
}

mst_status mst_plan_place(mst_plan *plan) {
    const char *last_asked = NULL;
    const mst_op *last_op = NULL;
    int32_t last_device = 0;
    for (int64_t i = 0; i < plan->num_nodes; i++) {
        mst_plan_node *node = &plan->node[i];
        if (node->op == &mst_op_fetch) {
            int32_t from = node->num_src ? plan->value[node->src[0]].node : node->control[0];
            node->device = plan->node[from].device;
        } else if (node->writer && !*node->asked) {
            node->device = written_device(plan, node);
        } else if (node->op == &mst_op_feed && !*node->asked) {
            node->device = 0;
        } else if (node->asked == last_asked && node->op == last_op) {
            node->device = last_device; /* most neighbours were made under one scope */
        } else {
            MST_TRY(place_asked(plan, node));
            last_asked = node->asked;
            last_op = node->op;
            last_device = node->device;
        }
        if (plan->host->options->placement_log && !node->dead && (node->origin || !is_port(node)))
            log_node(plan, node, plan->host->options->placement_log);
    }
    return MST_OK;
}
