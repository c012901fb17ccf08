#include "cluster/fingerprint.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/rng.h"

static const char onednn[] = "oneDNN", onednn_version[] = "oneDNN version";
static const char advice[] = "start all tasks with the same command";

/* Further advice for entries whose names begin with `begin`: they may differ although the tasks were started with the
 * same command. */
static const struct {
    const char *begin, *advice;
} others[] = {{"device ", ", where all have one kind of device and one plugin for it (muster doctor --devices)"},
              {"num_shards", ", and with --shards N if they have different numbers of devices"}};

const char *mst_fingerprint_words(const char *name) {
    static const char *const words[][2] = {{"program", "the program's graph"},
                                           {"schedule", "the schedule of the learning rate"},
                                           {"data", "the data"},
                                           {"validation", "the data for validation"},
                                           {"penalties", "the penalty of a weight"},
                                           {"trainable", "which weights are trained"},
                                           {"schema", "what the columns, texts or classes of the data are"},
                                           {"rows", "what is in the first 256 rows of the data"},
                                           {"files", "what is in the first 256 files of the data"},
                                           {"version", "the version of Muster"},
                                           {"calls", "what is called first, a collective or mst_fit,"},
                                           {"tasks", "the number of tasks"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name, words[i][0]) == 0) return words[i][1];
    return name;
}

mst_fingerprint mst_fingerprint_option(const char *name, const char *value) {
    mst_fingerprint f = {.hash = mst_rng_hash_name(value)};
    snprintf(f.name, sizeof f.name, "%s", name);
    snprintf(f.value, sizeof f.value, "%s", value);
    return f;
}

bool mst_fingerprint_is_of_machine(const char *name) {
    return strcmp(name, "kernels") == 0 || strcmp(name, onednn) == 0 || strcmp(name, "processor") == 0 ||
           strcmp(name, onednn_version) == 0;
}

/* The fingerprints of two tasks. A loop over entry I goes through A first, and then through B. */
typedef struct pair {
    const mst_fingerprint *a, *b;
    int32_t num_a, num_b;
} pair;

static const mst_fingerprint *find(const mst_fingerprint *list, int32_t n, const char *name) {
    for (int32_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0) return &list[i];
    return NULL;
}

/* Entry I of both lists: the fingerprint of that name in A and in B, NULL if one lacks it. False after the last
 * entry. */
static bool look_at(const pair *p, int32_t i, const mst_fingerprint **a, const mst_fingerprint **b) {
    if (i >= p->num_a + p->num_b) return false;
    const mst_fingerprint *one = i < p->num_a ? &p->a[i] : &p->b[i - p->num_a];
    *a = i < p->num_a ? one : find(p->a, p->num_a, one->name);
    *b = i < p->num_a ? find(p->b, p->num_b, one->name) : one;
    return true;
}

static bool is_same(const mst_fingerprint *a, const mst_fingerprint *b) {
    return a && b && (a->hash == b->hash || mst_fingerprint_is_of_machine(a->name));
}

static bool is_option(const mst_fingerprint *a, const mst_fingerprint *b) {
    return (!a || a->value[0]) && (!b || b->value[0]);
}

/* Writes the options that differ: "epochs 3 and 4, seed 1 and 2". Returns their number. */
static int32_t list_options(const pair *p, char *text, size_t size) {
    enum { MOST = 6 };
    const mst_fingerprint *a, *b;
    size_t used = 0;
    int32_t count = 0;
    text[0] = '\0';
    for (int32_t i = 0; look_at(p, i, &a, &b); i++) {
        const bool was_seen = i >= p->num_a && a;
        if (was_seen || is_same(a, b) || !is_option(a, b) || count++ >= MOST || used >= size) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s %s and %s", used ? ", " : "", (a ? a : b)->name,
                                 a ? a->value : "none", b ? b->value : "none");
    }
    if (count > MOST && used < size) snprintf(text + used, size - used, ", and %d more", (int)(count - MOST));
    return count;
}

/* What else is to be done about the options that differ; "": nothing. */
static const char *find_advice(const pair *p) {
    const mst_fingerprint *a, *b;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        for (int32_t i = 0; look_at(p, i, &a, &b); i++)
            if (!is_same(a, b) && strncmp((a ? a : b)->name, others[k].begin, strlen(others[k].begin)) == 0)
                return others[k].advice;
    return "";
}

/* The first difference that is not in an option; NULL: none. FIRST: looks only at entries before all options. */
static const char *find_other(const pair *p, bool first) {
    const mst_fingerprint *a, *b;
    for (int32_t i = 0; look_at(p, i, &a, &b); i++) {
        if (is_option(a, b) && first) return NULL;
        if (!is_same(a, b) && !is_option(a, b)) return a && b ? a->name : "version";
    }
    return NULL;
}

bool mst_fingerprints_differ(const mst_fingerprint *a, int32_t num_a, const char *first, const mst_fingerprint *b,
                             int32_t num_b, const char *second, char *text, size_t size) {
    const pair p = {.a = a, .b = b, .num_a = num_a, .num_b = num_b};
    const char *other = find_other(&p, true);
    char options[800];
    if (!other && list_options(&p, options, sizeof options)) {
        snprintf(text, size, "options differ between %s and %s: %s: %s%s", first, second, options, advice,
                 find_advice(&p));
        return true;
    }
    if (!other) other = find_other(&p, false);
    if (!other) return false;
    snprintf(text, size, "%s differs between %s and %s: %s", mst_fingerprint_words(other), first, second, advice);
    return true;
}

/* The name of the set of oneDNN's instructions that the tasks of A and B have in common. */
static const char *common_set(const mst_fingerprint *a, const mst_fingerprint *b) {
    const uint64_t both = a->hash & b->hash;
    return both == a->hash ? a->value : both == b->hash ? b->value : "AVX2";
}

uint64_t mst_fingerprints_instructions(const mst_fingerprint *list, int32_t count) {
    for (int32_t i = 0; i < count; i++)
        if (strcmp(list[i].name, onednn) == 0) return list[i].hash;
    return 0;
}

void mst_fingerprints_set_instructions(mst_fingerprint *list, int32_t count, uint64_t instructions, const char *name) {
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, onednn) != 0) continue;
        list[i].hash = instructions;
        snprintf(list[i].value, sizeof list[i].value, "%s", name);
    }
}

bool mst_fingerprints_warn(const mst_fingerprint *a, int32_t num_a, const char *first, const mst_fingerprint *b,
                           int32_t num_b, const char *second, bool agreed, char *text, size_t size) {
    char list[300] = "", advice[120] = "";
    size_t used = 0;
    bool sets = false, others = false, versions = false;
    for (int32_t i = 0; i < num_a && i < num_b; i++) {
        if (!mst_fingerprint_is_of_machine(a[i].name) || strcmp(a[i].name, b[i].name) != 0 || a[i].hash == b[i].hash ||
            (agreed && strcmp(a[i].name, onednn) == 0))
            continue;
        if (used < sizeof list) /* there is still room: a peer may have sent a name many times */
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s %s and %s", used ? ", " : "", a[i].name,
                                     a[i].value, b[i].value);
        if (strcmp(a[i].name, onednn_version) == 0) {
            versions = true;
            continue;
        }
        sets = true;
        if (strcmp(a[i].name, onednn) == 0)
            snprintf(advice, sizeof advice, "set DNNL_MAX_CPU_ISA=%s in the environment of all tasks",
                     common_set(&a[i], &b[i]));
        else
            others = true;
    }
    if (used)
        snprintf(text, size,
                 "%s differ between %s and %s: %s: weights may get other bits than those of one process: %s%s%s%s%s",
                 sets ? "instruction sets" : "versions of a library", first, second, list, advice,
                 others && *advice ? ", and " : "", others ? "take machines of one type" : "",
                 versions && sets ? ", and " : "", versions ? "install one version of oneDNN on all" : "");
    return used > 0;
}

int32_t mst_fingerprints_take(const void *data, size_t bytes, mst_fingerprint *out) {
    const size_t n = bytes / sizeof *out;
    if (bytes % sizeof *out || n > MST_FINGERPRINTS_MOST) return -1;
    if (bytes) memcpy(out, data, bytes);
    for (size_t i = 0; i < n; i++) {
        out[i].name[MST_FINGERPRINT_NAME - 1] = out[i].value[MST_FINGERPRINT_VALUE - 1] = '\0';
        mst_make_plain(out[i].name);
        mst_make_plain(out[i].value);
    }
    return (int32_t)n;
}
