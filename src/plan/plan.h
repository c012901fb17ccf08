/** Plans: how a graph runs on devices.
 *
 *  mst_plan_make imports the part of a graph that the fetches need, and runs the passes on it. Each pass is a file;
 *  passes.h lists them.
 *
 *  A plan holds offsets and no addresses, and does not change afterwards. Addresses and the state of a step are in a
 *  frame (run/frame.h).
 */
#ifndef MUSTER_PLAN_PLAN_H
#define MUSTER_PLAN_PLAN_H

#include <stdio.h>

#include "base/arena.h"
#include "collective/group.h"
#include "collective/row_exchange.h"
#include "device/device.h"
#include "kernel/kernel.h"
#include "muster/session.h"
#include "muster/store.h"
#include "plan/passes.h"
#include "plan/program.h"

/** What memory a value is in. */
typedef enum mst_space {
    MST_IN_ARENA = 0, /**< memory of its device that lasts for a step */
    MST_IN_STATE,     /**< a copy of an entry of the store */
    MST_IN_CONSTANT,  /**< memory of its device that lasts as long as the plan */
    MST_IN_FEED,      /**< the caller's tensor */
    MST_IN_LEAF,      /**< memory of an exchange with other tasks, which is the host's: what this task adds to a sum */
    MST_IN_SUM,       /**< likewise: the sum over all tasks */
    MST_NOWHERE       /**< no node needs it, and the kernel does not write it */
} mst_space;

typedef struct mst_plan_value {
    mst_spec spec;
    int32_t node;         /**< the node that makes it */
    int32_t root;         /**< the value in whose memory it lies: itself, or the value of which it is a view */
    int32_t index;        /**< number of the feed, state or exchange in whose memory it is, by `space` */
    int32_t counted_by;   /**< if only the first rows of the value are in use: the value whose first element is the
                               number of these rows. It may be the value itself. -1: all rows are in use */
    int32_t num_uses;     /**< number of uses by live nodes; a use of the shape alone does not count */
    mst_space space;      /**< where it is; meaningful for roots only */
    int64_t shift;        /**< bytes from the beginning of the root to the value */
    mst_tensor *constant; /**< its value if this is known when the plan is made, else NULL */
    int64_t offset; /**< of a root: bytes from the beginning of its device's arena or constants. In an exchange it is a
                         number: v for the sum of value v; v + leaf * number of values for a leaf of value v */
} mst_plan_value;

/** Whether a node runs before the gate (run/gate.h) or behind it. All devices wait for each other at the gate. Behind
 *  it nothing may fail. */
typedef enum mst_region { MST_BODY = 0, MST_COMMIT } mst_region;

/** The part of a step to which a node belongs. On devices that compile, all nodes of a program belong to one part.
 *  Shard S is part S + 1. A part below MST_PART_ALONE has an update node that a single device runs, and the pieces that
 *  this node reads (mst_lowering_alone). In a plan that donates, each update behind the gate has such a part too
 *  (programs.c). */
enum {
    MST_PART_ALONE = -1, /**< each node of this part is a program of its own: sums over shards */
    MST_PART_REST = 0    /**< nodes that belong to no shard, such as the update */
};

typedef struct mst_plan_body mst_plan_body;

typedef struct mst_plan_node {
    const mst_op *op;
    const void *options;
    const char *name;
    const mst_node *origin; /**< node of the graph from which it was made; NULL: a pass made it */
    const char *asked;      /**< name of the device that the graph requests for the node */
    int32_t num_src, num_control, num_dst;
    int32_t *src;     /**< values */
    int32_t *control; /**< nodes */
    int32_t dst;      /**< first of its values: value dst to value dst + num_dst - 1 */
    int32_t device;   /**< device that runs it; of a group: the first */
    int32_t group;    /**< number of the group of devices that run it together, each a part of it; -1: only `device` */
    int32_t part;     /**< MST_PART_REST, MST_PART_ALONE, or another */
    int32_t copy_of;  /**< 1 + the node of which it is a copy for another device (cross.c); 0: it is no copy */
    int64_t made;     /**< number of its node in the graph: writers of one phase write in this order */
    int32_t phase;    /**< largest number of writers on any path to it, see commit.c */
    int32_t earliest; /**< lowest phase that it may have. A node that replaces another one gets the phase of that node
                           or a later one */
    int32_t position; /**< position in the order of all nodes */
    int32_t port;     /**< of a feed or fetch: its number in the call; of both ends of an exchange: the number of the
                           exchange */
    int32_t stream;   /**< of a send to, or a receive from, another task: number of the message, from 1 on; else 0 */
    int32_t peer;     /**< likewise: the other task */
    int64_t staging;  /**< of a feed that a function fills: offset of its value in its device's staging memory */
    mst_region region;
    bool writer;      /**< changes a variable */
    bool fallible;    /**< may fail, so it must come before the gate */
    bool dead;        /**< nothing needs it: it stays in the array, and does not run */
    bool materialize; /**< a view that is copied, because its source is written before its last use */
    bool again;       /**< begins a computation that is repeated (recompute.c): compilers must not merge the two */
    const mst_kernel *kernel; /**< NULL: the op's reference kernel */
    mst_kernel_function run;  /**< what a call runs; NULL: no kernel runs for it, or the pass select has not run yet */
    void *state;              /**< what the kernel has prepared; of a group: an array with one state for each device */
    size_t workspace;         /**< bytes of scratch memory that its kernel needs on each device */
    mst_plan_body *body;      /**< plans of the bodies, which are options of the node, in their order (plan/bodies.h) */
    int32_t num_bodies;
} mst_plan_node;

/** Devices of one domain that run a node together. Each runs a part of it. */
typedef struct mst_plan_group {
    int32_t *device;
    int32_t count;
} mst_plan_group;

/** A copy of an entry of the store that the plan works with. */
typedef struct mst_plan_state {
    const mst_node *variable;
    int32_t device; /**< device whose copy it is, or in whose domain it is */
    bool of_domain; /**< one copy for the whole domain, such as slots that the devices of a group share */
    bool used;      /**< a node of the plan has it as a source */
    bool reads;     /**< the plan reads its value */
    bool writes;    /**< the plan writes a new value */
    int32_t group;  /**< of_domain: the group of devices that work on it, each on a part */
} mst_plan_state;

/** Values that are summed over the shards of all tasks (plan/task_sums.h). */
typedef struct mst_plan_exchange {
    mst_exchange_kind kind;
    const int64_t *begin;           /**< for scatter and gather: see mst_exchange_spec */
    int32_t start, wait;            /**< nodes */
    int32_t num_values, num_leaves; /**< num_leaves: leaves of this task's window */
    mst_exchange_value *value;      /**< [num_values]; NULL if rows are exchanged */
    mst_row_exchange_value *rows;   /**< [num_values / 2] of an exchange of rows, which has two arrays for each
                                         variable; else NULL */
} mst_plan_exchange;

typedef struct mst_plan mst_plan;

/** What passes need from the session. */
typedef struct mst_plan_host {
    const mst_devices *devices;
    const mst_session_options *options;
    mst_task_group *group; /**< the tasks of the cluster that make each step together; NULL: this task alone */
} mst_plan_host;

struct mst_plan {
    mst_arena memory; /**< has everything that the plan points to, except the arrays that grow */
    const mst_graph *graph;
    const mst_plan_host *host;
    mst_plan_node *node;
    int64_t num_nodes, node_capacity;
    mst_plan_value *value;
    int64_t num_values, value_capacity;
    int num_feeds, num_fetches;
    const mst_feed *feed;   /**< feeds of the call that made the plan; used only in passes */
    const mst_value *fetch; /**< likewise */
    int32_t *feed_value;    /**< by feed: its value; -1: no node needs it */
    int32_t *fetch_node;    /**< node of each fetch */
    int32_t *effect;        /**< nodes that must run although no fetch needs them, because they write state */
    int64_t num_effects, effect_capacity;
    int32_t *order; /**< live nodes in the order in which one device would run them */
    int64_t num_order;
    mst_plan_group *group;
    int64_t num_groups, group_capacity;
    mst_plan_state *state;
    int64_t num_states, state_capacity;
    mst_plan_exchange *exchange;
    int64_t num_exchanges, exchange_capacity;
    int32_t vote;           /**< exchange that carries this task's vote that it can make the step (vote.c); -1: none */
    uint64_t exchange_hash; /**< hash of all exchanges: the same in all tasks */
    mst_program *program;   /**< one per device */
    int32_t *instance_of;   /**< by node: its first instance; -1: none */
    mst_plan_instance *instance;
    int64_t num_instances;
    mst_plan_wait *wait;
    int64_t num_waits, wait_capacity;
    bool commits;           /**< whether it changes state, and so has a gate */
    bool donates;           /**< on devices that compile, updates are programs behind the gate, which write variables in
                                 place (commit.c). So memory has the state of these updates once instead of twice */
    bool can_donate;        /**< `donates` is false, but donating would save memory (commit.c) */
    bool has_shards;        /**< whether a node belongs to a shard */
    int32_t step_state;     /**< the i64 state whose value numbers the steps; -1: none */
    int32_t num_streams;    /**< number of message streams between tasks */
    bool *runs_on;          /**< by task: whether it has something to do in a run; NULL: all devices are here */
    int32_t *feed_task;     /**< by feed: the task that needs its value; -1: none. NULL: all devices are here */
    int32_t *fetch_task;    /**< by fetch: the task that gives its value; -1: none. NULL: all devices are here */
    uint64_t order_hash;    /**< hash of the order of all nodes of all tasks, if there are several */
    int64_t crossings;      /**< number of values that go from one domain to another */
    int64_t crossing_bytes; /**< bytes that go from one domain to another in each step */
    int64_t num_buckets;    /**< vectors in which gradients are summed over shards (update_pairs.c) */
    int64_t bucket_bytes;   /**< their bytes, for one shard */
    int64_t row_gradients;  /**< number of sparse gradients, which are in no bucket */
    double seconds;         /**< time that making the plan took */
};

/** Makes the plan for a call. GRAPH and HOST must outlive the plan. FEEDS and FETCHES are needed only until this
 *  function returns. DONATES is the plan's member of that name. */
MST_CHECKED mst_status mst_plan_make(const mst_graph *graph, const mst_plan_host *host, const mst_feed *feeds,
                                     int num_feeds, const mst_value *fetches, int num_fetches, bool donates,
                                     mst_plan **out);
/** NULL is allowed. */
void mst_plan_destroy(mst_plan *plan);
/** MST_INVALID if `plan_pass` of the session's options cannot be NAME. */
MST_CHECKED mst_status mst_plan_check_pass(const char *name);
/** Whether the log of plans gets the texts of programs instead of plans, because `plan_pass` is "stablehlo". */
bool mst_plan_logs_texts(const mst_session_options *options);
mst_plan_info mst_plan_describe(const mst_plan *plan);
/** Writes one line per live node to FILE, under "after TITLE". */
void mst_plan_print(const mst_plan *plan, FILE *file, const char *title);
/** Writes the text of each program of a finished plan on the devices of this task, once for all nodes with this text.
 *  Comments before it name these nodes. */
MST_CHECKED mst_status mst_plan_print_programs(const mst_plan *plan, FILE *file);

/* ---- passes ---- */
#define MST_PASS(name) MST_CHECKED mst_status mst_plan_##name(mst_plan *plan);
MST_PASSES(MST_PASS)
#undef MST_PASS

/** Sets and returns the error of a step that needs NEEDED bytes on DEVICE, more than the device's limit. INSIDE of
 *  these bytes are what the device's programs take while they run. The message names the largest values. */
mst_status mst_plan_over_limit(const mst_plan *plan, int device, int64_t needed, int64_t inside);
/** Sets and returns the error of a step for which all devices in the host's memory together need NEEDED bytes, more
 *  than its MEMORY bytes. The message names the largest values on DEVICE. */
mst_status mst_plan_over_host(const mst_plan *plan, int device, int64_t needed, int64_t memory);

/* ---- what passes share ---- */

/** Appends NODE, and its num_dst values with the specs DST. Sources and control sources are copied. NODE and SRC may
 *  point into the plan, DST may not. *OUT is the node. */
MST_CHECKED mst_status mst_plan_add(mst_plan *plan, const mst_plan_node *node, const int32_t *src, const mst_spec *dst,
                                    int32_t *out);
/** Makes NODE a node of another op. OPTIONS and SRC are copied. The node keeps its outputs. */
MST_CHECKED mst_status mst_plan_become(mst_plan *plan, mst_plan_node *node, const mst_op *op, const void *options,
                                       int num_src, const int32_t *src);
/** Appends a cast of VALUE to DTYPE, on the device and in the phase of its reader USER. The name of the cast is that of
 *  VALUE's node, '/' and SUFFIX. *OUT is the value of the cast. USER may point into the plan. */
MST_CHECKED mst_status mst_plan_add_cast(mst_plan *plan, const mst_plan_node *user, int32_t value, mst_dtype dtype,
                                         const char *suffix, int32_t *out);
/** Appends a variable node for a copy of VARIABLE on DEVICE (OF_DOMAIN: in its domain); *OUT is its value. */
MST_CHECKED mst_status mst_plan_add_state(mst_plan *plan, const mst_node *variable, int32_t device, bool of_domain,
                                          int32_t group, int32_t *out);
/** Sets OUT to the group of these devices, which are in one domain. The same devices always have the same group. */
MST_CHECKED mst_status mst_plan_add_group(mst_plan *plan, const int32_t *devices, int32_t count, int32_t *out);
/** Makes NODE run whether or not a fetch needs it. */
MST_CHECKED mst_status mst_plan_add_effect(mst_plan *plan, int32_t node);
/** Sets `phase` of all live nodes. It is the largest number of writers on any path of sources and control sources to
 *  the node, and at least `earliest`. The nodes must have been sorted. */
void mst_plan_phases(mst_plan *plan);
/** Sets BACKWARD of all live nodes: whether the node belongs to a gradient, or reads values of such nodes. The nodes
 *  must have been sorted. */
void mst_plan_find_backward(const mst_plan *plan, bool *backward);
/** Makes NODE come after AFTER: appends a control source, unless it has this one already. */
MST_CHECKED mst_status mst_plan_add_control(mst_plan *plan, int32_t node, int32_t after);
/** Marks nodes as dead if neither a fetch nor an effect needs them, and counts the uses of values. */
MST_CHECKED mst_status mst_plan_sweep(mst_plan *plan);
/** Fills plan->order with the live nodes, sources before users, in the order of a depth-first walk back from the
 *  fetches. */
MST_CHECKED mst_status mst_plan_sort(mst_plan *plan);
/** Makes readers of value v, for v < NUM_VALUES, read value JOINED[v] instead; -1: no change. Then sweeps and sorts. */
MST_CHECKED mst_status mst_plan_read_instead(mst_plan *plan, const int32_t *joined, int64_t num_values);
/** Makes an inference context for a node. SPEC has room for the specs of its sources, DST for those of its outputs. */
mst_infer mst_plan_infer_context(const mst_plan *plan, const mst_plan_node *node, mst_spec *spec, mst_spec *dst);
/** True if only the shape of source I matters to the node. Ops can declare this for their first 32 sources. */
bool mst_plan_shape_only(const mst_plan_node *node, int i);
/** Whether NODE may use products of bf16. Its device must compile, or have kernels for them. The kernels are used only
 *  if no other task makes the same plan, because the processor of another task may lack them. */
bool mst_plan_takes_bf16(const mst_plan *plan, const mst_plan_node *node);
/** True if nothing runs for the node: variables, constants, views, groups of nodes, and feeds of tensors. */
bool mst_plan_is_silent(const mst_plan *plan, const mst_plan_node *node);
/** Whether VALUE is a variable: a copy of an entry of the store. */
bool mst_plan_is_variable(const mst_plan *plan, int32_t value);
/** Whether VALUE is in the memory of a variable: the variable itself, or a view of it. */
bool mst_plan_in_variable(const mst_plan *plan, int32_t value);
/** Whether the node writes its source I. */
bool mst_plan_writes(const mst_plan_node *node, int i);
/** Whether output 0 is in the memory of source 0. */
bool mst_plan_is_view(const mst_plan_node *node);
/** Whether the type of the node's device compiles: then the node becomes a part of a program. */
bool mst_plan_compiles(const mst_plan *plan, const mst_plan_node *node);
/** Whether a type of device of the plan compiles. */
bool mst_plan_has_compilers(const mst_plan *plan);
/** The device on which single numbers of a step are computed, such as penalties and factors of gradients: DEVICE or, if
 *  it compiles, the CPU of its task. */
int32_t mst_plan_number_device(const mst_plan *plan, int32_t device);
/** The domain in which DEVICE computes. */
mst_domain *mst_plan_domain(const mst_plan *plan, int32_t device);
/** The domain in whose memory a value is: that of its device, or the host for a fed tensor. A view is in its own
 *  device's domain; if its source is in another one, the source is received there. */
mst_domain *mst_plan_value_domain(const mst_plan *plan, int32_t value);
/** The task to which NODE belongs. */
int32_t mst_plan_task(const mst_plan *plan, const mst_plan_node *node);
/** Whether there are devices of several tasks. */
bool mst_plan_has_tasks(const mst_plan *plan);
/** Whether another task runs NODE. */
bool mst_plan_is_in_another_task(const mst_plan *plan, const mst_plan_node *node);
/** Bytes of a value, rounded up to the alignment. */
int64_t mst_plan_bytes(const mst_plan_value *value);

/* Ops that only plans have: a fed value; a fetched value; both ends of a crossing; a part of another value's memory; a
 * point where a device has waited for others; both ends of an exchange with other tasks. */
extern const mst_op mst_op_feed, mst_op_fetch, mst_op_send, mst_op_receive, mst_op_piece, mst_op_meet,
    mst_op_exchange_start, mst_op_exchange_wait;

#endif
