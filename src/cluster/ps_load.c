#include "cluster/ps_load.h"

#include <stdlib.h>

#include "base/no_memory.h"

static size_t size_of(int num_ps) {
    return sizeof(mst_ps_load) + (size_t)num_ps * sizeof(int64_t);
}

mst_status mst_ps_load_create(int num_ps, bool by_bytes, mst_ps_load **out) {
    *out = calloc(1, size_of(num_ps));
    if (!*out) return MST_NO_MEMORY("for %d parameter servers", num_ps);
    (*out)->num_ps = num_ps;
    (*out)->by_bytes = by_bytes;
    return MST_OK;
}

size_t mst_ps_load_size(const mst_ps_load *load) {
    return size_of(load->num_ps);
}

static int next_in_turn(mst_ps_load *load) {
    const int chosen = load->next;
    load->next = (chosen + 1) % load->num_ps;
    return chosen;
}

static int fewest_bytes(const mst_ps_load *load) {
    int least = 0;
    for (int p = 1; p < load->num_ps; p++)
        if (load->bytes[p] < load->bytes[least]) least = p;
    return least;
}

int mst_ps_load_give(void *context, const mst_spec *variable) {
    mst_ps_load *load = context;
    const int chosen = load->by_bytes ? fewest_bytes(load) : next_in_turn(load);
    load->bytes[chosen] += mst_shape_count(variable->shape) * (int64_t)mst_dtype_size(variable->dtype);
    return chosen;
}
