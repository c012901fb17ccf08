/** A network inside this process with random delays drawn from a seed: transport "sim". A test can have it cut
 *  connections and kill processes. As with `inproc`, tasks are threads and addresses are any names.
 *
 *      mst_sim_begin(...)       from now on transports can be opened
 *      ...                      tasks open their transports, train, are killed, open others, and close them
 *      mst_sim_end()
 *
 *  Each message has its own delay. Control messages from one task to another keep their order; data messages do not,
 *  nor do messages of different tasks. When a connection breaks, messages on their way still arrive until the receiver
 *  is told of the break; later ones are lost. Time is that of base/clock.h. If the threads of the process take turns on
 *  a simulated clock (test/support/turns.h), everything that happens is a function of the seed. */
#ifndef MUSTER_TRANSPORT_SIM_H
#define MUSTER_TRANSPORT_SIM_H

#include "transport/transport.h"

enum { MST_SIM_FAULTS_MOST = 8 };

/** A fault. It happens when TASK sends its message number AT. The count begins with 1, and includes the control and
 *  data messages of all processes of TASK. */
typedef struct mst_sim_fault {
    int32_t task;
    uint64_t at;
    int32_t other;  /**< TASK is cut off from OTHER; -1: the process of TASK is killed, and that message is not sent */
    double seconds; /**< duration of a cut */
    bool silent;    /**< nobody is told: the other side only notices that nothing has come for its whole timeout */
} mst_sim_fault;

typedef struct mst_sim_options {
    uint64_t seed;
    double most_delay;          /**< longest delay of a message in seconds; most delays are far shorter */
    const mst_sim_fault *fault; /**< copied */
    int num_faults;             /**< at most MST_SIM_FAULTS_MOST */
} mst_sim_options;

/** Begins a network; one at a time. MST_OUT_OF_MEMORY if there is no thread for it. */
MST_CHECKED mst_status mst_sim_begin(const mst_sim_options *options);
/** Ends the network. All transports must be closed. */
void mst_sim_end(void);

/** Whether the process of TASK has been killed and has not closed its transport yet. That transport sends and receives
 *  nothing any more, and has told its owner that all other tasks are lost. The program therefore waits for them, and
 *  must end then (mst_task_options.stop). */
bool mst_sim_is_killed(int32_t task);
/** A hash of the messages that have arrived since the network began: sender, receiver and time. *COUNT: how many. */
uint64_t mst_sim_history(uint64_t *count);

/** Opening it gives MST_UNAVAILABLE if no network has begun. */
extern const mst_transport_type mst_transport_sim;

#endif
