/* Random pipelines of all transforms over all kinds of sources, compared with the same transforms applied to lists.
 * Each row comes as often and at the place that it should, with the string of its record and the random changes of
 * its pass. A new iterator goes on exactly from the saved position of another one. An iterator that makes only a
 * part of each batch makes that part of the same batches.
 *
 * A row has an id (i64 []) and a picture (u8 [1, 2]: 0 and 1, perhaps flipped). In a pipeline with strings it has
 * the string "record I", where I is the id that the source gave. After padded_batch, and in half of the caches, zips
 * and interleaves, it has a list of (id mod 5) copies of the id. */
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/rng.h"
#include "data/cursors/row.h"
#include "data/dataset.h"
#include "format/png_encode.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/random_pipeline.h"
#include "support/records.h"
#include "support/test.h"

/* ---- datasets ---- */

static int num_components(const pipeline *p) {
    return p->has_text ? COMPONENTS : TEXT;
}

static mst_string text_of(int64_t id, char *text, size_t size) {
    const int length = snprintf(text, size, "record %lld", (long long)id);
    return (mst_string){text, (size_t)length};
}

/* The first step of the maps below: finds the row with this ID. */
static mst_status write_row(int64_t id, mst_array *out, const pipeline *p) {
    *(int64_t *)out[ID].data = id;
    memcpy(out[PICTURE].data, "\0\1", 2);
    if (!p->has_text) return MST_OK;
    char *text = mst_map_alloc(32);
    if (!text) return MST_OUT_OF_MEMORY;
    *(mst_string *)out[TEXT].data = text_of(id, text, 32);
    return MST_OK;
}

static mst_status row_of_numbers(const mst_array *in, mst_array *out, void *context) {
    return write_row(*(const int64_t *)in[0].data / 10, out, context);
}

static mst_status row_of_record(const mst_array *in, mst_array *out, void *context) {
    return write_row(*(const int64_t *)in[0].data, out, context);
}

static mst_status row_of_float(const mst_array *in, mst_array *out, void *context) {
    return write_row((int64_t) * (const float *)in[0].data, out, context);
}

static mst_status row_of_pixel(const mst_array *in, mst_array *out, void *context) {
    return write_row(*(const uint8_t *)in[0].data, out, context);
}

/* The string stays the line itself. */
static mst_status row_of_line(const mst_array *in, mst_array *out, void *context) {
    const pipeline *p = context;
    const mst_string *line = in[0].data;
    char text[32] = "";
    memcpy(text, line->data, line->length < sizeof text ? line->length : 0);
    MST_TRY(write_row(strtoll(text + strlen("record "), NULL, 10), out, p));
    if (p->has_text) *(mst_string *)out[TEXT].data = *line;
    return MST_OK;
}

static mst_status keep_some(const mst_array *in, bool *keep, void *context) {
    *keep = random_pipeline_keeps(*(const int64_t *)in[ID].data, *(const int64_t *)context);
    return MST_OK;
}

static void copy_row(const mst_array *in, mst_array *out, int n) {
    for (int i = 0; i < n; i++) memcpy(out[i].data, in[i].data, (size_t)in[i].count * mst_dtype_size(in[i].dtype));
}

typedef struct map_context {
    const pipeline *p;
    int64_t by;
} map_context;

static mst_status map_id(const mst_array *in, mst_array *out, void *context) {
    const map_context *c = context;
    copy_row(in, out, num_components(c->p));
    *(int64_t *)out[ID].data = random_pipeline_maps(*(const int64_t *)in[ID].data, c->by);
    return MST_OK;
}

/* The id becomes -1 if the two sides differ. */
static mst_status left_of(const mst_array *in, const mst_array *right, mst_array *out, int n) {
    bool same = *(int64_t *)in[ID].data == *(int64_t *)right[ID].data;
    copy_row(in, out, n);
    same &= memcmp(in[PICTURE].data, right[PICTURE].data, 2) == 0;
    if (n > TEXT) same &= mst_string_equal(*(mst_string *)in[TEXT].data, *(mst_string *)right[TEXT].data);
    if (!same) *(int64_t *)out[ID].data = -1;
    return MST_OK;
}

static mst_status left_side(const mst_array *in, mst_array *out, void *context) {
    const int n = num_components(context);
    return left_of(in, in + n, out, n);
}

/* Adds a list after the other components. */
static mst_status with_list(const mst_array *in, mst_array *out, void *context) {
    const int n = num_components(context);
    const int64_t id = *(int64_t *)in[ID].data, length = id % LENGTHS;
    mst_array *list = &out[n];
    copy_row(in, out, n);
    list->count = length;
    list->shape = mst_shape_make(1, &length);
    if (!(list->data = mst_map_alloc((size_t)(length + 1) * sizeof id))) return MST_OUT_OF_MEMORY;
    for (int64_t i = 0; i < length; i++) ((int64_t *)list->data)[i] = id;
    return MST_OK;
}

/* Removes the list from the row; the id becomes -1 if the list is wrong. */
static mst_status without_list(const mst_array *in, mst_array *out, void *context) {
    const int n = num_components(context);
    const int64_t id = *(int64_t *)in[ID].data;
    bool right = in[n].count == id % LENGTHS && in[n].shape.ndim == 1 && in[n].shape.dim[0] == in[n].count;
    copy_row(in, out, n);
    for (int64_t i = 0; right && i < in[n].count; i++) right = ((const int64_t *)in[n].data)[i] == id;
    if (!right) *(int64_t *)out[ID].data = -1;
    return MST_OK;
}

/* Of rows with their lists. */
static mst_status left_side_without_list(const mst_array *in, mst_array *out, void *context) {
    const int n = num_components(context);
    const mst_array *right = in + n + 1;
    const bool same = in[n].count == right[n].count && memcmp(in[n].data, right[n].data, (size_t)in[n].count * 8) == 0;
    MST_TRY(left_of(in, right, out, n));
    if (*(int64_t *)out[ID].data >= 0) MST_TRY(without_list(in, out, context));
    if (!same) *(int64_t *)out[ID].data = -1;
    return MST_OK;
}

/* OUTPUTS: of a row's components, and the list. */
static mst_dataset *with_map(mst_dataset *d, mst_map_function function, const void *context, int outputs,
                             const pipeline *p) {
    mst_spec spec[COMPONENTS + 1] = {{MST_I64, MST_SCALAR}, {MST_U8, MST_SHAPE(1, 2)}, {MST_STRING, MST_SCALAR}};
    spec[num_components(p)] = outputs > num_components(p) ? (mst_spec){MST_I64, MST_SHAPE(-1)} : spec[TEXT];
    THEN(d, mst_dataset_map(d, function, (void *)(uintptr_t)context, spec, outputs, &made));
    return d;
}

/* How sources of other components become rows. */
static mst_dataset *as_rows(mst_dataset *d, mst_map_function function, const pipeline *p) {
    return with_map(d, function, p, num_components(p), p);
}

/* N rows with their ids, from FIRST on, in memory and without a map. */
static mst_dataset *ids_from(int64_t first, int64_t n, const pipeline *p) {
    mst_tensor *tensor[COMPONENTS];
    mst_dataset *d;
    EXPECT_OK(mst_tensor_create(MST_I64, MST_SHAPE(n + 1), &tensor[ID]));
    EXPECT_OK(mst_tensor_create(MST_U8, MST_SHAPE(n + 1, 1, 2), &tensor[PICTURE]));
    EXPECT_OK(mst_tensor_create(MST_STRING, MST_SHAPE(n + 1), &tensor[TEXT]));
    for (int64_t i = 0; i <= n; i++) {
        char text[32];
        ((int64_t *)mst_tensor_data(tensor[ID]))[i] = first + i;
        memcpy((uint8_t *)mst_tensor_data(tensor[PICTURE]) + 2 * i, "\0\1", 2);
        EXPECT_OK(mst_tensor_set_string(tensor[TEXT], i, text_of(first + i, text, sizeof text)));
    }
    EXPECT_OK(mst_dataset_from_tensors(tensor, num_components(p), &d));
    for (int i = 0; i < COMPONENTS; i++) mst_tensor_release(tensor[i]);
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
    mst_dataset *part[FILES];
    int64_t first = 0;
    for (int i = 0; i < FILES; first += source_sizes[i++]) {
        const mst_shuffle_options options = {.buffer_size = 3, .seed = (uint64_t)i};
        part[i] = ids_from(first, source_sizes[i], p);
        THEN(part[i], mst_dataset_shuffle(part[i], &options, &made));
    }
    return interleave(part, FILES, p->cycle, p->block);
}

static mst_dataset *lines(const pipeline *p) {
    const mst_lines_options options = {.cycle = p->cycle, .block = p->block, .forward = p->source == OF_LINES_FORWARD};
    const char *pattern = folder_path("lines-*");
    mst_dataset *d;
    EXPECT_OK(mst_dataset_from_lines(&pattern, 1, &options, &d));
    return d;
}

static mst_dataset *open_source(const pipeline *p) {
    mst_dataset *d;
    const mst_tfrecord_options records = {.cycle = p->cycle, .block = p->block, .forward = p->source == OF_FORWARD};
    const mst_images_options images = {.height = 1, .width = 1, .channels = 1};
    switch (p->source) {
        case OF_MEMORY:
            return p->number % 2 ? ids_from(0, ROWS, p) : as_rows(pipeline_numbers(ROWS), row_of_numbers, p);
        case OF_CSV:
            EXPECT_OK(mst_dataset_from_csv(folder_path("ids.csv"), NULL, &d));
            return as_rows(d, row_of_float, p);
        case OF_IMAGES:
            EXPECT_OK(mst_dataset_from_images(folder_path("images"), &images, &d));
            return as_rows(d, row_of_pixel, p);
        case OF_INTERLEAVE: return shuffled_parts(p);
        case OF_LINES:
        case OF_LINES_FORWARD: return as_rows(lines(p), row_of_line, p);
        default: return as_rows(records_open(&records, true), row_of_record, p);
    }
}

/* In memory, or in the file at PATH. What has no rows in epoch 0 cannot be cached in memory: it stays without rows. */
static mst_dataset *cached(mst_dataset *d, const char *path) {
    mst_dataset *in_memory;
    if (path) {
        THEN(d, mst_dataset_cache_file(d, path, &made));
        return d;
    }
    if (mst_dataset_cache(d, &in_memory)) {
        assert_string_equal(mst_error()->message, "cache: the dataset has no rows");
        EXPECT_OK(mst_dataset_take(d, 0, &in_memory));
    }
    mst_dataset_release(d);
    return in_memory;
}

/* Rows with a list are not all of the same size. */
static bool has_list(const stage *s) {
    return s->a % 2;
}

static mst_dataset *maybe_with_list(mst_dataset *d, const pipeline *p, const stage *s) {
    return has_list(s) ? with_map(d, with_list, p, num_components(p) + 1, p) : d;
}

static mst_dataset *maybe_without_list(mst_dataset *d, const pipeline *p, const stage *s) {
    return has_list(s) ? with_map(d, without_list, p, num_components(p), p) : d;
}

/* Stage I of P. */
static mst_dataset *cache(mst_dataset *d, const pipeline *p, int i) {
    const stage *s = &p->stage[i];
    char name[64];
    snprintf(name, sizeof name, "cache-%d-%d-%d", (int)p->source, p->number, i);
    d = cached(maybe_with_list(d, p, s), s->kind == CACHE_FILE ? folder_path(name) : NULL);
    return maybe_without_list(d, p, s);
}

static mst_dataset *zip_with_itself(mst_dataset *d, const pipeline *p, const stage *s) {
    mst_dataset *pair;
    d = maybe_with_list(d, p, s);
    EXPECT_OK(mst_dataset_zip((mst_dataset *[]){d, d}, 2, &pair));
    mst_dataset_release(d);
    return with_map(pair, has_list(s) ? left_side_without_list : left_side, p, num_components(p), p);
}

static mst_dataset *interleave_with(mst_dataset *d, mst_dataset *others, const pipeline *p, const stage *s) {
    mst_dataset *part[] = {maybe_with_list(d, p, s), maybe_with_list(others, p, s)};
    return maybe_without_list(interleave(part, 2, 2, 1 + s->b), p, s);
}

/* The contexts of map functions must outlive the dataset. */
static mst_dataset *map_by(mst_dataset *d, const pipeline *p, int i) {
    static map_context context[STAGES];
    context[i] = (map_context){p, p->stage[i].a};
    return with_map(d, map_id, &context[i], num_components(p), p);
}

static mst_dataset *then(mst_dataset *d, const pipeline *p, int i) {
    const stage *s = &p->stage[i];
    const bool is_known = mst_dataset_cardinality(d) >= 0;
    const mst_shuffle_options options = {.buffer_size = is_known && s->b == 0 ? 0 : 1 + s->a, .seed = (uint64_t)s->b};
    switch (s->kind) {
        case TAKE: THEN(d, mst_dataset_take(d, s->a, &made)); break;
        case SKIP: THEN(d, mst_dataset_skip(d, s->a / 3, &made)); break;
        case SHUFFLE: THEN(d, mst_dataset_shuffle(d, &options, &made)); break;
        case FILTER: THEN(d, mst_dataset_filter(d, keep_some, (void *)(uintptr_t)&s->b, &made)); break;
        case MAP: return map_by(d, p, i);
        case REPEAT: THEN(d, mst_dataset_repeat(d, 1 + s->b / 2, &made)); break;
        case SHARD: THEN(d, mst_dataset_shard(d, 1 + s->b, s->a % (1 + s->b), &made)); break;
        case ZIP: return zip_with_itself(d, p, s);
        case INTERLEAVE: return interleave_with(d, ids_from(FIRST_OTHER, OTHERS, p), p, s);
        case FLIP: THEN(d, mst_dataset_random_flip(d, PICTURE, MST_FLIP_LEFT_RIGHT, (uint64_t)s->a, &made)); break;
        default: return cache(d, p, i);
    }
    return d;
}

static mst_dataset *in_batches(mst_dataset *d, const pipeline *p) {
    const mst_padding padding[COMPONENTS + 1] = {[TEXT] = {.value = -1}, [COMPONENTS] = {.value = -1}};
    const mst_prefetch_options ahead = {.threads = p->threads};
    const int n = num_components(p);
    if (p->padded) {
        d = with_map(d, with_list, p, n + 1, p);
        THEN(d, mst_dataset_padded_batch(d, p->batch, false, padding, &made));
    } else {
        THEN(d, mst_dataset_batch(d, p->batch, false, &made));
    }
    if (p->scales) THEN(d, mst_dataset_scale(d, ID, MST_F64, 1, &made));
    if (p->crops) THEN(d, mst_dataset_crop(d, PICTURE, 0, 0, 1, 1, &made));
    if (p->scales && p->padded) THEN(d, mst_dataset_scale(d, n, MST_F64, 1, &made));
    if (p->prefetch) THEN(d, mst_dataset_prefetch_with(d, p->prefetch, &ahead, &made));
    return d;
}

static mst_dataset *build(const pipeline *p) {
    mst_dataset *d = open_source(p);
    for (int i = 0; i < p->num_stages; i++) d = then(d, p, i);
    return p->batch ? in_batches(d, p) : d;
}

/* ---- comparing ---- */

typedef struct columns {
    union {
        int64_t i64[MOST];
        double f64[MOST];
    } id;
    uint8_t picture[2 * MOST];
    mst_string text[MOST];
    union {
        int64_t i64[LENGTHS * MOST];
        double f64[LENGTHS * MOST];
    } list;
} columns;

static bool is_same_row(const pipeline *p, const columns *c, int64_t i, const row *r) {
    char text[32];
    const int64_t pixels = p->crops ? 1 : 2;
    if ((p->scales ? (int64_t)c->id.f64[i] : c->id.i64[i]) != r->id) return false;
    for (int64_t k = 0; k < pixels; k++)
        if (c->picture[i * pixels + k] != (k ^ r->is_flipped)) return false;
    return !p->has_text || mst_string_equal(c->text[i], text_of(r->record, text, sizeof text));
}

/* The lists of the N rows from R on, padded to the longest of them; C has those of RANGE. */
static bool are_lists_right(const pipeline *p, const mst_batch *batch, const columns *c, const row *r, int64_t n,
                            mst_row_range range) {
    int64_t longest = 0;
    for (int64_t i = 0; i < n; i++) longest = r[i].id % LENGTHS > longest ? r[i].id % LENGTHS : longest;
    if (!mst_shape_equal(mst_batch_shape(batch, num_components(p)), MST_SHAPE(n, longest))) return false;
    for (int64_t i = 0, at = 0; i < range.count; i++)
        for (int64_t k = 0; k < longest; k++, at++) {
            const int64_t id = r[range.first + i].id, wanted = k < id % LENGTHS ? id : -1;
            if ((p->scales ? (int64_t)c->list.f64[at] : c->list.i64[at]) != wanted) return false;
        }
    return true;
}

/* All components of RANGE at once, or every other time one by one. */
static mst_status read_batch(const pipeline *p, const mst_batch *batch, mst_row_range range, bool at_once, columns *c) {
    const int n = num_components(p);
    void *dst[COMPONENTS + 1] = {&c->id, c->picture, c->text};
    dst[n] = &c->list;
    if (at_once) return mst_batch_copy_all(batch, range.first, range.count, dst);
    for (int i = 0; i < n + p->padded; i++) MST_TRY(mst_batch_copy(batch, i, range.first, range.count, dst[i]));
    return MST_OK;
}

/* Of an iterator of WINDOW. Returns how large the position at the end is: what is still held there is a leak. */
static int64_t expect_rest(const pipeline *p, const char *what, mst_iterator *it, mst_shard_window window,
                           const list *expected, int64_t from) {
    static columns c;
    const mst_batch *batch;
    for (int64_t element = 0;; element++) {
        if (mst_iterator_next(it, &batch)) fail_msg("%s: %s: %s", random_pipeline_name(p), what, mst_error()->message);
        if (!batch) break;
        const int64_t n = mst_batch_size(batch);
        if (from + n > expected->n)
            fail_msg("%s: %s: more than %d rows", random_pipeline_name(p), what, (int)expected->n);
        const mst_row_range range = mst_shard_window_rows(window, n);
        if (read_batch(p, batch, range, element % 2, &c))
            fail_msg("%s: %s: %s", random_pipeline_name(p), what, mst_error()->message);
        const row *wanted = &expected->row[from];
        for (int64_t i = 0; i < range.count; i++)
            if (!is_same_row(p, &c, i, &wanted[range.first + i]))
                fail_msg("%s: %s: row %d is another (%d, not %d)", random_pipeline_name(p), what,
                         (int)(from + range.first + i), (int)(p->scales ? (int64_t)c.id.f64[i] : c.id.i64[i]),
                         (int)wanted[range.first + i].id);
        from += n;
        if (p->padded && !are_lists_right(p, batch, &c, wanted, n, range))
            fail_msg("%s: %s: the lists before row %d are others", random_pipeline_name(p), what, (int)from);
    }
    if (from < expected->n)
        fail_msg("%s: %s: %d rows, not %d", random_pipeline_name(p), what, (int)from, (int)expected->n);
    const int64_t size = pipeline_position_size(it);
    assert_true(size > 0);
    return size;
}

/* In a quarter of the cases some elements are skipped instead of being read. */
static int64_t advance(mst_iterator *it, int64_t elements) {
    const mst_batch *batch;
    int64_t rows = 0, skipped = random_below(4) ? 0 : random_below(elements + 1);
    EXPECT_OK(mst_iterator_skip(it, skipped));
    for (int64_t i = skipped; i < elements; i++) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        rows += batch ? mst_batch_size(batch) : 0;
    }
    return rows;
}

/* Reads ELEMENTS elements of a new iterator of epoch EPOCH, and the rest from a second one that is restored at its
 * position. If TWICE, the second one is replaced by a third on the way. AT_END: the size of the last position of an
 * iterator that was not restored. */
static void check_restart(const pipeline *p, const list *expected, int64_t epoch, int64_t elements, bool twice,
                          int64_t at_end) {
    const int64_t each = p->batch ? p->batch : 1, more = twice ? random_below(5) : 0;
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
        if (mst_iterator_restore(d, position, &it)) fail_msg("%s: %s", random_pipeline_name(p), mst_error()->message);
        mst_tensor_release(position);
        if (time < twice) (void)advance(it, more);
    }
    const int64_t from = (elements + more) * each;
    const int64_t size =
        expect_rest(p, "restored", it, (mst_shard_window){0}, expected, from < expected->n ? from : expected->n);
    if (!p->prefetch && size > at_end) /* a prefetch saves where it began */
        fail_msg("%s: %d numbers are saved at the end, at most %d should", random_pipeline_name(p), (int)size,
                 (int)at_end);
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

/* Another window in each pipeline and epoch. */
static void check_window(const pipeline *p, mst_dataset *d, const list *expected, int64_t epoch) {
    const int32_t num_shards = 1 + (int32_t)random_below(4), first = (int32_t)random_below(num_shards);
    const mst_shard_window window = {{first, 1 + (int32_t)random_below(num_shards - first)}, num_shards};
    mst_iterator *it;
    EXPECT_OK(mst_iterator_create_window(d, epoch, window, &it));
    (void)expect_rest(p, "of a window", it, window, expected, 0);
    mst_iterator_destroy(it);
}

static void check(const pipeline *p) {
    static list expected;
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
        random_pipeline_rows(p, p->num_stages, epoch, known, &expected);
        if (mst_dataset_num_rows(d) >= 0) assert_int_equal(mst_dataset_num_rows(d), expected.n);
        EXPECT_OK(mst_iterator_create(d, epoch, &it));
        const int64_t at_end = expect_rest(p, "from the beginning", it, (mst_shard_window){0}, &expected, 0);
        mst_iterator_destroy(it);
        if (p->batch) check_window(p, d, &expected, epoch);
        const int64_t elements = expected.n / (p->batch ? p->batch : 1);
        for (int i = 0; i < 3; i++) check_restart(p, &expected, epoch, random_below(elements + 1), i == 2, at_end);
    }
    mst_dataset_release(d);
}

static void check_all(source_kind source) {
    pipeline p;
    random_begin((uint64_t)source + 1);
    for (int i = 0; i < PIPELINES; i++) {
        random_pipeline_choose(&p, source, i);
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
    records_write(FILES, source_sizes, MST_TFRECORD_PLAIN);
    check_all(OF_TFRECORD);
}

static void records_that_come_forward(void **state) {
    (void)state;
    records_write(FILES, source_sizes, MST_TFRECORD_PLAIN);
    check_all(OF_FORWARD);
}

static void records_of_compressed_files(void **state) {
    (void)state;
    records_write(FILES, source_sizes, MST_TFRECORD_GZIP);
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

static void write_lines(void) {
    int id = 0;
    for (int i = 0; i < FILES; i++) {
        char text[1024], name[16];
        int at = 0;
        for (int64_t k = 0; k < source_sizes[i]; k++)
            at += snprintf(text + at, sizeof text - (size_t)at, "record %d%s", id++, k % 3 ? "\n" : "\r\n");
        snprintf(name, sizeof name, "lines-%d", i);
        (void)folder_write(name, text, (size_t)at);
    }
}

static void lines_of_text(void **state) {
    (void)state;
    write_lines();
    check_all(OF_LINES);
}

static void lines_that_come_forward(void **state) {
    (void)state;
    write_lines();
    check_all(OF_LINES_FORWARD);
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
        TEST_IN_FOLDER(lines_of_text),
        TEST_IN_FOLDER(lines_that_come_forward),
    };
    mst_file_replace_fault(without_sync);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
