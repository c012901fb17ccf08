/** Inside of datasets.
 *
 *  Two things are kept apart. The order: each dataset opens a cursor over its upstream's cursor. Rows flow between
 *  them: numbers of rows of the source, with the pass over it (data/cursors/row.h). The values: mst_row_fetch collects
 *  the scales, maps and changes between source and end, and turns numbers of rows into values only where they are
 *  wanted.
 *
 *  A source has its rows in memory (the slot `memory`), or it reads records of any length by their number (`read`), or
 *  it makes rows, of picture files or of the rows of other datasets (`values`). If it can only read forward, its cursor
 *  keeps the records whose numbers it has given out until they are forgotten: by the iterator when it moves on, and by
 *  each cursor that drops rows.
 *
 *  One more transform is one file here with its struct (an mst_dataset first), its mst_dataset_type, its cursor if it
 *  changes the order, and its public function, whose declaration the build copies into muster/transforms.h. */
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

/** What a dataset does with the values of a row: a map, or else a change, a making or a conversion of one component. It
 *  is left out for rows whose component is not wanted. */
typedef struct mst_row_stage {
    mst_map_function map;
    void *context;
    int component;
    /** Writes all elements of OUT. */
    void (*change)(const mst_dataset *dataset, const mst_row_key *key, const mst_array *in, mst_array *out);
    /** The same if it can fail; OUT may have another shape and dtype, both known. */
    mst_status (*make)(const mst_dataset *dataset, const mst_array *in, mst_array *out);
    mst_convert convert;
    double factor;
} mst_row_stage;

/** A source or a transform. */
typedef struct mst_dataset_type {
    const char *name;
    /** Frees what the type's own struct holds; may be NULL. */
    void (*destroy)(mst_dataset *dataset);
    /** See mst_dataset_check. NULL: there was no mistake. */
    mst_status (*check)(const mst_dataset *dataset);
    /** The number of rows in the first N elements, N at most the cardinality; NULL: as upstream. Only asked if
     *  elements are batches. */
    int64_t (*rows_before)(const mst_dataset *dataset, int64_t n);
    /** Makes a cursor, not started; NULL: the order is upstream's, and so is the cursor. */
    mst_status (*open)(const mst_dataset *dataset, mst_cursor **out);
    /** Of a source whose rows are in memory: that of component I, row after row. NULL: the source has `read` or
     *  `values`. */
    const void *(*memory)(const mst_dataset *source, int i);
    /** Of a source of records, whose rows are u8 [-1] or string []; NULL: it is one of the others. Reads the record of
     *  ROWS[0]; ROWS are rows as they flow (mst_row_number gives the number). The others of the COUNT rows will be
     *  asked for next. BASE is a cursor of this source. *RECORD is valid until the next call with BUFFER. Several
     *  threads may call at once, each with a buffer of its own. */
    mst_status (*read)(const mst_dataset *source, mst_cursor *base, const int64_t *rows, int64_t count,
                       mst_record_buffer *buffer, mst_record *record);
    /** Of a source of records: puts the place of record ROW in front of the message of the thread's error; returns the
     *  error's code. */
    mst_status (*explain)(const mst_dataset *source, mst_cursor *base, int64_t row);
    /** Of a source that makes its rows: writes row ROW, which BASE gave out and still holds,
     *  component i to DST[i] unless that is NULL. Components whose length is not known have no place in DST; if OUT
     *  is not NULL they go to OUT[i]: data, from mst_map_alloc, count and shape. NULL: it is one of the others.
     *  Several threads may call at once. */
    mst_status (*values)(const mst_dataset *source, mst_cursor *base, int64_t row, void *const *dst, mst_array *out);
    /** For a source whose row numbers depend on the order: a number of ROW's record that does not. BASE still holds the
     *  record. NULL: ROW itself. */
    uint64_t (*record)(const mst_dataset *source, mst_cursor *base, int64_t row);
    /** Names of the classes that the numbers of COMPONENT stand for, and how many; NULL if there are none. NULL: as
     *  upstream, none after a map. */
    const char *const *(*classes)(const mst_dataset *dataset, int component, int64_t *n);
    /** See mst_dataset_file_paths. NULL: none. */
    const char *const *(*paths)(const mst_dataset *dataset, int64_t *n);
    /** See mst_dataset_schema. NULL: as upstream, none after a map. */
    const char *(*schema)(const mst_dataset *dataset);
    /** Writes to TEXT of SIZE bytes the options that affect the values of the rows or their order, "factor 0.5".
     *  Workers that train together compare this text (data/settings.h), and also the number of rows, their shapes and
     *  batches. NULL: there are no such options. */
    void (*settings)(const mst_dataset *dataset, char *text, size_t size);
    /** The *N other datasets that this one is made of, apart from upstream. NULL: none. */
    mst_dataset *const *(*parts)(const mst_dataset *dataset, int *n);
    bool keeps_rows;   /**< its rows are those of upstream in the same order: workers may differ in having it */
    bool takes_some;   /**< it chooses or orders rows: asynchronous workers may differ in having it */
    bool gives_values; /**< its elements are values in memory (mst_element), not rows of the source */
    bool pads;         /**< the rows of one of its batches have one length, also where those of upstream differ */
    bool makes_ahead;  /**< its thread makes the rows of upstream, which are only copied then */
    /** For a source that reads files when rows are asked for: a hash of the files (data/row_hash.h), which workers
     *  compare too. NULL: the rows are in memory, or the files are not known. */
    uint64_t (*contents)(const mst_dataset *source);
} mst_dataset_type;

struct mst_dataset {
    const mst_dataset_type *type;
    atomic_int references;
    mst_dataset *upstream; /**< NULL of a source */
    int num_components;
    mst_spec *row;       /**< of each component, without the batch dimension */
    int64_t cardinality; /**< elements */
    int64_t batch_size;  /**< 0: elements are rows */
    bool even;           /**< each batch has batch_size rows */
    const mst_row_stage *stage;
    int64_t num_corrupt; /**< records of the source that were found damaged, and left out, when it was opened */
};

/** One element as it flows along cursors of batches. */
typedef struct mst_element {
    int64_t count;             /**< rows; 0 at the end */
    int64_t first;             /**< row with which `memory` begins: only those of a window are in it */
    const int64_t *rows;       /**< NULL: numbers 0 to count - 1 */
    const void *const *memory; /**< the components that `rows` counts in; NULL: the source's */
    const mst_shape *shape;    /**< of a row of each of these components; NULL: as the dataset says */
} mst_element;

/** Makes a dataset of SIZE bytes (struct mst_dataset first), all zero, with one reference. */
MST_CHECKED mst_status mst_dataset_alloc(const mst_dataset_type *type, size_t size, int num_components, void *out);
/** The same over UPSTREAM, which is retained and whose properties are copied. */
MST_CHECKED mst_status mst_dataset_derive(const mst_dataset_type *type, size_t size, mst_dataset *upstream, void *out);
/** The same if rows have other components: ROW of each, NUM_COMPONENTS of them. */
MST_CHECKED mst_status mst_dataset_derive_rows(const mst_dataset_type *type, size_t size, mst_dataset *upstream,
                                               const mst_spec *row, int num_components, void *out);
/** MST_INVALID, naming TRANSFORM, unless the elements of DATASET are rows. */
MST_CHECKED mst_status mst_dataset_want_rows(const mst_dataset *dataset, const char *transform);
/** MST_INVALID, naming TRANSFORM, if rows of component I of DATASET have different lengths. */
MST_CHECKED mst_status mst_dataset_want_values(const mst_dataset *dataset, int i, const char *transform);
/** MST_INVALID, naming TRANSFORM, if N is less than LEAST. */
MST_CHECKED mst_status mst_dataset_want_least(const char *transform, const char *what, int64_t n, int64_t least);
/** Rows in the first N elements. */
int64_t mst_dataset_rows_before(const mst_dataset *dataset, int64_t n);
/** Most rows that one element can have, at least 1. */
int64_t mst_dataset_most_rows(const mst_dataset *dataset);
/** Bytes of a row of component I; 0 if its shape is not known. A string counts as its mst_string. */
size_t mst_dataset_row_bytes(const mst_dataset *dataset, int i);

/** Whether a row costs more than copying and scaling, each time that it is asked for: it is read, decoded, mapped or
 *  changed. */
bool mst_dataset_makes_rows(const mst_dataset *dataset);

/** Names of the classes that the numbers of component I stand for, *N of them; NULL if there are none. */
const char *const *mst_dataset_classes(const mst_dataset *dataset, int i, int64_t *n);

/** As mst_iterator_create over batches, for a task that needs only the rows of WINDOW of each. Batches have their whole
 *  sizes and the same order in all tasks; to copy a row that is not of WINDOW is MST_INVALID. What makes rows ahead, or
 *  pads them, makes only those of WINDOW. Datasets that must see each row make all of them: a filter, a cache, and a
 *  padded_batch that finds the longest. */
MST_CHECKED mst_status mst_iterator_create_window(mst_dataset *dataset, int64_t epoch, mst_shard_window window,
                                                  mst_iterator **out);

/** The grain of mst_parallel over all rows of BATCH, whose body copies component COMPONENT with mst_batch_copy. */
int64_t mst_batch_grain(const mst_batch *batch, int component);

/** Shape of a row of component I of DATASET in ELEMENT; ELEMENT may be NULL, then -1 if a length is not known. */
mst_shape mst_dataset_row_shape(const mst_dataset *dataset, const mst_element *element, int i);

/** The number of row I of BATCH in the source, -1 if it is not known (after a prefetch or a zip). */
int64_t mst_batch_row(const mst_batch *batch, int64_t i);

/** Damaged records that were left out, when the source was opened and in this pass. */
int64_t mst_iterator_num_corrupt(const mst_iterator *iterator);

#endif
