/** Options of ops, optimizers and schedules, described by tables of fields: defaults and ranges, comparison, text. */
#ifndef MUSTER_GRAPH_OPTIONS_H
#define MUSTER_GRAPH_OPTIONS_H

#include "base/arena.h"
#include "muster/op.h"

/** Sets options that are 0 to their defaults and checks ranges. KIND and NAME say in messages whose options these are:
 *  "dense", "layer1". */
MST_CHECKED mst_status mst_options_check(const mst_field *fields, const char *kind, const char *name, void *options);
/** Does the same for the options of a node, and copies strings and tensors into the graph. */
MST_CHECKED mst_status mst_options_resolve(mst_graph *graph, const mst_op *op, const char *node, void *options);
/** Whether all fields have the same values. */
bool mst_options_equal(const mst_field *fields, const void *a, const void *b);
uint64_t mst_options_hash(const mst_field *fields, const void *options);
/** Prints the options that are not 0, such as "axis=1, keep_dims", to TEXT, cut off at SIZE. Returns the length of the
 *  whole text, like snprintf. options_text.c describes the form of each type. */
size_t mst_options_print(const mst_field *fields, const void *options, char *text, size_t size);

/** Memory to which options from a text or a file point until they are copied into a graph. All zeros: empty. */
typedef struct mst_option_memory {
    mst_arena arena;
    mst_tensor **tensor;
    int64_t num_tensors, capacity;
    mst_graph **body;
    int64_t num_bodies, body_capacity;
} mst_option_memory;

/** Takes over the caller's reference to TENSOR, even if it fails. */
MST_CHECKED mst_status mst_option_memory_keep(mst_option_memory *memory, mst_tensor *tensor);
/** Takes over the caller's reference to BODY, even if it fails. */
MST_CHECKED mst_status mst_option_memory_keep_body(mst_option_memory *memory, mst_graph *body);
void mst_option_memory_free(mst_option_memory *memory);

/** Sets the members of OPTIONS that TEXT gives, in the form that mst_options_print writes. Other members stay. GRAPH
 *  (may be NULL) has the nodes that options of type value name. Errors begin with OWNER, and name the option and the
 *  place in TEXT. */
MST_CHECKED mst_status mst_options_parse(const mst_graph *graph, const char *owner, const mst_field *fields,
                                         const char *text, mst_option_memory *memory, void *options);

/** One of several kinds that share an options struct, such as an optimizer or a schedule. */
typedef struct mst_option_kind {
    const char *name;
    const char *const *takes; /**< names of the fields that only some kinds take; ends with NULL */
} mst_option_kind;

/** Fails if an option is set that other kinds take, but kind number KIND does not. */
MST_CHECKED mst_status mst_options_taken(const mst_field *fields, const void *options, const mst_option_kind *kinds,
                                         int num_kinds, int kind);

/** If OP has an option "seed" and it is 0, makes it from the node's name. Inside a seed scope (mst_seed_scope) it is
 *  made from the name below the scope and the scope's salt. */
void mst_options_seed(const mst_graph *graph, const mst_op *op, const char *node, void *options);

#endif
