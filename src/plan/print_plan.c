/* Prints a plan (--dump-plan), one line per live node, and adds up its sizes. */
#include <inttypes.h>

#include "graph/graph.h"
#include "graph/options.h"
#include "graph/spec.h"
#include "plan/plan.h"

/* Whether the pass memory has run. */
static bool memory_is_known(const mst_plan *plan) {
    for (int d = 0; plan->program && d < plan->host->devices->count; d++)
        if (plan->program[d].arena_bytes + plan->program[d].workspace_bytes) return true;
    return false;
}

static void print_value(const mst_plan *plan, FILE *file, int32_t value) {
    const mst_plan_node *node = &plan->node[plan->value[value].node];
    fprintf(file, "%s", node->name);
    if (value != node->dst) fprintf(file, ":%d", value - node->dst);
}

static void print_node(const mst_plan *plan, FILE *file, const mst_plan_node *node) {
    char text[MST_SHAPE_TEXT + 256];
    fprintf(file, "  %s = %s(", node->name, node->op->name);
    for (int i = 0; i < node->num_src; i++) {
        fprintf(file, "%s", i ? ", " : "");
        print_value(plan, file, node->src[i]);
    }
    for (int i = 0; i < node->num_control; i++)
        fprintf(file, "%s^%s", i || node->num_src ? ", " : "", plan->node[node->control[i]].name);
    mst_options_print(node->op->fields, node->options, text, sizeof text);
    fprintf(file, ")%s%s%s", *text ? " {" : "", text, *text ? "}" : "");
    for (int i = 0; i < node->num_dst; i++) {
        const mst_plan_value *value = &plan->value[node->dst + i];
        fprintf(file, "%s%s", i ? ", " : " : ", mst_spec_print(&value->spec, text, sizeof text));
        if (value->root != node->dst + i) {
            fprintf(file, " in ");
            print_value(plan, file, value->root);
        } else if (memory_is_known(plan) && value->space == MST_IN_ARENA) {
            fprintf(file, " at %" PRId64, value->offset);
        }
    }
    if (node->device >= 0) fprintf(file, " @%s", plan->host->devices->device[node->device].text);
    if (node->group >= 0 && plan->group[node->group].count > 1)
        fprintf(file, " and %d more", plan->group[node->group].count - 1);
    if (node->region == MST_COMMIT) fprintf(file, " behind the gate");
    if (node->kernel) fprintf(file, " by %s", node->kernel->engine);
    fprintf(file, "\n");
}

/* Prints the fetches, so that a reader knows which plan it is. */
static void print_fetches(const mst_plan *plan, FILE *file) {
    enum { FEW = 3 };
    for (int i = 0; i < plan->num_fetches && i < FEW; i++)
        fprintf(file, "%s%s", i ? ", " : " for ", mst_value_name(plan->fetch[i]));
    if (plan->num_fetches > FEW) fprintf(file, " and %d more", plan->num_fetches - FEW);
    fprintf(file, "\n");
}

void mst_plan_print(const mst_plan *plan, FILE *file, const char *title) {
    int64_t live = 0;
    for (int64_t i = 0; i < plan->num_nodes; i++) live += !plan->node[i].dead;
    fprintf(file, "after %s: %" PRId64 " nodes", title, live);
    print_fetches(plan, file);
    if (plan->program) {
        for (int d = 0; d < plan->host->devices->count; d++) {
            const mst_program *program = &plan->program[d];
            if (plan->host->devices->device[d].task != plan->host->devices->self) continue;
            fprintf(file, " %s:", plan->host->devices->device[d].text);
            if (memory_is_known(plan))
                fprintf(file, " %" PRId64 " bytes, workspace %" PRId64 ", %" PRId64 " calls", program->arena_bytes,
                        program->workspace_bytes, program->num_calls);
            fprintf(file, "\n");
            for (int64_t i = 0; i < program->num_instances; i++)
                print_node(plan, file, &plan->node[plan->instance[program->instance[i]].node]);
        }
        return;
    }
    for (int64_t i = 0; i < (plan->order ? plan->num_order : plan->num_nodes); i++) {
        const mst_plan_node *node = &plan->node[plan->order ? plan->order[i] : i];
        if (!node->dead) print_node(plan, file, node);
    }
}

static int64_t bytes_of(const mst_plan *plan) {
    int64_t bytes = (int64_t)mst_arena_bytes(&plan->memory);
    bytes += plan->node_capacity * (int64_t)sizeof *plan->node + plan->value_capacity * (int64_t)sizeof *plan->value;
    bytes += plan->num_instances * (int64_t)sizeof *plan->instance + plan->wait_capacity * (int64_t)sizeof *plan->wait;
    bytes += plan->state_capacity * (int64_t)sizeof *plan->state;
    for (int d = 0; d < plan->host->devices->count; d++) {
        const mst_program *program = &plan->program[d];
        bytes += (int64_t)sizeof *program + program->action_capacity * (int64_t)sizeof *program->action;
        bytes += (program->instance_capacity + program->call_capacity) * (int64_t)sizeof *program->call;
    }
    return bytes;
}

mst_plan_info mst_plan_describe(const mst_plan *plan) {
    mst_plan_info info = {.seconds = plan->seconds,
                          .waits = plan->num_waits,
                          .crossings = plan->crossings,
                          .crossing_bytes = plan->crossing_bytes,
                          .plan_bytes = bytes_of(plan)};
    for (int d = 0; d < plan->host->devices->count; d++) {
        const mst_program *program = &plan->program[d];
        const int64_t bytes = program->arena_bytes + program->workspace_bytes + program->exchange_bytes;
        info.nodes += program->num_calls;
        info.arena_bytes += bytes;
        if (bytes > info.most_bytes) info.most_bytes = bytes;
    }
    return info;
}
