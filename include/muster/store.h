/** Stores: all state of a task, by name.
 *
 *  A store has all values that remain from step to step, as entries under (container, name). Examples are weights,
 *  slots of optimizers, moving averages, the learning rate, the number of steps made, and the position in the data. One
 *  or several sessions use a store. It does not depend on graphs, strategies or the number of devices.
 *
 *      mst_snapshot *snapshot;
 *      MST_TRY(mst_store_snapshot(mst_session_store(session), &snapshot));   // while training goes on
 *      ...
 *      MST_TRY(mst_store_restore(mst_session_store(other), snapshot));       // any devices, any strategy
 *
 *  The functions of a store may be called by several threads at once, even while steps run. Steps and calls that write
 *  are executed in the order in which they began. Each sees the state that the one before it left.
 */
#ifndef MUSTER_STORE_H
#define MUSTER_STORE_H

#include "muster/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_store mst_store;
typedef struct mst_snapshot mst_snapshot;

/** What an entry is for. */
typedef enum mst_state_kind {
    MST_STATE_WEIGHT = 0, /**< the values of a model: trained weights, moving statistics */
    MST_STATE_SLOT,       /**< slot of an optimizer, as large as its weight: "layer1/weights/m" */
    MST_STATE_AVERAGE,    /**< moving average of a weight */
    MST_STATE_RULE,       /**< a number of an optimizer's rule */
    MST_STATE_RATE,       /**< learning rate */
    MST_STATE_STEP,       /**< global_step: updates made */
    MST_STATE_METRIC,     /**< running sums of a metric */
    MST_STATE_CURSOR,     /**< position in the data */
    MST_STATE_RANDOM,     /**< seed, and runs counted for random numbers */
    MST_NUM_STATE_KINDS
} mst_state_kind;
/** "weight", "slot", ... */
MST_API const char *mst_state_kind_name(mst_state_kind kind);
/** The names of all kinds, ended by NULL. */
MST_API extern const char *const mst_state_kind_names[];

typedef struct mst_state_info {
    const char *container, *name; /**< live as long as the store or the snapshot; "" is the default container */
    mst_state_kind kind;
    mst_spec spec;
    int64_t bytes;
    uint64_t version; /**< 0: no value yet; rises with every write */
    /** A step failed while it wrote this entry, so the entry has no valid value. This happens only if a kernel is
     *  wrongly marked as one that cannot fail, or if a device fails that updates in place
     *  (mst_session_updates_in_place). The version has not risen. Steps and calls that need the value fail with
     *  MST_CORRUPT until the whole entry is written again: set, restored, or assigned by a run. */
    bool torn;
} mst_state_info;

/** An empty store, with one reference owned by the caller. */
MST_API MST_CHECKED mst_status mst_store_create(mst_store **out);
/** Adds a reference and returns STORE. */
MST_API mst_store *mst_store_retain(mst_store *store);
/** Drops one reference; NULL is allowed. */
MST_API void mst_store_release(mst_store *store);

/** All entries in order of (container, name); *OUT is an array of *COUNT that the caller frees with free(). */
MST_API MST_CHECKED mst_status mst_store_list(mst_store *store, mst_state_info **out, int64_t *count);
/** Makes a tensor with the value of an entry, owned by the caller. MST_NOT_FOUND if there is no such entry or it has no
 *  value, MST_CORRUPT if it is torn. CONTAINER may be NULL for "". */
MST_API MST_CHECKED mst_status mst_store_get(mst_store *store, const char *container, const char *name,
                                             mst_tensor **out);
/** Sets an entry; makes one of KIND if there is none. MST_INVALID if the entry has another dtype or shape. */
MST_API MST_CHECKED mst_status mst_store_set(mst_store *store, const char *container, const char *name,
                                             mst_state_kind kind, const mst_tensor *value);

/** Sets a note: a text about the state, under a key. Example: the names of a model's classes. Snapshots and checkpoints
 *  include the notes of the store; training does not use them. TEXT is UTF-8; NULL removes the note. Keys "muster/..."
 *  belong to Muster. */
MST_API MST_CHECKED mst_status mst_store_set_note(mst_store *store, const char *key, const char *text);
/** Returns the text, which the caller frees with free(); NULL if there is no such note. */
MST_API MST_CHECKED mst_status mst_store_get_note(mst_store *store, const char *key, char **out);

/** Copies the values of all entries at one moment between two steps. Steps continue meanwhile; a step that is ready to
 *  write waits until the copy is made. The snapshot does not wait for steps that have not begun to write, for example
 *  because they are stuck. MST_CORRUPT if an entry is torn. The caller owns one reference. */
MST_API MST_CHECKED mst_status mst_store_snapshot(mst_store *store, mst_snapshot **out);
/** As mst_store_snapshot, but reuses the memory of *SNAPSHOT if that snapshot has no other reference. *SNAPSHOT, which
 *  may be NULL, is replaced by the new snapshot, and its reference released. After a failure *SNAPSHOT can only be
 *  released. */
MST_API MST_CHECKED mst_status mst_store_snapshot_again(mst_store *store, mst_snapshot **snapshot);
/** Sets all entries of the snapshot, and makes entries that do not exist. Entries and notes that only the store has do
 *  not change. Sets all or none: MST_INVALID, naming the entry, if an entry exists with another dtype or shape. */
MST_API MST_CHECKED mst_status mst_store_restore(mst_store *store, const mst_snapshot *snapshot);

/** A snapshot without entries, to be filled from a file. */
MST_API MST_CHECKED mst_status mst_snapshot_create(mst_snapshot **out);
/** Adds an entry; VALUE is retained. MST_EXISTS if there is one of that name. */
MST_API MST_CHECKED mst_status mst_snapshot_add(mst_snapshot *snapshot, const char *container, const char *name,
                                                mst_state_kind kind, mst_tensor *value);
MST_API mst_snapshot *mst_snapshot_retain(mst_snapshot *snapshot);
/** Drops one reference; NULL is allowed. */
MST_API void mst_snapshot_release(mst_snapshot *snapshot);
MST_API int64_t mst_snapshot_count(const mst_snapshot *snapshot);
/** Entry I in order of (container, name). */
MST_API mst_state_info mst_snapshot_info(const mst_snapshot *snapshot, int64_t i);
/** The value of entry I; it belongs to the snapshot, and must not be written. */
MST_API mst_tensor *mst_snapshot_value(const mst_snapshot *snapshot, int64_t i);
/** The value of an entry, or NULL if there is none. */
MST_API mst_tensor *mst_snapshot_find(const mst_snapshot *snapshot, const char *container, const char *name);
/** As mst_store_set_note. */
MST_API MST_CHECKED mst_status mst_snapshot_set_note(mst_snapshot *snapshot, const char *key, const char *text);
/** The text of a note, which belongs to the snapshot; NULL if there is none. */
MST_API const char *mst_snapshot_note(const mst_snapshot *snapshot, const char *key);
/** The key of note I; NULL past the last. */
MST_API const char *mst_snapshot_note_key(const mst_snapshot *snapshot, int64_t i);

#ifdef __cplusplus
}
#endif
#endif
