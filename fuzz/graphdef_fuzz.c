/* clang -fsanitize=fuzzer,address,undefined: GraphDefs. What is read is written, and that is read as the same. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "muster/graph.h"

static char *printed(const mst_graph *graph) {
    char *text;
    if (mst_graph_print(graph, &text)) __builtin_trap();
    return text;
}

static void read_input(const uint8_t *data, size_t size) {
    mst_graph *graph, *copy;
    void *bytes;
    size_t length;
    if (mst_graph_decode(data, size, &graph)) {
        if (graph || !*mst_error()->message || strchr(mst_error()->message, '\n')) __builtin_trap();
        return;
    }
    if (mst_graph_check(graph) || mst_graph_encode(graph, &bytes, &length)) __builtin_trap();
    if (mst_graph_decode(bytes, length, &copy)) __builtin_trap();
    char *text = printed(graph), *again = printed(copy);
    if (strcmp(text, again) != 0) __builtin_trap();
    free(text);
    free(again);
    free(bytes);
    mst_graph_destroy(copy);
    mst_graph_destroy(graph);
}

FUZZ(read_input, 64, 512 << 10)
