/* Prints a plan (--dump-plan): one line per live node, or the texts of its programs. Also adds up the sizes of a plan
 * for mst_plan_describe. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/names.h"
#include "graph/options.h"
#include "graph/spec.h"
#include "plan/compiled.h"
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

/* Prints the fetches, which show which plan this is. */
static void print_fetches(const mst_plan *plan, FILE *file) {
    enum { FEW = 3 };
    for (int i = 0; i < plan->num_fetches && i < FEW; i++)
        fprintf(file, "%s%s", i ? ", " : " for ", mst_value_name(plan->fetch[i]));
    if (plan->num_fetches > FEW) fprintf(file, " and %d more", plan->num_fetches - FEW);
}

void mst_plan_print(const mst_plan *plan, FILE *file, const char *title) {
    int64_t live = 0;
    for (int64_t i = 0; i < plan->num_nodes; i++) live += !plan->node[i].dead;
    fprintf(file, "after %s: %" PRId64 " nodes", title, live);
    print_fetches(plan, file);
    fprintf(file, "\n");
    if (plan->program) {
        for (int d = 0; d < plan->host->devices->count; d++) {
            const mst_program *program = &plan->program[d];
            if (!mst_device_is_here(plan->host->devices, d)) continue;
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

/* ---- texts of programs ---- */

/* A compiled node of this task. */
typedef struct compiled_node {
    const mst_plan_node *node;
    const mst_compiled_options *options;
    int64_t place; /* in the order of devices and calls */
    int64_t first; /* place of the first node with the same text */
} compiled_node;

/* Fills NODES with the compiled nodes of this task: *COUNT nodes with *NUM_TEXTS different texts. */
static mst_status list_compiled(const mst_plan *plan, mst_names *by_text, compiled_node *nodes, int64_t *count,
                                int64_t *num_texts) {
    for (int d = 0; d < plan->host->devices->count; d++) {
        const mst_program *program = &plan->program[d];
        if (!mst_device_is_here(plan->host->devices, d)) continue;
        for (int64_t k = 0; k < program->num_calls; k++) {
            const mst_plan_node *node = &plan->node[plan->instance[program->call[k]].node];
            if (node->op != &mst_op_compiled) continue;
            const mst_compiled_options *o = node->options;
            int64_t first = mst_names_get(by_text, o->text);
            if (first < 0) {
                first = *count;
                MST_TRY(mst_names_set(by_text, o->text, first));
                ++*num_texts;
            }
            nodes[*count] = (compiled_node){node, o, *count, first};
            ++*count;
        }
    }
    return MST_OK;
}

static int by_text_and_place(const void *a, const void *b) {
    const compiled_node *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static bool share_a_line(const compiled_node *a, const compiled_node *b) {
    return a->first == b->first && a->node->device == b->node->device && strcmp(a->node->name, b->node->name) == 0;
}

/* Prints one comment for NODES[I] and the nodes after it that have the same text, name and device, such as sums over
 * shards. Returns the place after them. */
static int64_t print_comment(const mst_plan *plan, FILE *file, const compiled_node *nodes, int64_t count, int64_t i) {
    const compiled_node *x = &nodes[i];
    int64_t end = i + 1;
    while (end < count && share_a_line(x, &nodes[end])) end++;
    fprintf(file, "// %s on %s: %" PRId32 " node%s", x->node->name, plan->host->devices->device[x->node->device].text,
            x->options->num_nodes, x->options->num_nodes == 1 ? "" : "s");
    if (end - i > 1) fprintf(file, ", %" PRId64 " times", end - i);
    fprintf(file, "\n");
    return end;
}

static void print_texts(const mst_plan *plan, FILE *file, const compiled_node *nodes, int64_t count,
                        int64_t num_texts) {
    fprintf(file, "// plan");
    print_fetches(plan, file);
    if (mst_plan_has_compilers(plan))
        fprintf(file, ": programs: %" PRId64 ", texts: %" PRId64 "\n", count, num_texts);
    else
        fprintf(file, ": no programs, as no device compiles\n");
    for (int64_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && nodes[end].first == nodes[i].first;)
            end = print_comment(plan, file, nodes, count, end);
        fprintf(file, "%s", nodes[i].options->text);
    }
}

mst_status mst_plan_print_programs(const mst_plan *plan, FILE *file) {
    mst_names by_text = {0};
    int64_t count = 0, num_texts = 0;
    compiled_node *nodes = calloc((size_t)plan->num_instances + 1, sizeof *nodes);
    if (!nodes) return MST_NO_MEMORY("for a plan");
    const mst_status status = list_compiled(plan, &by_text, nodes, &count, &num_texts);
    if (!status) {
        qsort(nodes, (size_t)count, sizeof *nodes, by_text_and_place);
        print_texts(plan, file, nodes, count, num_texts);
    }
    mst_names_free(&by_text);
    free(nodes);
    return status;
}

/* ---- sizes ---- */

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
                          .plan_bytes = bytes_of(plan),
                          .buckets = plan->num_buckets,
                          .bucket_bytes = plan->bucket_bytes,
                          .row_gradients = plan->row_gradients};
    for (int d = 0; d < plan->host->devices->count; d++) {
        const mst_program *program = &plan->program[d];
        const int64_t bytes = program->arena_bytes + program->workspace_bytes + program->exchange_bytes;
        info.nodes += program->num_calls;
        info.arena_bytes += bytes;
        if (bytes > info.most_bytes) info.most_bytes = bytes;
    }
    return info;
}
