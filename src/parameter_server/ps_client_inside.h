/** The inside of mst_ps_client, shared by its files: ps_client.c joins, makes steps and leaves; ps_request.c asks the
 *  servers and takes their answers. */
#ifndef MUSTER_PARAMETER_SERVER_PS_CLIENT_INSIDE_H
#define MUSTER_PARAMETER_SERVER_PS_CLIENT_INSIDE_H

#include "parameter_server/ps_client.h"
#include "parameter_server/ps_gradients.h"
#include "parameter_server/ps_values.h"

/** A server, and its answers. Times are in nanoseconds (mst_clock_now). */
typedef struct mst_ps_server {
    int32_t task;
    bool answered;         /**< it has answered the present request */
    int64_t lost;          /**< since when it is lost; 0: it is not */
    int64_t was_lost;      /**< when it was lost last */
    int64_t list_mismatch; /**< since when it is known to have a different list of tasks; 0: it has the same list */
    char why[480];         /**< why it is lost, or does not fit */
    uint32_t round;        /**< round in its last answer; 0: it has no values */
    int64_t position;      /**< position of this worker in its last answer */
    int64_t step;          /**< number of its updates, in its last answer */
    int64_t has;           /**< step of the last values that it has sent */
    uint64_t last;         /**< hash of the last values of a training that it has sent */
    bool sent_last;        /**< it has sent its values after all had done their work */
    bool sent_others;      /**< with sent_last: these values are not the last values of the training */
    bool leaves;           /**< it has said that it leaves */
    mst_snapshot *state;   /**< the state that it has sent, while state is collected */
} mst_ps_server;

/** A request to all servers. It is sent again to a server whose connection was broken, even if that server has
 *  answered: it may have been started again, and the other servers may wait for its values. */
typedef struct mst_ps_request {
    mst_task_message_head head;
    int32_t answer;                    /**< kind of the wanted answer */
    const mst_iov *body;               /**< [num_ps]; NULL: none */
    const mst_ps_gradients *gradients; /**< gradients to send instead of `body` */
    bool joins;                        /**< answers may take any time; the log says for whom this task waits */
    bool is_last;                      /**< this worker needs no values; a server that was lost need not answer */
    int64_t until; /**< when the wait ends; unless `at_end`, it also ends if a server leaves. 0: no limit */
    bool at_end;   /**< sent even if this worker must stop or the job has ended; lost servers are not waited for */
    bool in_turn;  /**< the request is only for server `turn` */
    int32_t turn;
} mst_ps_request;

struct mst_ps_client {
    mst_task_options options;
    mst_mail *mail;
    mst_task_status *status; /**< status of the task */
    int32_t num_ps, self;
    mst_ps_server *server;  /**< [num_ps] */
    mst_ps_program program; /**< without pointers that belong to the caller */
    mst_graph **graph;      /**< on the chief, [num_ps]: the updates of the servers */
    mst_fingerprint *fingerprint;
    mst_ps_values values; /**< from answers */
    mst_ps_gradients gradients;
    mst_snapshot *kept;    /**< on the chief: the state from which servers that are started again begin */
    int64_t kept_at;       /**< when `kept` was taken; 0: it must be taken anew */
    int64_t kept_position; /**< position of all workers, unless `kept` has positions */
    bool has_collected;    /**< `kept` was collected from the servers; false: it is the state before the first step */
    bool collects;         /**< the state of all servers is being collected; the store gets it once it is complete */
    /* another worker that was given other lists of tasks */
    int32_t list_mismatch_worker;
    int64_t list_mismatch; /**< since when this is known; 0: there is no such worker */
    char list_mismatch_why[480];
    uint64_t request; /**< number of the last request */
    uint32_t round;   /**< round of all servers; 0: this worker has not joined yet */
    uint32_t began;   /**< the last round that this worker has begun, as the chief */
    /* staleness counts of the first server: in its last answer, and at the beginning of the present counts */
    int64_t staleness[MST_STALENESS_COUNTS], counted[MST_STALENESS_COUNTS];
    int64_t finished;      /**< number of finished trainings */
    int64_t began_at;      /**< position where the training after the last finished one began */
    bool has_given;        /**< the chief has given the servers weights that its callbacks have put back */
    bool has_last;         /**< this worker has the last values of the last finished training; the chief: all state */
    uint64_t instructions; /**< of oneDNN that all workers have, in the first server's answer */
    float rate;            /**< learning rate in the first server's last answer */
    bool joined;           /**< it has joined, and has not left */
    bool must_join;        /**< a server was started again or has left: this worker must join again */
    bool has_kept;         /**< this process has the state of callbacks (ps_kept.h) */
    bool takes_kept;       /**< it asks for the state of callbacks */
    bool is_ended;         /**< the chief's callbacks have ended the training */
    bool is_between;       /**< only some synchronous servers have made the update of this worker's next step */
    bool failed;           /**< the job has ended */
    bool is_left;          /**< with `failed`: a lost task has not come back; the other tasks have a complete state */
    bool stopped;          /**< a request was given up because this worker must stop */
    int64_t said;          /**< when the log last said for which servers this worker waits */
    int64_t all_left;      /**< when a server said that all have done their work, or when others were last told; or 0 */
};

enum { MST_PS_LINGER = 5 /* seconds, for servers that have just been started */ };

/* ---- ps_request.c ---- */

/** Writes a line to the log. */
void mst_ps_say(const mst_ps_client *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Sends R to all servers (if `in_turn`, to one), and waits until all have answered. A lost server gets R when it is
 *  connected again. */
MST_CHECKED mst_status mst_ps_ask(mst_ps_client *c, const mst_ps_request *r);
/** Takes the next message, if one comes within SECONDS. */
MST_CHECKED mst_status mst_ps_take_next(mst_ps_client *c, const mst_ps_request *r, double seconds);
/** The first server that has not answered; num_ps: all have. */
int32_t mst_ps_unanswered(const mst_ps_client *c);
/** Whether the servers take the requests of workers in one order (server_order.c): all servers have then made the same
 *  updates when they answer a request. */
bool mst_ps_have_order(const mst_ps_client *c);
/** Whether the chief must collect the state of the servers, because one of them is about to leave. */
bool mst_ps_is_one_leaving(const mst_ps_client *c);
bool mst_ps_is_one_lost(const mst_ps_client *c);

#endif
