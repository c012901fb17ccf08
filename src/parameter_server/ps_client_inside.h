/** What the parts of mst_ps_client share: ps_client.c joins, makes steps and leaves; ps_request.c asks the servers, and
 *  takes what they answer. */
#ifndef MUSTER_PARAMETER_SERVER_PS_CLIENT_INSIDE_H
#define MUSTER_PARAMETER_SERVER_PS_CLIENT_INSIDE_H

#include "parameter_server/ps_client.h"
#include "parameter_server/ps_gradients.h"
#include "parameter_server/ps_values.h"

/** A server, and what it has been asked. */
typedef struct mst_ps_server {
    int32_t task;
    bool answered;    /**< the request */
    int64_t lost;     /**< since when; 0: it is not */
    int64_t was_lost; /**< when it was lost last */
    int64_t misfit;   /**< since when its list of tasks has been another one; 0: it has not */
    char why[480];    /**< why it is lost, or does not fit */
    uint32_t round;   /**< as it has answered; 0: it has no values */
    int64_t position; /**< of this worker, likewise */
    int64_t step;
    int64_t has;         /**< the step of the values that it has sent */
    uint64_t last;       /**< hash of the last values of a training, as it has sent them */
    bool sent_last;      /**< when all have done their work it has sent its values; */
    bool sent_others;    /**< ... they are not those */
    bool leaves;         /**< it has said so */
    mst_snapshot *state; /**< what it has sent last, while state is collected */
} mst_ps_server;

/** A request to all servers: sent again to one whose connection was broken. One that has answered before, and was
 *  started again, says so then; the others may wait for it. */
typedef struct mst_ps_request {
    mst_parcel_head head;
    int32_t answer;                    /**< that is wanted */
    const mst_iov *body;               /**< [num_ps]; NULL: none */
    const mst_ps_gradients *gradients; /**< in place of it */
    bool joins;    /**< answers may take as long as they like, and it is said for whom this task waits */
    bool is_last;  /**< this worker has all that it needs of the servers, of which one that was lost may not answer */
    int64_t until; /**< they are not waited for any longer, nor when one of them leaves; 0: for ever */
    bool at_end;   /**< also where this worker is to stop, or the job has ended; nobody who is lost is waited for */
    bool in_turn;  /**< it is for server `turn` alone */
    int32_t turn;
} mst_ps_request;

struct mst_ps_client {
    mst_task_options options;
    mst_mail *mail;
    mst_task_status *status; /**< the task's */
    int32_t num_ps, self;
    mst_ps_server *server;  /**< [num_ps] */
    mst_ps_program program; /**< without what is the caller's */
    mst_graph **graph;      /**< of the chief, [num_ps]: the updates of the servers */
    mst_fingerprint *fingerprint;
    mst_ps_values values; /**< from answers */
    mst_ps_gradients gradients;
    mst_snapshot *kept; /**< of the chief: from which servers that are started again begin */
    int64_t kept_at, kept_position;
    bool has_collected; /**< what is kept has come from the servers: before, it is what training has begun with */
    bool collects;      /**< the state of all servers, which the store gets once it is whole */
    /* another worker that was told other lists of tasks */
    int32_t misfit_worker;
    int64_t misfit; /**< since when this is known; 0: there is no such worker */
    char misfit_why[480];
    uint64_t request; /**< number of the last one */
    uint32_t round;   /**< of all servers */
    uint32_t began;   /**< the last round that this worker has begun */
    /* how stale gradients were, by the first server: as it has answered, and as it had where the counts begin */
    int64_t staleness[MST_STALENESS_COUNTS], counted[MST_STALENESS_COUNTS];
    int64_t finished;      /**< how many trainings */
    int64_t began_at;      /**< position where the training after the last finished one began */
    bool has_given;        /**< the chief: weights that its callbacks have put back, to the servers */
    bool has_last;         /**< this worker has the last values of the last of them, and the chief all state */
    uint64_t instructions; /**< of oneDNN, those that all workers have, as the first server has answered */
    float rate;            /**< learning rate of the first server, as it has answered */
    bool joined, must_join;
    bool has_kept;    /**< this process knows what callbacks keep */
    bool takes_kept;  /**< it asks for that */
    bool is_ended;    /**< the chief has ended the training */
    bool is_between;  /**< synchronous servers have not all made the update of the step that this worker makes next */
    bool failed;      /**< the job has ended */
    bool is_left;     /**< ... since a task stays away, and what the others have is whole */
    bool stopped;     /**< this worker is to stop, and a request was given up for that */
    int64_t said;     /**< for whom it waits: when */
    int64_t all_left; /**< when a server has said that all have done their work; then, when the others were told; 0 */
};

enum { MST_PS_LINGER = 5 /* seconds, for servers that have just been started */ };

/* ---- ps_request.c ---- */

/** A line of the log. */
void mst_ps_say(const mst_ps_client *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Sends R to all servers (to one, in turn), to one that is lost when it is there again, and waits until all have
 *  answered. */
MST_CHECKED mst_status mst_ps_ask(mst_ps_client *c, const mst_ps_request *r);
/** Takes what comes within SECONDS, if anything does. */
MST_CHECKED mst_status mst_ps_take_next(mst_ps_client *c, const mst_ps_request *r, double seconds);
/** The first server that has not answered; num_ps: all have. */
int32_t mst_ps_unanswered(const mst_ps_client *c);
/** Whether the servers take what workers send in one order (server_order.c), so that they have made the same
 *  updates whenever they answer. */
bool mst_ps_have_order(const mst_ps_client *c);
/** The chief is to take the state of the servers before one of them leaves. */
bool mst_ps_is_one_leaving(const mst_ps_client *c);
bool mst_ps_is_one_lost(const mst_ps_client *c);

#endif
