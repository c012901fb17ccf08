/* clang -fsanitize=fuzzer,address,undefined: models of ONNX, which become graphs. */
#include <string.h>

#include "memory.h"
#include "model_file/onnx/onnx_limit.h"
#include "muster/model_file.h"

static void read_input(const uint8_t *data, size_t size) {
    mst_graph *graph;
    if (mst_onnx_decode(data, size, &graph)) {
        if (graph || !*mst_error()->message || strchr(mst_error()->message, '\n')) __builtin_trap();
        return;
    }
    if (mst_graph_check(graph)) __builtin_trap();
    mst_graph_destroy(graph);
}

FUZZ(read_input, 512, MST_ONNX_ROOM_OF_WEIGHTS + (1 << 20))
