/** The parts of a session over several tasks (run/part.h), all in this process: task I is "/job:t/task:I", with a store
 *  and devices of its own. What they send each other goes from hand to hand, and a coordinator counts their votes. */
#ifndef MUSTER_TEST_SUPPORT_PARTS_H
#define MUSTER_TEST_SUPPORT_PARTS_H

#include <pthread.h>

#include "muster/muster.h"
#include "run/part.h"

enum { MOST_PARTS = 4 };

typedef struct parts parts;

typedef struct one_part {
    parts *all;
    int32_t self;
    mst_session *session;
    mst_store *store;
    struct mst_cached_plan *plan;
    pthread_t thread;
    mst_status status;
    bool derived, overtaken;
    mst_failure failure; /* of the last run */
} one_part;

struct parts {
    mst_graph *graph;
    int32_t num;
    one_part part[MOST_PARTS];
    pthread_mutex_t lock; /* of the following */
    int32_t wanted, voted;
    bool decided;
    uint64_t run;
    int64_t sent;   /* messages */
    double seconds; /* that a run may take; 0: 60 */
    /* Whether the coordinator decides against a step; NULL: never. */
    bool (*refuses)(const parts *all, uint64_t run);
    /* Called when a run was submitted everywhere; NULL: nothing is. */
    void (*began)(parts *all, uint64_t run);
    /* What sending gives; MST_NOT_FOUND: it seems to work, and nothing comes. NULL: it works. */
    mst_status (*send)(parts *all, int32_t to, int32_t stream);
};

/** NUM tasks with DEVICES ("cpu:2/1") each. What was opened is closed by parts_close, also where this fails. */
mst_status parts_open(parts *all, mst_graph *graph, int32_t num, const char *devices, bool check_numerics);
void parts_close(parts *all);
/** As mst_session_run. The plans of all parts must have one hash. */
mst_status parts_run(parts *all, const mst_feed *feeds, int num_feeds, const mst_value *fetches, int num_fetches,
                     mst_tensor **outputs);
/** Gives all variables their first values, one after the other. */
mst_status parts_init_variables(parts *all);
/** As mst_session_get_variable. */
mst_status parts_get_variable(parts *all, mst_value variable, mst_tensor **out);

#endif
