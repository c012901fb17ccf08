/** The workers of a parameter server: the state of each, and the messages by which workers join and are lost. */
#ifndef MUSTER_PARAMETER_SERVER_SERVER_WORKERS_H
#define MUSTER_PARAMETER_SERVER_SERVER_WORKERS_H

#include "cluster/fingerprint.h"
#include "messages/task_message.h"

typedef struct mst_server mst_server;

/** The state of a worker at this server. Times are in nanoseconds (mst_clock_now). */
typedef struct mst_server_worker {
    uint64_t instance;           /**< number of its process (transport/transport.h); 0: it has not come yet */
    uint64_t request;            /**< the last request of this instance: answers have its number */
    bool waits;                  /**< for values: the first ones, or those after the update that took its gradients */
    bool finished;               /**< it has made its last step of a training, and waits for the others */
    bool has_state;              /**< the chief: it has finished, and has all state */
    bool left;                   /**< it has done its work, or is given up */
    bool gone;                   /**< it knows that all have done their work, and no longer needs this server */
    int64_t lost;                /**< since when it is lost; 0: it is not */
    char why[200];               /**< why it is lost */
    int64_t kept_out_since;      /**< since when a process of this worker is known that cannot join; 0: there is none */
    char kept_out[1400];         /**< why it cannot join */
    mst_task_message *gradients; /**< its gradients, which wait for those of other workers */
    /** Requests that wait for their turn (server_order.c), in the order in which they came. */
    mst_task_message *listed;
    bool computes;    /**< it has received values, and its gradients for them have not come */
    bool held;        /**< it waits for values until others have come (max_staleness), or until its turn (replay) */
    bool wants;       /**< values are given in turn, and it has asked for them since its last gradients */
    int64_t read;     /**< step of the values that it has read */
    int64_t has;      /**< step of the values of this round that it reports to have; -1: none */
    int64_t previous; /**< its position before the last update */
    uint64_t instructions; /**< oneDNN's instructions that it has or uses; 0: not known */
    bool agrees;           /**< it waits to be told which instructions all workers have (server_agree.c) */
} mst_server_worker;

/** The fingerprints of the first worker that came: the fingerprints of all others must not differ. */
typedef struct mst_server_first {
    int32_t worker;
    mst_fingerprint fingerprint[MST_FINGERPRINTS_MOST];
    int32_t num_fingerprints; /**< 0: nobody has come */
} mst_server_first;

/** Handles MESSAGE of kind HELLO. */
MST_CHECKED mst_status mst_server_greet(mst_server *s, const mst_task_message *message);
/** For a server without values: if a worker waits for the last values, and the chief has done its work, asks the chief
 *  for them. */
MST_CHECKED mst_status mst_server_call_chief(mst_server *s);
/** Handles MESSAGE of kind LOST. */
void mst_server_lose_worker(mst_server *s, const mst_task_message *message);
/** Handles P of kind CANNOT_JOIN. A process of the sender cannot join; or the sender reports that another server, or
 *  another worker, cannot. A message without an instance is about a process that has another list of tasks. */
void mst_server_hear_cannot_join(mst_server *s, const mst_task_message *p);
/** Ends the job if a process that cannot join is needed; else says that the job goes on. */
MST_CHECKED mst_status mst_server_check_kept_out(mst_server *s, int64_t now);

#endif
