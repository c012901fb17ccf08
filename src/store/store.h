/** The inside of a store: entries, their copies, and the order of steps that read and write them.
 *
 *  An entry (mst_state) has one value, and copies of it in memory. There may be a copy on each device (weights under
 *  the mirrored strategy) or one copy in a memory domain (slots). A copy at rest lies in the host's memory: its value
 *  was set from outside, and no session uses it yet. A write goes to some of the copies and gives the entry a new
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

/** Memory of several copies next to each other. */
typedef struct mst_block {
    mst_domain *domain;
    void *data;
    size_t bytes;
    int64_t num_copies;
    char place[]; /**< place of the copies */
} mst_block;

typedef struct mst_copy {
    mst_domain *domain;
    const char *place; /**< full name of the device to which it belongs; "": all devices of the domain. Memory of the
                            block */
    void *data;
    _Atomic uint64_t version; /**< version of the value that it holds; 0: it holds none */
    int users;                /**< number of sessions that have it in their plans, and of calls that read or write it */
    bool refreshing;          /**< a caller is refreshing it */
    mst_block *block;
    struct mst_copy *next;
} mst_copy;

typedef struct mst_state {
    const char *container, *name;
    int64_t number; /**< index in the store, in the order in which entries were made */
    mst_state_kind kind;
    mst_spec spec;
    size_t bytes;
    uint64_t version; /**< 0: no value. Written in a turn and under the lock, so a reader needs only one of the two */
    bool torn;        /**< a step failed while it wrote the value, so no copy has it. Protected like `version` */
    mst_copy *copies;
    bool is_part;                 /**< the value is part of a whole value that is spread over the tasks: parts.c */
    mst_shape whole;              /**< shape of the whole value */
    int64_t part_first;           /**< index in the whole value of the part's first element */
    mst_tensor *held;             /**< the whole value if it is known, else NULL. Under the lock */
    struct mst_use *first, *last; /**< queue of the uses of turns under way: access_order.c */
} mst_state;

struct mst_store {
    _Atomic int references;
    uint64_t process;     /**< the process in which it was made */
    pthread_mutex_t lock; /**< protects the tables, the lists of copies and the notes */
    mst_arena arena;
    mst_names names; /**< "container\x1fname" -> index */
    mst_state **state;
    int64_t num_states, state_capacity;
    mst_state_notes notes;
    pthread_mutex_t order_lock; /**< protects the queues of all entries: access_order.c. May be taken while `lock` is
                                     held */
    uint64_t turns;             /**< number of turns taken so far, except those of visitors */
    mst_timeline refreshed;     /**< counts refreshes of copies that have ended, also failed ones */
    _Atomic int64_t timeout;    /**< timeout of calls from outside in nanoseconds; 0: no session has set one */
    _Atomic uint64_t runs;      /**< number of runs that made no step: it numbers them for their random ops */
    mst_state *runs_state;      /**< the entry whose value is `runs`; it has no copies */
};

/** Seconds that calls wait if no timeout is given. */
#define MST_DEFAULT_TIMEOUT 600.0

/** Entries that the library makes itself. */
#define MST_STATE_RUNS "random/runs"
#define MST_STATE_SEED "random/seed"
#define MST_STATE_GLOBAL_STEP "global_step"
#define MST_STATE_SHARDS "fit/num_shards"

/** The key of the note that names the compiled programs of a fit (train/noted_executables.h). It belongs into
 *  checkpoints, and not into files of models. */
#define MST_NOTE_EXECUTABLES "muster/executables"

/* ---- turns: the order of reads and writes -------------------------------------------------------------- */

/** A use of an entry in a turn. */
typedef struct mst_use {
    mst_state *state;
    bool writes; /**< it writes, and may also read */
    /* access_order.c */
    bool excludes;                  /**< it may still write, so later uses wait for it (mst_turn_drop_writes) */
    bool behind_writer, behind_any; /**< a writer is before it in the queue of the entry. For writers: any use is before
                                         it */
    struct mst_turn *turn;
    struct mst_use *before, *after; /**< neighbours in the queue of the entry */
} mst_use;

/** A turn: the place of one step or call in the order in which a store's entries are used. Turns that share no entry,
 *  or only read the entries that they share, run at the same time. Else a turn begins when the writers before it have
 *  ended, and writes when the readers before it have ended too. So each turn sees the state that all turns before it
 *  left. Turns wait only for earlier ones, so they cannot wait for each other in a circle. */
typedef struct mst_turn {
    mst_store *store;
    mst_use *use; /**< uses: the caller's array, needed until the turn has ended; each entry at most once */
    int64_t num_uses;
    uint64_t number; /**< version of the values that it writes */
    /* access_order.c */
    bool visits;                                   /**< it is a visitor's */
    bool wants_to_write;                           /**< mst_turn_write was called, and has not failed */
    bool writes;                                   /**< mst_turn_write has succeeded */
    _Atomic int64_t behind_writers, behind_others; /**< number of its uses that wait to read, and to write */
    mst_timeline moved;                            /**< rises when one of these two numbers becomes 0 */
} mst_turn;

/** Takes the next place in the order for USES, whose `state` and `writes` are set. TURN must not move until it ends. */
void mst_turn_take(mst_store *store, mst_use *uses, int64_t num_uses, mst_turn *turn);
/** Takes a place for a caller that only reads, and waits for no other turn meanwhile (a visitor, such as a snapshot).
 *  The place is before all writers that do not write yet, even stuck ones. So the visitor waits only for writers that
 *  write already, and for a writer that only other visitors keep from writing. */
void mst_turn_visit(mst_store *store, mst_use *uses, int64_t num_uses, mst_turn *turn);
/** Waits until the entries may be read; MST_DEADLINE if this takes longer than DEADLINE. */
MST_CHECKED mst_status mst_turn_begin(mst_turn *turn, int64_t deadline);
/** Waits until the entries may be written, in a turn that has begun. */
MST_CHECKED mst_status mst_turn_write(mst_turn *turn, int64_t deadline);
/** Makes TURN, which has written nothing, a reader. Readers after it need not wait for it any more. */
void mst_turn_drop_writes(mst_turn *turn);
/** Ends a turn, even one that never began. */
void mst_turn_end(mst_turn *turn);

/* ---- entries --------------------------------------------------------------------------------------- */

/** Finds or makes the entry (CONTAINER, NAME). MST_INVALID if it exists with another dtype or shape. */
MST_CHECKED mst_status mst_store_declare(mst_store *store, const char *container, const char *name, mst_state_kind kind,
                                         const mst_spec *spec, mst_state **out);
/** Declares that an existing entry is a part of a value of shape WHOLE, and begins at its element FIRST. When such an
 *  entry is restored from a snapshot with the whole value, it takes its part, and holds the whole. */
void mst_store_set_part(mst_store *store, const char *container, const char *name, mst_shape whole, int64_t first);
/** Lets the entry hold WHOLE, its whole value at this moment. WHOLE is retained. */
void mst_store_hold_whole(mst_store *store, const char *container, const char *name, mst_tensor *whole);
/** Whether all entries that are parts hold their whole values. */
bool mst_store_has_wholes(mst_store *store);
/** Releases all whole values that are held, because the values are about to change. */
void mst_store_drop_wholes(mst_store *store);
/** As mst_store_snapshot, except for entries that are parts: the snapshot has the whole value that they hold, or omits
 *  them. */
MST_CHECKED mst_status mst_store_snapshot_wholes(mst_store *store, mst_snapshot **out);
/** Whether STATE is a part of a value with this SPEC. */
bool mst_state_takes_whole(const mst_state *state, const mst_spec *spec);
/** The entry; NULL if there is none. */
mst_state *mst_store_find(mst_store *store, const char *container, const char *name);
/** Copies the value of an entry, as mst_store_get does; MST_DEADLINE if this takes longer than DEADLINE. */
MST_CHECKED mst_status mst_store_read(mst_store *store, const char *container, const char *name, int64_t deadline,
                                      mst_tensor **out);
/** Copies the value of an entry to DST in the host's memory. The value must have SPEC. */
MST_CHECKED mst_status mst_store_read_to(mst_store *store, const char *container, const char *name,
                                         const mst_spec *spec, void *dst);
/** Sets the value of an entry, as mst_store_set does; MST_DEADLINE if this takes longer than DEADLINE. */
MST_CHECKED mst_status mst_store_write(mst_store *store, const char *container, const char *name, mst_state_kind kind,
                                       const mst_tensor *value, int64_t deadline);
/** Tells the store the timeout, in seconds, of a session that uses it. Calls from outside wait at most as long as the
 *  longest of these. */
void mst_store_set_timeout(mst_store *store, double seconds);
/** The deadline of a call that begins now. */
int64_t mst_store_deadline(const mst_store *store);
/** Removes the values of all entries of some kinds, in a turn of its own. KINDS has bit 1 << kind for each of them. */
MST_CHECKED mst_status mst_store_clear(mst_store *store, unsigned kinds);
/** Removes the values of all entries of a container. */
MST_CHECKED mst_status mst_store_clear_container(mst_store *store, const char *container);

/** MST_CORRUPT if STATE is torn. Call it in a turn that has begun. */
MST_CHECKED mst_status mst_state_check_whole(const mst_state *state);
/** MST_INVALID if STATE has another dtype or shape. */
MST_CHECKED mst_status mst_state_check_spec(const mst_state *state, const mst_spec *spec);

/** The copy of STATE in DOMAIN at PLACE; NULL if there is none. The caller counts as its user until mst_copy_release,
 *  and so it is not freed. */
mst_copy *mst_state_use_copy(mst_store *store, const mst_state *state, const mst_domain *domain, const char *place);
/** Likewise, a copy that holds the value, wherever it is. */
mst_copy *mst_state_use_current(mst_store *store, const mst_state *state);
/** Likewise, all copies that hold the value, one after another. AFTER is NULL for the first copy, else the copy before,
 *  which must be in use. NULL after the last. */
mst_copy *mst_state_use_next(mst_store *store, const mst_state *state, const mst_copy *after);
/** Likewise, any copy, whether or not it holds the value; one in the host's memory if there is one. */
mst_copy *mst_state_use_any(mst_store *store, const mst_state *state);
/** Makes a copy without a value for each of N states, in DOMAIN at PLACE. The copies lie next to each other in
 *  untouched memory. The caller is the user of OUT[i] until it releases it. */
MST_CHECKED mst_status mst_store_place(mst_store *store, mst_state *const *states, int64_t n, mst_domain *domain,
                                       const char *place, mst_copy **out);
/** Ends the caller's use of COPY of STATE. A copy without users is freed if another copy has the value. */
void mst_copy_release(mst_store *store, mst_state *state, mst_copy *copy);
/** Copies the value of STATE from SRC in the domain FROM to DST in TO; waits for it until DEADLINE at most. */
MST_CHECKED mst_status mst_state_copy(const mst_state *state, mst_domain *to, void *dst, mst_domain *from, void *src,
                                      int64_t deadline);
/** Gives COPY the value of STATE, in a turn that has begun. Frees a copy at rest that is not needed any more. If
 *  another reader is refreshing COPY, waits for it. */
MST_CHECKED mst_status mst_copy_refresh(mst_store *store, mst_state *state, mst_copy *copy, int64_t deadline);
/** Whether STATE has a value. */
bool mst_state_has_value(mst_store *store, const mst_state *state);
/** The version as in mst_state_info. Call it in a turn that has begun, or under the lock. */
uint64_t mst_state_version(const mst_store *store, const mst_state *state);

/** Notes that a file has a tensor NAME whose DTYPE no entry can have. At most 64 such tensors are noted. */
MST_CHECKED mst_status mst_snapshot_leave_out(mst_snapshot *snapshot, const char *name, const char *dtype);
/** The name of noted tensor I, and its *DTYPE; NULL after the last. */
const char *mst_snapshot_left_out(const mst_snapshot *snapshot, int64_t i, const char **dtype);

#endif
