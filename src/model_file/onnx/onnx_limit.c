/* A file of a hundred bytes can contain an Expand to terabytes. The shape of each value is known while the graph is
 * built. So values that are too large for their file are refused before memory is allocated for them. The limits are:
 *
 *     depends on an input        each: 128 MiB + 1024 x (bytes of the file + bytes of one example)
 *     depends on none (constant)  all: 128 MiB +   64 x  bytes of the file
 *     of these, what is computed while the file is read: 32 MiB
 *
 * A size that is known only in a run, such as the number of examples, counts as 1 here. The plan of the run knows it
 * and checks the memory of the machine. Tensors that are stored in the file do not count. */
#include "model_file/onnx/onnx_limit.h"

#include "base/byte_count.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/spec.h"

static int64_t times(int64_t a, int64_t b) {
    int64_t product;
    return a < 0 || __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t plus(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* The bytes of one example. */
static int64_t example_bytes(const mst_spec *spec) {
    return times(mst_onnx_known(&spec->shape), (int64_t)mst_dtype_size(spec->dtype));
}

void mst_onnx_limit_begin(mst_onnx_reader *r, const mst_value *input, size_t count) {
    int64_t example = 0;
    for (size_t i = 0; i < count; i++) {
        const mst_spec spec = mst_value_spec(input[i]);
        example = plus(example, example_bytes(&spec));
    }
    r->num_before = r->num_checked = r->graph->num_nodes;
    r->most_value = plus(MST_ONNX_ROOM, times(plus(r->file->bytes, example), MST_ONNX_TIMES_OF_VALUE));
    r->most_constants = plus(MST_ONNX_ROOM, times(r->file->bytes, MST_ONNX_TIMES_OF_CONSTANTS));
}

/* Whether a node depends on an input of the model. Nodes that are older than those of the file are inputs, or variables
 * that an earlier build made. */
static bool depends(const mst_onnx_reader *r, const mst_node *node) {
    for (int i = 0; i < node->num_src; i++) {
        const mst_node *src = node->src[i].node;
        if (src->id < r->num_before ? !(src->op->flags & MST_OP_VARIABLE) : r->depends[src->id - r->num_before])
            return true;
    }
    return false;
}

/* Fails since output OUT of NODE takes too many BYTES. If it is a result of the file's node, its shape is shown in
 * ONNX's order. */
static mst_status refuse_result(const mst_onnx_call *c, const mst_node *node, int out, int64_t bytes) {
    const mst_onnx_reader *r = c->reader;
    const bool constant = !r->depends[node->id - r->num_before];
    char shape[MST_SPEC_TEXT], size[MST_BYTES_TEXT], all[MST_BYTES_TEXT], most[MST_BYTES_TEXT];
    mst_spec spec = node->dst[out], result;
    const char *what = "a tensor inside it,";
    for (size_t i = 0; i < c->node->n_output; i++) {
        if (!mst_value_equal(mst_onnx_result(c, i, &result), (mst_value){(mst_node *)(uintptr_t)node, out})) continue;
        spec = result;
        what = "its result";
    }
    mst_spec_print(&spec, shape, sizeof shape);
    mst_bytes_print(bytes, size, sizeof size);
    mst_bytes_print(r->constant_bytes, all, sizeof all);
    mst_bytes_print(constant ? r->most_constants : r->most_value, most, sizeof most);
    if (constant)
        return MST_FAIL(MST_INVALID,
                        "%s %s takes %s: the constants that the nodes compute would take %s together, and a file of "
                        "this size may have %s: make them smaller, or store them in the file",
                        what, shape, size, all, most);
    return MST_FAIL(
        MST_INVALID,
        "%s %s takes %s for one example, and a file of this size may have %s: check the sizes that the node "
        "is given",
        what, shape, size, most);
}

static mst_status check_node(const mst_onnx_call *c, const mst_node *node) {
    mst_onnx_reader *r = c->reader;
    const int64_t at = node->id - r->num_before;
    MST_TRY(mst_grow(&r->depends, sizeof *r->depends, at + 1, &r->depends_capacity));
    r->depends[at] = depends(r, node);
    if (node->op->flags & (MST_OP_VARIABLE | MST_OP_CONSTANT)) return MST_OK;
    for (int i = 0; i < node->num_dst; i++) {
        const int64_t bytes = example_bytes(&node->dst[i]);
        if (!r->depends[at]) r->constant_bytes = plus(r->constant_bytes, bytes);
        if (r->depends[at] ? bytes > r->most_value : r->constant_bytes > r->most_constants)
            return refuse_result(c, node, i, bytes);
    }
    return MST_OK;
}

mst_status mst_onnx_limit_check(const mst_onnx_call *c) {
    mst_onnx_reader *r = c->reader;
    for (; r->num_checked < r->graph->num_nodes; r->num_checked++)
        MST_TRY(check_node(c, r->graph->node[r->num_checked]));
    return MST_OK;
}

mst_status mst_onnx_limit_weights(mst_onnx_reader *reader, int64_t bytes) {
    char size[MST_BYTES_TEXT], most[MST_BYTES_TEXT];
    reader->weight_bytes = plus(reader->weight_bytes, bytes);
    if (reader->weight_bytes <= MST_ONNX_ROOM_OF_WEIGHTS) return MST_OK;
    mst_bytes_print(reader->weight_bytes, size, sizeof size);
    mst_bytes_print(MST_ONNX_ROOM_OF_WEIGHTS, most, sizeof most);
    return MST_FAIL(MST_INVALID,
                    "the weights of this node, with those before it, take %s, more than the %s that they "
                    "may have: check its sizes",
                    size, most);
}
