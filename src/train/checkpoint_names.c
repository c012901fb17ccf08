/* TensorFlow 1 names a slot by its variable and the optimizer's class; the name of the second slot ends in "_1", and so
 * on. Muster names a slot by its meaning. Source: tensorflow/python/training/slot_creator.py and the optimizers beside
 * it. */
#include "train/checkpoint_names.h"

#include <stdio.h>
#include <string.h>

#include "rule/accumulate.h"
#include "strategy/weight_copies.h"

/* A slot is named `slot` in the store and `file` in the file. A row fits if the variable also has the slot `with`, and
 * does not have the slot `without` (if these are given). The first row that fits is used. */
static const struct row {
    const char *slot, *file, *with[2], *without[2]; /* [0]: in the store, [1]: in the file */
} rows[] = {
    {"m", "Adam", {NULL}, {NULL}},
    {"v", "Adam_1", {NULL}, {NULL}},
    {"vhat", "Adam_2", {NULL}, {NULL}},
    {"rms", "RMSProp", {NULL}, {NULL}},
    {"mg", "RMSProp_1", {"momentum", "RMSProp_2"}, {NULL}},
    {"momentum", "RMSProp_2", {"mg", "RMSProp_1"}, {NULL}},
    {"momentum", "RMSProp_1", {"rms", "RMSProp"}, {"mg", "RMSProp_2"}},
    {"momentum_buffer", "Momentum", {NULL}, {NULL}},
    {"linear", "Ftrl_1", {NULL}, {NULL}},
    {"accumulator", "Ftrl", {"linear", "Ftrl_1"}, {NULL}},
    {"accumulator", "Adagrad", {NULL}, {"linear", "Ftrl_1"}},
};
enum { NUM_ROWS = sizeof rows / sizeof *rows, NAME_SIZE = 1024 };
static const char average[] = MST_COPY_AVERAGE;

static const char *last_part(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* ---- to the file ---- */

static bool snapshot_has(const mst_snapshot *snapshot, const char *container, const char *base, size_t size,
                         const char *part) {
    char name[NAME_SIZE];
    if (!part) return false;
    snprintf(name, sizeof name, "%.*s%s", (int)size, base, part);
    return mst_snapshot_find(snapshot, container, name) != NULL;
}

const char *mst_checkpoint_file_name(mst_arena *arena, const mst_snapshot *snapshot, int64_t i) {
    const mst_state_info info = mst_snapshot_info(snapshot, i);
    const char *part = last_part(info.name);
    const size_t base = (size_t)(part - info.name);
    if (*info.container) return mst_arena_print(arena, "%s/%s", info.container, info.name);
    for (int r = 0; r < NUM_ROWS && info.kind == MST_STATE_SLOT && base < NAME_SIZE / 2; r++) {
        const struct row *row = &rows[r];
        if (strcmp(part, row->slot) != 0) continue;
        if (row->with[0] && !snapshot_has(snapshot, "", info.name, base, row->with[0])) continue;
        if (snapshot_has(snapshot, "", info.name, base, row->without[0])) continue;
        return mst_arena_print(arena, "%.*s%s", (int)base, info.name, row->file);
    }
    return mst_arena_string(arena, info.name);
}

const char *mst_checkpoint_zero_slot(mst_arena *arena, const mst_snapshot *snapshot, int64_t i) {
    const mst_state_info info = mst_snapshot_info(snapshot, i);
    const char *part = last_part(info.name);
    const size_t base = (size_t)(part - info.name);
    if (*info.container || info.kind != MST_STATE_SLOT || strcmp(part, "rms") != 0 || base >= NAME_SIZE / 2 ||
        snapshot_has(snapshot, "", info.name, base, "momentum"))
        return "";
    return mst_arena_print(arena, "%.*sRMSProp_1", (int)base, info.name);
}

/* ---- from the file ---- */

static bool file_has(mst_checkpoint_has has, const void *file, const char *base, size_t size, const char *part) {
    char name[NAME_SIZE];
    if (!part) return false;
    snprintf(name, sizeof name, "%.*s%s", (int)size, base, part);
    return has(file, name);
}

/* Whether PART is the name of a value that only TensorFlow has. It is not read: it follows from global_step, or is not
 * needed. */
static bool is_unused(const char *part) {
    return strcmp(part, "beta1_power") == 0 || strcmp(part, "beta2_power") == 0 || strcmp(part, "save_counter") == 0;
}

/* Whether PART is Muster's own name of a slot, which Keras uses too. */
static bool is_slot_name(const char *part) {
    for (int r = 0; r < NUM_ROWS; r++)
        if (strcmp(part, rows[r].slot) == 0) return true;
    return strcmp(part, MST_COPY_MASTER) == 0 || strcmp(part, MST_ACCUMULATOR) == 0;
}

const char *mst_checkpoint_store_name(mst_arena *arena, const char *name, mst_checkpoint_has has, const void *file,
                                      mst_state_kind *kind) {
    const char *part = last_part(name);
    const size_t base = (size_t)(part - name);
    *kind = MST_STATE_WEIGHT;
    if (is_unused(part)) return "";
    if (strcmp(name, "global_step") == 0) *kind = MST_STATE_STEP;
    const bool beside = base > 1 && base < NAME_SIZE / 2 && file_has(has, file, name, base - 1, "");
    if (!beside) return mst_arena_string(arena, name);
    if (strcmp(part, average) == 0) *kind = MST_STATE_AVERAGE;
    if (is_slot_name(part)) *kind = MST_STATE_SLOT;
    for (int r = 0; r < NUM_ROWS; r++) {
        const struct row *row = &rows[r];
        if (strcmp(part, row->file) != 0) continue;
        if (row->with[1] && !file_has(has, file, name, base, row->with[1])) continue;
        if (file_has(has, file, name, base, row->without[1])) continue;
        *kind = MST_STATE_SLOT;
        return mst_arena_print(arena, "%.*s%s", (int)base, name, row->slot);
    }
    return mst_arena_string(arena, name);
}
