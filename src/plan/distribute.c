/* distribute: turns each mirrored variable, which is one node before this pass, into one node for each device with a
 * copy.
 *
 * A reader reads the copy of its own device. A writer (an assignment) runs on each device that has a copy. Nodes that
 * came after the writer come after it on all devices. apply_gradients is lowered in update_lowering.c. After this pass
 * every node is on one device, except those that the devices of one domain run together, each a part. */
#include "plan/distribute.h"
#include "base/no_memory.h"

#include <stdlib.h>
#include <string.h>

#include "muster/ops.h"
#include "op/list.h"
#include "op/state/apply_gradients.h"
#include "plan/task_sums.h"

/* ---- mirrors ---- */

static mst_status find_firsts(mst_distribute_pass *d, mst_mirror_devices *devices) {
    mst_arena *memory = &d->plan->memory;
    const int32_t all = d->plan->host->devices->count;
    mst_mirror_devices *firsts = mst_arena_alloc(memory, sizeof *firsts);
    if (!firsts) return MST_NO_MEMORY("for a plan");
    *firsts = (mst_mirror_devices){.text = devices->text};
    firsts->device = mst_arena_alloc(memory, (size_t)devices->count * sizeof *firsts->device);
    firsts->place = mst_arena_alloc(memory, (size_t)all * sizeof *firsts->place);
    if (!firsts->device || !firsts->place) return MST_NO_MEMORY("for a plan");
    memset(firsts->place, -1, (size_t)all * sizeof *firsts->place);
    for (int32_t i = 0; i < devices->count; i++) {
        bool first = true;
        for (int32_t k = 0; k < firsts->count && first; k++)
            first = mst_plan_domain(d->plan, firsts->device[k]) != mst_plan_domain(d->plan, devices->device[i]);
        if (!first) continue;
        firsts->place[devices->device[i]] = firsts->count;
        firsts->device[firsts->count++] = devices->device[i];
    }
    devices->firsts = firsts;
    return MST_OK;
}

static mst_status parse_devices(mst_distribute_pass *d, const mst_plan_node *node, const char *text,
                                mst_mirror_devices *out) {
    const mst_devices *devices = d->plan->host->devices;
    char *copy = mst_arena_string(&d->plan->memory, text), *rest = NULL;
    int32_t most = 1;
    for (const char *c = text; *c; c++) most += *c == ',';
    *out = (mst_mirror_devices){.text = text};
    out->device = mst_arena_alloc(&d->plan->memory, (size_t)most * sizeof *out->device);
    out->place = mst_arena_alloc(&d->plan->memory, (size_t)devices->count * sizeof *out->place);
    if (!copy || !out->device || !out->place) return MST_NO_MEMORY("for a plan");
    memset(out->place, -1, (size_t)devices->count * sizeof *out->place);
    for (char *part = strtok_r(copy, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        mst_device_name name;
        MST_TRY(mst_device_name_parse(part, &name));
        mst_device_name_fill(&name, &devices->device[0].name);
        const int device = mst_devices_find(devices, &name);
        const bool may_move = d->plan->host->options->allow_soft_placement && mst_devices_have_task(devices, &name);
        if (device < 0 && may_move) continue;
        if (device < 0 || out->place[device] >= 0) {
            char list[512];
            MST_FAIL(MST_INVALID, "variable '%s' is mirrored on %s, which is %s; there are %s", node->name, part,
                     device < 0 ? "not there" : "in its list twice", mst_devices_list(devices, list, sizeof list));
            return mst_error_at(node->name, NULL);
        }
        out->place[device] = out->count;
        out->device[out->count++] = device;
        if (devices->device[device].task == devices->device[out->device[0]].task) continue;
        MST_FAIL(MST_UNIMPLEMENTED,
                 "variable '%s' is mirrored on devices of two tasks, %s and %s: mirror it within a task, or train with "
                 "a worker on each (docs/clusters.md)",
                 node->name, devices->device[out->device[0]].text, devices->device[device].text);
        return mst_error_at(node->name, NULL);
    }
    if (out->count == 0) out->place[out->device[0] = node->device] = out->count++;
    return find_firsts(d, out);
}

static mst_status find_devices(mst_distribute_pass *d, const mst_plan_node *node, const char *text, int64_t *out) {
    for (int64_t i = d->num_lists - 1; i >= 0; i--)
        if (strcmp(d->lists[i].text, text) == 0) {
            *out = i;
            return MST_OK;
        }
    MST_TRY(mst_grow(&d->lists, sizeof *d->lists, d->num_lists + 1, &d->list_capacity));
    MST_TRY(parse_devices(d, node, text, &d->lists[d->num_lists]));
    *out = d->num_lists++;
    return MST_OK;
}

static const char *mirrored_on(const mst_plan_node *node) {
    return node->op->flags & MST_OP_VARIABLE ? ((const mst_variable_options *)node->options)->mirrored : NULL;
}

static mst_status add_mirror(mst_distribute_pass *d, mst_plan_node *node, const mst_mirror_devices *devices,
                             bool of_domain) {
    mst_plan *plan = d->plan;
    mst_mirror *mirror = mst_arena_alloc(&plan->memory, sizeof *mirror);
    if (!mirror) return MST_NO_MEMORY("for a plan");
    *mirror = (mst_mirror){.devices = devices, .of_domain = of_domain, .variable = node->origin};
    mirror->value = mst_arena_alloc(&plan->memory, (size_t)devices->count * sizeof *mirror->value);
    if (!mirror->value) return MST_NO_MEMORY("for a plan");
    memset(mirror->value, -1, (size_t)devices->count * sizeof *mirror->value);
    mirror->value[0] = node->dst;
    node->device = devices->device[0];
    plan->state[plan->value[node->dst].index].device = node->device;
    plan->state[plan->value[node->dst].index].of_domain |= of_domain;
    d->mirror_of[node->dst] = mirror;
    return MST_OK;
}

/* Makes the mirrors of the slots, the average and the master of a mirrored variable. Each domain has one copy of
 * them. */
static mst_status add_slot_mirrors(mst_distribute_pass *d, const mst_plan_node *applied) {
    const mst_apply_options *o = applied->options;
    for (int32_t v = 0; v < o->num_variables; v++) {
        const int32_t first = mst_apply_source(o, v);
        const mst_mirror *mirror = mst_distribute_mirror(d, applied->src[first]);
        for (int32_t i = 1; mirror && i < mst_apply_num_written(o); i++)
            if (!mst_distribute_mirror(d, applied->src[first + i]))
                MST_TRY(add_mirror(d, &d->plan->node[d->plan->value[applied->src[first + i]].node],
                                   mirror->devices->firsts, true));
    }
    return MST_OK;
}

/* Finds the mirrored variables. All lists of devices are found before the first mirror is made: mirrors point into
 * `lists`, which moves while it grows. */
static mst_status find_mirrors(mst_distribute_pass *d) {
    mst_plan *plan = d->plan;
    int64_t list;
    for (int64_t i = 0; i < plan->num_nodes; i++)
        if (mirrored_on(&plan->node[i])) MST_TRY(find_devices(d, &plan->node[i], mirrored_on(&plan->node[i]), &list));
    for (int64_t i = 0; i < plan->num_nodes; i++) {
        mst_plan_node *node = &plan->node[i];
        if (!mirrored_on(node)) continue;
        MST_TRY(find_devices(d, node, mirrored_on(node), &list));
        MST_TRY(add_mirror(d, node, &d->lists[list], false));
    }
    for (int64_t i = 0; i < plan->num_nodes; i++)
        if (plan->node[i].op == &mst_op_apply_gradients && !plan->node[i].dead)
            MST_TRY(add_slot_mirrors(d, &plan->node[i]));
    return MST_OK;
}

mst_mirror *mst_distribute_mirror(const mst_distribute_pass *d, int32_t value) {
    return value < d->num_values ? d->mirror_of[value] : NULL;
}

mst_status mst_distribute_copy(mst_distribute_pass *d, mst_mirror *mirror, int32_t device, int32_t *out) {
    const mst_mirror_devices *devices = mirror->devices;
    int32_t place = devices->place[device];
    for (int32_t i = 0; i < devices->count && place < 0; i++)
        if (mst_plan_domain(d->plan, devices->device[i]) == mst_plan_domain(d->plan, device)) place = i;
    if (place < 0) place = 0;
    if (mirror->value[place] < 0)
        MST_TRY(mst_plan_add_state(d->plan, mirror->variable, devices->device[place], mirror->of_domain, -1,
                                   &mirror->value[place]));
    *out = mirror->value[place];
    return MST_OK;
}

/* ---- writers ---- */

static mst_mirror *written_mirror(const mst_distribute_pass *d, const mst_plan_node *node) {
    for (int i = 0; i < node->num_src && node->writer; i++)
        if (mst_plan_writes(node, i) && mst_distribute_mirror(d, node->src[i]))
            return mst_distribute_mirror(d, node->src[i]);
    return NULL;
}

/* Puts node N on DEVICE, and replaces its sources that are mirrored variables by the copies for that device. */
static mst_status move_to(mst_distribute_pass *d, int32_t n, int32_t device) {
    d->plan->node[n].device = device;
    for (int i = 0; i < d->plan->node[n].num_src; i++) {
        mst_mirror *mirror = mst_distribute_mirror(d, d->plan->node[n].src[i]);
        int32_t value;
        if (!mirror) continue;
        MST_TRY(mst_distribute_copy(d, mirror, device, &value));
        d->plan->node[n].src[i] = value;
    }
    return MST_OK;
}

/* Replaces N by one node for each device that has a copy of the variable that N writes. Nodes after N come after all
 * these nodes. */
static mst_status spread_writer(mst_distribute_pass *d, int32_t n, const mst_mirror_devices *devices) {
    mst_plan *plan = d->plan;
    int32_t *twins = mst_arena_alloc(&plan->memory, (size_t)devices->count * sizeof *twins), added;
    if (!twins) return MST_NO_MEMORY("for a plan");
    for (int32_t i = 1; i < devices->count; i++) {
        const mst_plan_node twin = plan->node[n];
        mst_spec *dst = mst_arena_alloc(&plan->memory, (size_t)(twin.num_dst + 1) * sizeof *dst);
        if (!dst) return MST_NO_MEMORY("for a plan");
        for (int k = 0; k < twin.num_dst; k++) dst[k] = plan->value[twin.dst + k].spec;
        MST_TRY(mst_plan_add(plan, &twin, twin.src, dst, &added));
        MST_TRY(move_to(d, added, devices->device[i]));
        twins[i - 1] = added;
    }
    const mst_plan_node join = {.op = &mst_op_no_op,
                                .name = plan->node[n].name,
                                .asked = "",
                                .num_control = devices->count - 1,
                                .control = twins,
                                .device = devices->device[0],
                                .group = -1};
    if (devices->count > 1) MST_TRY(mst_plan_add(plan, &join, NULL, NULL, &d->join_of[n]));
    return move_to(d, n, devices->device[0]);
}

/* If node N came after a node that has become several nodes, makes it come after all of them. */
static mst_status follow_joins(mst_distribute_pass *d, int32_t n) {
    mst_plan *plan = d->plan;
    const int num_src = plan->node[n].num_src, num_control = plan->node[n].num_control;
    for (int k = 0; k < num_src + num_control; k++) {
        const mst_plan_node *node = &plan->node[n];
        const int32_t from = k < num_src ? plan->value[node->src[k]].node : node->control[k - num_src];
        if (d->join_of[from] >= 0) MST_TRY(mst_plan_add_control(plan, n, d->join_of[from]));
    }
    return MST_OK;
}

/* Rewrites node N. Its sources and control sources come before it in the order, so they have been rewritten. */
static mst_status visit(mst_distribute_pass *d, int32_t n) {
    if (d->plan->node[n].dead || (d->plan->node[n].op->flags & MST_OP_VARIABLE)) return MST_OK;
    MST_TRY(follow_joins(d, n));
    const mst_plan_node *node = &d->plan->node[n];
    if (node->op == &mst_op_apply_gradients) return mst_distribute_update(d, n);
    if (node->op == &mst_op_leaf_rows) MST_TRY(mst_distribute_leaf_rows(d, n));
    node = &d->plan->node[n];
    const mst_mirror *written = written_mirror(d, node);
    return written ? spread_writer(d, n, written->devices) : move_to(d, n, node->device);
}

static void count_writers(mst_distribute_pass *d) {
    for (int64_t n = 0; n < d->plan->num_nodes; n++) {
        const mst_plan_node *node = &d->plan->node[n];
        for (int i = 0; i < node->num_src && node->writer && !node->dead; i++)
            d->num_writers[node->src[i]] += mst_plan_writes(node, i);
    }
}

static mst_status distribute(mst_distribute_pass *d) {
    count_writers(d);
    MST_TRY(find_mirrors(d));
    for (int64_t i = 0; i < d->num_imported; i++) MST_TRY(visit(d, (int32_t)i));
    return mst_distribute_sums(d);
}

mst_status mst_plan_distribute(mst_plan *plan) {
    mst_distribute_pass d = {.plan = plan, .num_values = plan->num_values, .num_imported = plan->num_nodes};
    const size_t nodes = (size_t)plan->num_nodes + 1;
    d.mirror_of = calloc((size_t)plan->num_values + 1, sizeof *d.mirror_of);
    d.num_writers = calloc((size_t)plan->num_values + 1, sizeof *d.num_writers);
    d.join_of = malloc(nodes * sizeof *d.join_of);
    if (d.join_of) memset(d.join_of, -1, nodes * sizeof *d.join_of);
    mst_status status = d.mirror_of && d.num_writers && d.join_of ? distribute(&d) : MST_NO_MEMORY("for a plan");
    free(d.mirror_of);
    free(d.num_writers);
    free(d.join_of);
    free(d.lists);
    return status ? status : mst_plan_sweep(plan);
}
