/** The inside of a store: entries, their copies, and the order of steps that read and write them.
 *
 *  An entry (mst_state) has one value, and copies of it in memory. There may be a copy on each device (weights under
 *  the mirrored strategy) or one in a memory domain (slots). A copy at rest lies in the host's memory: its value was
 *  set from outside, and no session has asked for it yet. A write goes to some of the copies and gives the entry a new
 *  version. A copy with an older version is stale, and is refreshed before it is read.
 *
 *      entry "layer1/weights", version 7
 *        copy on /job:localhost/replica:0/task:0/device:CPU:0   version 7
 *        copy on /job:localhost/replica:0/task:0/device:CPU:1   version 7
 *        copy at rest in the host's memory                      version 3, stale
 */
#ifndef MUSTER_STORE_STORE_H
#define MUSTER_STORE_STORE_H

#include <pthread.h>

#include "base/arena.h"
#include "base/timeline.h"
#include "device/domain.h"
#include "graph/names.h"
#include "muster/store.h"
#include "store/notes.h"

/** Memory of several copies, which lie side by side. */
typedef struct mst_block {
    mst_domain *domain;
    void *data;
    size_t bytes;
    int64_t num_copies;
    char place[]; /**< of the copies */
} mst_block;

typedef struct mst_copy {
    mst_domain *domain;
    const char *place; /**< full name of the device it belongs to; "": the domain shares it. Belongs to the block */
    void *data;
    _Atomic uint64_t version; /**< of the value that it holds; 0: none */
    int users;                /**< sessions that have it in their plans, and calls that read or write it */
    bool refreshing;          /**< its value is on the way */
    mst_block *block;
    struct mst_copy *next;
} mst_copy;

typedef struct mst_state {
    const char *container, *name;
    int64_t number; /**< index in the store, in the order in which entries were made */
    mst_state_kind kind;
    mst_spec spec;
    size_t bytes;
    uint64_t version; /**< 0: no value. Written in a turn and under the lock, so that either is enough to read it */
    bool torn;        /**< a step failed while it wrote the value: no copy has it. As `version` */
    mst_copy *copies;
    bool is_part;                 /**< the value is part of a whole value that is spread over the tasks: parts.c */
    mst_shape whole;              /**< shape of the whole value */
    int64_t part_first;           /**< index in the whole value of the part's first element */
    mst_tensor *held;             /**< the whole value while it is known, else NULL. Under the lock */
    struct mst_use *first, *last; /**< uses of the turns under way, in their order: access_order.c */
} mst_state;

struct mst_store {
    _Atomic int references;
    uint64_t process;     /**< the process in which it was made */
    pthread_mutex_t lock; /**< of the tables, the lists of copies and the notes */
    mst_arena arena;
    mst_names names; /**< "container\x1fname" -> index */
    mst_state **state;
    int64_t num_states, state_capacity;
    mst_state_notes notes;
    pthread_mutex_t order_lock; /**< of the queues of all entries: access_order.c. May be taken under `lock` */
    uint64_t turns;             /**< taken so far by those that may write */
    mst_timeline refreshed;     /**< counts refreshes of copies that have ended, failed ones too */
    _Atomic int64_t timeout;    /**< of calls from outside, in nanoseconds; 0: no session has set one */
    _Atomic uint64_t runs;      /**< counts runs that made no step, for their random ops */
    mst_state *runs_state;      /**< the entry of `runs`; has no copies */
};

/** Seconds that calls wait where no timeout is given. */
#define MST_DEFAULT_TIMEOUT 600.0

/** Entries that the system makes. */
#define MST_STATE_RUNS "random/runs"
#define MST_STATE_SEED "random/seed"
#define MST_STATE_GLOBAL_STEP "global_step"

/* ---- turns: the order of reads and writes -------------------------------------------------------------- */

/** A use of an entry in a turn. */
typedef struct mst_use {
    mst_state *state;
    bool writes; /**< also: may read */
    /* access_order.c */
    bool excludes;                  /**< will write, as far as is known */
    bool behind_writer, behind_any; /**< a writer is before it in the queue of the entry; any use is (writers only) */
    struct mst_turn *turn;
    struct mst_use *before, *after; /**< in the queue */
} mst_use;

/** A turn: the place of one step or call in the order in which a store's entries are used. Turns that share no entry,
 *  or only read those that they share, run side by side. Else a turn begins when the writers before it have ended, and
 *  writes when the readers before it have ended too. So each turn sees the state that all before it left. Turns wait
 *  only for earlier ones, so they cannot wait for each other in a circle. */
typedef struct mst_turn {
    mst_store *store;
    mst_use *use; /**< the caller's, until the turn has ended; an entry at most once */
    int64_t num_uses;
    uint64_t number; /**< version of what it writes */
    /* access_order.c */
    bool visits, wants_to_write, writes;
    _Atomic int64_t behind_writers, behind_others; /**< uses that wait to read, and to write */
    mst_timeline moved;                            /**< rises when one of the two comes to 0 */
} mst_turn;

/** Takes the next place for USES, whose `state` and `writes` are set. TURN must stay at its address until it ends. */
void mst_turn_take(mst_store *store, mst_use *uses, int64_t num_uses, mst_turn *turn);
/** The same for a caller that only reads, and waits for no other turn while it does (a snapshot). Its place is before
 *  all writers that do not write yet, stuck ones too. It waits only for those that write already. */
void mst_turn_visit(mst_store *store, mst_use *uses, int64_t num_uses, mst_turn *turn);
/** Waits until the state may be read; MST_DEADLINE after that time. */
MST_CHECKED mst_status mst_turn_begin(mst_turn *turn, int64_t deadline);
/** Waits until the state may be written, in a turn that has begun. */
MST_CHECKED mst_status mst_turn_write(mst_turn *turn, int64_t deadline);
/** Turns TURN, which has written nothing, into a reader: readers after it need not wait for it. */
void mst_turn_drop_writes(mst_turn *turn);
/** Ends a turn, also one that never began. */
void mst_turn_end(mst_turn *turn);

/* ---- entries --------------------------------------------------------------------------------------- */

/** The entry of (CONTAINER, NAME), made where there is none. MST_INVALID where it has another dtype or shape. */
MST_CHECKED mst_status mst_store_declare(mst_store *store, const char *container, const char *name, mst_state_kind kind,
                                         const mst_spec *spec, mst_state **out);
/** Declares that the entry, which must exist, has the part of a value of shape WHOLE that begins at element FIRST. From
 *  a snapshot with the whole value, the entry then restores its part, and holds the whole. */
void mst_store_set_part(mst_store *store, const char *container, const char *name, mst_shape whole, int64_t first);
/** Holds WHOLE (retained), the whole value as it is now, for that entry. */
void mst_store_hold_whole(mst_store *store, const char *container, const char *name, mst_tensor *whole);
/** Whether all entries that are parts hold their whole values. */
bool mst_store_has_wholes(mst_store *store);
/** Releases all whole values that are held: the values change from now on. */
void mst_store_drop_wholes(mst_store *store);
/** As mst_store_snapshot, but an entry that is a part gives the whole value that it holds, or is left out. */
MST_CHECKED mst_status mst_store_snapshot_wholes(mst_store *store, mst_snapshot **out);
/** Whether SPEC is that of the whole value that STATE is a part of. */
bool mst_state_takes_whole(const mst_state *state, const mst_spec *spec);
/** The entry, or NULL. */
mst_state *mst_store_find(mst_store *store, const char *container, const char *name);
/** Copies the value of an entry, or sets it, as mst_store_get and mst_store_set do; MST_DEADLINE after that time. */
MST_CHECKED mst_status mst_store_read(mst_store *store, const char *container, const char *name, int64_t deadline,
                                      mst_tensor **out);
/** Copies the value of an entry, which is SPEC, to DST in the host's memory. */
MST_CHECKED mst_status mst_store_read_to(mst_store *store, const char *container, const char *name,
                                         const mst_spec *spec, void *dst);
MST_CHECKED mst_status mst_store_write(mst_store *store, const char *container, const char *name, mst_state_kind kind,
                                       const mst_tensor *value, int64_t deadline);
/** Tells the store the timeout, in seconds, of a session that uses it. Calls from outside wait at most as long as the
 *  longest of these. */
void mst_store_set_timeout(mst_store *store, double seconds);
/** The time at which a call that begins now must have ended. */
int64_t mst_store_deadline(const mst_store *store);
/** Removes the values of all entries of kinds in the set KINDS (1 << kind), in a turn of its own. */
MST_CHECKED mst_status mst_store_clear(mst_store *store, unsigned kinds);
/** The same of all entries of a container. */
MST_CHECKED mst_status mst_store_clear_container(mst_store *store, const char *container);

/** MST_CORRUPT where STATE is torn. In a turn that has begun. */
MST_CHECKED mst_status mst_state_check_whole(const mst_state *state);
/** MST_INVALID where STATE has another dtype or shape. */
MST_CHECKED mst_status mst_state_check_spec(const mst_state *state, const mst_spec *spec);

/** The copy of STATE in DOMAIN at PLACE, or NULL; used by the caller, and so not freed, until it is released. */
mst_copy *mst_state_use_copy(mst_store *store, const mst_state *state, const mst_domain *domain, const char *place);
/** The same for a copy that holds the value, wherever it is. */
mst_copy *mst_state_use_current(mst_store *store, const mst_state *state);
/** The same for all of them, one by one: the first copy that holds the value where AFTER is NULL, else the next one
 *  after AFTER, which is in use. NULL past the last. */
mst_copy *mst_state_use_next(mst_store *store, const mst_state *state, const mst_copy *after);
/** The same for any copy, whether or not it holds the value; one in the host's memory where there is one. */
mst_copy *mst_state_use_any(mst_store *store, const mst_state *state);
/** Makes a copy, without a value, of each of the N states in DOMAIN at PLACE; they lie side by side in untouched
 *  memory. OUT[i] is used by the caller until it is released. */
MST_CHECKED mst_status mst_store_place(mst_store *store, mst_state *const *states, int64_t n, mst_domain *domain,
                                       const char *place, mst_copy **out);
/** Ends the caller's use of COPY of STATE. A copy without users is freed if another copy has the value. */
void mst_copy_release(mst_store *store, mst_state *state, mst_copy *copy);
/** Gives COPY the value of STATE, in a turn that has begun. Frees a copy at rest that is not needed any more. Waits
 *  where another reader is doing the same. */
MST_CHECKED mst_status mst_copy_refresh(mst_store *store, mst_state *state, mst_copy *copy, int64_t deadline);
/** Whether STATE has a value. */
bool mst_state_has_value(mst_store *store, const mst_state *state);
/** As mst_state_info has it; in a turn that has begun, or under the lock. */
uint64_t mst_state_version(const mst_store *store, const mst_state *state);

/** Notes that a file has a tensor NAME whose DTYPE no entry can have. At most 64 such tensors are noted. */
MST_CHECKED mst_status mst_snapshot_leave_out(mst_snapshot *snapshot, const char *name, const char *dtype);
/** The name of tensor I of those that were noted, and its *DTYPE; NULL past the last. */
const char *mst_snapshot_left_out(const mst_snapshot *snapshot, int64_t i, const char **dtype);

#endif
