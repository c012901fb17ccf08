#include "cluster/fingerprint.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/rng.h"

static const char onednn[] = "oneDNN";
static const char advice[] = "start all tasks with the same command";

const char *mst_fingerprint_words(const char *name) {
    static const char *const words[][2] = {{"program", "the program's graph"},
                                           {"schedule", "the schedule of the learning rate"},
                                           {"data", "the data"},
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
    return strcmp(name, "kernels") == 0 || strcmp(name, onednn) == 0 || strcmp(name, "processor") == 0;
}

/* Two of one name. */
static bool has_same_value(const mst_fingerprint *a, const mst_fingerprint *b) {
    return a->hash == b->hash || mst_fingerprint_is_of_machine(a->name);
}

static bool is_same(const mst_fingerprint *a, const mst_fingerprint *b) {
    return strcmp(a->name, b->name) == 0 && has_same_value(a, b);
}

/* Writes the options from number I on that differ: "epochs 3 and 4, seed 1 and 2". */
static void list_options(const mst_fingerprint *a, const mst_fingerprint *b, int32_t i, int32_t n, char *text,
                         size_t size) {
    enum { MOST = 6 };
    size_t used = 0;
    int32_t count = 0;
    text[0] = '\0';
    for (; i < n; i++) {
        if (is_same(&a[i], &b[i]) || !a[i].value[0] || count++ >= MOST || used >= size) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s %s and %s", used ? ", " : "", a[i].name, a[i].value,
                                 b[i].value);
    }
    if (count > MOST && used < size) snprintf(text + used, size - used, ", and %d more", (int)(count - MOST));
}

bool mst_fingerprints_differ(const mst_fingerprint *a, int32_t num_a, const char *first, const mst_fingerprint *b,
                             int32_t num_b, const char *second, char *text, size_t size) {
    const int32_t n = num_a < num_b ? num_a : num_b;
    char options[400];
    int32_t i = 0;
    while (i < n && is_same(&a[i], &b[i])) i++;
    if (i == num_a && i == num_b) return false;
    const bool has_both = i < n && strcmp(a[i].name, b[i].name) == 0;
    if (has_both && a[i].value[0]) {
        list_options(a, b, i, n, options, sizeof options);
        snprintf(text, size, "options differ between %s and %s: %s: %s", first, second, options, advice);
    } else {
        snprintf(text, size, "%s differs between %s and %s: %s",
                 mst_fingerprint_words(has_both ? a[i].name : "version"), first, second, advice);
    }
    return true;
}

/* What both can run, of two sets of oneDNN's. */
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
    bool others = false;
    for (int32_t i = 0; i < num_a && i < num_b; i++) {
        if (!mst_fingerprint_is_of_machine(a[i].name) || strcmp(a[i].name, b[i].name) != 0 || a[i].hash == b[i].hash ||
            (agreed && strcmp(a[i].name, onednn) == 0))
            continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s %s and %s", used ? ", " : "", a[i].name,
                                 a[i].value, b[i].value);
        if (strcmp(a[i].name, onednn) == 0)
            snprintf(advice, sizeof advice, "set DNNL_MAX_CPU_ISA=%s in the environment of all tasks",
                     common_set(&a[i], &b[i]));
        else
            others = true;
    }
    if (used)
        snprintf(text, size,
                 "instruction sets differ between %s and %s: %s: weights may get other bits than those of "
                 "one process: %s%s%s",
                 first, second, list, advice, others && *advice ? ", and " : "",
                 others ? "take machines of one type" : "");
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
