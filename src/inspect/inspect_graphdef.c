/* Graph files: TensorFlow's GraphDef. */
#include "graph/graphdef.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/no_memory.h"
#include "inspect/inspector.h"
#include "muster/graph.h"

/* A message has no magic number. A GraphDef is recognised because it begins with a node (field 1), and the node with
 * its name (field 1). */
static mst_inspect_match inspect_graphdef_knows(const mst_inspect_source *s) {
    size_t at = 1, length;
    if (!s->is_file || s->is_packed || s->size < 6 || s->head[0] != 0x0a || mst_inspect_is_text(s))
        return MST_INSPECT_NO;
    while (at < 6 && s->head[at] & 0x80) at++;
    if (at + 3 >= s->size || s->head[at + 1] != 0x0a) return MST_INSPECT_NO;
    length = s->head[at + 2];
    for (size_t i = at + 3; i < at + 3 + length && i < s->size; i++)
        if (s->head[i] <= ' ' || s->head[i] >= 0x7f) return MST_INSPECT_NO;
    return length > 0 && length < 0x80 ? MST_INSPECT_LIKELY : MST_INSPECT_NO;
}

/* ---- ops ---- */

static int by_op(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static mst_status print_ops(mst_report *r, const Muster__GraphDef *graph) {
    char shown[MST_REPORT_NAME], **op = malloc((graph->n_node + 1) * sizeof *op);
    if (!op) return MST_NO_MEMORY("for the ops of a graph");
    for (size_t i = 0; i < graph->n_node; i++) op[i] = graph->node[i]->op;
    qsort(op, graph->n_node, sizeof *op, by_op);
    for (size_t i = 0, next; i < graph->n_node; i = next) {
        for (next = i + 1; next < graph->n_node && strcmp(op[next], op[i]) == 0;) next++;
        json_t *item = mst_report_item(r, "ops");
        mst_report_set(r, item, "op", mst_report_string(op[i], strlen(op[i])));
        mst_report_set(r, item, "count", json_integer((json_int_t)(next - i)));
        mst_report_line(r, "%-24s %zu", mst_report_name(op[i], strlen(op[i]), shown), next - i);
    }
    free(op);
    return MST_OK;
}

/* ---- feeds and variables ---- */

static const Muster__AttrValue *attr_of(const Muster__NodeDef *node, const char *key) {
    for (size_t i = 0; i < node->n_attr; i++)
        if (node->attr[i]->value && strcmp(node->attr[i]->key, key) == 0) return node->attr[i]->value;
    return NULL;
}

static bool is_one_of(const char *op, const char *const *ops) {
    for (; *ops; ops++)
        if (strcmp(op, *ops) == 0) return true;
    return false;
}

static void print_node(mst_report *r, const Muster__NodeDef *node, const char *what, const char *list) {
    char shown[MST_REPORT_NAME], text[MST_SHAPE_TEXT] = "?";
    mst_shape shape;
    const Muster__AttrValue *type = attr_of(node, "dtype"), *dims = attr_of(node, "shape");
    const mst_dtype dtype =
        type && type->value_case == MUSTER__ATTR_VALUE__VALUE_TYPE ? mst_dtype_from_proto(type->type) : MST_NO_DTYPE;
    json_t *item = mst_report_item(r, list);
    mst_report_set(r, item, "name", mst_report_string(node->name, strlen(node->name)));
    mst_report_set(r, item, "dtype", dtype ? json_string(mst_dtype_name(dtype)) : json_null());
    const bool known = dims && dims->value_case == MUSTER__ATTR_VALUE__VALUE_SHAPE &&
                       mst_shape_from_proto(dims->shape, &shape) == MST_OK;
    mst_report_set(r, item, "shape", known ? mst_report_shape(shape) : json_null());
    /* WHAT, a blank and the name take 24 columns, as names do in other reports */
    mst_report_line(r, "%s %-*s %s %s", what, (int)(23 - strlen(what)),
                    mst_report_name(node->name, strlen(node->name), shown), dtype ? mst_dtype_name(dtype) : "?",
                    known ? mst_shape_print(shape, text, sizeof text) : text);
}

static void print_nodes(mst_report *r, const Muster__GraphDef *graph) {
    static const char *const feeds[] = {"Placeholder", "PlaceholderWithDefault", NULL}, *const variables[] = {
                                                                                            "VariableV2", "Variable",
                                                                                            "VarHandleOp", NULL};
    for (size_t i = 0; i < graph->n_node; i++)
        if (is_one_of(graph->node[i]->op, feeds)) print_node(r, graph->node[i], "feed", "feeds");
    for (size_t i = 0; i < graph->n_node; i++)
        if (is_one_of(graph->node[i]->op, variables)) print_node(r, graph->node[i], "variable", "variables");
}

static mst_status print_graph(const Muster__GraphDef *graph, const void *data, size_t size, mst_report *r) {
    mst_graph *read = NULL;
    mst_report_title(r, "GraphDef", "%zu node%s", graph->n_node, graph->n_node == 1 ? "" : "s");
    mst_report_set(r, NULL, "nodes", json_integer((json_int_t)graph->n_node));
    print_nodes(r, graph);
    MST_TRY(print_ops(r, graph));
    const mst_status status = mst_graph_decode(data, size, &read);
    if (status) { /* a graph of another program, which is not damage */
        mst_report_line(r, "cannot be run here: %s", mst_error()->message);
        mst_report_set(r, NULL, "not_run_here", mst_report_string(mst_error()->message, strlen(mst_error()->message)));
    }
    mst_graph_destroy(read);
    return MST_OK;
}

static mst_status inspect_graphdef_print(const mst_inspect_source *source, mst_report *report) {
    void *data;
    size_t size;
    MST_TRY(mst_file_read(source->path, MST_GRAPHDEF_MOST, &data, &size));
    Muster__GraphDef *graph = muster__graph_def__unpack(NULL, size, data);
    mst_status status;
    if (graph) {
        status = print_graph(graph, data, size, report);
        muster__graph_def__free_unpacked(graph, NULL);
    } else {
        mst_report_title(report, "GraphDef", "%zu bytes", size);
        status = MST_FAIL(MST_CORRUPT, "'%s': is no whole GraphDef: it is damaged or cut off", source->path);
    }
    free(data);
    return status;
}

const mst_inspector mst_inspector_graphdef = {
    .name = "GraphDef", .suffixes = ".pb .graph", .knows = inspect_graphdef_knows, .print = inspect_graphdef_print};
