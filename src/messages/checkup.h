/** A look at a cluster before it trains, for `muster doctor`: who is there, who reaches whom, and how fast.
 *
 *      task 0, the leader                       task 1
 *      facts  -------------------------------->           each task to each other one
 *             <--------------------------------  facts    once more, when it waits for nobody any more
 *      pings  -------------------------------->           to tasks of higher numbers, one pair after the other
 *      MEASURE ------------------------------->           now task 1 pings those of higher numbers than its own
 *             <--------------------------------  links
 *      all links ----------------------------->           it is over
 *
 *  Facts are a text, of which nothing is known here. All of it runs on the caller's thread and ends by itself: tasks
 *  that do not come are waited for as long as the options say, and measuring has a limit too: 20 seconds for all pairs,
 *  and 0.05 more for each. */
#ifndef MUSTER_MESSAGES_CHECKUP_H
#define MUSTER_MESSAGES_CHECKUP_H

#include "messages/parcel.h"
#include "muster/cluster.h"
#include "muster/op.h"

/** What the tasks say to each other. */
extern const mst_protocol mst_checkup_protocol;
enum {
    MST_CHECK_FACTS = MST_PARCEL_CHECKUP, /**< number: 1: it waits for nobody any more; body: what it says of itself, a
                                           *   text */
    MST_CHECK_MEASURE,                    /**< of the leader: measure your links; number: nanoseconds for each */
    MST_CHECK_PING,                       /**< number: of the ping; step: bytes wanted in its answer */
    MST_CHECK_PONG,                       /**< number: of the ping; step: nanoseconds since 1970 here */
    MST_CHECK_MEASURED,                   /**< to the leader: body: links (mst_checkup_link) */
    MST_CHECK_LINKS,                      /**< of the leader: it is over; body: all links */
    MST_CHECK_END
};

/** Bytes of the longest facts, of the small and of the large ping. */
enum { MST_CHECKUP_FACTS = 256 << 10, MST_CHECKUP_SMALL = 1, MST_CHECKUP_LARGE = 1000000 };

typedef struct mst_checkup mst_checkup;

typedef struct mst_checkup_options {
    const mst_cluster *cluster;              /**< whose addresses are all known; it must outlive the checkup */
    const char *bind, *key_file, *transport; /**< as in mst_task_options */
    bool insecure;
    double wait;        /**< seconds for which missing tasks are waited for */
    bool (*stop)(void); /**< asked several times a second: true ends waiting and measuring; NULL: never */
} mst_checkup_options;

/** What this task knows of another one. */
typedef struct mst_checkup_peer {
    bool reached;  /**< this task has had a connection to it */
    bool heard;    /**< its facts have come: it has a connection to this task */
    bool lost;     /**< its connection has broken, or was refused */
    char *facts;   /**< NULL: have not come */
    char why[160]; /**< of `lost`, half a sentence without control characters */
} mst_checkup_peer;

/** Two tasks that were measured: FROM has sent pings to TO. Times are medians in nanoseconds. */
typedef struct mst_checkup_link {
    int32_t from, to;
    int32_t shared; /**< 1: data of FROM go through shared memory; 0: over TCP */
    int32_t zero;
    int64_t latency; /**< half of the way of a small message there and back */
    int64_t there;   /**< of a large message from FROM to TO */
    int64_t back;    /**< of one from TO to FROM */
    int64_t ahead;   /**< how far TO's time of day is ahead of FROM's, as exact as `latency` */
} mst_checkup_link;

/** What the address of a task stands for on this machine. */
typedef struct mst_checkup_name {
    char numeric[80]; /**< "127.0.0.1:2222"; "": nothing, or not found in time */
    bool is_loopback; /**< other machines cannot reach it */
} mst_checkup_name;

/** Looks up the addresses of all training tasks, for SECONDS at most; OUT has room for all of them. Exported for the
 *  command, as is all below. */
MST_API MST_CHECKED mst_status mst_checkup_resolve(const mst_cluster *cluster, double seconds, mst_checkup_name *out);

/** Listens at this task's address; errors as mst_task_open_with. */
MST_API MST_CHECKED mst_status mst_checkup_open(const mst_checkup_options *options, mst_checkup **out);
/** Gives FACTS, shorter than MST_CHECKUP_FACTS, to all other tasks and gets theirs, measures, and returns when all is
 *  known that can be. Missing tasks are no error here. Called once. */
MST_API MST_CHECKED mst_status mst_checkup_gather(mst_checkup *checkup, const char *facts);
/** What is known of TASK, another one than this. Lives as long as CHECKUP. */
MST_API const mst_checkup_peer *mst_checkup_peer_of(const mst_checkup *checkup, int32_t task);
/** All links that were measured; those of this task alone where the leader did not come. */
MST_API int32_t mst_checkup_links(const mst_checkup *checkup, const mst_checkup_link **out);
/** Frees all. Tasks other than the leader wait for it to close first, two seconds at most, so that a launcher that ends
 *  all when one has failed does not end the leader before it has told all. NULL is allowed. */
MST_API void mst_checkup_close(mst_checkup *checkup);

#endif
