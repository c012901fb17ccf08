/* clang -fsanitize=fuzzer,address,undefined: options as text. The first byte chooses an op, the rest are its options;
 * what is read is printed, and that is read as the same. */
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "graph/options.h"
#include "memory.h"
#include "muster/ops.h"

static const mst_op *op_of(uint8_t number) {
    int count = 0;
    while (mst_op_at(count)) count++;
    return mst_op_at(number % count);
}

/* Reads TEXT, and prints it again; NULL where it cannot be read. The caller frees it. */
static char *normal(const mst_graph *graph, const mst_op *op, const char *text) {
    mst_option_memory memory = {0};
    char *printed = NULL;
    void *options = calloc(1, op->options_size + 1);
    if (!options) return NULL;
    if (!mst_options_parse(graph, op->name, op->fields, text, &memory, options)) {
        const size_t length = mst_options_print(op->fields, options, NULL, 0);
        printed = malloc(length + 1);
        if (printed && mst_options_print(op->fields, options, printed, length + 1) != length) __builtin_trap();
    } else if (!*mst_error()->message || strchr(mst_error()->message, '\n')) {
        __builtin_trap();
    }
    mst_option_memory_free(&memory);
    free(options);
    return printed;
}

static void read_input(const uint8_t *data, size_t size) {
    if (!size) return;
    mst_graph *graph;
    if (mst_graph_create(&graph)) return;
    mst_placeholder(graph, MST_F32, MST_SHAPE(2), "x");
    const mst_op *op = op_of(data[0]);
    char *text = malloc(size);
    if (text) {
        memcpy(text, data + 1, size - 1);
        text[size - 1] = '\0';
        char *once = normal(graph, op, text), *twice = once ? normal(graph, op, once) : NULL;
        const bool left_out = once && strstr(once, "(...)"); /* the numbers of a large tensor */
        if (once && !left_out && (!twice || strcmp(once, twice) != 0)) __builtin_trap();
        free(once);
        free(twice);
    }
    free(text);
    mst_graph_destroy(graph);
}

FUZZ(read_input, 64, 256 << 10)
