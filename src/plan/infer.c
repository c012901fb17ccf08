/* infer: finds dtype and shape of every value from the dtypes and shapes of the feeds. After this pass no dimension is
 * unknown. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/spec.h"
#include "plan/plan.h"

static mst_status check_feed(const mst_plan *plan, const mst_plan_node *node) {
    const mst_plan_value *value = &plan->value[node->dst];
    const mst_spec *fed = &value->spec, *wanted = &node->origin->dst[plan->feed[node->port].value.index];
    char have[MST_SPEC_TEXT], want[MST_SPEC_TEXT];
    if (mst_spec_agrees(fed, wanted)) return MST_OK;
    MST_FAIL(MST_INVALID, "feed of '%s' is %s, must be %s", node->name, mst_spec_print(fed, have, sizeof have),
             mst_spec_print(wanted, want, sizeof want));
    return mst_error_at(node->name, NULL);
}

/* Only variables can be written. A fed value, for example, is the caller's memory. */
static mst_status check_writes(const mst_plan *plan, const mst_plan_node *node) {
    for (int i = 0; i < node->num_src && node->writer && !node->dead; i++) {
        if (!mst_plan_writes(node, i) || mst_plan_is_variable(plan, node->src[i])) continue;
        const mst_plan_node *maker = &plan->node[plan->value[node->src[i]].node];
        MST_FAIL(MST_INVALID, "%s '%s' writes '%s', which is %s: %s", node->op->name, node->name, maker->name,
                 maker->op == &mst_op_feed ? "fed" : "no variable",
                 maker->op == &mst_op_feed ? "feed another value" : "give it a variable");
        return mst_error_at(node->name, NULL);
    }
    return MST_OK;
}

static mst_status infer_node(mst_plan *plan, mst_plan_node *node, mst_spec *src, const char **src_name) {
    if (node->op == &mst_op_feed) return check_feed(plan, node);
    if (node->op == &mst_op_fetch) return MST_OK;
    if (node->op->flags & MST_OP_PLACEHOLDER) {
        MST_FAIL(MST_INVALID, "placeholder '%s' is needed, but was not fed", node->name);
        return mst_error_at(node->name, NULL);
    }
    MST_TRY(check_writes(plan, node));
    for (int i = 0; i < node->num_src; i++) {
        src[i] = plan->value[node->src[i]].spec;
        src_name[i] = plan->node[plan->value[node->src[i]].node].name;
    }
    enum { FEW = 8 };
    mst_spec few[FEW], *dst = node->num_dst > FEW ? calloc((size_t)node->num_dst, sizeof *dst) : few;
    if (!dst) return MST_NO_MEMORY("for a plan");
    memset(dst, 0, (size_t)node->num_dst * sizeof *dst);
    mst_status status =
        mst_node_infer(node->op, node->options, node->name, node->num_src, src, src_name, node->num_dst, dst);
    for (int i = 0; i < node->num_dst && !status; i++) {
        plan->value[node->dst + i].spec = dst[i];
        if (mst_shape_count(dst[i].shape) < 0) {
            status = MST_FAIL(MST_INVALID, "%s '%s': its shape is not known although all feeds are", node->op->name,
                              node->name);
            mst_error_at(node->name, NULL);
        }
    }
    if (dst != few) free(dst);
    return status;
}

mst_status mst_plan_infer(mst_plan *plan) {
    int32_t most = 1;
    for (int64_t i = 0; i < plan->num_nodes; i++)
        if (plan->node[i].num_src > most) most = plan->node[i].num_src;
    mst_spec *src = calloc((size_t)most, sizeof *src);
    const char **name = calloc((size_t)most, sizeof *name);
    mst_status status = src && name ? MST_OK : MST_NO_MEMORY("for a plan");
    /* Nodes of which only the shapes are used are dead already, but their shapes must be found too. */
    for (int64_t i = 0; i < plan->num_nodes && !status; i++) status = infer_node(plan, &plan->node[i], src, name);
    free(src);
    free(name);
    return status;
}
