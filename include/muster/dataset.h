/** Datasets: rows of data from files or memory, and their transforms and batches.
 *
 *  Each of these functions returns a status. muster/data.h has the same functions as expressions that nest, which need
 *  one check.
 *
 *      mst_dataset *all, *mixed, *train;
 *      MST_TRY(mst_dataset_open("fashion-mnist", "train", &all));
 *      MST_TRY(mst_dataset_shuffle(all, &(mst_shuffle_options){.seed = 1}, &mixed));
 *      MST_TRY(mst_dataset_batch(mixed, 100, false, &train));
 *      mst_dataset_release(mixed);
 *      mst_dataset_release(all);
 *
 *      mst_iterator *it;
 *      const mst_batch *batch;
 *      MST_TRY(mst_iterator_create(train, epoch, &it));
 *      for (;;) {
 *          MST_TRY(mst_iterator_next(it, &batch));
 *          if (!batch) break;
 *          MST_TRY(mst_batch_copy(batch, 0, 0, mst_batch_size(batch), images));
 *          MST_TRY(mst_batch_copy(batch, 1, 0, mst_batch_size(batch), labels));
 *      }
 *      mst_iterator_destroy(it);
 *
 *  A dataset is an immutable description: a source and the transforms that are applied to it. Its elements are rows,
 *  and after mst_dataset_batch they are batches of rows. A row has one or more components (image, label), each with a
 *  dtype and a shape. Every transform makes a new dataset. It retains its source dataset, which still belongs to its
 *  owner.
 *
 *  The order of rows depends only on the seeds of the shuffles and on the epoch. A batch is a list of row numbers:
 *  nothing is copied until mst_batch_copy. That function gathers, casts, scales and maps the rows that it is asked for,
 *  directly into the caller's memory and on the caller's thread. Each device therefore fetches its part of a batch with
 *  its own thread.
 *
 *  Elements are numbers or strings (dtype MST_STRING). The rows of a component have one shape, or each has lengths of
 *  its own. In the second case the component's shape has dimensions of -1, as for records of TFRecord files, and
 *  mst_dataset_padded_batch makes the batches.
 *
 *  Datasets may be shared between threads, as may a batch; an iterator is used by one thread at a time.
 */
#ifndef MUSTER_DATASET_H
#define MUSTER_DATASET_H

#include "muster/example.h"
#include "muster/op.h"
#include "muster/tfrecord.h"
#include "muster/tokenizer.h"
#include "muster/transforms.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mst_dataset mst_dataset;
typedef struct mst_iterator mst_iterator;
typedef struct mst_batch mst_batch;

enum {
    MST_INFINITE = -1,           /**< the elements have no end */
    MST_UNKNOWN_CARDINALITY = -2 /**< not known without counting all elements */
};

/* All functions that make a dataset give the caller one reference in *OUT, which is NULL on failure. */

/** Adds a reference and returns DATASET. */
MST_API mst_dataset *mst_dataset_retain(mst_dataset *dataset);
/** Drops one reference; NULL is allowed. */
MST_API void mst_dataset_release(mst_dataset *dataset);

/* ---- sources -------------------------------------------------------------------------------------- */

/** Row i has element i along dimension 0 of each of the N tensors, of numbers or strings. The tensors are retained, not
 *  copied, and must not be written any more. Fails with MST_INVALID if they are scalars, differ in dimension 0, or have
 *  no rows. */
MST_API MST_CHECKED mst_status mst_dataset_from_tensors(mst_tensor *const *components, int n, mst_dataset **out);

/** Components 0 and 1 are the images and labels of two IDX files, plain or gzip, as stored (mostly u8). LABELS_PATH may
 *  be NULL: then there are only images. Fails with MST_NOT_FOUND, MST_IO or MST_INVALID if a file cannot be read;
 *  MST_CORRUPT if its bytes are not IDX; MST_INVALID if the numbers of images and labels differ. */
MST_API MST_CHECKED mst_status mst_dataset_from_idx(const char *images_path, const char *labels_path,
                                                    mst_dataset **out);

/** Component i is the array NAMES[i] of the NumPy archive at PATH. Arrays must be of dtype float32, float64, int32,
 *  int64, uint8 or bool, row-major. Fails as mst_dataset_from_idx does, and with MST_NOT_FOUND if an array is
 *  missing, MST_UNIMPLEMENTED for other arrays. */
MST_API MST_CHECKED mst_status mst_dataset_from_npz(const char *path, const char *const *names, int n,
                                                    mst_dataset **out);

typedef struct mst_tfrecord_options {
    int zero_;
    int64_t cycle;        /**< number of files that are interleaved; 0: 1, one file after the other */
    int64_t block;        /**< consecutive records from one file before the next file; 0: 1 */
    bool forward;         /**< reads also plain files only forward: no index, and no permutation of all records */
    int64_t skip_corrupt; /**< number of damaged records that are skipped in a pass; one more is an error */
} mst_tfrecord_options;

/** The records of TFRecord files, as elements of one component, u8 [-1]: see mst_dataset_parse_example,
 *  mst_dataset_map and mst_batch_record. PATHS are N paths or patterns (*, ?, [...]); files that a pattern matches are
 *  sorted by name. With .cycle and .block, records come in the order of tf.data's deterministic interleave. OPTIONS may
 *  be NULL.
 *
 *  Plain files are indexed: they are read through once, and the index takes 16 bytes of memory per record. Their
 *  records can then be read in any order. The number of rows is known, and a full shuffle costs nothing more. Records
 *  of compressed files are read only forward. Their number is not known, a shuffle needs a buffer_size, and the
 *  iterator keeps the records that are in that buffer. Both check sums of every record are checked when it is read.
 *
 *  Fails with MST_NOT_FOUND if a pattern matches no file; MST_INVALID if a path is a folder. Damage is MST_CORRUPT,
 *  naming file and byte, here or when the record is read. */
MST_API MST_CHECKED mst_status mst_dataset_from_tfrecord(const char *const *paths, int n,
                                                         const mst_tfrecord_options *options, mst_dataset **out);

/** The dataset of a data spec, one line of text such as "idx:DIR"; PART is "train" or "test". `muster train --help`
 *  lists the kinds of specs. Fails as the sources do; with MST_INVALID for other specs and parts, naming the nearest
 *  right one. */
MST_API MST_CHECKED mst_status mst_dataset_open(const char *spec, const char *part, mst_dataset **out);
/** The I-th kind of data spec, "fashion-mnist", "idx:DIR", ...; NULL past the last. */
MST_API const char *mst_dataset_form(int i);
/** A description of that kind, in half a line; NULL past the last. */
MST_API const char *mst_dataset_form_help(int i);
/** Whether data of the kind of SPEC may be pictures, which .image_size resizes: images:DIR, tfds:DIR,
 *  tfrecord:PREFIX. */
MST_API bool mst_dataset_spec_has_pictures(const char *spec);
/** Whether data of the kind of SPEC are always texts, which .sequence_length turns into rows of one length: texts:PATH,
 *  word-ids:FILE. */
MST_API bool mst_dataset_spec_has_texts(const char *spec);

enum { MST_IMAGE_SIZE_FIT = -1 };

typedef struct mst_data_options {
    int zero_;
    int64_t skip_corrupt;      /**< number of damaged records that are skipped (tfrecord, tfds), or of damaged pictures
                                *   (images, masks); one more is an error */
    const char *label;         /**< the column of labels (csv); NULL: the last */
    const char *const *labels; /**< several columns of labels, as in mst_csv_options (csv) */
    int num_labels;
    const char *weight; /**< the column of the examples' weights, as in mst_csv_options (csv) */
    /** Height and width of the pictures (images, tfds, tfrecord). 0: 224; MST_IMAGE_SIZE_FIT: as .fit of images. With
     *  both, pictures of a tfds folder that all have one size keep it. Records of tfrecord may hold elements instead of
     *  picture files: they are refused if they have another size. */
    int64_t image_size;
    int64_t channels; /**< 1: gray; 3: red, green, blue (images, tfds, tfrecord); 0: 3; gray pictures of tfds: 1 */
    /** mst_dataset_schema of other data (csv, images, texts): columns, classes and tokens are numbered as there. Other
     *  kinds ignore it. csv:FILE, images:DIR and texts:PATH can then be a test part without a train part beside
     *  them. */
    const char *schema;
    char delimiter;          /**< between cells (csv); 0: ',' */
    char comment;            /**< lines that begin with this character are skipped (csv); 0: none are */
    bool no_header;          /**< the first line is a row; columns have the names "1", "2" and so on (csv) */
    const char *encoding;    /**< as in mst_csv_options (csv, texts) */
    const char *const *drop; /**< names of columns that are left out (csv) */
    int num_drop;
    const char *const *categories; /**< names of columns of categories, even if their cells are numbers (csv) */
    int num_categories;
    mst_missing missing;      /**< numbers that are missing in inputs (csv) */
    char decimal, thousands;  /**< how numbers are written, as in mst_csv_options (csv) */
    const char *const *dates; /**< inputs that are dates, as in mst_csv_options (csv) */
    int num_dates;
    const char *text; /**< the column of texts (csv): the inputs become numbers by mst_dataset_vectorize_text. Columns
                       *   other than it and the label's are dropped. With the schema of such data, the schema says how,
                       *   and both columns may have other names */
    int64_t max_tokens, sequence_length; /**< as in mst_text_options (csv with .text, texts); for word-ids max_tokens
                                          * is num_words */
    bool pad_front;                      /**< as in mst_text_options */
    const char *tokenizer;               /**< as in mst_text_options (csv with .text, texts) */
    bool unknown_categories; /**< categories of inputs that the schema or the train part does not have become -1;
                                  false: they are an error (csv). Other kinds ignore it */
    /** Names of the model's inputs and outputs. Arrays of npz data have these names instead of x and y; a single input
     *  or output may still be x or y. If there are several inputs or outputs, the names are also those of features
     *  (tfrecord) or columns (csv). A column has NAME; several columns have NAME_0, NAME_1 and so on. For other kinds
     *  of data, several inputs or outputs are an error. */
    const char *const *inputs, *const *outputs;
    int num_inputs, num_outputs;
    bool whole_file; /**< csv:FILE, npz:FILE, images:DIR, or texts:PATH with a tokenizer, without parts is also the
                            *   whole test part */
    int64_t input_columns; /**< with whole_file: a table with this many columns has no labels (csv); 0: not known */
    bool parts_only;       /**< even with a schema, a test part must be beside a train part (csv, images, texts) */
    bool keep_texts;       /**< as in mst_text_options (csv with .text, texts) */
    bool raw_texts;        /**< texts stay strings, for a model that splits them itself (csv with .text, texts) */
    bool inputs_only;      /**< columns of labels are not read (csv); other kinds ignore it */
} mst_data_options;
/** As mst_dataset_open, with OPTIONS; MST_INVALID if one of them is not for this kind of data. */
MST_API MST_CHECKED mst_status mst_dataset_open_with(const char *spec, const char *part,
                                                     const mst_data_options *options, mst_dataset **out);

typedef struct mst_write_options {
    int zero_;
    int64_t num_shards;                   /**< tfrecord: number of files for each part; 0: 1 */
    mst_tfrecord_compression compression; /**< tfrecord */
    bool keep_files;                      /**< MST_EXISTS if a file of this spec exists; nothing is written then */
} mst_write_options;
/** Writes the parts TRAIN and TEST (may be NULL), rows of inputs and perhaps labels, so that mst_dataset_open with SPEC
 *  reads them. SPEC is one of:
 *
 *  - tfrecord:PREFIX. Record i of n goes to shard i * num_shards / n. Class names go to PREFIX-labels.txt.
 *  - npz:FILE.
 *  - idx:DIR. The folder is made if it does not exist.
 *  - csv:PREFIX, the files PREFIX-train.csv and PREFIX-test.csv; or csv:FILE.csv, without a test part. Class names
 *    replace the numbers of classes.
 *  - images:DIR, PNG files in class folders. DIR must not exist.
 *
 *  Each file, and the folder of images, is written under a temporary name and then renamed. Fails with MST_INVALID,
 *  MST_UNIMPLEMENTED if the format cannot hold these dtypes, MST_EXISTS, MST_IO, or as reading the rows does. */
MST_API MST_CHECKED mst_status mst_dataset_write(const char *spec, mst_dataset *train, mst_dataset *test,
                                                 const mst_write_options *options);

/* Transforms, mst_dataset_shuffle, mst_dataset_batch and so on, are in muster/transforms.h. */

/* ---- properties of a dataset ----------------------------------------------------------------------- */

/** Rows of one epoch, whether in batches or not; MST_INFINITE or MST_UNKNOWN_CARDINALITY. */
MST_API int64_t mst_dataset_num_rows(const mst_dataset *dataset);
/** Elements of one epoch: rows, or after mst_dataset_batch batches; MST_INFINITE or MST_UNKNOWN_CARDINALITY. */
MST_API int64_t mst_dataset_cardinality(const mst_dataset *dataset);
/** The number of damaged records, or pictures of a folder, that were skipped (.skip_corrupt) when the source was
 *  indexed, or read by mst_dataset_cache. Records skipped in a pass over files that are read forward are not
 *  counted. */
MST_API int64_t mst_dataset_num_corrupt(const mst_dataset *dataset);
/** The path of the first damaged picture that was skipped; NULL: none. Valid as long as DATASET. */
MST_API const char *mst_dataset_first_corrupt(const mst_dataset *dataset);

/** Numbers of files in folders of pictures that are left out. A hidden folder counts as one file. */
typedef struct mst_files_left_out {
    int64_t no_pictures;  /**< files without the suffix of a picture */
    int64_t hidden;       /**< names that begin with a dot */
    int64_t empty;        /**< pictures of 0 bytes */
    int64_t broken_links; /**< links with the suffix of a picture that lead to no file */
} mst_files_left_out;
/** Sets *OUT to the numbers of files that the source of DATASET has left out, and returns their sum. All are 0 unless
 *  the source is mst_dataset_from_images or mst_dataset_from_image_files. */
MST_API int64_t mst_dataset_files_left_out(const mst_dataset *dataset, mst_files_left_out *out);
MST_API int mst_dataset_num_components(const mst_dataset *dataset);
/** Dtype and shape of component I of an element. For a batch, dimension 0 is the number of rows, -1 if batches
 *  differ. */
MST_API mst_spec mst_dataset_spec(const mst_dataset *dataset, int i);
/** The name of class I of component COMPONENT, whose numbers stand for texts: from mst_dataset_from_csv,
 *  mst_dataset_from_images or mst_dataset_name_classes. NULL past the last, if there are no names, and after
 *  mst_dataset_map. Valid as long as DATASET. */
MST_API const char *mst_dataset_class_name(const mst_dataset *dataset, int component, int64_t i);
/** How many names there are; 0 if there are none. */
MST_API int64_t mst_dataset_num_classes(const mst_dataset *dataset, int component);
/** The schema of data from mst_dataset_from_csv or mst_dataset_from_images, as a line of JSON: columns, their types,
 *  and the categories or classes that numbers stand for. If it is kept with a model, a later program can number other
 *  data in the same way. NULL for other data, and after mst_dataset_map. Valid as long as DATASET. */
MST_API const char *mst_dataset_schema(const mst_dataset *dataset);
/** Opens the tokenizer that is stored in SCHEMA, a text of mst_dataset_schema; the caller closes it. *OUT becomes NULL
 *  if SCHEMA has no tokenizer. SCHEMA may be NULL. MST_INVALID if it is damaged. */
MST_API MST_CHECKED mst_status mst_schema_tokenizer(const char *schema, mst_tokenizer **out);

/* ---- iteration ------------------------------------------------------------------------------------ */

/** Starts at the first element of epoch EPOCH (at least 0). Retains DATASET. Takes all memory that iterating needs. */
MST_API MST_CHECKED mst_status mst_iterator_create(mst_dataset *dataset, int64_t epoch, mst_iterator **out);
/** NULL is allowed. */
MST_API void mst_iterator_destroy(mst_iterator *iterator);
/** The next element: a batch, or a single row if the dataset has no batches. *BATCH belongs to the iterator, and is
 *  valid until the next call on it; NULL at the end and on failure. */
MST_API MST_CHECKED mst_status mst_iterator_next(mst_iterator *iterator, const mst_batch **batch);
/** Skips N elements (or all that are left, if they are fewer) without copying a row. */
MST_API MST_CHECKED mst_status mst_iterator_skip(mst_iterator *iterator, int64_t n);

/** Makes a tensor with the position of ITERATOR, after the elements that mst_iterator_next has given; the caller owns
 *  it. It is an i64 [n]: a few numbers, and one number for each row in the buffer of a shuffle. */
MST_API MST_CHECKED mst_status mst_iterator_save(const mst_iterator *iterator, mst_tensor **out);
/** Makes an iterator at that position: it gives the elements that would have followed. DATASET is the same or one built
 *  in the same way. Records that were in the buffer of a shuffle are read again. Fails with MST_INVALID or MST_CORRUPT
 *  if POSITION does not belong to such a dataset. */
MST_API MST_CHECKED mst_status mst_iterator_restore(mst_dataset *dataset, const mst_tensor *position,
                                                    mst_iterator **out);

/** Number of rows. */
MST_API int64_t mst_batch_size(const mst_batch *batch);
/** The shape of component COMPONENT of this batch, as mst_batch_tensor gives it. After mst_dataset_padded_batch it has
 *  the lengths of this batch. If the dataset has no batches, it is the shape of the row, with -1 for unknown
 *  lengths. */
MST_API mst_shape mst_batch_shape(const mst_batch *batch, int component);
/** Writes rows FIRST_ROW to FIRST_ROW + NUM_ROWS - 1 of the batch to DST: row-major, in the component's dtype, aligned
 *  to its element. Strings are written as mst_string. Their bytes belong to the iterator, and can be read until the
 *  next call of mst_iterator_next or mst_iterator_destroy. Several threads may copy from one batch at once. Fails with
 *  MST_INVALID for a component or rows that the batch does not have, and as a map function fails. */
MST_API MST_CHECKED mst_status mst_batch_copy(const mst_batch *batch, int component, int64_t first_row,
                                              int64_t num_rows, void *dst);
/** As mst_batch_copy, for all components at once: component i goes to DST[i]; NULL: it is skipped. */
MST_API MST_CHECKED mst_status mst_batch_copy_all(const mst_batch *batch, int64_t first_row, int64_t num_rows,
                                                  void *const *dst);
/** Sets *RECORD to record I of a batch whose source has records, as it is in the file. It is valid until the next call
 *  with this batch or its iterator. Only one thread at a time may call it. */
MST_API MST_CHECKED mst_status mst_batch_record(const mst_batch *batch, int64_t i, mst_record *record);
/** Makes a tensor of component COMPONENT, which belongs to the caller: [rows, ...]. If the dataset has no batches, it
 *  is only the row, with its own lengths. Strings are copied with their bytes. */
MST_API MST_CHECKED mst_status mst_batch_tensor(const mst_batch *batch, int component, mst_tensor **out);

#ifdef __cplusplus
}
#endif
#endif
