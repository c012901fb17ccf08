/** The beginning of a parameter server: the graph, the variables and the session that it gets from the chief. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_BEGIN_H
#define MUSTER_PARAMETER_SERVER_SERVER_BEGIN_H

#include "messages/task_message.h"
#include "muster/op.h"
#include "muster/session.h"

typedef struct mst_server mst_server;

/** The graph of the chief's BEGIN, and the session that runs it. */
typedef struct mst_server_program {
    mst_graph *graph;
    mst_session *session;
    mst_value train; /**< the node that makes an update */
    /** Messages whose handling has failed; freed with the session, which may still read them. */
    mst_task_message *failed;
} mst_server_program;

/** A variable, and the feeds for its gradient. */
typedef struct mst_server_variable {
    const char *name; /**< belongs to the graph */
    mst_spec spec;
    size_t bytes;
    size_t offset; /**< offset in a message of all variables, if none is sparse */
    int32_t feed;  /**< number of the feed of its gradient; sparse: the first of two feeds, rows and their indices */
    /** sum of the gradients of a step. Sparse: rows, with more room than is in use. Dense and asynchronous: the
     *  gradient inside its message, during an update; otherwise NULL */
    mst_tensor *sum;
    bool is_reported; /**< a sum that workers report; if each update needs all workers, each epoch sets it back to 0 */
    bool adds;        /**< gradients are added to it: MST_JOIN_ADD */
    /* if the gradient is sparse */
    bool is_sparse;
    bool has_squares;   /**< each row of a gradient is its sums, then its sums of squares (op/state/update.h) */
    int64_t num_rows;   /**< of the variable */
    int64_t columns;    /**< elements of a row of the sent gradient */
    int64_t *changed;   /**< [num_rows]: the last step that changed each row */
    mst_tensor *number; /**< i64: how many rows are in `sum`, and then their indices */
} mst_server_variable;

/** The variables that the server keeps, in the order of the graph. */
typedef struct mst_server_variables {
    mst_server_variable *at; /**< [count] */
    int32_t count;
    size_t bytes;      /**< of all variables */
    size_t body_bytes; /**< of a message of all variables, if none is sparse */
    bool has_sparse;
} mst_server_variables;

/** Takes graph and state from the chief's BEGIN. */
MST_CHECKED mst_status mst_server_begin(mst_server *s, const mst_task_message *message);
/** Frees what mst_server_begin has made. */
void mst_server_clear(mst_server *s);
#endif
