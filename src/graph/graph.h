/** The inside of a graph: an arena of nodes, tables of names (names.h), stacks of scopes, collections.
 *
 *  Nodes are numbered in the order in which they are made. A node's sources and control sources are always older, so
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
    int64_t id; /**< -1: the error node */
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
    bool soft;           /**< its device was chosen by mst_soft_device_push */
    bool of_gradient;    /**< made by mst_gradients */
    int32_t shard;       /**< the shard to which it belongs, among those of all tasks; -1: none, or the only one */
    int64_t walk, place; /**< the number of the last walk over the graph that met the node; its number in that walk */
};

typedef enum mst_scope_kind { MST_SCOPE_NAME, MST_SCOPE_DEVICE, MST_SCOPE_CONTROL, MST_SCOPE_VARIABLE } mst_scope_kind;

/** Returns the index of the task for a new variable, whose dtype and shape are in VARIABLE. */
typedef int (*mst_choose_task)(void *context, const mst_spec *variable);
/** Decides where the variables of a scope are put: mst_device_setter_push. */
typedef struct mst_device_setter mst_device_setter;

/** The collection of variables that a parameter server updates, in the order of their gradients. */
#define MST_UPDATED "updated"

/** The shard whose graph a strategy is building or differentiating. */
typedef struct mst_replica_place {
    int32_t shard, num_shards; /**< num_shards: shards of all tasks */
    mst_shards window;         /**< shards of this task */
    bool is_apart;             /**< tasks make steps together, but within a step nothing is summed over all shards */
    int64_t next_sum;          /**< number of the next sum over the shards (op/elementwise/sum_replicas.h) */
    int64_t first_update;      /**< place of this shard's first update in the collection MST_UPDATES */
} mst_replica_place;

/** One frame of the stack of open scopes: what a pop restores. */
typedef struct mst_scope {
    mst_scope_kind kind;
    const char *name_prefix;
    const char *variable_prefix;
    const char *device;              /**< device of new nodes */
    bool soft;                       /**< mst_soft_device_push has chosen it */
    const mst_device_setter *setter; /**< places new variables; NULL: variables get `device` like other nodes */
    const char *setter_inner;        /**< merged devices of the scopes that were opened inside that of `setter` */
    int first_control, num_control;  /**< the control nodes that are open: in graph->control, from index first_control
                                      *   to num_control - 1 */
    mst_reuse reuse;
    const char *seed_prefix;    /**< the seed of a random op is made from its name without this prefix; NULL: from the
                                  whole name */
    uint64_t seed_salt;         /**< the seed is also made from this number */
    mst_replica_place *replica; /**< NULL: nodes belong to no shard */
} mst_scope;

typedef struct mst_collection_list {
    const char *name;
    mst_value *value;
    int64_t count, capacity;
} mst_collection_list;

struct mst_graph {
    mst_arena arena;
    atomic_int references;     /**< one of its maker, and one of each graph that keeps it as a body */
    const void *_Atomic owner; /**< the thread that changes it now; NULL: none */
    atomic_int readers;        /**< number of sessions that look up or make a plan */
    atomic_int misuse;         /**< mst_graph_misuse; a misused graph must not be used */
    uint64_t seed;
    mst_node error_node; /**< the node of all error values */
    mst_node **node;
    int64_t num_nodes, node_capacity;
    int64_t num_walks;
    bool differentiates; /**< nodes that are made now belong to gradients */
    mst_names names;     /**< node name -> id */
    mst_names suffixes;  /**< base name -> last suffix given */
    mst_scope current;   /**< the innermost open scope; prefixes end in '/' or are "" */
    mst_scope *scope;
    int64_t num_scopes, scope_capacity;
    mst_node **control; /**< stack of all open control scopes */
    int64_t control_capacity;
    mst_collection_list *collection;
    int64_t num_collections, collection_capacity;
    mst_tensor **tensor; /**< tensors to which options refer, kept alive */
    int64_t num_tensors, tensor_capacity;
    mst_graph **body; /**< bodies to which options refer, kept alive */
    int64_t num_bodies, body_capacity;
    mst_failure failure; /**< the first error; code MST_OK: none */
};

/** What a node is made from. All is copied, except the strings, which must be in the graph's arena. */
typedef struct mst_node_parts {
    const mst_op *op;
    const char *name;   /**< full name, not used in the graph yet */
    const char *device; /**< merged device name; "": none */
    int num_src;
    const mst_value *src;
    int num_control;
    mst_node *const *control;
    const void *options; /**< NULL: all zeros */
} mst_node_parts;

/** Adds a reference, which mst_graph_destroy drops. */
mst_graph *mst_graph_retain(mst_graph *graph);

/** Adds a node, whatever scopes are open: checks the number of sources and the options, and runs inference. */
MST_CHECKED mst_status mst_graph_add_node(mst_graph *graph, const mst_node_parts *parts, mst_node **out);

/** The right to change a graph, which only one thread has at a time. Functions that change a graph claim it at their
 *  beginning, and yield it at their end. If such a function calls another, the graph is already claimed by the same
 *  thread (MST_CLAIM_NESTED). */
typedef enum mst_claim { MST_CLAIM_REFUSED = 0, MST_CLAIM_OUTER, MST_CLAIM_NESTED } mst_claim;
/** Claims a graph. Refused if another thread has claimed it, or if a session reads it. The refusal is recorded as the
 *  calling thread's error, and the graph is marked as misused (mst_graph_misuse). */
mst_claim mst_graph_claim(mst_graph *graph);
void mst_graph_yield(mst_graph *graph, mst_claim claim);
/** Begins and ends a session's reading of the graph; several may read at once. MST_INVALID if another thread changes
 *  the graph: then nothing has to be ended, and the graph stays usable. */
MST_CHECKED mst_status mst_graph_read_begin(mst_graph *graph);
void mst_graph_read_end(mst_graph *graph);
/** How two threads have used a graph at the same time, which is not allowed. */
typedef enum mst_graph_misuse { MST_NOT_MISUSED = 0, MST_BUILT_BY_TWO, MST_BUILT_WHILE_RUN } mst_graph_misuse;

/** Keeps the calling thread's error as the graph's, if it is the graph's first. */
void mst_graph_keep_error(mst_graph *graph);
/** As MST_IS_NULL, for a function that adds to GRAPH: the error is kept on GRAPH too. */
#define MST_IS_NULL_IN(graph, argument) (MST_IS_NULL(argument) && (mst_graph_keep_error(graph), true))
mst_value mst_graph_error_value(mst_graph *graph);
/** Does mst_graph_keep_error, and returns GRAPH's error value; MST_NONE if GRAPH is NULL. */
mst_value mst_value_of_last_error(mst_graph *graph);
/** As MST_NO_MEMORY (base/no_memory.h), for a function that adds to GRAPH and returns a value: the error is kept on
 *  GRAPH, and the result is an error value. */
#define MST_VALUE_NO_MEMORY(graph, ...) mst_value_fail((graph), MST_OUT_OF_MEMORY, "cannot get memory " __VA_ARGS__)
/** A unique full name for BASE in the current name scope, in the arena; NULL if memory runs out. */
const char *mst_graph_unique_name(mst_graph *graph, const char *base);
/** Whether NAME can be the name of a node or a scope; '/' is allowed inside. */
bool mst_name_is_valid(const char *name);
/** Notes that NAME, a text in the arena, is used: a node that was copied or read from a file keeps this name. Names
 *  that are made later differ from NAME and from its scopes: "a" and "a/b" for "a/b/c". */
MST_CHECKED mst_status mst_graph_adopt_name(mst_graph *graph, const char *name);
/** Gives back NAME, which no node has yet. If it had the newest suffix of its base, the next node gets this suffix. */
MST_CHECKED mst_status mst_graph_release_name(mst_graph *graph, const char *name);
/** Calls OP, as mst_call does, with the sources VARIABLE and the NUM_VALUES (at most 4) values in VALUE. OP writes
 *  VARIABLE. VARIABLE may be the output of another writer; then OP writes the same variable after that writer. */
mst_value mst_call_writer(const mst_op *op, mst_value variable, int num_values, const mst_value *value);
/** Makes open control scopes have no effect until the innermost scope is popped. This is for a variable and its first
 *  value, which belong to no step. */
void mst_control_clear(mst_graph *graph);
/** Finds the value that TEXT names: "matmul" is output 0 of that node, "split:1" its output 1. False if there is
 *  none. */
bool mst_graph_find_value(const mst_graph *graph, const char *text, mst_value *out);
/** Merges device names field by field, INNER over OUTER, into the arena. NULL with an error set if INNER is no device
 *  name. */
const char *mst_graph_merge_device(mst_graph *graph, const char *outer, const char *inner);
/** Opens a device scope: if HOST is true, for the first CPU of the same task; else a scope that changes nothing.
 *  mst_device_pop closes it. */
int mst_host_push(mst_graph *graph, bool host);
#define mst_with_host(g, host) MST_SCOPE_BLOCK_(mst_host_push((g), (host)), mst_device_pop(g))

/** As mst_device_push, for a device that the library chooses and not the user. If the device compiles and cannot run a
 *  node, the node goes to the CPU of the same task, also without soft placement. This does not hold in inner scopes
 *  that name a type or a number of a device. */
int mst_soft_device_push(mst_graph *graph, const char *device);
#define mst_with_soft_device(g, device) MST_SCOPE_BLOCK_(mst_soft_device_push((g), (device)), mst_device_pop(g))

/** Opens a device scope. Variables go to VARIABLES ("/job:ps"), each on the task that CHOOSE gives, and other nodes go
 *  to OTHERS. CONTEXT, of SIZE bytes, is copied; CHOOSE gets the copy. Fields of inner device scopes take precedence
 *  over both. CHOOSE is not called for a variable whose scope has another job. mst_device_pop closes the scope. Returns
 *  1 if it opened a scope, like mst_device_push. */
int mst_device_setter_push(mst_graph *graph, const char *variables, const char *others, mst_choose_task choose,
                           const void *context, size_t size);
/** Gives NODE, a new variable in such a device scope, its device. */
MST_CHECKED mst_status mst_device_setter_place(mst_graph *graph, mst_node *node);

/** Until the innermost scope is popped, random ops take their seeds from SALT and from their names below the current
 *  name scope. The name of the scope itself has no influence. */
void mst_seed_scope(mst_graph *graph, uint64_t salt);
/** MST_INVALID if OP is incomplete: the error names the op and the member. */
MST_CHECKED mst_status mst_op_check(const mst_op *op);
/** As mst_did_you_mean, with the names of all known ops: suggests the one that is most similar to NAME. */
const char *mst_op_did_you_mean(const char *name, char *text, size_t size);

/** Runs the op's infer with the given specs. NAME and SRC_NAME are the names of the node and its sources for
 *  messages. */
MST_CHECKED mst_status mst_node_infer(const mst_op *op, const void *options, const char *name, int num_src,
                                      const mst_spec *src, const char *const *src_name, int num_dst, mst_spec *dst);

#endif
