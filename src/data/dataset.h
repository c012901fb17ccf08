/** Datasets from the inside.
 *
 *  Two things are kept apart: the order of rows, and their values. For the order, each dataset opens a cursor over its
 *  upstream's cursor. Rows flow between cursors as numbers in the source, with the pass over it (data/cursors/row.h).
 *  For the values, mst_row_fetch collects the scales, maps and changes between the source and the end of the chain. It
 *  turns row numbers into values only where the values are wanted.
 *
 *  A source has one of three kinds of rows. They may be in memory (the slot `memory`). They may be records of any
 *  length, which the source reads by their number (`read`). Or the source makes them from picture files or from the
 *  rows of other datasets (`values`). If a source can only read forward, its cursor keeps the records whose numbers it
 *  has given out until they are forgotten. The iterator forgets rows when it moves on, and a cursor forgets the rows
 *  that it drops.
 *
 *  A new transform is one file here. The file has its struct (an mst_dataset first), its mst_dataset_type, its cursor
 *  if it changes the order, and its public function. The build copies the declaration of that function into
 *  muster/transforms.h. */
#ifndef MUSTER_DATA_DATASET_H
#define MUSTER_DATA_DATASET_H

#include <stdatomic.h>

#include "base/shard_rows.h"
#include "data/cursors/row.h"
#include "data/scaled_cast.h"
#include "data/sources/record_buffer.h"
#include "muster/data.h"
#include "muster/dataset.h"
#include "muster/tfrecord.h"

typedef struct mst_cursor mst_cursor;

/** What a dataset does with the values of a row. One of four functions is set. `map` works on all components. `change`,
 *  `make` and `convert` work on component COMPONENT only, and are skipped if that component is not wanted. */
typedef struct mst_row_stage {
    mst_map_function map;
    void *context;
    int component;
    /** Computes all elements of OUT, whose shape and dtype are those of IN. */
    void (*change)(const mst_dataset *dataset, const mst_row_key *key, const mst_array *in, mst_array *out);
    /** As `change`, but may fail, and OUT may have another shape and dtype, both known in advance. */
    mst_status (*make)(const mst_dataset *dataset, const mst_array *in, mst_array *out);
    /** Casts all elements, and multiplies them by FACTOR (data/scaled_cast.h). */
    mst_convert convert;
    double factor;
} mst_row_stage;

/** A source or a transform. */
typedef struct mst_dataset_type {
    const char *name;
    /** Frees what the type's own struct holds; may be NULL. */
    void (*destroy)(mst_dataset *dataset);
    /** See mst_dataset_check. NULL: making this dataset did not fail. */
    mst_status (*check)(const mst_dataset *dataset);
    /** The number of rows in the first N elements; N is at most the cardinality. NULL: as upstream. Only called if
     *  elements are batches. */
    int64_t (*rows_before)(const mst_dataset *dataset, int64_t n);
    /** Opens a cursor, which is not started. NULL: upstream's order and cursor are used. */
    mst_status (*open)(const mst_dataset *dataset, mst_cursor **out);
    /** For a source whose rows are in memory: the values of component I, row after row. NULL for sources that have
     *  `read` or `values`. */
    const void *(*memory)(const mst_dataset *source, int i);
    /** For a source of records, whose rows are u8 [-1] or string []: reads the record of ROWS[0]. ROWS are rows as they
     *  flow (mst_row_number gives the number); the caller will read the other COUNT - 1 of them next. BASE is a
     *  cursor of this source. *RECORD is valid until the next call with BUFFER. Several threads may call at the same
     *  time, each with its own buffer. NULL for other sources. */
    mst_status (*read)(const mst_dataset *source, mst_cursor *base, const int64_t *rows, int64_t count,
                       mst_record_buffer *buffer, mst_record *record);
    /** For a source of records: puts the place of record NUMBER (without a pass) before the message of the calling
     *  thread's error. Returns the code of the error. */
    mst_status (*explain)(const mst_dataset *source, mst_cursor *base, int64_t number);
    /** For a source that makes its rows: makes row NUMBER (without a pass), which BASE gave out and still holds. Writes
     *  component i to DST[i] unless that is NULL. A component whose length is not known has no place in DST. If OUT is
     *  not NULL, OUT[i] gets its data, from mst_map_alloc, its count and its shape. Several threads may call at the
     *  same time. NULL for other sources. */
    mst_status (*values)(const mst_dataset *source, mst_cursor *base, int64_t number, void *const *dst, mst_array *out);
    /** For a source whose row numbers depend on the order of rows: for row NUMBER (without a pass), a number for its
     *  record that stays the same in every order. BASE still holds the record. NULL: NUMBER itself stays the same. */
    uint64_t (*record)(const mst_dataset *source, mst_cursor *base, int64_t number);
    /** Names of the classes that the numbers of COMPONENT stand for, *N of them; returns NULL if there are none. If the
     *  slot is NULL: as upstream, but none after a map. */
    const char *const *(*classes)(const mst_dataset *dataset, int component, int64_t *n);
    /** See mst_dataset_file_paths. NULL: the dataset has no such paths. */
    const char *const *(*paths)(const mst_dataset *dataset, int64_t *n);
    /** See mst_dataset_files_left_out. NULL: as upstream, and nothing for a source. */
    const mst_files_left_out *(*left_out)(const mst_dataset *dataset);
    /** See mst_dataset_schema. NULL: as upstream, but none after a map. */
    const char *(*schema)(const mst_dataset *dataset);
    /** Writes the options that affect the values of rows or their order to TEXT, which has SIZE bytes: "factor 0.5".
     *  Workers that train together compare this text (data/settings.h). They also compare the number of rows, their
     *  shapes and their batches. NULL: there are no such options. */
    void (*settings)(const mst_dataset *dataset, char *text, size_t size);
    /** The *N datasets other than upstream that this one is made of. NULL: none. */
    mst_dataset *const *(*parts)(const mst_dataset *dataset, int *n);
    bool keeps_rows;   /**< its rows are upstream's rows in the same order, so some workers may use this transform and
                        *   others not */
    bool takes_some;   /**< it selects or orders rows: some asynchronous workers may use this transform and others
                        *   not */
    bool gives_values; /**< its elements are values in memory (mst_element), not rows of the source */
    bool pads;         /**< all rows of a batch have the same length, even if upstream's rows differ in length */
    bool makes_ahead;  /**< its thread makes upstream's rows in advance; readers only copy them */
    /** For a source that reads its files only when rows are asked for: a hash of the files (data/row_hash.h), which
     *  workers compare too. NULL: the rows are in memory, or the files are not known. */
    uint64_t (*contents)(const mst_dataset *source);
} mst_dataset_type;

struct mst_dataset {
    const mst_dataset_type *type;
    atomic_int references;
    mst_dataset *upstream; /**< NULL for a source */
    int num_components;
    mst_spec *row;       /**< [num_components] dtype and shape, without the batch dimension */
    int64_t cardinality; /**< the number of elements */
    int64_t batch_size;  /**< 0: elements are rows */
    bool even;           /**< every batch has exactly batch_size rows */
    const mst_row_stage *stage;
    int64_t num_corrupt;       /**< damaged records that the source found and skipped when it was opened */
    const char *first_corrupt; /**< the path of the first of them if each is a file, owned by the source; else NULL */
};

/** One element as it flows along cursors of batches. */
typedef struct mst_element {
    int64_t count;             /**< rows; 0 at the end */
    int64_t first;             /**< the row at which `memory` begins: with a window, memory holds only its rows */
    const int64_t *rows;       /**< rows with their passes (data/cursors/row.h); NULL: rows 0 to count - 1 */
    const void *const *memory; /**< the components that `rows` index; NULL: those of the source */
    const mst_shape *shape;    /**< shape of a row in each of these components; NULL: as the dataset has it */
} mst_element;

/** Makes a dataset of SIZE bytes (struct mst_dataset first), all zero, with one reference. */
MST_CHECKED mst_status mst_dataset_alloc(const mst_dataset_type *type, size_t size, int num_components, void *out);
/** Makes such a dataset over UPSTREAM, which is retained and whose properties are copied. */
MST_CHECKED mst_status mst_dataset_derive(const mst_dataset_type *type, size_t size, mst_dataset *upstream, void *out);
/** Makes such a dataset with other components than UPSTREAM: ROW describes each of NUM_COMPONENTS. */
MST_CHECKED mst_status mst_dataset_derive_rows(const mst_dataset_type *type, size_t size, mst_dataset *upstream,
                                               const mst_spec *row, int num_components, void *out);
/** MST_INVALID, naming TRANSFORM, unless the elements of DATASET are rows. */
MST_CHECKED mst_status mst_dataset_want_rows(const mst_dataset *dataset, const char *transform);
/** Whether the rows of component I in an element of DATASET have one length. */
bool mst_dataset_has_values(const mst_dataset *dataset, int i);
/** MST_INVALID, naming TRANSFORM, if they have different lengths. */
MST_CHECKED mst_status mst_dataset_want_values(const mst_dataset *dataset, int i, const char *transform);
/** MST_INVALID, naming TRANSFORM, if N is less than LEAST. */
MST_CHECKED mst_status mst_dataset_want_least(const char *transform, const char *what, int64_t n, int64_t least);
/** The number of rows in the first N elements. */
int64_t mst_dataset_rows_before(const mst_dataset *dataset, int64_t n);
/** The largest number of rows that one element can have, at least 1. */
int64_t mst_dataset_most_rows(const mst_dataset *dataset);
/** The size of a row of component I in bytes; 0 if its shape is not known. A string counts as its mst_string. */
size_t mst_dataset_row_bytes(const mst_dataset *dataset, int i);

/** Whether the values of a row take more work than copying and scaling each time they are asked for. That is so if the
 *  row is read, decoded, mapped or changed. */
bool mst_dataset_makes_rows(const mst_dataset *dataset);

/** Names of the classes that the numbers of component I stand for, *N of them; NULL if there are none. */
const char *const *mst_dataset_classes(const mst_dataset *dataset, int i, int64_t *n);

/** As mst_iterator_create over batches, for a task that needs only the rows of WINDOW in each batch. In all tasks,
 *  batches have their full size and the same order; copying a row outside WINDOW is MST_INVALID. Datasets that make or
 *  pad rows in advance do so only for the rows of WINDOW. Datasets that must see every row make all of them: a filter,
 *  a cache, and a padded_batch that looks for the longest row. */
MST_CHECKED mst_status mst_iterator_create_window(mst_dataset *dataset, int64_t epoch, mst_shard_window window,
                                                  mst_iterator **out);

/** The number of components of the dataset of BATCH. */
int mst_batch_num_components(const mst_batch *batch);

/** The grain for an mst_parallel over all rows of BATCH in which component COMPONENT is copied with mst_batch_copy. */
int64_t mst_batch_grain(const mst_batch *batch, int component);

/** The shape of a row of component I of DATASET in ELEMENT. If ELEMENT is NULL, lengths that are not known are -1. */
mst_shape mst_dataset_row_shape(const mst_dataset *dataset, const mst_element *element, int i);

/** The number in the source of row I of BATCH; -1 if it is not known (after a prefetch or a zip). */
int64_t mst_batch_row(const mst_batch *batch, int64_t i);

/** Makes the threads of ITERATOR end their work soon. A call of mst_iterator_next that is under way in another thread
 *  ends soon too, with an error if it waits for them. Afterwards ITERATOR can only be destroyed. */
void mst_iterator_stop(mst_iterator *iterator);

/** The number of damaged records that were skipped, when the source was opened and in this pass. */
int64_t mst_iterator_num_corrupt(const mst_iterator *iterator);

#endif
