/* Random pipelines of all transforms over all kinds of sources, beside what the same transforms do to lists: each row
 * comes as often as it should and where it should, and an iterator that is saved anywhere and restored elsewhere goes
 * on exactly. */
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "format/png_encode.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/records.h"
#include "support/test.h"

/* Makes *D the dataset that CALL makes, with the argument &made. */
#define THEN(d, call) EXPECT_OK(pipeline_replace(&(d), (call), &made))

enum { MOST = 8192, STAGES = 5, PIPELINES = 60, FILES = 4, ROWS = 31, OTHERS = 7, FIRST_OTHER = 1000 };

static const int64_t sizes[FILES] = {13, 0, 7, 11};

typedef enum source_kind {
    OF_MEMORY,
    OF_TFRECORD, /* indexed */
    OF_FORWARD,  /* the same files, read forward */
    OF_GZIP,
    OF_CSV,
    OF_IMAGES,
    OF_INTERLEAVE, /* of shuffled parts in memory */
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
    int64_t batch, prefetch;
} pipeline;

typedef struct list {
    int64_t n, id[MOST];
} list;

/* ---- random choices ---- */

static uint64_t random_state;

static int64_t below(int64_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)n);
}

static void choose(pipeline *p, source_kind source, int number) {
    *p = (pipeline){.source = source, .number = number, .cycle = 1 + below(5), .block = 1 + below(4)};
    p->num_stages = (int)below(STAGES + 1);
    for (int i = 0; i < p->num_stages; i++) p->stage[i] = (stage){(stage_kind)below(NUM_STAGES), below(40), below(5)};
    p->batch = below(3) ? 1 + below(9) : 0;
    p->prefetch = p->batch && below(2) ? 1 + below(3) : 0;
}

/* For messages: numbers of source and stages, as above. */
static const char *name_of(const pipeline *p) {
    static char text[512];
    int at = snprintf(text, sizeof text, "pipeline %d: source %d (cycle %d, block %d)", p->number, (int)p->source,
                      (int)p->cycle, (int)p->block);
    for (int i = 0; i < p->num_stages; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, ", %d (%d, %d)", (int)p->stage[i].kind, (int)p->stage[i].a,
                       (int)p->stage[i].b);
    snprintf(text + at, sizeof text - (size_t)at, ", batch %d, prefetch %d", (int)p->batch, (int)p->prefetch);
    return text;
}

/* ---- the transforms on lists ---- */

static void add(list *l, int64_t id) {
    if (l->n == MOST) fail_msg("a list is too short");
    l->id[l->n++] = id;
}

static void interleave_lists(const list *part, int n, int64_t cycle, int64_t block, list *out) {
    int slot[FILES] = {0}, next = 0, open = 0;
    int64_t at[FILES] = {0};
    const int slots = cycle < n ? (int)cycle : n;
    for (int i = 0; i < slots; i++) slot[i] = -1;
    for (int turn = 0; open || next < n; turn = (turn + 1) % slots) {
        if (slot[turn] < 0 && next == n) continue;
        open += slot[turn] < 0;
        if (slot[turn] < 0) slot[turn] = next++;
        const int p = slot[turn];
        int64_t given = 0;
        while (given < block && at[p] < part[p].n) add(out, part[p].id[at[p]++]), given++;
        if (given == block) continue;
        slot[turn] = -1;
        open--;
    }
}

static mst_status keep_all(const mst_array *in, bool *keep, void *context) {
    (void)in;
    (void)context;
    *keep = true;
    return MST_OK;
}

/* The order of a shuffle depends on the number of rows, on whether that is known, and on the epoch: it is that of rows
 * in memory. */
static void shuffle_list(list *l, int64_t buffer, uint64_t seed, bool is_known, int64_t epoch) {
    int64_t order[MOST] = {0}, before[MOST];
    const mst_shuffle_options options = {.buffer_size = buffer, .seed = seed};
    if (l->n == 0) return;
    mst_dataset *made, *d = pipeline_numbers(l->n);
    if (!is_known) THEN(d, mst_dataset_filter(d, keep_all, NULL, &made));
    THEN(d, mst_dataset_shuffle(d, &options, &made));
    assert_int_equal(pipeline_rows(d, epoch, order, MOST, NULL), l->n);
    memcpy(before, l->id, sizeof before);
    for (int64_t i = 0; i < l->n; i++) l->id[i] = before[order[i]];
    mst_dataset_release(d);
}

static bool is_kept(int64_t id, int64_t modulus) {
    return id % (2 + modulus) != 0;
}

static int64_t mapped(int64_t id, int64_t by) {
    return (id * 7 + by) % 2003;
}

/* ---- datasets ---- */

static mst_status id_of_numbers(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    *(int64_t *)out[0].data = *(const int64_t *)in[0].data / 10;
    return MST_OK;
}

static mst_status id_of_record(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    *(int64_t *)out[0].data = *(const int64_t *)in[0].data;
    return MST_OK;
}

static mst_status id_of_float(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    *(int64_t *)out[0].data = (int64_t) * (const float *)in[0].data;
    return MST_OK;
}

static mst_status id_of_pixel(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    *(int64_t *)out[0].data = *(const uint8_t *)in[0].data;
    return MST_OK;
}

static mst_status keep_some(const mst_array *in, bool *keep, void *context) {
    *keep = is_kept(*(const int64_t *)in[0].data, *(const int64_t *)context);
    return MST_OK;
}

static mst_status map_id(const mst_array *in, mst_array *out, void *context) {
    *(int64_t *)out[0].data = mapped(*(const int64_t *)in[0].data, *(const int64_t *)context);
    return MST_OK;
}

/* -1 where the two sides differ. */
static mst_status left_side(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    const int64_t left = *(const int64_t *)in[0].data, right = *(const int64_t *)in[1].data;
    *(int64_t *)out[0].data = left == right ? left : -1;
    return MST_OK;
}

static mst_dataset *with_map(mst_dataset *d, mst_map_function function, const void *context) {
    mst_dataset *made;
    THEN(d, mst_dataset_map(d, function, (void *)(uintptr_t)context, &(mst_spec){MST_I64, MST_SCALAR}, 1, &made));
    return d;
}

/* N rows with their ids, from FIRST on, in memory and without a map. */
static mst_dataset *ids_from(int64_t first, int64_t n) {
    mst_tensor *tensor;
    mst_dataset *d, *made;
    EXPECT_OK(mst_tensor_create(MST_I64, MST_SHAPE(n + 1), &tensor));
    for (int64_t i = 0; i <= n; i++) ((int64_t *)mst_tensor_data(tensor))[i] = first + i;
    EXPECT_OK(mst_dataset_from_tensors(&tensor, 1, &d));
    mst_tensor_release(tensor);
    THEN(d, mst_dataset_take(d, n, &made));
    return d;
}

static mst_dataset *interleave(mst_dataset **part, int n, int64_t cycle, int64_t block) {
    mst_dataset *d;
    const mst_interleave_options options = {.cycle_length = cycle, .block_length = block};
    EXPECT_OK(mst_dataset_interleave(part, n, &options, &d));
    for (int i = 0; i < n; i++) mst_dataset_release(part[i]);
    return d;
}

static mst_dataset *shuffled_parts(const pipeline *p) {
    mst_dataset *part[FILES], *made;
    int64_t first = 0;
    for (int i = 0; i < FILES; first += sizes[i++]) {
        const mst_shuffle_options options = {.buffer_size = 3, .seed = (uint64_t)i};
        part[i] = ids_from(first, sizes[i]);
        THEN(part[i], mst_dataset_shuffle(part[i], &options, &made));
    }
    return interleave(part, FILES, p->cycle, p->block);
}

static mst_dataset *open_source(const pipeline *p) {
    mst_dataset *d;
    const mst_tfrecord_options records = {.cycle = p->cycle, .block = p->block, .forward = p->source == OF_FORWARD};
    const mst_images_options images = {.height = 1, .width = 1, .channels = 1};
    switch (p->source) {
        case OF_MEMORY:
            return p->number % 2 ? ids_from(0, ROWS) : with_map(pipeline_numbers(ROWS), id_of_numbers, NULL);
        case OF_CSV: EXPECT_OK(mst_dataset_from_csv(folder_path("ids.csv"), NULL, &d)); break;
        case OF_IMAGES: EXPECT_OK(mst_dataset_from_images(folder_path("images"), &images, &d)); break;
        case OF_INTERLEAVE: return shuffled_parts(p);
        default: return with_map(records_open(&records, true), id_of_record, NULL);
    }
    return with_map(d, p->source == OF_CSV ? id_of_float : id_of_pixel, NULL);
}

/* In memory. What has no rows is left as it is. */
static mst_dataset *cached(mst_dataset *d) {
    mst_dataset *made;
    if (mst_dataset_cache(d, &made)) {
        assert_string_equal(mst_error()->message, "cache: the dataset has no rows");
        return d;
    }
    mst_dataset_release(d);
    return made;
}

static mst_dataset *then(mst_dataset *d, const pipeline *p, int i) {
    const stage *s = &p->stage[i];
    mst_dataset *made, *pair;
    char name[64];
    const bool is_known = mst_dataset_cardinality(d) >= 0;
    const mst_shuffle_options options = {.buffer_size = is_known && s->b == 0 ? 0 : 1 + s->a, .seed = (uint64_t)s->b};
    snprintf(name, sizeof name, "cache-%d-%d-%d", (int)p->source, p->number, i);
    switch (s->kind) {
        case TAKE: THEN(d, mst_dataset_take(d, s->a, &made)); break;
        case SKIP: THEN(d, mst_dataset_skip(d, s->a / 3, &made)); break;
        case SHUFFLE: THEN(d, mst_dataset_shuffle(d, &options, &made)); break;
        case FILTER: THEN(d, mst_dataset_filter(d, keep_some, (void *)(uintptr_t)&s->b, &made)); break;
        case MAP: return with_map(d, map_id, &s->a);
        case REPEAT: THEN(d, mst_dataset_repeat(d, 1 + s->b / 2, &made)); break;
        case SHARD: THEN(d, mst_dataset_shard(d, 1 + s->b, s->a % (1 + s->b), &made)); break;
        case ZIP:
            EXPECT_OK(mst_dataset_zip((mst_dataset *[]){d, d}, 2, &pair));
            mst_dataset_release(d);
            return with_map(pair, left_side, NULL);
        case INTERLEAVE: return interleave((mst_dataset *[]){d, ids_from(FIRST_OTHER, OTHERS)}, 2, 2, 1 + s->b);
        case CACHE: return cached(d);
        default: THEN(d, mst_dataset_cache_file(d, folder_path(name), &made)); break;
    }
    return d;
}

static mst_dataset *build(const pipeline *p) {
    mst_dataset *made, *d = open_source(p);
    for (int i = 0; i < p->num_stages; i++) d = then(d, p, i);
    if (p->batch) THEN(d, mst_dataset_batch(d, p->batch, false, &made));
    if (p->prefetch) THEN(d, mst_dataset_prefetch(d, p->prefetch, &made));
    return d;
}

/* ---- what they should give ---- */

static void source_list(const pipeline *p, int64_t epoch, list *out) {
    static list part[FILES];
    const bool in_turn =
        p->source == OF_TFRECORD || p->source == OF_FORWARD || p->source == OF_GZIP || p->source == OF_INTERLEAVE;
    int64_t id = 0;
    out->n = 0;
    for (int i = 0; i < FILES; i++) {
        part[i].n = 0;
        for (int64_t k = 0; k < sizes[i]; k++) add(in_turn ? &part[i] : out, id++);
        if (p->source == OF_INTERLEAVE) shuffle_list(&part[i], 3, (uint64_t)i, true, epoch);
    }
    if (in_turn) interleave_lists(part, FILES, p->cycle, p->block, out);
}

/* Behind the first N stages. KNOWN: whether the number of rows is. */
static void expected_list(const pipeline *p, int n, int64_t epoch, const bool *known, list *out) {
    if (n == 0) {
        source_list(p, epoch, out);
        return;
    }
    const stage *s = &p->stage[n - 1];
    const int64_t count = s->kind == REPEAT ? 1 + s->b / 2 : 1;
    list in = {0}, other[2] = {{0}, {0}};
    out->n = 0;
    for (int64_t r = 0; r < count; r++) {
        const bool is_cache = s->kind == CACHE || s->kind == CACHE_FILE;
        expected_list(p, n - 1, is_cache ? 0 : epoch * count + r, known, &in);
        if (s->kind == SHUFFLE)
            shuffle_list(&in, known[n - 1] && s->b == 0 ? 0 : 1 + s->a, (uint64_t)s->b, known[n - 1], epoch);
        if (s->kind == INTERLEAVE) {
            other[0] = in;
            for (other[1].n = 0; other[1].n < OTHERS;) add(&other[1], FIRST_OTHER + other[1].n);
            interleave_lists(other, 2, 2, 1 + s->b, out);
            continue;
        }
        for (int64_t i = 0; i < in.n; i++) {
            if (s->kind == TAKE && i >= s->a) continue;
            if (s->kind == SKIP && i < s->a / 3) continue;
            if (s->kind == FILTER && !is_kept(in.id[i], s->b)) continue;
            if (s->kind == SHARD && i % (1 + s->b) != s->a % (1 + s->b)) continue;
            add(out, s->kind == MAP ? mapped(in.id[i], s->a) : in.id[i]);
        }
    }
}

static void expect_rest(const pipeline *p, const char *what, mst_iterator *it, const list *expected, int64_t from) {
    const mst_batch *batch;
    for (;;) {
        int64_t id[MOST];
        if (mst_iterator_next(it, &batch)) fail_msg("%s: %s: %s", name_of(p), what, mst_error()->message);
        if (!batch) break;
        const int64_t n = mst_batch_size(batch);
        if (from + n > expected->n) fail_msg("%s: %s: more than %d rows", name_of(p), what, (int)expected->n);
        if (mst_batch_copy(batch, 0, 0, n, id)) fail_msg("%s: %s: %s", name_of(p), what, mst_error()->message);
        for (int64_t i = 0; i < n; i++, from++)
            if (id[i] != expected->id[from])
                fail_msg("%s: %s: row %d is %d, not %d", name_of(p), what, (int)from, (int)id[i],
                         (int)expected->id[from]);
    }
    if (from < expected->n) fail_msg("%s: %s: %d rows, not %d", name_of(p), what, (int)from, (int)expected->n);
}

/* A quarter of the time some elements are passed over and not read. */
static int64_t advance(mst_iterator *it, int64_t elements) {
    const mst_batch *batch;
    int64_t rows = 0, skipped = below(4) ? 0 : below(elements + 1);
    EXPECT_OK(mst_iterator_skip(it, skipped));
    for (int64_t i = skipped; i < elements; i++) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        rows += batch ? mst_batch_size(batch) : 0;
    }
    return rows;
}

/* Reads ELEMENTS elements of a new iterator of epoch EPOCH, and the rest of them elsewhere; on the way, at two places,
 * if TWICE. */
static void check_restart(const pipeline *p, const list *expected, int64_t epoch, int64_t elements, bool twice) {
    const int64_t each = p->batch ? p->batch : 1, more = twice ? below(5) : 0;
    mst_dataset *d = build(p);
    mst_iterator *it;
    mst_tensor *position;
    EXPECT_OK(mst_iterator_create(d, epoch, &it));
    (void)advance(it, elements);
    for (int time = 0; time <= twice; time++) {
        EXPECT_OK(mst_iterator_save(it, &position));
        mst_iterator_destroy(it);
        mst_dataset_release(d);
        d = build(p);
        if (mst_iterator_restore(d, position, &it)) fail_msg("%s: %s", name_of(p), mst_error()->message);
        mst_tensor_release(position);
        if (time < twice) (void)advance(it, more);
    }
    const int64_t from = (elements + more) * each;
    expect_rest(p, "restored", it, expected, from < expected->n ? from : expected->n);
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

static void check(const pipeline *p) {
    list expected = {0};
    bool known[STAGES + 1];
    mst_iterator *it;
    mst_dataset *d = open_source(p);
    for (int i = 0; i < p->num_stages; i++) {
        known[i] = mst_dataset_cardinality(d) >= 0;
        d = then(d, p, i);
    }
    mst_dataset_release(d);
    d = build(p);
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        expected_list(p, p->num_stages, epoch, known, &expected);
        if (mst_dataset_num_rows(d) >= 0) assert_int_equal(mst_dataset_num_rows(d), expected.n);
        EXPECT_OK(mst_iterator_create(d, epoch, &it));
        expect_rest(p, "from the beginning", it, &expected, 0);
        mst_iterator_destroy(it);
        const int64_t elements = expected.n / (p->batch ? p->batch : 1);
        for (int i = 0; i < 3; i++) check_restart(p, &expected, epoch, below(elements + 1), i == 2);
    }
    mst_dataset_release(d);
}

static void check_all(source_kind source) {
    pipeline p;
    random_state = (uint64_t)source + 1;
    for (int i = 0; i < PIPELINES; i++) {
        choose(&p, source, i);
        check(&p);
    }
}

/* ---- one test for each kind of source ---- */

static void rows_in_memory(void **state) {
    (void)state;
    check_all(OF_MEMORY);
}

static void records_of_plain_files(void **state) {
    (void)state;
    records_write(FILES, sizes, MST_TFRECORD_PLAIN);
    check_all(OF_TFRECORD);
}

static void records_that_come_forward(void **state) {
    (void)state;
    records_write(FILES, sizes, MST_TFRECORD_PLAIN);
    check_all(OF_FORWARD);
}

static void records_of_compressed_files(void **state) {
    (void)state;
    records_write(FILES, sizes, MST_TFRECORD_GZIP);
    check_all(OF_GZIP);
}

static void rows_of_a_table(void **state) {
    (void)state;
    char text[1024];
    int at = snprintf(text, sizeof text, "id,label\n");
    for (int i = 0; i < ROWS; i++) at += snprintf(text + at, sizeof text - (size_t)at, "%d,%d\n", i, i % 3);
    (void)folder_write("ids.csv", text, (size_t)at);
    check_all(OF_CSV);
}

static void write_picture(int i) {
    const uint8_t pixel = (uint8_t)i;
    char name[32];
    void *data;
    size_t size;
    snprintf(name, sizeof name, "images/%c/%02d.png", "ab"[i >= ROWS / 2], i);
    if (mst_png_encode(&pixel, 1, 1, 1, &data, &size)) skip(); /* built without libspng */
    (void)folder_write(name, data, size);
    free(data);
}

static void pictures(void **state) {
    (void)state;
    const char *const folders[] = {"images", "images/a", "images/b"};
    for (int i = 0; i < 3; i++) assert_int_equal(mkdir(folder_path(folders[i]), 0755), 0);
    for (int i = 0; i < ROWS; i++) write_picture(i);
    check_all(OF_IMAGES);
}

static void an_interleave_of_datasets(void **state) {
    (void)state;
    check_all(OF_INTERLEAVE);
}

/* To wait for the disk takes most of the time of these tests. */
static int without_sync(mst_file_call call, size_t *size) {
    (void)size;
    return call == MST_FILE_SYNC ? -1 : 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(rows_in_memory),
        TEST_IN_FOLDER(records_of_plain_files),
        TEST_IN_FOLDER(records_that_come_forward),
        TEST_IN_FOLDER(records_of_compressed_files),
        TEST_IN_FOLDER(rows_of_a_table),
        TEST_IN_FOLDER(pictures),
        TEST_IN_FOLDER(an_interleave_of_datasets),
    };
    mst_file_replace_fault(without_sync);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
