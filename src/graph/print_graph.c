#include <stdio.h>
#include <stdlib.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/options.h"
#include "graph/spec.h"

enum { INDENT = 4 }; /* spaces by which a body is indented below its node */

static void print_options(FILE *file, const mst_node *node) {
    char few[256], *text = few;
    size_t length = mst_options_print(node->op->fields, node->options, few, sizeof few);
    if (!length) return;
    if (length >= sizeof few) {
        if (!(text = malloc(length + 1))) {
            text = few; /* no memory for all options: they are cut off */
        } else {
            mst_options_print(node->op->fields, node->options, text, length + 1);
        }
    }
    fprintf(file, " {%s}", text);
    if (text != few) free(text);
}

static void print_graph(FILE *file, const mst_graph *graph, int indent);

/* Prints the bodies of a node below it. */
static void print_bodies(FILE *file, const mst_node *node, int indent) {
    for (const mst_field *field = node->op->fields; field && field->name; field++) {
        const void *at = (const char *)node->options + field->offset;
        if (field->type != MST_FIELD_TYPE_GRAPH || !*(mst_graph *const *)at) continue;
        fprintf(file, "%*s%s:\n", indent, "", field->name);
        print_graph(file, *(mst_graph *const *)at, indent + INDENT);
    }
}

static void print_node(FILE *file, const mst_node *node, int indent) {
    char text[MST_SPEC_TEXT];
    fprintf(file, "%*s%s = %s(", indent, "", node->name, node->op->name);
    for (int i = 0; i < node->num_src; i++) {
        fprintf(file, "%s%s", i ? ", " : "", node->src[i].node->name);
        if (node->src[i].index) fprintf(file, ":%d", node->src[i].index);
    }
    for (int i = 0; i < node->num_control; i++)
        fprintf(file, "%s^%s", i || node->num_src ? ", " : "", node->control[i]->name);
    fprintf(file, ")");
    print_options(file, node);
    for (int i = 0; i < node->num_dst; i++)
        fprintf(file, "%s%s", i ? ", " : " : ", mst_spec_print(&node->dst[i], text, sizeof text));
    fprintf(file, "%s%s\n", *node->device ? " @" : "", node->device);
    print_bodies(file, node, indent + INDENT);
}

static void print_graph(FILE *file, const mst_graph *graph, int indent) {
    for (int64_t i = 0; i < graph->num_nodes; i++) print_node(file, graph->node[i], indent);
}

mst_status mst_graph_print(const mst_graph *graph, char **text) {
    if (MST_IS_NULL(graph) || MST_IS_NULL(text)) return MST_INVALID;
    size_t size;
    *text = NULL;
    FILE *file = open_memstream(text, &size);
    if (!file) return MST_NO_MEMORY("to print a graph");
    print_graph(file, graph, 0);
    bool failed = ferror(file);
    if (fclose(file) || failed) {
        free(*text);
        *text = NULL;
        return MST_NO_MEMORY("to print a graph");
    }
    return MST_OK;
}
