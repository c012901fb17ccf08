/* Takes rows from the source through the stages of their datasets to the batch, in one of two ways:
 *
 *      by column   if there are only scales and casts: each row is converted straight to its place in the batch, while
 *                  the next rows are prefetched
 *      by row      if there is a map, a change of pictures, a source that makes rows, or a source whose records are
 *                  strings: each row goes through all stages in scratch memory; the last stage writes to the batch if
 *                  it can
 *
 * Records of u8 go to the batch only by a map: they have different lengths, so without a map they cannot be copied
 * (mst_dataset_want_values refuses that).
 *
 * Threads copy parts of a batch at the same time. Each takes a scratch from a list, so that there are at most as many
 * scratches as concurrent callers. What map functions allocate lasts for one row. The bytes of copied strings last
 * until mst_row_fetch_forget_strings. */
#include "data/row_fetch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/no_memory.h"
#include "data/cancel.h"
#include "data/cursors/cursor.h"
#include "data/row_arena.h"
#include "op/share.h"
#include "tensor/string.h"

/* Elements that are converted at a time; bytes of a cache line; rows between the one that is converted and the one that
 * is prefetched. */
enum { BLOCK = 512, ALIGNMENT = 64, LINE = 64, PREFETCH = 2 };

/* Memory for one row on its way through the maps; used by one caller at a time. */
typedef struct scratch {
    struct scratch *next;
    mst_array *in, *out;      /* [most_components]: of the row before a stage, and after it */
    void **dst;               /* [most_components]: places in the batch */
    void **written;           /* [most_components]: where a source that makes values writes them */
    char *data;               /* [scratch_bytes]: the values between stages */
    mst_record_buffer record; /* for a source of records */
    mst_string text;          /* the record as a string */
    mst_arena row;            /* what map functions allocate for one row */
    mst_arena kept;           /* the bytes of strings that were copied */
} scratch;

struct mst_row_fetch {
    const mst_dataset *base; /* the source, or the last dataset that gives values */
    mst_cursor *base_cursor;
    bool has_records;          /* base reads records */
    mst_record_buffer record;  /* for mst_row_fetch_record */
    const mst_dataset *end;    /* the dataset whose elements are copied */
    const mst_dataset **stage; /* the datasets with a stage, from base to end */
    bool *is_checked;          /* [num_stages] the outputs of the map have strings, or a length that the map finds */
    int num_stages;
    int num_mixed;    /* stages up to the last map, which mixes components; 0: no map */
    bool by_row;      /* one row after the other, as above */
    bool has_strings; /* a component of the result is strings */
    int most_components;
    size_t scratch_bytes;
    pthread_mutex_t lock; /* protects `unused` */
    scratch *unused;
};

static size_t align(size_t size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Counts the stages, and the memory that one row needs: each stage writes to its own part of it. */
static void measure(mst_row_fetch *fetch) {
    const mst_dataset *dataset = fetch->end;
    fetch->most_components = dataset->num_components;
    for (int i = 0; i < dataset->num_components; i++) fetch->has_strings |= dataset->row[i].dtype == MST_STRING;
    for (; dataset->upstream && !dataset->type->gives_values; dataset = dataset->upstream) {
        if (dataset->upstream->num_components > fetch->most_components)
            fetch->most_components = dataset->upstream->num_components;
        if (!dataset->stage) continue;
        fetch->num_stages++;
        fetch->by_row |= !dataset->stage->convert;
        for (int i = 0; i < dataset->num_components; i++)
            if (dataset->stage->map || dataset->stage->component == i)
                fetch->scratch_bytes += align(mst_dataset_row_bytes(dataset, i));
    }
    fetch->base = dataset;
    fetch->by_row |= dataset->type->values || (dataset->type->read && dataset->row[0].dtype == MST_STRING);
    if (!dataset->type->values) return;
    for (int i = 0; i < dataset->num_components; i++) fetch->scratch_bytes += align(mst_dataset_row_bytes(dataset, i));
}

/* Whether an output of a map function must be checked: its strings, or a length that the function finds. */
static bool is_checked(const mst_spec *output) {
    return output->dtype == MST_STRING || mst_shape_count(output->shape) < 0;
}

mst_status mst_row_fetch_create(const mst_dataset *dataset, mst_cursor *cursor, mst_row_fetch **out) {
    mst_row_fetch *fetch = *out = calloc(1, sizeof *fetch);
    if (!fetch) return MST_NO_MEMORY("for an iterator");
    fetch->end = dataset;
    measure(fetch);
    fetch->base_cursor = mst_cursor_base(cursor);
    fetch->has_records = fetch->base->type->read != NULL;
    pthread_mutex_init(&fetch->lock, NULL);
    fetch->stage = calloc((size_t)fetch->num_stages + 1, sizeof(mst_dataset *));
    fetch->is_checked = calloc((size_t)fetch->num_stages + 1, sizeof *fetch->is_checked);
    if (!fetch->stage || !fetch->is_checked) {
        mst_row_fetch_destroy(fetch);
        *out = NULL;
        return MST_NO_MEMORY("for an iterator");
    }
    int i = fetch->num_stages;
    for (; dataset != fetch->base; dataset = dataset->upstream) {
        if (!dataset->stage) continue;
        fetch->stage[--i] = dataset;
        if (dataset->stage->map && !fetch->num_mixed) fetch->num_mixed = i + 1;
        for (int c = 0; c < dataset->num_components; c++) fetch->is_checked[i] |= is_checked(&dataset->row[c]);
    }
    return MST_OK;
}

void mst_row_fetch_destroy(mst_row_fetch *fetch) {
    if (!fetch) return;
    while (fetch->unused) {
        scratch *next = fetch->unused->next;
        mst_record_buffer_free(&fetch->unused->record);
        mst_arena_free(&fetch->unused->row);
        mst_arena_free(&fetch->unused->kept);
        free(fetch->unused);
        fetch->unused = next;
    }
    mst_record_buffer_free(&fetch->record);
    pthread_mutex_destroy(&fetch->lock);
    free(fetch->stage);
    free(fetch->is_checked);
    free(fetch);
}

/* Returns NULL if there is no memory. */
static scratch *make_scratch(const mst_row_fetch *fetch) {
    const size_t n = (size_t)fetch->most_components;
    const size_t head = align(sizeof(scratch)), arrays = align(n * sizeof(mst_array)),
                 pointers = align(n * sizeof(void *));
    char *memory = aligned_alloc(ALIGNMENT, head + 2 * arrays + 2 * pointers + fetch->scratch_bytes);
    if (!memory) return NULL;
    scratch *s = (scratch *)(void *)memory;
    *s = (scratch){.in = (mst_array *)(void *)(memory + head),
                   .out = (mst_array *)(void *)(memory + head + arrays),
                   .dst = (void **)(void *)(memory + head + 2 * arrays),
                   .written = (void **)(void *)(memory + head + 2 * arrays + pointers),
                   .data = memory + head + 2 * arrays + 2 * pointers};
    return s;
}

static void give_scratch(mst_row_fetch *fetch, scratch *s) {
    pthread_mutex_lock(&fetch->lock);
    s->next = fetch->unused;
    fetch->unused = s;
    pthread_mutex_unlock(&fetch->lock);
}

/* Takes an unused scratch, or makes one. So there are at most as many scratches as concurrent callers. */
static mst_status take_scratch(mst_row_fetch *fetch, scratch **out) {
    pthread_mutex_lock(&fetch->lock);
    scratch *s = fetch->unused;
    if (s) fetch->unused = s->next;
    pthread_mutex_unlock(&fetch->lock);
    *out = s ? s : make_scratch(fetch);
    return *out ? MST_OK : MST_NO_MEMORY("for a row of map");
}

void mst_row_fetch_forget_strings(mst_row_fetch *fetch) {
    if (!fetch->has_strings) return;
    pthread_mutex_lock(&fetch->lock);
    for (scratch *s = fetch->unused; s; s = s->next) mst_arena_clear(&s->kept);
    pthread_mutex_unlock(&fetch->lock);
}

/* The cost of a map is not known: one row is taken to be enough work for a thread. */
int64_t mst_row_fetch_grain(const mst_row_fetch *fetch, const mst_element *element, int component) {
    const int64_t elements = mst_shape_count(mst_dataset_row_shape(fetch->end, element, component));
    const int64_t size = (int64_t)mst_dtype_size(fetch->end->row[component].dtype);
    return fetch->by_row ? 1 : mst_grain_bytes(element->count, elements < 0 ? 0 : elements * size);
}

static const void *base_memory(const mst_row_fetch *fetch, const mst_element *element, int i) {
    return element->memory ? element->memory[i] : fetch->base->type->memory(fetch->base, i);
}

/* The number of elements in a row of component I of the base. */
static int64_t base_count(const mst_row_fetch *fetch, const mst_element *element, int i) {
    return mst_shape_count(element->shape ? element->shape[i] : fetch->base->row[i].shape);
}

static size_t base_bytes(const mst_row_fetch *fetch, const mst_element *element, int i) {
    return (size_t)base_count(fetch, element, i) * mst_dtype_size(fetch->base->row[i].dtype);
}

/* The number of row I of ELEMENT in the source. */
static int64_t row_number(const mst_element *element, int64_t i) {
    return element->rows ? mst_row_number(element->rows[i]) : i;
}

/* How many rows lie before row I in the memory of a component. */
static size_t place_of_row(const mst_element *element, int64_t i) {
    return (size_t)(row_number(element, i) - element->first);
}

mst_row_key mst_row_fetch_key(const mst_row_fetch *fetch, int64_t row) {
    const mst_dataset *base = fetch->base;
    const int64_t number = mst_row_number(row);
    return (mst_row_key){(uint64_t)mst_row_pass(row),
                         base->type->record ? base->type->record(base, fetch->base_cursor, number) : (uint64_t)number};
}

/* Rows come in random order from memory that is not in any cache. Prefetching the next row while this one is converted
 * reduces the time for 100 rows of 784 bytes to f32 from 25 us to 10 us. */
static void ask_for(const char *row, size_t bytes) {
    for (size_t i = 0; i < bytes; i += LINE) __builtin_prefetch(row + i);
}

/* Converts one component through two or more scales, in blocks that fit in the cache. */
static void convert_chain(const mst_row_fetch *fetch, int component, const char *src, char *dst, int64_t count) {
    _Alignas(ALIGNMENT) double buffer[2][BLOCK];
    const mst_dataset *last = fetch->base;
    for (int j = 0; j < fetch->num_stages; j++)
        if (fetch->stage[j]->stage->component == component) last = fetch->stage[j];
    size_t src_size = mst_dtype_size(fetch->base->row[component].dtype);
    size_t dst_size = mst_dtype_size(last->row[component].dtype);
    for (int64_t i = 0; i < count; i += BLOCK) {
        int64_t n = count - i < BLOCK ? count - i : BLOCK;
        const void *from = src + (size_t)i * src_size;
        int turn = 0;
        for (int j = 0; j < fetch->num_stages; j++) {
            const mst_row_stage *stage = fetch->stage[j]->stage;
            if (stage->component != component) continue;
            void *to = fetch->stage[j] == last ? (void *)(dst + (size_t)i * dst_size) : buffer[turn ^= 1];
            stage->convert(from, to, n, stage->factor);
            from = to;
        }
    }
}

static void copy_component(const mst_row_fetch *fetch, const mst_element *element, int component, int64_t first,
                           int64_t count, char *dst) {
    const char *memory = base_memory(fetch, element, component);
    int64_t elements = base_count(fetch, element, component);
    size_t src_bytes = base_bytes(fetch, element, component);
    size_t dst_bytes = (size_t)elements * mst_dtype_size(fetch->end->row[component].dtype);
    const mst_row_stage *scale = NULL;
    int num_scales = 0;
    for (int j = 0; j < fetch->num_stages; j++) {
        if (fetch->stage[j]->stage->component != component) continue;
        scale = fetch->stage[j]->stage;
        num_scales++;
    }
    if (num_scales == 0 && !element->rows && count) {
        memcpy(dst, memory + place_of_row(element, first) * src_bytes, (size_t)count * src_bytes);
        return;
    }
    for (int64_t i = first; i < first + count; i++, dst += dst_bytes) {
        const char *src = memory + place_of_row(element, i) * src_bytes;
        if (i + PREFETCH < first + count) ask_for(memory + place_of_row(element, i + PREFETCH) * src_bytes, src_bytes);
        if (num_scales == 0)
            memcpy(dst, src, dst_bytes);
        else if (num_scales == 1)
            scale->convert(src, dst, elements, scale->factor);
        else
            convert_chain(fetch, component, src, dst, elements);
    }
}

static mst_array array_of(mst_dtype dtype, mst_shape shape, const void *data) {
    return (mst_array){
        .data = (void *)(uintptr_t)data, .count = mst_shape_count(shape), .dtype = dtype, .shape = shape};
}

static mst_array row_array(const mst_dataset *dataset, int i, const void *data) {
    return array_of(dataset->row[i].dtype, dataset->row[i].shape, data);
}

/* The error of the function of a stage, with the row in its message: NUMBER is its number in the source, without its
 * pass. A map function is the user's, and may not have recorded an error. ERRORS is mst_error_count before the call. */
static mst_status map_failed(const mst_row_fetch *fetch, const char *what, mst_status status, uint64_t errors,
                             int64_t number) {
    const bool silent = mst_error_count() == errors || mst_error()->code != status;
    if (silent) status = MST_FAIL(status, "%s: the function failed on row %lld", what, (long long)number);
    if (fetch->has_records) return fetch->base->type->explain(fetch->base, fetch->base_cursor, number);
    return silent ? status : mst_error_prefix("%s of row %lld", what, (long long)number);
}

/* Reads row I of ELEMENT from the base to s->in. The caller will read AHEAD rows in sequence, this one included. */
static mst_status read_base(const mst_row_fetch *fetch, scratch *s, const mst_element *element, int64_t i,
                            int64_t ahead) {
    if (fetch->has_records) {
        mst_record record;
        MST_TRY(
            fetch->base->type->read(fetch->base, fetch->base_cursor, element->rows + i, ahead, &s->record, &record));
        const int64_t size = (int64_t)record.size;
        s->text = (mst_string){record.data, record.size};
        if (fetch->base->row[0].dtype == MST_STRING)
            s->in[0] = array_of(MST_STRING, MST_SCALAR, &s->text);
        else
            s->in[0] = array_of(MST_U8, mst_shape_make(1, &size), record.data);
        return MST_OK;
    }
    for (int c = 0; c < fetch->base->num_components; c++) {
        const size_t bytes = base_bytes(fetch, element, c);
        const char *memory = base_memory(fetch, element, c);
        s->in[c] = row_array(fetch->base, c, memory + place_of_row(element, i) * bytes);
        if (!element->shape) continue;
        s->in[c].shape = element->shape[c];
        s->in[c].count = base_count(fetch, element, c);
    }
    return MST_OK;
}

/* Whether stage J (-1: the source) must make component C. That is so if the caller wants C, or if a later map may need
 * C for other components. The caller wants component c if TO[c] is not NULL; if TO is NULL, it wants all. */
static bool is_wanted(const mst_row_fetch *fetch, int j, int c, void *const *to) {
    return !to || j + 1 < fetch->num_mixed || to[c];
}

/* read_base for a source that makes values, here of the row with this NUMBER in it. They go to their places in the
 * batch (TO, may be NULL) if there are no stages. Components of unknown length are made only for maps, and for callers
 * that look at a row. */
static mst_status write_base(const mst_row_fetch *fetch, scratch *s, int64_t number, void *const *to,
                             char **free_memory) {
    bool any_open = false;
    for (int c = 0; c < fetch->base->num_components; c++) {
        const bool is_open = mst_shape_count(fetch->base->row[c].shape) < 0;
        void *place = is_open || !is_wanted(fetch, -1, c, to) ? NULL : to && !fetch->num_stages ? to[c] : *free_memory;
        if (place == *free_memory) *free_memory += align(mst_dataset_row_bytes(fetch->base, c));
        s->in[c] = row_array(fetch->base, c, place);
        s->written[c] = place;
        any_open |= is_open;
        if (is_open) s->in[c].count = 0;
    }
    const bool wants_open = any_open && (!to || fetch->num_mixed > 0);
    mst_arena *before = mst_row_arena_lend(&s->row);
    const mst_status status =
        fetch->base->type->values(fetch->base, fetch->base_cursor, number, s->written, wants_open ? s->in : NULL);
    mst_row_arena_lend(before);
    return status;
}

/* Memory for component C after stage J: its place in the batch (TO, may be NULL) after the last stage, else scratch
 * memory. If the length is not known there is none: the stage allocates it. */
static mst_array stage_array(const mst_row_fetch *fetch, int j, int c, void *const *to, char **free_memory) {
    const mst_dataset *dataset = fetch->stage[j];
    mst_array array = row_array(dataset, c, NULL);
    if (array.count < 0) {
        array.count = 0;
        return array;
    }
    const size_t bytes = (size_t)array.count * mst_dtype_size(array.dtype);
    if (to && j == fetch->num_stages - 1 && to[c]) {
        array.data = to[c];
    } else {
        array.data = *free_memory;
        *free_memory += align(bytes);
    }
    if (array.dtype == MST_STRING && array.data) memset(array.data, 0, bytes); /* a map may leave strings unset */
    return array;
}

static mst_status convert(const mst_row_stage *stage, scratch *s, mst_array to) {
    mst_array *from = &s->in[stage->component];
    if (!to.data) {
        to = array_of(to.dtype, from->shape, mst_arena_alloc(&s->row, (size_t)from->count * mst_dtype_size(to.dtype)));
        if (!to.data) return MST_NO_MEMORY("for a row");
    }
    stage->convert(from->data, to.data, to.count, stage->factor);
    *from = to;
    return MST_OK;
}

/* Checks the length and the strings of output C of a map function against ROW, which was declared for it. */
static mst_status check_output(const mst_array *out, const mst_spec *row, int c) {
    char found[MST_SHAPE_TEXT], declared[MST_SHAPE_TEXT];
    const int64_t count = mst_shape_count(out->shape);
    bool fits = out->shape.ndim == row->shape.ndim && count >= 0 && out->count == count && (out->data || !count);
    for (int i = 0; fits && i < row->shape.ndim; i++)
        fits = row->shape.dim[i] < 0 || out->shape.dim[i] == row->shape.dim[i];
    if (!fits)
        return MST_FAIL(MST_INVALID,
                        "map: output %d has shape %s and %lld elements, %s is declared: set data, count and shape", c,
                        mst_shape_print(out->shape, found, sizeof found), (long long)out->count,
                        mst_shape_print(row->shape, declared, sizeof declared));
    const mst_string *string = out->data;
    for (int64_t i = 0; row->dtype == MST_STRING && i < count; i++)
        if (string[i].length && !string[i].data)
            return MST_FAIL(MST_INVALID, "map: output %d: string %lld has %zu bytes, and its data is NULL", c,
                            (long long)i, string[i].length);
    return MST_OK;
}

static mst_status call_map(const mst_row_fetch *fetch, int j, scratch *s) {
    const mst_dataset *dataset = fetch->stage[j];
    mst_arena *before = mst_row_arena_lend(&s->row);
    mst_status status = dataset->stage->map(s->in, s->out, dataset->stage->context);
    mst_row_arena_lend(before);
    for (int c = 0; c < dataset->num_components && !status && fetch->is_checked[j]; c++)
        if (is_checked(&dataset->row[c])) status = check_output(&s->out[c], &dataset->row[c], c);
    return status;
}

/* Runs stage J, a map, on the row with this NUMBER in the source. */
static mst_status run_map(const mst_row_fetch *fetch, scratch *s, int j, int64_t number, void *const *to,
                          char **free_memory) {
    const mst_dataset *dataset = fetch->stage[j];
    for (int c = 0; c < dataset->num_components; c++) s->out[c] = stage_array(fetch, j, c, to, free_memory);
    const uint64_t errors = mst_error_count();
    mst_status status = call_map(fetch, j, s);
    if (status) return map_failed(fetch, "map", status, errors, number);
    mst_array *out = s->out;
    s->out = s->in;
    s->in = out;
    return MST_OK;
}

/* Runs stage J, which works on one component: `change`, `make` or `convert`. ROW has its pass (data/cursors/row.h). */
static mst_status run_change(const mst_row_fetch *fetch, scratch *s, int j, int64_t row, void *const *to,
                             char **free_memory) {
    const mst_row_stage *stage = fetch->stage[j]->stage;
    const int c = stage->component;
    if (!is_wanted(fetch, j, c, to)) return MST_OK;
    mst_array changed = stage_array(fetch, j, c, to, free_memory);
    if (stage->convert) return convert(stage, s, changed);
    const mst_row_key key = mst_row_fetch_key(fetch, row);
    const uint64_t errors = mst_error_count();
    mst_status status = MST_OK;
    if (stage->change)
        stage->change(fetch->stage[j], &key, &s->in[c], &changed);
    else
        status = stage->make(fetch->stage[j], &s->in[c], &changed);
    s->in[c] = changed;
    if (!status) return MST_OK;
    return map_failed(fetch, fetch->stage[j]->type->name, status, errors, mst_row_number(row));
}

/* Takes row I of ELEMENT through all stages; s->in has its components at the end. The caller will take AHEAD rows in
 * sequence, this one included. */
static mst_status run_stages(const mst_row_fetch *fetch, scratch *s, const mst_element *element, int64_t i,
                             int64_t ahead, void *const *to) {
    char *free_memory = s->data;
    const int64_t number = row_number(element, i);
    MST_TRY(mst_cancel_check());
    mst_arena_clear(&s->row);
    if (fetch->base->type->values)
        MST_TRY(write_base(fetch, s, number, to, &free_memory));
    else
        MST_TRY(read_base(fetch, s, element, i, ahead));
    for (int j = 0; j < fetch->num_stages; j++) {
        if (fetch->stage[j]->stage->map)
            MST_TRY(run_map(fetch, s, j, number, to, &free_memory));
        else
            MST_TRY(run_change(fetch, s, j, element->rows ? element->rows[i] : i, to, &free_memory));
    }
    return MST_OK;
}

/* Advances the pointers in DST row by row. The bytes of strings last until mst_row_fetch_forget_strings. */
static mst_status copy_mapped(mst_row_fetch *fetch, scratch *s, const mst_element *element, int64_t first,
                              int64_t count, void **dst) {
    for (int64_t i = 0; i < count; i++) {
        MST_TRY(run_stages(fetch, s, element, first + i, count - i, dst));
        for (int c = 0; c < fetch->end->num_components; c++) {
            const size_t bytes = (size_t)s->in[c].count * mst_dtype_size(fetch->end->row[c].dtype);
            if (!dst[c] || !bytes) continue;
            if (s->in[c].data != dst[c]) memcpy(dst[c], s->in[c].data, bytes);
            if (s->in[c].dtype == MST_STRING) MST_TRY(mst_strings_keep(&s->kept, dst[c], s->in[c].count));
            dst[c] = (char *)dst[c] + bytes;
        }
    }
    return MST_OK;
}

mst_status mst_row_fetch_copy(mst_row_fetch *fetch, const mst_element *element, int component, int64_t first,
                              int64_t count, void *dst) {
    scratch *s;
    MST_TRY(mst_dataset_want_values(fetch->end, component, "batch"));
    if (!fetch->by_row) {
        copy_component(fetch, element, component, first, count, dst);
        return MST_OK;
    }
    MST_TRY(take_scratch(fetch, &s));
    for (int c = 0; c < fetch->end->num_components; c++) s->dst[c] = c == component ? dst : NULL;
    mst_status status = copy_mapped(fetch, s, element, first, count, s->dst);
    give_scratch(fetch, s);
    return status;
}

mst_status mst_row_fetch_copy_all(mst_row_fetch *fetch, const mst_element *element, int64_t first, int64_t count,
                                  void *const *dst) {
    scratch *s;
    for (int c = 0; c < fetch->end->num_components; c++)
        if (dst[c]) MST_TRY(mst_dataset_want_values(fetch->end, c, "batch"));
    if (fetch->by_row) {
        MST_TRY(take_scratch(fetch, &s));
        for (int c = 0; c < fetch->end->num_components; c++) s->dst[c] = dst[c];
        mst_status status = copy_mapped(fetch, s, element, first, count, s->dst);
        give_scratch(fetch, s);
        return status;
    }
    for (int c = 0; c < fetch->end->num_components; c++)
        if (dst[c]) copy_component(fetch, element, c, first, count, dst[c]);
    return MST_OK;
}

mst_status mst_row_fetch_look(mst_row_fetch *fetch, const char *what, const mst_element *element, int64_t i,
                              mst_status (*look)(const mst_array *in, void *context), void *context) {
    scratch *s;
    MST_TRY(take_scratch(fetch, &s));
    mst_status status = run_stages(fetch, s, element, i, element->count - i, NULL);
    if (!status) {
        const uint64_t errors = mst_error_count();
        status = look(s->in, context);
        if (status) map_failed(fetch, what, status, errors, row_number(element, i));
    }
    give_scratch(fetch, s);
    return status;
}

mst_status mst_row_fetch_record(mst_row_fetch *fetch, const mst_element *element, int64_t i, mst_record *record) {
    if (!fetch->has_records) return MST_FAIL(MST_INVALID, "batch: its source has no records");
    return fetch->base->type->read(fetch->base, fetch->base_cursor, element->rows + i, 1, &fetch->record, record);
}
