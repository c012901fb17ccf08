/** The inside of a bundle that is read. */
#ifndef MUSTER_FORMAT_BUNDLE_INSIDE_H
#define MUSTER_FORMAT_BUNDLE_INSIDE_H

#include "base/arena.h"
#include "format/bundle.h"
#include "format/byte_source.h"
#include "graph/graph.h"

struct mst_bundle {
    char *name; /**< for messages: the prefix */
    mst_arena arena;
    mst_bundle_entry *entry; /**< by key */
    int64_t count, capacity;
    mst_bytes *shard;
    int64_t num_shards, shard_capacity;
    mst_names names;          /**< of the object graph -> entry */
    const char **object_name; /**< like entry; NULL: no object graph */
};

/** Reads the object graph, where there is one. */
MST_CHECKED mst_status mst_bundle_read_names(mst_bundle *bundle);
/** Fills TENSOR, of the shape of entry I, from its slices. */
MST_CHECKED mst_status mst_bundle_read_slices(const mst_bundle *bundle, int64_t i, mst_tensor *tensor);
/** The entry of the SIZE bytes of KEY, or -1. */
int64_t mst_bundle_find_key(const mst_bundle *bundle, const char *key, size_t size);

#endif
