/* clang -fsanitize=fuzzer,address,undefined: what the chief tells a parameter server at the beginning. What is read can
 * be written, and that is read again. */
#include <string.h>

#include "memory.h"
#include "parameter_server/ps_begin.h"

static bool decode(const void *data, size_t size, mst_ps_job *job, mst_graph **graph, mst_snapshot **state) {
    return mst_ps_begin_decode(data, size, job, graph, state) == MST_OK;
}

static void read_input(const uint8_t *data, size_t size) {
    mst_ps_job job, again;
    mst_graph *graph, *second_graph;
    mst_snapshot *state, *second;
    void *bytes;
    size_t count;
    if (!decode(data, size, &job, &graph, &state)) return;
    if (!mst_ps_begin_encode(&job, 0, graph, state, &bytes, &count)) {
        if (!decode(bytes, count, &again, &second_graph, &second)) __builtin_trap();
        if (memcmp(&job, &again, sizeof job) != 0) __builtin_trap();
        mst_graph_destroy(second_graph);
        mst_snapshot_release(second);
        free(bytes);
    }
    mst_graph_destroy(graph);
    mst_snapshot_release(state);
}

FUZZ(read_input, 64, 1 << 20)
