/** A check of a cluster before it trains, for `muster doctor`: which tasks are there, which of them reach each other,
 *  and how fast their connections are.
 *
 *      task 0, the leader                       task 1
 *      facts  -------------------------------->           each task to each other one
 *             <--------------------------------  facts    again, when it no longer waits for anybody
 *      pings  -------------------------------->           to tasks of higher numbers, one pair after another
 *      MEASURE ------------------------------->           now task 1 pings the tasks of higher numbers
 *             <--------------------------------  links
 *      all links ----------------------------->           the check is over
 *
 *  Facts are a text that is not interpreted here. Everything runs on the caller's thread and ends by itself. The
 *  options limit the wait for missing tasks. Measuring is limited to 20 seconds for all pairs, and 0.05 more for each
 *  pair. */
#ifndef MUSTER_MESSAGES_CHECKUP_H
#define MUSTER_MESSAGES_CHECKUP_H

#include "messages/task_message.h"
#include "muster/cluster.h"
#include "muster/op.h"

/** The messages between the tasks. */
extern const mst_protocol mst_checkup_protocol;
enum {
    /** number: 1: the sender no longer waits for anybody; body: its facts, a text */
    MST_CHECK_FACTS = MST_TASK_MESSAGE_CHECKUP,
    MST_CHECK_MEASURE,  /**< from the leader: measure your links; number: nanoseconds for each */
    MST_CHECK_PING,     /**< number: of the ping; step: bytes wanted in the answer */
    MST_CHECK_PONG,     /**< number: of the ping; step: the sender's time, nanoseconds since 1970 */
    MST_CHECK_MEASURED, /**< to the leader: body: links (mst_checkup_link) */
    MST_CHECK_LINKS,    /**< from the leader: the check is over; body: all links */
    MST_CHECK_END
};

/** Bytes of the longest facts, of a small ping and of a large one. */
enum { MST_CHECKUP_FACTS = 256 << 10, MST_CHECKUP_SMALL = 1, MST_CHECKUP_LARGE = 1000000 };

typedef struct mst_checkup mst_checkup;

typedef struct mst_checkup_options {
    const mst_cluster *cluster;              /**< all its addresses are known; it must outlive the checkup */
    const char *bind, *key_file, *transport; /**< as in mst_task_options */
    bool insecure;
    double wait;        /**< how many seconds to wait for missing tasks */
    bool (*stop)(void); /**< asked several times a second: true ends waiting and measuring; NULL: never */
} mst_checkup_options;

/** What this task has found out about another one. */
typedef struct mst_checkup_peer {
    bool reached;  /**< this task has had a connection to it */
    bool heard;    /**< its facts have come: it has a connection to this task */
    bool lost;     /**< a connection with it has broken, or was refused */
    char *facts;   /**< NULL: they have not come */
    char why[160]; /**< reason for `lost`, half a sentence without control characters */
} mst_checkup_peer;

/** The measured link between two tasks: FROM has sent pings to TO. Times are in nanoseconds. They come from the median
 *  round trip, but `ahead` from the quickest of a few. */
typedef struct mst_checkup_link {
    int32_t from, to;
    int32_t shared;  /**< 1: data from FROM go through shared memory; 0: over TCP */
    int32_t zero;    /**< always 0: there is no gap before the next member, since links are sent as they are */
    int64_t latency; /**< half the round trip of a small message */
    int64_t there;   /**< time of a large message from FROM to TO */
    int64_t back;    /**< time of one from TO to FROM */
    int64_t ahead;   /**< how far TO's time of day is ahead of FROM's; its precision is `latency` */
} mst_checkup_link;

/** The address of a task, as resolved on this machine. */
typedef struct mst_checkup_name {
    char numeric[80]; /**< "127.0.0.1:2222"; "": not resolved, or not in time */
    bool is_loopback; /**< other machines cannot reach it */
} mst_checkup_name;

/** Resolves the addresses of all training tasks, for SECONDS at most. OUT has room for all of them. Exported for the
 *  command, as are all functions below. */
MST_API MST_CHECKED mst_status mst_checkup_resolve(const mst_cluster *cluster, double seconds, mst_checkup_name *out);

/** Listens at this task's address; errors as mst_task_open_with. */
MST_API MST_CHECKED mst_status mst_checkup_open(const mst_checkup_options *options, mst_checkup **out);
/** Gives FACTS, shorter than MST_CHECKUP_FACTS, to all other tasks, gets theirs, and measures. Returns when everything
 *  that can be found out is known. Missing tasks are not an error here. Call it once. */
MST_API MST_CHECKED mst_status mst_checkup_gather(mst_checkup *checkup, const char *facts);
/** What is known of TASK, which is not this task. Lives as long as CHECKUP. */
MST_API const mst_checkup_peer *mst_checkup_peer_of(const mst_checkup *checkup, int32_t task);
/** All measured links; only those of this task if the leader did not come. */
MST_API int32_t mst_checkup_links(const mst_checkup *checkup, const mst_checkup_link **out);
/** Frees everything. Tasks other than the leader wait, two seconds at most, for the leader to close first. A launcher
 *  that ends all tasks when one has failed would otherwise end the leader before it has told all. NULL is allowed. */
MST_API void mst_checkup_close(mst_checkup *checkup);

#endif
