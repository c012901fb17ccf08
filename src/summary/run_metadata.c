/* The last run of a trace as TensorFlow's RunMetadata. TensorBoard uses it to color the graph by time, memory and
 * device. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "format/run_metadata.pb-c.h"
#include "graph/graphdef.h"
#include "run/trace.h"
#include "summary/writer.h"

/* Messages are allocated in the arena and refer to the strings of the trace. */
typedef struct writer {
    mst_arena arena;
    int64_t wall_began; /* when the trace began, in microseconds since 1970 */
} writer;

static int64_t microseconds(int64_t nanoseconds) {
    return nanoseconds / 1000;
}

static Muster__NodeOutput *output_of(writer *w, int slot, const mst_spec *spec) {
    struct block {
        Muster__NodeOutput output;
        Muster__TensorDescription description;
        Muster__TensorShapeProto shape;
        Muster__TensorShapeProto__Dim dim[MST_MAX_NDIM], *list[MST_MAX_NDIM];
    } *b = mst_arena_alloc(&w->arena, sizeof *b);
    if (!b) return NULL;
    muster__node_output__init(&b->output);
    muster__tensor_description__init(&b->description);
    muster__tensor_shape_proto__init(&b->shape);
    b->output.slot = slot;
    b->output.tensor_description = &b->description;
    b->description.dtype = mst_dtype_to_proto(spec->dtype);
    b->description.shape = &b->shape;
    b->shape.n_dim = (size_t)spec->shape.ndim;
    b->shape.dim = b->list;
    for (int i = 0; i < spec->shape.ndim; i++) {
        muster__tensor_shape_proto__dim__init(&b->dim[i]);
        b->dim[i].size = spec->shape.dim[i];
        b->list[i] = &b->dim[i];
    }
    return &b->output;
}

static mst_status add_outputs(writer *w, const mst_traced *did, Muster__NodeExecStats *stats) {
    stats->output = mst_arena_alloc(&w->arena, ((size_t)did->num_dst + 1) * sizeof *stats->output);
    if (!stats->output) return MST_NO_MEMORY("for a trace");
    for (int i = 0; i < did->num_dst; i++) {
        Muster__NodeOutput *output = output_of(w, i, &did->dst[i]);
        if (!output) return MST_NO_MEMORY("for a trace");
        stats->output[stats->n_output++] = output;
    }
    return MST_OK;
}

static mst_status fill_stats(writer *w, const mst_traced *did, Muster__NodeExecStats **out) {
    struct block {
        Muster__NodeExecStats stats;
        Muster__AllocatorMemoryUsed memory, *list[1];
    } *b = mst_arena_alloc(&w->arena, sizeof *b);
    if (!b) return MST_NO_MEMORY("for a trace");
    muster__node_exec_stats__init(&b->stats);
    muster__allocator_memory_used__init(&b->memory);
    b->memory.allocator_name = (char *)(uintptr_t) "step";
    b->memory.total_bytes = did->bytes;
    b->list[0] = &b->memory;
    b->stats.n_memory = 1;
    b->stats.memory = b->list;
    b->stats.node_name = b->stats.timeline_label = (char *)(uintptr_t)did->name;
    b->stats.all_start_micros = w->wall_began + microseconds(did->begin);
    /* less than a microsecond is rounded up to 1: the node did take time */
    const int64_t length = microseconds(did->end) - microseconds(did->begin);
    b->stats.op_end_rel_micros = b->stats.all_end_rel_micros = length || did->end == did->begin ? length : 1;
    *out = &b->stats;
    return add_outputs(w, did, &b->stats);
}

/* Whether DID is the work of a node on DEVICE. The start of a compiled program is not; its execution is. */
static bool is_of_node(const mst_traced_device *device, const mst_traced *did) {
    return *did->name != 0 && !did->compiles && !(device->num_programs > 0 && strcmp(did->op, "compiled") == 0);
}

static mst_status fill_device(writer *w, const mst_traced_device *device, Muster__DeviceStepStats **out) {
    Muster__DeviceStepStats *stats = mst_arena_alloc(&w->arena, sizeof *stats);
    if (!stats) return MST_NO_MEMORY("for a trace");
    muster__device_step_stats__init(stats);
    stats->device = (char *)(uintptr_t)device->name;
    const size_t room = (size_t)(device->num_did + device->num_programs + device->num_held) + 1;
    stats->node_stats = mst_arena_alloc(&w->arena, room * sizeof *stats->node_stats);
    if (!stats->node_stats) return MST_NO_MEMORY("for a trace");
    for (int64_t i = 0; i < device->num_did; i++)
        if (is_of_node(device, &device->did[i]))
            MST_TRY(fill_stats(w, &device->did[i], &stats->node_stats[stats->n_node_stats++]));
    for (int64_t i = 0; i < device->num_programs; i++)
        MST_TRY(fill_stats(w, &device->program[i], &stats->node_stats[stats->n_node_stats++]));
    /* nodes that take no time in the run get entries too: TensorBoard hatches nodes without one as not used by the
     * step */
    for (int64_t i = 0; i < device->num_held; i++)
        MST_TRY(fill_stats(w, &device->held[i], &stats->node_stats[stats->n_node_stats++]));
    *out = stats;
    return MST_OK;
}

static mst_status encode(writer *w, const mst_traced_run *run, void **data, size_t *size) {
    Muster__RunMetadata metadata = MUSTER__RUN_METADATA__INIT;
    Muster__StepStats step_stats = MUSTER__STEP_STATS__INIT;
    metadata.step_stats = &step_stats;
    step_stats.dev_stats = mst_arena_alloc(&w->arena, ((size_t)run->num_devices + 1) * sizeof *step_stats.dev_stats);
    if (!step_stats.dev_stats) return MST_NO_MEMORY("for a trace");
    for (int d = 0; d < run->num_devices; d++)
        MST_TRY(fill_device(w, &run->device[d], &step_stats.dev_stats[step_stats.n_dev_stats++]));
    *size = muster__run_metadata__get_packed_size(&metadata);
    if (!(*data = malloc(*size + 1))) return MST_NO_MEMORY("for a trace");
    muster__run_metadata__pack(&metadata, *data);
    return MST_OK;
}

mst_status mst_run_metadata_encode(const mst_trace *trace, void **data, size_t *size) {
    writer w = {.wall_began = (int64_t)(trace->wall_began * 1e6)};
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&trace->lock;
    pthread_mutex_lock(lock);
    mst_status status =
        trace->num_runs ? encode(&w, &trace->run[trace->num_runs - 1], data, size)
                        : MST_FAIL(MST_INVALID, "summary: the trace has no run: give it to mst_session_trace first");
    pthread_mutex_unlock(lock);
    mst_arena_free(&w.arena);
    return status;
}
