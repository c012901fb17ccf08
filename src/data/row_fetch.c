#include "data/row_fetch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/no_memory.h"
#include "data/cancel.h"
#include "data/prefetch.h"
#include "op/share.h"

enum { BLOCK = 512, ALIGNMENT = 64, LINE = 64, AHEAD = 2 };

/* Memory for one row on its way through the maps; used by one caller at a time. */
typedef struct scratch {
    struct scratch *next;
    mst_array *in, *out;
    void **dst, **written;
    char *data;
    mst_record_buffer record; /* where the source has records */
} scratch;

struct mst_row_fetch {
    const mst_dataset *base; /* the source, or a prefetch */
    mst_cursor *base_cursor;
    bool has_records;         /* base reads records */
    mst_record_buffer record; /* of mst_row_fetch_record */
    const mst_dataset *end;
    const mst_dataset **stage; /* the datasets with a stage, from base to end */
    int num_stages;
    bool by_row;   /* one row after the other: there is a map, a change, or a source that makes rows */
    bool is_mixed; /* a component depends on others: there is a map */
    int most_components;
    size_t scratch_bytes;
    pthread_mutex_t lock; /* of `unused` */
    scratch *unused;
};

static size_t align(size_t size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool is_base(const mst_dataset *dataset) {
    return !dataset->upstream || dataset->type == &mst_prefetch_type;
}

/* Counts the stages, and what one row needs: each stage writes to memory of its own. */
static void measure(mst_row_fetch *fetch) {
    const mst_dataset *dataset = fetch->end;
    fetch->most_components = dataset->num_components;
    for (; !is_base(dataset); dataset = dataset->upstream) {
        if (dataset->upstream->num_components > fetch->most_components)
            fetch->most_components = dataset->upstream->num_components;
        if (!dataset->stage) continue;
        fetch->num_stages++;
        fetch->by_row |= dataset->stage->map || dataset->stage->change;
        fetch->is_mixed |= dataset->stage->map != NULL;
        for (int i = 0; i < dataset->num_components; i++)
            if (dataset->stage->map || dataset->stage->component == i)
                fetch->scratch_bytes += align(mst_dataset_row_bytes(dataset, i));
    }
    fetch->base = dataset;
    if (!dataset->type->values) return;
    fetch->by_row = true;
    for (int i = 0; i < dataset->num_components; i++) fetch->scratch_bytes += align(mst_dataset_row_bytes(dataset, i));
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
    if (!fetch->stage) {
        mst_row_fetch_destroy(fetch);
        *out = NULL;
        return MST_NO_MEMORY("for an iterator");
    }
    int i = fetch->num_stages;
    for (; dataset != fetch->base; dataset = dataset->upstream)
        if (dataset->stage) fetch->stage[--i] = dataset;
    return MST_OK;
}

void mst_row_fetch_destroy(mst_row_fetch *fetch) {
    if (!fetch) return;
    while (fetch->unused) {
        scratch *next = fetch->unused->next;
        free(fetch->unused->record.data);
        free(fetch->unused);
        fetch->unused = next;
    }
    free(fetch->record.data);
    pthread_mutex_destroy(&fetch->lock);
    free(fetch->stage);
    free(fetch);
}

/* NULL: no memory. */
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

/* At most one for each thread that copies at the same time; used again afterwards. */
static mst_status take_scratch(mst_row_fetch *fetch, scratch **out) {
    pthread_mutex_lock(&fetch->lock);
    scratch *s = fetch->unused;
    if (s) fetch->unused = s->next;
    pthread_mutex_unlock(&fetch->lock);
    *out = s ? s : make_scratch(fetch);
    return *out ? MST_OK : MST_NO_MEMORY("for a row of map");
}

/* The cost of a map is not known: each row is assumed to be worth a thread. */
int64_t mst_row_fetch_grain(const mst_row_fetch *fetch, int component, int64_t rows) {
    return fetch->by_row ? 1 : mst_grain_bytes(rows, (int64_t)mst_dataset_row_bytes(fetch->end, component));
}

static const void *base_memory(const mst_row_fetch *fetch, const mst_element *element, int i) {
    return element->memory ? element->memory[i] : mst_source_memory(fetch->base, i);
}

static int64_t row_number(const mst_element *element, int64_t i) {
    return element->rows ? mst_row_number(element->rows[i]) : i;
}

mst_row_key mst_row_fetch_key(const mst_row_fetch *fetch, int64_t row) {
    const mst_dataset *base = fetch->base;
    const int64_t number = mst_row_number(row);
    return (mst_row_key){(uint64_t)mst_row_pass(row),
                         base->type->record ? base->type->record(base, fetch->base_cursor, number) : (uint64_t)number};
}

/* Rows come in random order from memory that no cache holds. Prefetching the next row while this one is converted takes
 * 100 rows of 784 bytes to f32 from 25 us to 10 us. */
static void ask_for(const char *row, size_t bytes) {
    for (size_t i = 0; i < bytes; i += LINE) __builtin_prefetch(row + i);
}

/* Takes one component through two or more scales, in blocks that stay in the cache. */
static void convert_chain(const mst_row_fetch *fetch, int component, const char *src, char *dst, int64_t count) {
    _Alignas(ALIGNMENT) double buffer[2][BLOCK];
    const mst_dataset *last = NULL;
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
    size_t src_bytes = mst_dataset_row_bytes(fetch->base, component);
    size_t dst_bytes = mst_dataset_row_bytes(fetch->end, component);
    int64_t elements = mst_shape_count(fetch->end->row[component].shape);
    const mst_row_stage *scale = NULL;
    int num_scales = 0;
    for (int j = 0; j < fetch->num_stages; j++) {
        if (fetch->stage[j]->stage->component != component) continue;
        scale = fetch->stage[j]->stage;
        num_scales++;
    }
    if (num_scales == 0 && !element->rows && count) {
        memcpy(dst, memory + (size_t)first * src_bytes, (size_t)count * src_bytes);
        return;
    }
    for (int64_t i = first; i < first + count; i++, dst += dst_bytes) {
        const char *src = memory + (size_t)row_number(element, i) * src_bytes;
        if (i + AHEAD < first + count) ask_for(memory + (size_t)row_number(element, i + AHEAD) * src_bytes, src_bytes);
        if (num_scales == 0)
            memcpy(dst, src, dst_bytes);
        else if (num_scales == 1)
            scale->convert(src, dst, elements, scale->factor);
        else
            convert_chain(fetch, component, src, dst, elements);
    }
}

static mst_array row_array(const mst_dataset *dataset, int i, const void *data) {
    const mst_spec *row = &dataset->row[i];
    return (mst_array){.data = (void *)(uintptr_t)data,
                       .count = mst_shape_count(row->shape),
                       .dtype = row->dtype,
                       .shape = row->shape};
}

/* The function is the user's: it may not have recorded an error of its own. */
static mst_status map_failed(const mst_row_fetch *fetch, mst_status status, uint64_t errors, int64_t row) {
    const bool silent = mst_error_count() == errors || mst_error()->code != status;
    if (silent) status = MST_FAIL(status, "map: the function failed on row %lld", (long long)row);
    if (fetch->has_records) return fetch->base->type->explain(fetch->base, fetch->base_cursor, row);
    return silent ? status : mst_error_prefix("map of row %lld", (long long)row);
}

/* Row I of the source to s->in; AHEAD rows of ELEMENT will follow at once. */
static mst_status read_base(const mst_row_fetch *fetch, scratch *s, const mst_element *element, int64_t i,
                            int64_t ahead) {
    if (fetch->has_records) {
        mst_record record;
        MST_TRY(
            fetch->base->type->read(fetch->base, fetch->base_cursor, element->rows + i, ahead, &s->record, &record));
        const int64_t size = (int64_t)record.size;
        s->in[0] = (mst_array){(void *)(uintptr_t)record.data, size, MST_U8, mst_shape_make(1, &size)};
        return MST_OK;
    }
    for (int c = 0; c < fetch->base->num_components; c++) {
        const size_t bytes = mst_dataset_row_bytes(fetch->base, c);
        const char *memory = base_memory(fetch, element, c);
        s->in[c] = row_array(fetch->base, c, memory + (size_t)row_number(element, i) * bytes);
    }
    return MST_OK;
}

/* A component that nobody wants and no other depends on is not made. TO may be NULL: all are wanted. */
static bool is_wanted(const mst_row_fetch *fetch, int c, void *const *to) {
    return !to || to[c] || fetch->is_mixed;
}

/* The same of a source that writes values: to their places in the batch (TO, may be NULL) where nothing else is done
 * with them. */
static mst_status write_base(const mst_row_fetch *fetch, scratch *s, int64_t row, void *const *to, char **free_memory) {
    for (int c = 0; c < fetch->base->num_components; c++) {
        void *place = !is_wanted(fetch, c, to) ? NULL : to && !fetch->num_stages ? to[c] : *free_memory;
        if (place == *free_memory) *free_memory += align(mst_dataset_row_bytes(fetch->base, c));
        s->in[c] = row_array(fetch->base, c, place);
        s->written[c] = place;
    }
    return fetch->base->type->values(fetch->base, fetch->base_cursor, row, s->written);
}

/* Memory for component C behind stage J: its place in the batch (TO, may be NULL) behind the last. */
static mst_array stage_array(const mst_row_fetch *fetch, int j, int c, void *const *to, char **free_memory) {
    const mst_dataset *dataset = fetch->stage[j];
    if (to && to[c] && j == fetch->num_stages - 1) return row_array(dataset, c, to[c]);
    mst_array array = row_array(dataset, c, *free_memory);
    *free_memory += align(mst_dataset_row_bytes(dataset, c));
    return array;
}

static mst_status run_map(const mst_row_fetch *fetch, scratch *s, int j, int64_t row, void *const *to,
                          char **free_memory) {
    const mst_dataset *dataset = fetch->stage[j];
    for (int c = 0; c < dataset->num_components; c++) s->out[c] = stage_array(fetch, j, c, to, free_memory);
    const uint64_t errors = mst_error_count();
    mst_status status = dataset->stage->map(s->in, s->out, dataset->stage->context);
    if (status) return map_failed(fetch, status, errors, row);
    mst_array *out = s->out;
    s->out = s->in;
    s->in = out;
    return MST_OK;
}

/* A change or a conversion of one component. */
static void run_change(const mst_row_fetch *fetch, scratch *s, int j, int64_t row, void *const *to,
                       char **free_memory) {
    const mst_row_stage *stage = fetch->stage[j]->stage;
    const int c = stage->component;
    if (!is_wanted(fetch, c, to)) return;
    mst_array changed = stage_array(fetch, j, c, to, free_memory);
    if (stage->change) {
        const mst_row_key key = mst_row_fetch_key(fetch, row);
        stage->change(fetch->stage[j], &key, &s->in[c], &changed);
    } else {
        stage->convert(s->in[c].data, changed.data, changed.count, stage->factor);
    }
    s->in[c] = changed;
}

/* Takes one row through all stages; s->in holds its components in the end. AHEAD rows of ELEMENT will follow at once. */
static mst_status run_stages(const mst_row_fetch *fetch, scratch *s, const mst_element *element, int64_t i,
                             int64_t ahead, void *const *to) {
    char *free_memory = s->data;
    const int64_t number = row_number(element, i);
    if (fetch->base->type->values)
        MST_TRY(write_base(fetch, s, number, to, &free_memory));
    else
        MST_TRY(read_base(fetch, s, element, i, ahead));
    for (int j = 0; j < fetch->num_stages; j++) {
        if (fetch->stage[j]->stage->map)
            MST_TRY(run_map(fetch, s, j, number, to, &free_memory));
        else
            run_change(fetch, s, j, element->rows ? element->rows[i] : i, to, &free_memory);
    }
    return MST_OK;
}

/* DST is moved on, row by row. */
static mst_status copy_mapped(mst_row_fetch *fetch, scratch *s, const mst_element *element, int64_t first,
                              int64_t count, void **dst) {
    for (int64_t i = 0; i < count; i++) {
        MST_TRY(mst_cancel_check());
        MST_TRY(run_stages(fetch, s, element, first + i, count - i, dst));
        for (int c = 0; c < fetch->end->num_components; c++) {
            size_t bytes = mst_dataset_row_bytes(fetch->end, c);
            if (!dst[c] || !bytes) continue;
            if (s->in[c].data != dst[c]) memcpy(dst[c], s->in[c].data, bytes);
            dst[c] = (char *)dst[c] + bytes;
        }
    }
    return MST_OK;
}

static mst_status check_values(const mst_row_fetch *fetch, int component) {
    return fetch->has_records ? mst_dataset_want_values(fetch->end, component, "batch") : MST_OK;
}

mst_status mst_row_fetch_copy(mst_row_fetch *fetch, const mst_element *element, int component, int64_t first,
                              int64_t count, void *dst) {
    scratch *s;
    MST_TRY(check_values(fetch, component));
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
        if (dst[c]) MST_TRY(check_values(fetch, c));
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

mst_status mst_row_fetch_look(mst_row_fetch *fetch, const mst_element *element, int64_t i,
                              mst_status (*look)(const mst_array *in, void *context), void *context) {
    scratch *s;
    MST_TRY(take_scratch(fetch, &s));
    mst_status status = run_stages(fetch, s, element, i, 1, NULL);
    if (!status) {
        const uint64_t errors = mst_error_count();
        status = look(s->in, context);
        if (status) map_failed(fetch, status, errors, row_number(element, i));
    }
    give_scratch(fetch, s);
    return status;
}

mst_status mst_row_fetch_record(mst_row_fetch *fetch, const mst_element *element, int64_t i, mst_record *record) {
    if (!fetch->has_records) return MST_FAIL(MST_INVALID, "batch: its source has no records");
    return fetch->base->type->read(fetch->base, fetch->base_cursor, element->rows + i, 1, &fetch->record, record);
}
