/** The inside of a store: entries, their copies, and the order of steps that read and write them.
 *
 *  An entry (mst_state) has a value, which is the same wherever it is kept, and copies of it: one on each device that
 *  keeps one (weights under the mirrored strategy), one in a memory domain (slots), or one at rest in the host's
 *  memory, where a value was set from outside and no session has asked for it yet. A write goes to some of the copies
 *  and gives the entry a new version; a copy with an older version is stale, and is refreshed before it is read.
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
#include "base/line.h"
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
    const char
        *place; /**< full name of the device it belongs to; "" where it is one for the whole domain; its block's */
    void *data;
    uint64_t version; /**< of the value that it holds; 0: none */
    int users;        /**< sessions that have it in their plans, and calls that read or write it */
    mst_block *block;
    struct mst_copy *next;
} mst_copy;

typedef struct mst_state {
    const char *container, *name;
    int64_t number; /**< in the store, in the order in which they were made */
    mst_state_kind kind;
    mst_spec spec;
    size_t bytes;
    uint64_t version; /**< 0: no value */
    bool torn;        /**< a step failed while it wrote the value: no copy has it */
    mst_copy *copies;
} mst_state;

/** Writers that may be under way or waiting at once. */
enum { MST_STORE_TURNS = 64 };

struct mst_store {
    _Atomic int references;
    uint64_t process;     /**< in which it was made */
    pthread_mutex_t lock; /**< of the tables, the lists of copies and the notes */
    mst_arena arena;
    mst_names names; /**< "container\x1fname" -> index */
    mst_state **state;
    int64_t num_states, state_capacity;
    mst_state_notes notes;
    /* order.c */
    pthread_mutex_t order_lock;
    uint64_t writers;                       /**< turns given to writers */
    uint64_t readers[MST_STORE_TURNS];      /**< turns given to readers after writer number i, i + 64, ... */
    bool ended[MST_STORE_TURNS];            /**< writers that have ended their turn and are not done yet */
    mst_line committed;                     /**< number of the last writer that is done, with all before it */
    mst_line readers_done[MST_STORE_TURNS]; /**< readers that are done, counted as `readers` */
    _Atomic uint64_t last_write;            /**< number of the last writer that changed something */
    _Atomic uint64_t runs;                  /**< runs that made no step: the numbers of their random ops */
    mst_state *runs_state;                  /**< stands for `runs`, and has no copies */
};

/** Entries that the system makes. */
#define MST_STATE_RUNS "random/runs"
#define MST_STATE_SEED "random/seed"
#define MST_STATE_GLOBAL_STEP "global_step"

/* ---- turns: the order of reads and writes -------------------------------------------------------------- */

/** A place in the order of all uses of a store. A writer begins when the writer before it is done, and writes when the
 *  readers between the two are done too. A reader begins when the last writer before it is done. So each sees the state
 *  as all before it left it, and waits only for earlier ones: they cannot wait for each other in a circle. */
typedef struct mst_turn {
    mst_store *store;
    bool writer;
    uint64_t number; /**< of the writer; for a reader, of the writer before it */
} mst_turn;

/** Takes the next place. MST_DEADLINE where there are MST_STORE_TURNS writers for that long. */
MST_CHECKED mst_status mst_turn_take(mst_store *store, bool writer, int64_t deadline, mst_turn *out);
/** Waits until the state may be read; MST_DEADLINE after that time. */
MST_CHECKED mst_status mst_turn_begin(const mst_turn *turn, int64_t deadline);
/** Waits until the state may be written. Only for writers. */
MST_CHECKED mst_status mst_turn_write(const mst_turn *turn, int64_t deadline);
/** Ends a turn, also one that never began. */
void mst_turn_end(const mst_turn *turn);

/* ---- entries --------------------------------------------------------------------------------------- */

/** The entry of (CONTAINER, NAME), made where there is none. MST_INVALID where it has another dtype or shape. */
MST_CHECKED mst_status mst_store_declare(mst_store *store, const char *container, const char *name, mst_state_kind kind,
                                         const mst_spec *spec, mst_state **out);
/** The entry, or NULL. */
mst_state *mst_store_find(mst_store *store, const char *container, const char *name);
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
/** The same for any copy, whether or not it holds the value; one in the host's memory where there is one. */
mst_copy *mst_state_use_any(mst_store *store, const mst_state *state);
/** Makes a copy, without a value, of each of the N states in DOMAIN at PLACE; they lie side by side in untouched
 *  memory. OUT[i] is used by the caller until it is released. */
MST_CHECKED mst_status mst_store_place(mst_store *store, mst_state *const *states, int64_t n, mst_domain *domain,
                                       const char *place, mst_copy **out);
/** Ends the caller's use of COPY of STATE. A copy without users is freed where the value is elsewhere too. */
void mst_copy_release(mst_store *store, mst_state *state, mst_copy *copy);
/** Gives COPY the value of STATE, in a turn that has begun. Frees a copy at rest that is not needed any more. */
MST_CHECKED mst_status mst_copy_refresh(mst_store *store, mst_state *state, mst_copy *copy);
/** Whether STATE has a value. */
bool mst_state_has_value(mst_store *store, const mst_state *state);
/** As mst_state_info has it; in a turn that has begun, or under the lock. */
uint64_t mst_state_version(const mst_store *store, const mst_state *state);

#endif
