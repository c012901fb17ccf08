/** Graphs: the nodes and values of a computation.
 *
 *  A graph is an arena of nodes that only grows. It is built by expressions, and errors are checked once at the end:
 *
 *      mst_value y = mst_relu(mst_add(mst_matmul(x, w), b));
 *      if (mst_graph_check(g)) puts(mst_error()->message);
 *
 *  The graph keeps the first mistake, with node names and shapes; mst_graph_check() or compiling reports it. Every
 *  later value that depends on the mistake is an error value.
 *
 *  Only one thread at a time may build a graph or use its values. If two threads change it at once, or one changes it
 *  while a session in another begins to run it, the second gets MST_INVALID. After that the graph must not be used any
 *  more.
 */
#ifndef MUSTER_GRAPH_H
#define MUSTER_GRAPH_H

#include "muster/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_graph mst_graph;
typedef struct mst_node mst_node;
struct mst_op;

/** One output of a node. Small, copied freely, valid as long as its graph. */
typedef struct mst_value {
    mst_node *node;
    int32_t index;
} mst_value;

/** An array of values, for functions that take one and the number of its elements:
 *  `mst_session_run(session, NULL, 0, MST_VALUES(loss, train), 2, outputs)`, in C and in C++. It lives as long as the
 *  objects of macros in muster/named.h. */
#ifdef __cplusplus
#define MST_NONE (mst_value{})
extern "C++" {
template <class... T>
struct mst_values_ {
    mst_value value[sizeof...(T)];
};
template <class... T>
inline mst_values_<T...> mst_values_of_(T... value) {
    return {{value...}};
}
}
#define MST_VALUES(...) (mst_named_(mst_values_of_(__VA_ARGS__)).value)
#else
#define MST_NONE ((mst_value){0})
#define MST_VALUES(...) ((mst_value[]){__VA_ARGS__})
#endif

/** What is known about a value before a run: dtype, and shape with -1 for dimensions not known yet. */
typedef struct mst_spec {
    mst_dtype dtype;
    mst_shape shape;
} mst_spec;

MST_API MST_CHECKED mst_status mst_graph_create(mst_graph **out);
/** Frees the graph and all its nodes. Its sessions must have been destroyed. NULL is allowed. */
MST_API void mst_graph_destroy(mst_graph *graph);
/** MST_OK, or the first mistake made while building. */
MST_API MST_CHECKED mst_status mst_graph_check(const mst_graph *graph);
/** Sets the seed of all random numbers of this graph; 0 by default. */
MST_API void mst_graph_set_seed(mst_graph *graph, uint64_t seed);
MST_API uint64_t mst_graph_seed(const mst_graph *graph);
/** Grows by one with each node: while it stays the same, no node was added. */
MST_API uint64_t mst_graph_version(const mst_graph *graph);
MST_API int64_t mst_graph_num_nodes(const mst_graph *graph);
MST_API mst_node *mst_graph_node(const mst_graph *graph, int64_t id);
/** Node by full name, or NULL. */
MST_API mst_node *mst_graph_find(const mst_graph *graph, const char *name);
/** One line per node: `name = op(sources) {options} : dtype[shape] @device`. Caller frees the text. */
MST_API MST_CHECKED mst_status mst_graph_print(const mst_graph *graph, char **text);

/* ---- graph files ----------------------------------------------------------------------------------
 *
 * A graph is written as TensorFlow's GraphDef, which TensorFlow and TensorBoard read; docs/graph-files.md describes the
 * format. Nodes with their options, devices and control edges, collections and the seed are read back unchanged. The
 * graph prints the same, is planned the same and computes the same bits. Open scopes are not written. Ops are written
 * by name: a program that reads the graph must have registered ops of its own (mst_register_op) first. */

/** Writes GRAPH to a temporary file, syncs it and renames it to PATH. PATH is therefore always the whole old file or
 *  the whole new one. Fails with the graph's own first mistake; with MST_INVALID, naming node and option, if an option
 *  is a pointer; with MST_INVALID if the file would have 2 GiB or more; with MST_IO. */
MST_API MST_CHECKED mst_status mst_graph_write(const mst_graph *graph, const char *path);
/** As mst_graph_write, to memory: *DATA, of *SIZE bytes, is freed by the caller with free(). The same graph gives the
 *  same bytes. */
MST_API MST_CHECKED mst_status mst_graph_encode(const mst_graph *graph, void **data, size_t *size);
/** Reads a graph that mst_graph_write, or another program, wrote. *OUT is owned by the caller, and NULL after a
 *  failure. MST_NOT_FOUND and MST_IO for the file. MST_CORRUPT if its bytes are not a GraphDef or contradict each
 *  other. MST_INVALID if an op or an option is unknown or a shape is impossible. Each message names the file and the
 *  node. */
MST_API MST_CHECKED mst_status mst_graph_read(const char *path, mst_graph **out);
/** As mst_graph_read, from SIZE bytes at DATA, which are not needed afterwards. */
MST_API MST_CHECKED mst_status mst_graph_decode(const void *data, size_t size, mst_graph **out);

/** The graph of VALUE; NULL for MST_NONE. */
MST_API mst_graph *mst_value_graph(mst_value value);
/** Dtype and shape as far as they are known; the dtype is MST_NO_DTYPE if mst_value_is_none(VALUE). */
MST_API mst_spec mst_value_spec(mst_value value);
/** Full name of the node that makes VALUE; "" for MST_NONE. */
MST_API const char *mst_value_name(mst_value value);
/** Gives VALUE's node another name, in the current name scope, and returns VALUE:
 *  `c = mst_rename(mst_add(a, b), "c")`. */
MST_API mst_value mst_rename(mst_value value, const char *name);
/** Output I of the node that makes VALUE. */
MST_API mst_value mst_value_output(mst_value value, int i);
/** True for MST_NONE and for the value of a failed expression. */
MST_API bool mst_value_is_none(mst_value value);
MST_API bool mst_value_equal(mst_value a, mst_value b);

MST_API const char *mst_node_name(const mst_node *node);
MST_API const struct mst_op *mst_node_op(const mst_node *node);
MST_API const void *mst_node_options(const mst_node *node);
MST_API int mst_node_num_src(const mst_node *node);
MST_API mst_value mst_node_src(const mst_node *node, int i);
MST_API int mst_node_num_dst(const mst_node *node);
/** The device that the scopes around the node set, merged; "" if they set none. */
MST_API const char *mst_node_device(const mst_node *node);

/* ---- scopes ---------------------------------------------------------------------------------------
 * Each push is matched by a pop; the mst_with_... blocks do both. Do not leave a block by break, goto or
 * return.
 *
 * A push returns 1 if it opened a scope. It does so even if the name or device is wrong. The graph then keeps the
 * error, and the new scope has the name or device of the outer one. A push returns 0 if it could not open a scope: an
 * argument is NULL, another thread changes the graph, or memory runs out. There is nothing to pop then, and a
 * mst_with_... block is skipped. A pop without its push is an error on the graph. */

/** Nodes made inside are named "NAME/...". A name already used in the outer scope gets a suffix: tower_0, tower_0_1. */
MST_API int mst_name_scope_push(mst_graph *graph, const char *name);
/** Opens the scope with the full name PREFIX ("": the root), whatever scopes are open, never with a suffix. */
MST_API int mst_name_scope_enter(mst_graph *graph, const char *prefix);
MST_API void mst_name_scope_pop(mst_graph *graph);
/** Full name of the innermost name scope without the last '/', "" at the root; valid until the thread's next call. */
MST_API const char *mst_name_scope(const mst_graph *graph);
/** Sets the device of the nodes made inside, such as "/gpu:1". Fields that it leaves out come from the outer scopes.
 *  NULL: no device, whatever the outer scopes say. */
MST_API int mst_device_push(mst_graph *graph, const char *device);
MST_API void mst_device_pop(mst_graph *graph);
/** Nodes made inside run after VALUE's node. */
MST_API int mst_control_push(mst_graph *graph, mst_value value);
MST_API void mst_control_pop(mst_graph *graph);
/** What mst_get_variable does in a variable scope. */
typedef enum mst_reuse {
    MST_REUSE_INHERIT = 0, /**< as in the outer scope; at the root: makes the variable, an error if it exists */
    MST_REUSE_TRUE,        /**< returns the existing variable, an error if there is none */
    MST_REUSE_AUTO         /**< returns the existing variable, or makes it */
} mst_reuse;
/** Variables made inside with mst_get_variable are named "NAME/..."; opens a name scope of the same name too. */
MST_API int mst_variable_scope_push(mst_graph *graph, const char *name, mst_reuse reuse);
MST_API void mst_variable_scope_pop(mst_graph *graph);

/* __COUNTER__ gives the loop variable of each block a name of its own, so that nested blocks do not shadow it. */
#define MST_SCOPE_BLOCK_(push, pop) MST_SCOPE_BLOCK_NAMED_(MST_SCOPE_NAME_(__COUNTER__), push, pop)
#define MST_SCOPE_BLOCK_NAMED_(name, push, pop) MST_SCOPE_LOOP_(name, push, pop)
#define MST_SCOPE_LOOP_(name, push, pop) for (int name = (push); name; (void)(pop), name = 0)
#define MST_SCOPE_NAME_(number) MST_SCOPE_PASTE_(mst_scope_, number)
#define MST_SCOPE_PASTE_(a, b) a##b
#define mst_with_name(g, name) MST_SCOPE_BLOCK_(mst_name_scope_push((g), (name)), mst_name_scope_pop(g))
#define mst_with_device(g, device) MST_SCOPE_BLOCK_(mst_device_push((g), (device)), mst_device_pop(g))
#define mst_with_control(g, value) MST_SCOPE_BLOCK_(mst_control_push((g), (value)), mst_control_pop(g))
#define mst_with_variables(g, name, reuse) \
    MST_SCOPE_BLOCK_(mst_variable_scope_push((g), (name), (reuse)), mst_variable_scope_pop(g))

/* ---- what a run reads and writes --------------------------------------------------------------------
 * Variables (mst_variable) are written by mst_assign, mst_assign_add, mst_assign_sub and by updates. What a run reads
 * and writes does not depend on devices, on what may fail, or on what else is fetched in which order:
 *
 *   - The phase of a node is the largest number of writers on any path of sources and control sources to it.
 *   - A reader sees all writes of earlier phases and none of its own phase. So if no node depends on a write, all
 *     readers see the values before the run.
 *   - A writer reads its sources by the same rule: mst_assign(a, b) and mst_assign(b, a) in one run swap a and b.
 *   - Writers of one phase write in the order in which they were made.
 *
 * The output of an assignment is the variable: a node that reads it sees the variable in the node's own phase. Any
 * other value, even that of mst_identity(variable), is computed in the phase of its node and does not change later. */

/* ---- collections ---------------------------------------------------------------------------------- */

#define MST_TRAINABLE "trainable_variables"
#define MST_VARIABLES "variables"
#define MST_LOSSES "losses"
#define MST_SUMMARIES "summaries"
/** Pairs of values: a variable that is not trained, such as a moving statistic, and then its value after a training
 *  step. Strategies make these updates; in a graph of your own, mst_state_updates does. */
#define MST_UPDATES "updates"

/** Adds VALUE to the named list of the graph. */
MST_API void mst_collect(mst_graph *graph, const char *collection, mst_value value);
/** Copies up to MAX values of the collection to OUT, which may be NULL, in the order they were added. Only values whose
 *  node names begin with SCOPE (NULL: all) are copied. Returns how many such values there are, which may be more than
 *  MAX. */
MST_API int mst_collection(const mst_graph *graph, const char *collection, const char *scope, mst_value *out, int max);

/* ---- differentiation ------------------------------------------------------------------------------ */

/** OUT[i] = d(sum of TARGET) / d(SRC[i]), with the shape and dtype of SRC[i]; MST_NONE if TARGET does not
 *  depend on SRC[i]. Nodes are added under the name scope "gradients", each on the device of the node whose gradient
 *  it computes. OUT may be the same array as SRC. For higher orders, call it on its own results. */
MST_API void mst_gradients(mst_value target, const mst_value *src, int num_src, mst_value *out);
/** As mst_gradients, starting from GRADIENT, the gradient of TARGET, which has TARGET's shape and dtype. */
MST_API void mst_gradients_from(mst_value target, mst_value gradient, const mst_value *src, int num_src,
                                mst_value *out);

#ifdef __cplusplus
}
#endif
#endif
