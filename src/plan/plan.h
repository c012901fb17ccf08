/** Plans: how a graph runs on devices.
 *
 *  mst_plan_make imports the part of a graph that the fetches need and puts it through passes, each a file:
 *
 *    prune      import what the fetches need; a fed value cuts off what is behind it
 *    infer      all dtypes and shapes, now that those of the feeds are known
 *    place      a device for each node
 *    simplify   fold what is constant, merge what is the same
 *    fuse       several nodes into one kernel
 *    schedule   one order for all nodes; writers of variables after the readers of their phase
 *    partition  the order cut by devices, with a send and a receive where a value crosses
 *    select     the fastest kernel that does each node
 *    memory     one arena a device, memory reused as values die, in place where an op allows it
 *    compile    the array of kernel calls that a device walks
 *
 *  A plan does not change afterwards, and running it allocates nothing.
 */
#ifndef MUSTER_PLAN_PLAN_H
#define MUSTER_PLAN_PLAN_H

#include <stdio.h>

#include "base/arena.h"
#include "device/device.h"
#include "kernel/kernel.h"
#include "muster/session.h"

typedef enum mst_where {
    MST_IN_ARENA = 0,
    MST_IN_VARIABLE,
    MST_IN_CONSTANT,
    MST_IN_FEED /**< memory of the caller, known when the run begins */
} mst_where;

typedef struct mst_plan_value {
    mst_spec spec;
    int32_t node;         /**< that makes it */
    int32_t root;         /**< value whose memory it is: itself, or that which it is a view of */
    mst_where where;      /**< of a root */
    mst_tensor *constant; /**< what it is, where that is known */
    int64_t offset;       /**< in the device's arena */
    void *data;           /**< address; NULL while in a feed */
    int32_t feed;         /**< number of the feed, for MST_IN_FEED */
    int32_t num_uses;     /**< live consumers, shape-only ones left out */
} mst_plan_value;

typedef struct mst_plan_node {
    const mst_op *op;
    const void *options;
    const char *name;
    const mst_node *origin; /**< NULL for nodes that passes make */
    const char *asked;      /**< device asked for */
    int32_t num_src, num_control, num_dst;
    int32_t *src;     /**< values */
    int32_t *control; /**< nodes */
    int32_t dst;      /**< first of num_dst values in a row */
    int32_t device;
    int32_t phase;    /**< see schedule.c */
    int32_t position; /**< in the order of all nodes */
    bool writer;      /**< changes a variable */
    bool dead;
    bool materialize;         /**< a view that must keep its value: a copy */
    const mst_kernel *kernel; /**< NULL: the reference */
    mst_kernel_function run;
    void *state;
    size_t workspace;
} mst_plan_node;

/** The state of a node that is a feed, a fetch, a send or a receive. */
typedef struct mst_plan_port {
    int32_t index; /**< of the feed, fetch or crossing */
    void *run;     /**< set by who runs the plan: what the kernel works with */
} mst_plan_port;

/** One call: what a device's thread does next. */
typedef struct mst_call_item {
    mst_kernel_function run;
    mst_kernel_args args;
    int32_t node;
} mst_call_item;

/** What one device does in a step. */
typedef struct mst_program {
    int32_t *node; /**< plan nodes in order */
    int64_t num_nodes, node_capacity;
    mst_call_item *item;
    int64_t num_items;
    char *arena;
    int64_t arena_bytes, workspace_bytes;
} mst_program;

/** A pointer in a call that is set when the run begins: DATA of the feed plus OFFSET. */
typedef struct mst_patch {
    void **data;
    int32_t feed;
} mst_patch;

typedef struct mst_plan mst_plan;

/** What passes need of the session. */
typedef struct mst_plan_host {
    const mst_devices *devices;
    const mst_session_options *options;
    void *context;
    /** Makes storage, side by side, for those of these variables that have none; NODES in the order of the graph. */
    mst_status (*store)(void *context, const mst_node *const *nodes, int64_t num_nodes, int device);
    /** Address of the storage of a variable. */
    void *(*variable)(void *context, const mst_node *node);
    /** Bytes on a device of all variables, and of the plans that are kept. */
    int64_t (*held_bytes)(void *context, int device);
    /** Kernels of the ops that only plans have; args->state is their mst_plan_port. */
    mst_kernel_function feed, fetch, send, receive;
} mst_plan_host;

/** A value to send from one device to another, or, without a value, only the news that a node is done. */
typedef struct mst_crossing {
    const char *key; /**< "name;from;to" */
    int32_t from, to;
} mst_crossing;

struct mst_plan {
    mst_arena memory;
    const mst_graph *graph;
    const mst_plan_host *host;
    mst_plan_node *node;
    int64_t num_nodes, node_capacity;
    mst_plan_value *value;
    int64_t num_values, value_capacity;
    int num_feeds, num_fetches;
    const mst_feed *feed;   /**< of the call that made the plan; only in passes */
    const mst_value *fetch; /**< likewise */
    int32_t *feed_value;    /**< value of each feed, -1 where nothing needs it */
    int32_t *fetch_node;    /**< node of each fetch */
    int32_t *order;         /**< live nodes, as they would run on one device */
    int64_t num_order;
    mst_program *program; /**< one a device */
    mst_crossing *crossing;
    int64_t num_crossings, crossing_capacity;
    mst_patch *patch;
    int64_t num_patches, patch_capacity;
    mst_plan_port **port; /**< states of all feed, fetch, send and receive nodes */
    int64_t num_ports, port_capacity;
    const mst_node **read, **written; /**< variables whose values the plan needs; that it gives one to */
    int64_t num_read, num_written;
    bool reads_initialized; /**< all of `read` were seen to have values */
};

MST_CHECKED mst_status mst_plan_make(const mst_graph *graph, const mst_plan_host *host, const mst_feed *feeds,
                                     int num_feeds, const mst_value *fetches, int num_fetches, mst_plan **out);
void mst_plan_destroy(mst_plan *plan);
/** One line a live node. */
void mst_plan_print(const mst_plan *plan, FILE *file, const char *title);

/* ---- passes ---- */
MST_CHECKED mst_status mst_plan_prune(mst_plan *plan);
MST_CHECKED mst_status mst_plan_infer(mst_plan *plan);
MST_CHECKED mst_status mst_plan_place(mst_plan *plan);
MST_CHECKED mst_status mst_plan_simplify(mst_plan *plan);
MST_CHECKED mst_status mst_plan_fuse(mst_plan *plan);
MST_CHECKED mst_status mst_plan_schedule(mst_plan *plan);
MST_CHECKED mst_status mst_plan_partition(mst_plan *plan);
MST_CHECKED mst_status mst_plan_select(mst_plan *plan);
MST_CHECKED mst_status mst_plan_memory(mst_plan *plan);
MST_CHECKED mst_status mst_plan_compile(mst_plan *plan);

/* ---- what passes share ---- */

/** Appends a node with NUM_DST values after it; sources and control sources are copied. */
/** The state of feed, fetch, send and receive nodes. */
MST_CHECKED mst_status mst_plan_add_port(mst_plan *plan, int32_t node, int32_t index);
MST_CHECKED mst_status mst_plan_add(mst_plan *plan, const mst_plan_node *node, const int32_t *src, const mst_spec *dst,
                                    int32_t *out);
/** Marks what no fetch needs as dead, and counts uses. */
MST_CHECKED mst_status mst_plan_sweep(mst_plan *plan);
/** Fills an inference context of a node; SPEC has room for its sources. */
mst_infer mst_plan_infer_context(const mst_plan *plan, const mst_plan_node *node, mst_spec *spec, mst_spec *dst);
/** True where source I of the node counts for its shape only. */
bool mst_plan_shape_only(const mst_plan_node *node, int i);
/** Sets `phase` of all nodes. */
void mst_plan_phases(mst_plan *plan);
/** True where nothing runs for the node: storage, constants, views, groups, feeds of tensors. */
bool mst_plan_is_silent(const mst_plan *plan, const mst_plan_node *node);
bool mst_plan_is_variable(const mst_plan *plan, int32_t value);
bool mst_plan_writes(const mst_plan_node *node, int i);

/* Ops that only plans have: a fed value, a fetched one, and both ends of a crossing. */
extern const mst_op mst_op_feed, mst_op_fetch, mst_op_send, mst_op_receive;

#endif
