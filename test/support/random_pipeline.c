#include "support/random_pipeline.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "support/pipeline.h"
#include "support/test.h"

const int64_t source_sizes[FILES] = {13, 0, 7, 11};

/* ---- random choices ---- */

static uint64_t random_state;

void random_begin(uint64_t seed) {
    random_state = seed;
}

int64_t random_below(int64_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)n);
}

void random_pipeline_choose(pipeline *p, source_kind source, int number) {
    *p = (pipeline){.source = source, .number = number, .cycle = 1 + random_below(5), .block = 1 + random_below(4)};
    p->num_stages = (int)random_below(STAGES + 1);
    for (int i = 0; i < p->num_stages; i++)
        p->stage[i] = (stage){(stage_kind)random_below(NUM_STAGES), random_below(40), random_below(5)};
    p->has_text = random_below(2);
    p->batch = random_below(3) ? 1 + random_below(9) : 0;
    p->padded = p->batch && random_below(2);
    p->crops = p->batch && !random_below(3);
    p->scales = p->batch && !random_below(3);
    p->prefetch = p->batch && random_below(2) ? 1 + random_below(3) : 0;
    p->threads = random_below(4);
}

const char *random_pipeline_name(const pipeline *p) {
    static char text[512];
    int at = snprintf(text, sizeof text, "pipeline %d: source %d (cycle %d, block %d)", p->number, (int)p->source,
                      (int)p->cycle, (int)p->block);
    for (int i = 0; i < p->num_stages; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, ", %d (%d, %d)", (int)p->stage[i].kind, (int)p->stage[i].a,
                       (int)p->stage[i].b);
    snprintf(text + at, sizeof text - (size_t)at, ", %s%s %d%s%s, prefetch %d of %d threads",
             p->has_text ? "strings, " : "", p->padded ? "padded_batch" : "batch", (int)p->batch,
             p->crops ? ", crop" : "", p->scales ? ", scale" : "", (int)p->prefetch, (int)p->threads);
    return text;
}

/* ---- the transforms on lists ---- */

static void add(list *l, row r) {
    if (l->n == MOST) fail_msg("a list is too short");
    l->row[l->n++] = r;
}

/* Row NUMBER of a source in pass PASS. */
static row new_row(int64_t id, int64_t number, int64_t pass) {
    return (row){.id = id, .record = id, .key = {(uint64_t)pass, (uint64_t)number}};
}

static void flip_row(row *r, uint64_t seed) {
    uint32_t word[4];
    const mst_rng rng = mst_rng_make(mst_rng_mix(seed, mst_rng_hash_name("random_flip")), r->key.record, r->key.pass);
    mst_rng_blocks(&rng, 0, 1, 0, word);
    r->is_flipped ^= mst_rng_unit_f32(word[0]) < 0.5f;
}

/* The row becomes one of a zip or interleave, made of that of PART; RECORD is that of the parts before. */
static uint64_t record_with(uint64_t record, uint64_t part, const mst_row_key *key) {
    return mst_rng_mix(mst_rng_mix(mst_rng_mix(record, part), key->pass), key->record);
}

static void interleave_lists(const list *part, int n, int64_t cycle, int64_t block, int64_t epoch, list *out) {
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
        for (; given < block && at[p] < part[p].n; given++) {
            row r = part[p].row[at[p]++];
            r.key = (mst_row_key){(uint64_t)epoch, record_with(0, (uint64_t)p, &r.key)};
            add(out, r);
        }
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
    static int64_t order[MOST];
    static list before;
    const mst_shuffle_options options = {.buffer_size = buffer, .seed = seed};
    if (l->n == 0) return;
    mst_dataset *d = pipeline_numbers(l->n);
    if (!is_known) THEN(d, mst_dataset_filter(d, keep_all, NULL, &made));
    THEN(d, mst_dataset_shuffle(d, &options, &made));
    assert_int_equal(pipeline_rows(d, epoch, order, MOST, NULL), l->n);
    before = *l;
    for (int64_t i = 0; i < l->n; i++) l->row[i] = before.row[order[i]];
    mst_dataset_release(d);
}

bool random_pipeline_keeps(int64_t id, int64_t modulus) {
    return id % (2 + modulus) != 0;
}

int64_t random_pipeline_maps(int64_t id, int64_t by) {
    return (id * 7 + by) % 2003;
}

/* ---- what they should give ---- */

static bool is_in_turn(source_kind source) {
    return source != OF_MEMORY && source != OF_CSV && source != OF_IMAGES;
}

/* What is read forward has numbers in the order in which it comes. */
static bool is_forward(source_kind source) {
    return source == OF_FORWARD || source == OF_GZIP || source == OF_LINES_FORWARD;
}

static void source_list(const pipeline *p, int64_t epoch, list *out) {
    static list part[FILES];
    const bool of_parts = p->source == OF_INTERLEAVE;
    int64_t id = 0;
    out->n = 0;
    for (int i = 0; i < FILES; i++) {
        part[i].n = 0;
        for (int64_t k = 0; k < source_sizes[i]; k++, id++)
            add(is_in_turn(p->source) ? &part[i] : out, new_row(id, of_parts ? k : id, epoch));
        if (of_parts) shuffle_list(&part[i], 3, (uint64_t)i, true, epoch);
    }
    if (is_in_turn(p->source)) interleave_lists(part, FILES, p->cycle, p->block, epoch, out);
    for (int64_t i = 0; i < out->n && !of_parts; i++)
        out->row[i].key = new_row(0, is_forward(p->source) ? i : out->row[i].id, epoch).key;
}

/* What stage S does to row I of a list in pass EPOCH; false: it is left out. */
static bool change_row(const stage *s, int64_t i, int64_t epoch, row *r) {
    const mst_row_key key = r->key;
    switch (s->kind) {
        case TAKE: return i < s->a;
        case SKIP: return i >= s->a / 3;
        case FILTER: return random_pipeline_keeps(r->id, s->b);
        case SHARD: return i % (1 + s->b) == s->a % (1 + s->b);
        case MAP: r->id = random_pipeline_maps(r->id, s->a); return true;
        case FLIP: flip_row(r, (uint64_t)s->a); return true;
        case ZIP: r->key = (mst_row_key){(uint64_t)epoch, record_with(record_with(0, 0, &key), 1, &key)}; return true;
        case CACHE:
        case CACHE_FILE: r->key = new_row(0, i, epoch).key; return true;
        default: return true;
    }
}

static void interleave_with_others(const stage *s, const list *in, int64_t epoch, list *out) {
    static list part[2];
    part[0] = *in;
    part[1].n = 0;
    for (int64_t i = 0; i < OTHERS; i++) add(&part[1], new_row(FIRST_OTHER + i, i, epoch));
    interleave_lists(part, 2, 2, 1 + s->b, epoch, out);
}

void random_pipeline_rows(const pipeline *p, int n, int64_t epoch, const bool *known, list *out) {
    static list behind[STAGES];
    if (n == 0) {
        source_list(p, epoch, out);
        return;
    }
    const stage *s = &p->stage[n - 1];
    const int64_t count = s->kind == REPEAT ? 1 + s->b / 2 : 1;
    list *in = &behind[n - 1];
    out->n = 0;
    for (int64_t r = 0; r < count; r++) {
        const bool is_cache = s->kind == CACHE || s->kind == CACHE_FILE;
        random_pipeline_rows(p, n - 1, is_cache ? 0 : epoch * count + r, known, in);
        if (s->kind == SHUFFLE)
            shuffle_list(in, known[n - 1] && s->b == 0 ? 0 : 1 + s->a, (uint64_t)s->b, known[n - 1], epoch);
        if (s->kind == INTERLEAVE) {
            interleave_with_others(s, in, epoch, out);
            continue;
        }
        for (int64_t i = 0; i < in->n; i++) {
            row changed = in->row[i];
            if (change_row(s, i, epoch, &changed)) add(out, changed);
        }
    }
}
