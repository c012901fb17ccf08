/** Random pipelines of transforms over all kinds of sources, and what the same transforms do to lists of rows. */
#ifndef MUSTER_TEST_SUPPORT_RANDOM_PIPELINE_H
#define MUSTER_TEST_SUPPORT_RANDOM_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "data/cursors/row.h"

enum { MOST = 8192, STAGES = 5, PIPELINES = 60, FILES = 4, ROWS = 31, OTHERS = 7, FIRST_OTHER = 1000, LENGTHS = 5 };

/* Components of a row. */
enum { ID, PICTURE, TEXT, COMPONENTS }; /* and a list after the last */

extern const int64_t source_sizes[FILES];

typedef enum source_kind {
    OF_MEMORY,
    OF_TFRECORD, /* indexed */
    OF_FORWARD,  /* the same files, read forward */
    OF_GZIP,
    OF_CSV,
    OF_IMAGES,
    OF_INTERLEAVE, /* of shuffled parts in memory */
    OF_LINES,      /* indexed */
    OF_LINES_FORWARD,
    NUM_SOURCES
} source_kind;

typedef enum stage_kind {
    TAKE,
    SKIP,
    SHUFFLE,
    FILTER,
    MAP,
    REPEAT,
    SHARD,
    ZIP, /* with itself */
    INTERLEAVE,
    CACHE,
    CACHE_FILE,
    FLIP,
    NUM_STAGES
} stage_kind;

typedef struct stage {
    stage_kind kind;
    int64_t a, b;
} stage;

typedef struct pipeline {
    source_kind source;
    int number;
    int64_t cycle, block;
    int num_stages;
    stage stage[STAGES];
    bool has_text;
    int64_t batch; /* 0: rows */
    bool padded;   /* a padded_batch */
    bool crops;    /* pictures to their first pixel, after batch */
    bool scales;   /* ids to f64, and so the list, after batch */
    int64_t prefetch, threads;
} pipeline;

typedef struct row {
    int64_t id;
    int64_t record;  /* the id that the source gave */
    bool is_flipped; /* the picture */
    mst_row_key key;
} row;

typedef struct list {
    int64_t n;
    row row[MOST];
} list;

/** Begins the sequence of random numbers. */
void random_begin(uint64_t seed);
/** Its next number, from 0 to N - 1. */
int64_t random_below(int64_t n);
void random_pipeline_choose(pipeline *p, source_kind source, int number);
/** For messages: numbers of source and stages, as above. */
const char *random_pipeline_name(const pipeline *p);
/** What filters keep, and maps make of an id. */
bool random_pipeline_keeps(int64_t id, int64_t modulus);
int64_t random_pipeline_maps(int64_t id, int64_t by);
/** The rows after the first N stages of P in an epoch. KNOWN: for each stage, whether the number of rows is known. */
void random_pipeline_rows(const pipeline *p, int n, int64_t epoch, const bool *known, list *out);

#endif
