/** The struct behind mst_bundle, for the files that read bundles. */
#ifndef MUSTER_FORMAT_BUNDLE_INSIDE_H
#define MUSTER_FORMAT_BUNDLE_INSIDE_H

#include "base/arena.h"
#include "format/bundle.h"
#include "format/byte_source.h"
#include "graph/graph.h"

struct mst_bundle {
    char *name; /**< for messages: the prefix */
    mst_arena arena;
    mst_bundle_entry *entry; /**< [count] sorted by key */
    int64_t count, capacity;
    mst_bytes *shard;
    int64_t num_shards, shard_capacity;
    mst_names names;          /**< from names of the object graph to entries */
    const char **object_name; /**< [count] name of each entry in the object graph; NULL: there is no object graph */
};

/** Reads the object graph, if there is one. */
MST_CHECKED mst_status mst_bundle_read_names(mst_bundle *bundle);
/** Fills TENSOR, of the shape of entry I, from its slices. */
MST_CHECKED mst_status mst_bundle_read_slices(const mst_bundle *bundle, int64_t i, mst_tensor *tensor);
/** The index of the entry whose key is the SIZE bytes at KEY; -1: there is none. */
int64_t mst_bundle_find_key(const mst_bundle *bundle, const char *key, size_t size);

#endif
