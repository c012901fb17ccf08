/* ONNX models. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "inspect/inspector.h"
#include "model_file/onnx/onnx_model.h"

static mst_inspect_match inspect_onnx_knows(const mst_inspect_source *s) {
    return s->is_file && !s->is_packed && mst_onnx_begins(s->head, s->size) ? MST_INSPECT_LIKELY : MST_INSPECT_NO;
}

static void tell_value(mst_report *r, const char *what, const char *list, const Muster__OnnxValue *value) {
    char shown[MST_REPORT_NAME], text[MST_SHAPE_TEXT] = "?";
    mst_dtype dtype = MST_NO_DTYPE;
    mst_shape shape = MST_SCALAR;
    const bool known = mst_onnx_spec(value, &dtype, &shape) == MST_OK;
    json_t *item = mst_report_item(r, list);
    mst_report_set(r, item, "name", mst_report_string(value->name, strlen(value->name)));
    mst_report_set(r, item, "dtype", known ? json_string(mst_dtype_name(dtype)) : json_null());
    mst_report_set(r, item, "shape", known ? mst_report_shape(shape) : json_null());
    /* WHAT, a blank and the name take 24 columns, as names do in other reports */
    mst_report_line(r, "%s %-*s %s %s", what, (int)(23 - strlen(what)),
                    mst_report_name(value->name, strlen(value->name), shown), known ? mst_dtype_name(dtype) : "?",
                    known ? mst_shape_print(shape, text, sizeof text) : text);
}

static int by_operator(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static mst_status tell_operators(mst_report *r, const Muster__OnnxGraph *graph) {
    char shown[MST_REPORT_NAME], **op = malloc((graph->n_node + 1) * sizeof *op);
    if (!op) return MST_NO_MEMORY("for the operators of a model");
    for (size_t i = 0; i < graph->n_node; i++) op[i] = graph->node[i]->op_type;
    qsort(op, graph->n_node, sizeof *op, by_operator);
    for (size_t i = 0, next; i < graph->n_node; i = next) {
        for (next = i + 1; next < graph->n_node && strcmp(op[next], op[i]) == 0;) next++;
        json_t *item = mst_report_item(r, "operators");
        mst_report_set(r, item, "operator", mst_report_string(op[i], strlen(op[i])));
        mst_report_set(r, item, "count", json_integer((json_int_t)(next - i)));
        mst_report_line(r, "%-24s %zu", mst_report_name(op[i], strlen(op[i]), shown), next - i);
    }
    free(op);
    return MST_OK;
}

/* Reports whether Muster can run the model. If it cannot, that is not damage. */
static mst_status try_graph(mst_report *r, const mst_onnx_file *file) {
    mst_graph *graph;
    const mst_status status = mst_onnx_graph(file, &graph);
    mst_graph_destroy(graph);
    mst_report_set(r, NULL, "is_taken", json_boolean(!status));
    if (status == MST_CORRUPT || status == MST_OUT_OF_MEMORY) return status;
    if (status) mst_report_line(r, "not taken: %s", mst_error()->message);
    return MST_OK;
}

static mst_status tell_model(mst_report *r, const mst_onnx_file *file) {
    const Muster__OnnxGraph *graph = file->graph;
    char producer[MST_REPORT_NAME];
    const char *by = file->model->producer_name;
    const long long tensors = (long long)graph->n_initializer, nodes = (long long)graph->n_node;
    mst_report_title(r, "ONNX", "opset %lld, %lld node%s, %lld tensor%s%s%s", (long long)file->opset, nodes,
                     nodes == 1 ? "" : "s", tensors, tensors == 1 ? "" : "s", *by ? ", by " : "",
                     mst_report_name(by, strlen(by), producer));
    mst_report_set(r, NULL, "opset", json_integer(file->opset));
    mst_report_set(r, NULL, "nodes", json_integer(nodes));
    for (size_t i = 0; i < mst_onnx_num_inputs(file); i++) tell_value(r, "input", "inputs", mst_onnx_input(file, i));
    for (size_t i = 0; i < graph->n_output; i++) tell_value(r, "output", "outputs", graph->output[i]);
    MST_TRY(tell_operators(r, graph));
    for (size_t i = 0; i < graph->n_initializer; i++)
        mst_report_tensor(r, graph->initializer[i]->name, file->tensor[i], "");
    return try_graph(r, file);
}

static mst_status inspect_onnx_print(const mst_inspect_source *source, mst_report *r) {
    mst_onnx_file file;
    mst_status status = mst_onnx_file_read(source->path, &file);
    if (status)
        mst_report_title(r, "ONNX", "cannot be read");
    else
        status = tell_model(r, &file);
    mst_onnx_file_free(&file);
    return status;
}

const mst_inspector mst_inspector_onnx = {
    .name = "ONNX", .suffixes = ".onnx", .knows = inspect_onnx_knows, .print = inspect_onnx_print};
