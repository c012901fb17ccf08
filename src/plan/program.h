/** What each device does in a step: its program, a list of actions. The last pass (compile.c) writes it, and each step
 *  follows it.
 *
 *  The calls of a program are the instances of nodes that run a kernel or a compiled program. The backend prepares the
 *  calls, and an action MST_DO_RUN makes several of them, one after the other. Devices wait for each other at numbered
 *  points.
 */
#ifndef MUSTER_PLAN_PROGRAM_H
#define MUSTER_PLAN_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

/** The kinds of actions. FIRST, END and DEVICE below are members of mst_action. */
typedef enum mst_action_kind {
    MST_DO_RUN = 0, /**< makes calls FIRST to END - 1 of the backend's executable */
    MST_DO_WAIT,    /**< waits until device DEVICE has reached point FIRST */
    MST_DO_REACH,   /**< reaches its own point FIRST, for which other devices wait */
    MST_DO_FEED,    /**< node FIRST: the caller's function fills the value */
    MST_DO_RECEIVE, /**< node FIRST: copies its source from another domain, or waits for it from another task */
    MST_DO_SEND,    /**< node FIRST: sends its source to another task */
    MST_DO_FETCH,   /**< node FIRST: copies its source to the caller's tensor */
    MST_DO_START,   /**< node FIRST: starts an exchange with other tasks */
    MST_DO_AWAIT,   /**< node FIRST: waits for the sums of an exchange */
    MST_DO_GATE     /**< waits until all devices have come to the gate; behind it nothing may fail */
} mst_action_kind;

typedef struct mst_action {
    mst_action_kind kind;
    int32_t device;
    int32_t first, end;
} mst_action;

/** What one device does in a step. */
typedef struct mst_program {
    int32_t *instance; /**< instances of nodes, in the order in which the device runs them */
    int64_t num_instances, instance_capacity;
    mst_action *action;
    int64_t num_actions, action_capacity;
    int32_t *call; /**< the instances that the backend runs */
    int64_t num_calls, call_capacity;
    int32_t num_points;      /**< points for which other devices wait */
    int64_t arena_bytes;     /**< bytes of the values that are computed in a step */
    int64_t workspace_bytes; /**< bytes after these values: the most that one kernel needs */
    int64_t exchange_bytes;  /**< bytes of leaves and sums of the exchanges that it starts: memory of the host */
    int64_t constant_bytes;  /**< bytes of constants, if the device's memory is not the host's */
    bool receives_strings; /**< it receives strings. The bytes of these are in no arena, because the number of bytes is
                                  known only in the step */
    int64_t staging_bytes; /**< bytes of host memory for all values that functions feed, if the device's memory is not
                                  the host's */
} mst_program;

/** Before an instance of a node runs, its device waits until instance `from` has run on another device. */
typedef struct mst_plan_wait {
    int32_t from;
    int32_t next; /**< next wait of the same instance; -1: none */
} mst_plan_wait;

/** A node on one device. A node that a group runs has one instance for each device, next to each other. */
typedef struct mst_plan_instance {
    int32_t node, device;
    int32_t part;  /**< place of the device in the node's group, else 0 */
    int32_t wait;  /**< first of its waits; -1: none */
    int32_t point; /**< number of the point that follows it in its device's program; 0: no device waits for it */
} mst_plan_instance;

#endif
