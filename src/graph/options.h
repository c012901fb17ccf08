/** Options of ops, optimizers and schedules, by their tables of fields: defaults and ranges, comparing, text. */
#ifndef MUSTER_GRAPH_OPTIONS_H
#define MUSTER_GRAPH_OPTIONS_H

#include "base/arena.h"
#include "muster/op.h"

/** Sets options that are 0 to their initial values and checks ranges; KIND and NAME are of what has them, for messages:
 *  "dense", "layer1". */
MST_CHECKED mst_status mst_options_check(const mst_field *fields, const char *kind, const char *name, void *options);
/** The same for the options of a node, and copies strings and tensors into the graph. */
MST_CHECKED mst_status mst_options_resolve(mst_graph *graph, const mst_op *op, const char *node, void *options);
/** Same values of all fields. */
bool mst_options_equal(const mst_field *fields, const void *a, const void *b);
uint64_t mst_options_hash(const mst_field *fields, const void *options);
/** "axis=1, keep_dims": the options that are not 0, to TEXT, cut off at SIZE. Returns the length of all of it, as
 *  snprintf does. options_text.c says how each type is written. */
size_t mst_options_print(const mst_field *fields, const void *options, char *text, size_t size);

/** What options that are read from text or from a file point to, until they are copied into a graph. Zero-initialised
 *  is empty. */
typedef struct mst_option_memory {
    mst_arena arena;
    mst_tensor **tensor;
    int64_t num_tensors, capacity;
    mst_graph **body;
    int64_t num_bodies, body_capacity;
} mst_option_memory;

/** Takes over the caller's reference to TENSOR, also where it fails. */
MST_CHECKED mst_status mst_option_memory_keep(mst_option_memory *memory, mst_tensor *tensor);
/** The same of BODY. */
MST_CHECKED mst_status mst_option_memory_keep_body(mst_option_memory *memory, mst_graph *body);
void mst_option_memory_free(mst_option_memory *memory);

/** Sets the members of OPTIONS that TEXT gives, in the form that mst_options_print writes; the others stay. Values are
 *  those of GRAPH (may be NULL). Errors begin with OWNER, and name the option and the place in TEXT. */
MST_CHECKED mst_status mst_options_parse(const mst_graph *graph, const char *owner, const mst_field *fields,
                                         const char *text, mst_option_memory *memory, void *options);

/** One of several things that share an options struct: optimizers, schedules. */
typedef struct mst_option_kind {
    const char *name;
    const char *const *takes; /**< names of the fields that not all kinds have, ended by NULL */
} mst_option_kind;

/** Error where an option is set that kind number KIND does not take and another does. */
MST_CHECKED mst_status mst_options_taken(const mst_field *fields, const void *options, const mst_option_kind *kinds,
                                         int num_kinds, int kind);

/** An op option "seed" that is 0 gets a value made from the node's name; inside a seed scope, from the name below it
 *  and the scope's salt. */
void mst_options_seed(const mst_graph *graph, const mst_op *op, const char *node, void *options);

#endif
