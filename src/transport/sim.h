/** A network inside this process whose delays are drawn from a seed, and on which connections are cut and processes
 *  killed where a test wants it: transport "sim". As with `inproc`, tasks are threads and addresses any names.
 *
 *      mst_sim_begin(...)       from now on transports can be opened
 *      ...                      tasks open theirs, train, are killed, open others, and close them
 *      mst_sim_end()
 *
 *  Each message takes a time of its own. Control messages from one task to another keep their order; data messages do
 *  not, nor do messages of different tasks. What is on its way on a connection that breaks arrives until the receiver
 *  hears that it has broken, and is lost from then on. Time is that of base/clock.h: where the threads of the process
 *  take turns on a clock of their own (test/support/turns.h), all that happens is a function of the seed. */
#ifndef MUSTER_TRANSPORT_SIM_H
#define MUSTER_TRANSPORT_SIM_H

#include "transport/transport.h"

enum { MST_SIM_FAULTS_MOST = 8 };

/** Happens when TASK sends its message number AT, from 1: control and data, of all its processes together. */
typedef struct mst_sim_fault {
    int32_t task;
    uint64_t at;
    int32_t other;  /**< TASK is cut off from it; -1: the process of TASK is killed, and that message is not sent */
    double seconds; /**< for which a cut lasts */
    bool silent;    /**< nobody is told: the other side finds out when nothing has come for as long as its timeout */
} mst_sim_fault;

typedef struct mst_sim_options {
    uint64_t seed;
    double most_delay;          /**< seconds that a message takes at most; most take far less */
    const mst_sim_fault *fault; /**< copied */
    int num_faults;             /**< at most MST_SIM_FAULTS_MOST */
} mst_sim_options;

/** One network at a time. MST_OUT_OF_MEMORY where there is no thread for it. */
MST_CHECKED mst_status mst_sim_begin(const mst_sim_options *options);
/** All transports have been closed. */
void mst_sim_end(void);

/** Whether the process of TASK has been killed and has not closed its transport yet. That transport sends and receives
 *  nothing any more, and has told its owner that it has lost all others: so the program comes to wait for them, and is
 *  to end then (mst_task_options.stop). */
bool mst_sim_is_killed(int32_t task);
/** Messages that have arrived since the network began, and a hash of who sent them to whom and when. */
uint64_t mst_sim_history(uint64_t *count);

/** MST_UNAVAILABLE to open where no network has begun. */
extern const mst_transport_type mst_transport_sim;

#endif
