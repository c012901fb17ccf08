/** The inside of a graph: an arena of nodes, tables of names (names.h), stacks of scopes, collections.
 *
 *  Nodes are numbered in the order they are made, and a node's sources and control sources are always older:
 *  the order of ids is a valid order of execution.
 */
#ifndef MUSTER_GRAPH_GRAPH_H
#define MUSTER_GRAPH_GRAPH_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/argument.h"
#include "base/failure.h"
#include "base/shard_tree.h"
#include "graph/names.h"
#include "muster/op.h"

struct mst_node {
    mst_graph *graph;
    int64_t id; /**< -1 for the error node */
    const char *name;
    const mst_op *op;
    void *options;
    int num_src;
    const mst_value *src;
    int num_control;
    mst_node *const *control;
    int num_dst;
    mst_spec *dst;
    const char *device;
    bool of_gradient;    /**< made by mst_gradients */
    int64_t walk, place; /**< the last walk over the graph that met the node, and its number in it */
};

typedef enum mst_scope_kind { MST_SCOPE_NAME, MST_SCOPE_DEVICE, MST_SCOPE_CONTROL, MST_SCOPE_VARIABLE } mst_scope_kind;

/** Chooses the task on which a new variable is put, by what it holds. */
typedef int (*mst_choose_task)(void *context, const mst_spec *variable);
/** What a scope does with the variables that are made in it: mst_device_setter_push. */
typedef struct mst_device_setter mst_device_setter;

/** The collection of the variables that a parameter server updates, in the order of their gradients. */
#define MST_UPDATED "updated"

/** The shard of a step that a strategy is building, or differentiating. */
typedef struct mst_replica_place {
    int32_t shard, num_shards; /**< of all tasks */
    mst_shards window;         /**< shards of this task */
    bool is_apart;             /**< tasks that keep step, but add nothing up in the midst of one */
    int64_t next_sum;          /**< number of its next sum over the shards (op/elementwise/sum_replicas.h) */
    int64_t first_update;      /**< place of its first in the collection MST_UPDATES */
} mst_replica_place;

/** One frame of the stack of open scopes: what a pop restores. */
typedef struct mst_scope {
    mst_scope_kind kind;
    const char *name_prefix;
    const char *variable_prefix;
    const char *device;              /**< of new nodes */
    const mst_device_setter *setter; /**< of new variables; NULL: they are nodes like others */
    const char *setter_inner;        /**< merged device scopes inside the setter's */
    int first_control, num_control;  /**< of graph->control: those from FIRST_CONTROL to NUM_CONTROL are open */
    mst_reuse reuse;
    const char *seed_prefix; /**< random ops below it take their seeds from the rest of their names; NULL: the whole */
    uint64_t seed_salt;      /**< and from this number */
    mst_replica_place *replica; /**< NULL: nodes are of no shard */
} mst_scope;

typedef struct mst_collection_list {
    const char *name;
    mst_value *value;
    int64_t count, capacity;
} mst_collection_list;

struct mst_graph {
    mst_arena arena;
    atomic_int references;     /**< its maker's, and one for each graph that keeps it as a body */
    const void *_Atomic owner; /**< the thread that changes it now */
    atomic_int readers;        /**< sessions that look up a plan or make one */
    atomic_int misuse;         /**< mst_graph_misuse; where there was one it is not to be used */
    uint64_t seed;
    mst_node error_node; /**< source of all error values */
    mst_node **node;
    int64_t num_nodes, node_capacity;
    int64_t num_walks;
    bool differentiates; /**< nodes that are made now are of gradients */
    mst_names names;     /**< node name -> id */
    mst_names suffixes;  /**< base name -> last suffix given */
    mst_scope current;   /**< prefixes end in '/' or are "" */
    mst_scope *scope;
    int64_t num_scopes, scope_capacity;
    mst_node **control; /**< stack of all open control scopes */
    int64_t control_capacity;
    mst_collection_list *collection;
    int64_t num_collections, collection_capacity;
    mst_tensor **tensor; /**< kept alive by options */
    int64_t num_tensors, tensor_capacity;
    mst_graph **body; /**< kept alive by options, likewise */
    int64_t num_bodies, body_capacity;
    mst_failure failure; /**< the first error; code MST_OK: there is none */
};

/** What a node is made of; all is copied, but for the strings, which are in the graph's arena. */
typedef struct mst_node_parts {
    const mst_op *op;
    const char *name;   /**< full, and not used in the graph */
    const char *device; /**< merged, "" for none */
    int num_src;
    const mst_value *src;
    int num_control;
    mst_node *const *control;
    const void *options; /**< NULL: all zero */
} mst_node_parts;

/** Another reference, to be given back by mst_graph_destroy. */
mst_graph *mst_graph_retain(mst_graph *graph);

/** Adds a node, whatever scopes are open: checks the number of sources and the options, and runs inference. */
MST_CHECKED mst_status mst_graph_add_node(mst_graph *graph, const mst_node_parts *parts, mst_node **out);

/** The right to change a graph, which one thread has at a time; the functions that change it claim it as they begin,
 *  and yield it at their end. One that is called by another inside has it already. */
typedef enum mst_claim { MST_CLAIM_REFUSED = 0, MST_CLAIM_OUTER, MST_CLAIM_NESTED } mst_claim;
/** Refused where another thread has it, or reads the graph: then that is the calling thread's error, and the graph's
 *  for good. */
mst_claim mst_graph_claim(mst_graph *graph);
void mst_graph_yield(mst_graph *graph, mst_claim claim);
/** Between these two a session reads the graph, several at once if they like. MST_INVALID where another thread changes
 *  it; then there is nothing to end, and the graph stays usable. */
MST_CHECKED mst_status mst_graph_read_begin(mst_graph *graph);
void mst_graph_read_end(mst_graph *graph);
/** What two threads have done to a graph at once. */
typedef enum mst_graph_misuse { MST_NOT_MISUSED = 0, MST_BUILT_BY_TWO, MST_BUILT_WHILE_RUN } mst_graph_misuse;

/** Keeps the calling thread's error as the graph's first. */
void mst_graph_keep_error(mst_graph *graph);
/** MST_IS_NULL in a function that adds to GRAPH: the error is kept there too. */
#define MST_IS_NULL_IN(graph, argument) (MST_IS_NULL(argument) && (mst_graph_keep_error(graph), true))
mst_value mst_graph_error_value(mst_graph *graph);
/** Keeps the calling thread's error as GRAPH's first, as mst_graph_keep_error does, and returns GRAPH's error value;
 *  MST_NONE where GRAPH is NULL. */
mst_value mst_value_of_last_error(mst_graph *graph);
/** MST_NO_MEMORY (base/no_memory.h) in a function that adds to GRAPH and returns a value: the error is kept there, and
 *  the result is an error value. */
#define MST_VALUE_NO_MEMORY(graph, ...) mst_value_fail((graph), MST_OUT_OF_MEMORY, "cannot get memory " __VA_ARGS__)
/** A unique full name for BASE in the current name scope, in the arena; NULL where memory runs out. */
const char *mst_graph_unique_name(mst_graph *graph, const char *base);
/** False where NAME cannot be that of a node or a scope; '/' is allowed inside. */
bool mst_name_is_valid(const char *name);
/** NAME, in the arena, is that of a node that was not made here: later names differ from it and from its scopes. */
MST_CHECKED mst_status mst_graph_adopt_name(mst_graph *graph, const char *name);
/** Gives NAME, which no node has yet, back; if it carried the newest suffix of its base, the next node gets that
 *  suffix. */
MST_CHECKED mst_status mst_graph_release_name(mst_graph *graph, const char *name);
/** As mst_call with the sources VARIABLE, which OP writes, and VALUE. VARIABLE may be the output of another writer:
 *  then the variable which that one writes is written, after that write. */
mst_value mst_call_writer(const mst_op *op, mst_value variable, mst_value value);
/** Closes all control scopes until the innermost scope is popped: a variable and its first value belong to no step. */
void mst_control_clear(mst_graph *graph);
/** The value that TEXT names: "matmul" is output 0 of that node, "split:1" output 1. False where there is none. */
bool mst_graph_find_value(const mst_graph *graph, const char *text, mst_value *out);
/** Merges device names field by field, INNER over OUTER, into the arena; NULL and an error set where INNER cannot be
 *  read. */
const char *mst_graph_merge_device(mst_graph *graph, const char *outer, const char *inner);

/** Opens a device scope in which variables go to VARIABLES ("/job:ps"), each on the task that CHOOSE gives, and other
 *  nodes to OTHERS. CONTEXT, of SIZE bytes, is copied; CHOOSE gets the copy. Fields of inner device scopes count before
 *  both; a variable whose scope has another job is not asked about. Closed by mst_device_pop; returns 1 if it opened a
 *  scope, as mst_device_push does. */
int mst_device_setter_push(mst_graph *graph, const char *variables, const char *others, mst_choose_task choose,
                           const void *context, size_t size);
/** Gives NODE, a new variable in such a scope, its device. */
MST_CHECKED mst_status mst_device_setter_place(mst_graph *graph, mst_node *node);

/** Until the innermost scope is popped, random ops take their seeds from their names below the current name scope and
 *  from SALT: what the scope itself is called does not count. */
void mst_seed_scope(mst_graph *graph, uint64_t salt);
/** MST_INVALID, naming the op and the member, where OP is incomplete. */
MST_CHECKED mst_status mst_op_check(const mst_op *op);
/** mst_did_you_mean with the names of all known ops. */
const char *mst_op_did_you_mean(const char *name, char *text, size_t size);

/** Runs infer with the specs given; names for messages are those of NODE and its sources. */
MST_CHECKED mst_status mst_node_infer(const mst_op *op, const void *options, const char *name, int num_src,
                                      const mst_spec *src, const char *const *src_name, int num_dst, mst_spec *dst);

#endif
