#include "bench/bare_primitive.h"

#include <string.h>

#include "base/openmp.h"
#include "bench/table.h"
#include "kernel/onednn/base/description.h"

typedef struct bare {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t descriptor;
    dnnl_primitive_t primitive;
    int count; /* of operands */
    bare_operand operand[BARE_MAX_OPERANDS];
    dnnl_memory_t memory[BARE_MAX_OPERANDS];
    dnnl_exec_arg_t args[BARE_MAX_OPERANDS];
    size_t size[BARE_MAX_OPERANDS];  /* bytes */
    float *first[BARE_MAX_OPERANDS]; /* of the copies of an array */
    int copies[BARE_MAX_OPERANDS];
} bare;

static dnnl_status_t make(bare *b, bare_describe describe, const void *what, const bare_operand *operand) {
    dnnl_status_t status = dnnl_engine_create(&b->engine, dnnl_cpu, 0);
    if (!status) status = dnnl_stream_create(&b->stream, b->engine, dnnl_stream_default_flags);
    if (!status) status = describe(&b->descriptor, b->engine, what);
    if (!status) status = dnnl_primitive_create(&b->primitive, b->descriptor);
    for (int i = 0; i < BARE_MAX_OPERANDS && operand[i].argument && !status; i++) {
        const int k = b->count, argument = operand[i].argument;
        const mst_const_description array =
            dnnl_primitive_desc_query_md(b->descriptor, dnnl_query_exec_arg_md, argument);
        b->size[k] = dnnl_memory_desc_get_size(array);
        if (b->size[k] == 0) continue;
        status = dnnl_memory_create(&b->memory[k], array, b->engine, DNNL_MEMORY_NONE);
        b->operand[k] = operand[i];
        b->args[k] = (dnnl_exec_arg_t){argument, b->memory[k]};
        b->count++;
    }
    return status;
}

/* Places for the copies of each array. */
static bool place(bare *b, bare_memory *memory) {
    enum { LINE = 64 };
    size_t touched = 0, size[BARE_MEMORIES] = {0};
    for (int i = 0; i < b->count; i++) touched += b->size[i] = (b->size[i] + LINE - 1) / LINE * LINE;
    for (int i = 0; i < b->count; i++) {
        b->copies[i] = b->operand[i].just_touched ? 1 : (int)(memory->span / touched) + 1;
        size[b->operand[i].written ? BARE_WRITTEN : BARE_READ] += b->size[i] * (size_t)b->copies[i];
    }
    float *next[BARE_MEMORIES];
    for (int which = 0; which < BARE_MEMORIES; which++) {
        next[which] = bare_memory_take(memory, which, size[which]);
        if (!next[which]) return false;
    }
    for (int i = 0; i < b->count; i++) {
        const size_t all = b->size[i] * (size_t)b->copies[i];
        const int which = b->operand[i].written ? BARE_WRITTEN : BARE_READ;
        b->first[i] = next[which];
        next[which] += all / sizeof(float);
        /* The workspace of pooling has for each window the place of its largest element: the first for all. */
        if (b->operand[i].argument == DNNL_ARG_WORKSPACE) memset(b->first[i], 0, all);
    }
    return true;
}

/* The next copies. */
static dnnl_status_t turn(const bare *b, int64_t time) {
    dnnl_status_t status = dnnl_success;
    for (int i = 0; i < b->count && !status; i++)
        status = dnnl_memory_set_data_handle(b->memory[i],
                                             b->first[i] + b->size[i] / sizeof(float) * (size_t)(time % b->copies[i]));
    return status;
}

double bare_primitive_seconds(bare_describe describe, const void *what, const bare_operand *operand, double seconds,
                              bare_memory *memory) {
    bare b = {0};
    int threads;
    double best = -1;
    dnnl_status_t status = mst_openmp_begin(&threads) ? dnnl_out_of_memory : make(&b, describe, what, operand);
    if (!status && !place(&b, memory)) status = dnnl_out_of_memory;
    const double start = bench_now();
    for (int64_t i = 0; !status && (i < 3 || bench_now() - start < seconds); i++) {
        status = turn(&b, i);
        const double before = bench_now();
        if (!status) status = dnnl_primitive_execute(b.primitive, b.stream, b.count, b.args);
        const double took = bench_now() - before;
        if (i > 0 && (best < 0 || took < best)) best = took;
    }
    mst_openmp_end(threads);
    for (int i = 0; i < BARE_MAX_OPERANDS; i++)
        if (b.memory[i]) dnnl_memory_destroy(b.memory[i]);
    if (b.primitive) dnnl_primitive_destroy(b.primitive);
    if (b.descriptor) dnnl_primitive_desc_destroy(b.descriptor);
    if (b.stream) dnnl_stream_destroy(b.stream);
    if (b.engine) dnnl_engine_destroy(b.engine);
    return status ? -1 : best;
}
