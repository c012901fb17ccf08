/* The interpreter of StableHLO (support/hlo_interpreter.h): runs ops one after another, with the memory of their
 * values, and regions. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/hlo_inside.h"

static bool fail(hlo_run_state *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(hlo_run_state *r, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(r->error, r->error_size, format, list);
    va_end(list);
    return false;
}

/* ---- values ---- */

static void release(hlo_slot *slot) {
    if (slot->buffer && --slot->buffer->uses == 0) {
        free(slot->buffer->data);
        free(slot->buffer);
    }
    slot->buffer = NULL;
    slot->data = NULL;
}

const hlo_array *hlo_type_of(const hlo_run_state *r, const hlo_op *op, int i) {
    return &r->program->value[op->operand[i]];
}

const hlo_array *hlo_type_of_result(const hlo_run_state *r, const hlo_op *op, int i) {
    return &r->program->value[op->result + i];
}

const void *hlo_data(const hlo_run_state *r, const hlo_op *op, int i) {
    return r->slot[op->operand[i]].data;
}

void *hlo_scratch(hlo_run_state *r, int64_t count, size_t size) {
    void *memory = NULL;
    if (count >= 0 && count <= HLO_MOST_BYTES / (int64_t)size) memory = malloc((size_t)count * size + 1);
    if (!memory) fail(r, "there is no memory for %lld times %zu bytes", (long long)count, size);
    return memory;
}

void *hlo_new_result(hlo_run_state *r, const hlo_op *op, int i) {
    const hlo_array *type = hlo_type_of_result(r, op, i);
    hlo_slot *slot = &r->slot[op->result + i];
    release(slot);
    if (type->count <= 1) return slot->data = &slot->scalar;
    hlo_buffer *buffer = malloc(sizeof *buffer);
    void *data = hlo_scratch(r, type->count, hlo_type_size(type->type));
    if (!buffer || !data) {
        fail(r, "line %d: stablehlo.%s: there is no memory for its result", op->line, op->row->name);
        free(buffer);
        free(data);
        return NULL;
    }
    *buffer = (hlo_buffer){1, data};
    slot->buffer = buffer;
    return slot->data = data;
}

void hlo_share(hlo_run_state *r, int value, int from) {
    const hlo_slot shared = r->slot[from];
    if (value == from) return;
    if (shared.buffer) shared.buffer->uses++;
    release(&r->slot[value]);
    r->slot[value] = shared;
    if (shared.data == &r->slot[from].scalar) r->slot[value].data = &r->slot[value].scalar;
}

void hlo_set_scalar(hlo_run_state *r, int value, const void *data, size_t size) {
    hlo_slot *slot = &r->slot[value];
    release(slot);
    memcpy(&slot->scalar, data, size);
    slot->data = &slot->scalar;
}

void hlo_lend(hlo_run_state *r, int value, void *data) {
    release(&r->slot[value]);
    r->slot[value].data = data;
}

/* ---- regions ---- */

bool hlo_run_region(hlo_run_state *r, const hlo_region *region) {
    for (int i = 0; i < region->num_ops; i++) {
        const hlo_op *op = &region->op[i];
        if (!op->row->run(r, op)) return false;
        for (int k = 0; k < op->num_dead; k++) release(&r->slot[op->dead[k]]);
    }
    return true;
}

void hlo_end_region(hlo_run_state *r, const hlo_region *region) {
    for (int v = region->first; v < region->end; v++) release(&r->slot[v]);
}

/* ---- a whole program ---- */

static bool check_arguments(hlo_run_state *r, const hlo_array *args, int num_args) {
    const int num = hlo_num_arguments(r->program);
    if (num_args != num) return fail(r, "there are %d arguments, not %d", num_args, num);
    for (int i = 0; i < num; i++) {
        char have[HLO_TYPE_TEXT], want[HLO_TYPE_TEXT];
        const hlo_array *type = hlo_argument(r->program, i);
        if (args[i].ndim < 0 || args[i].ndim > HLO_MOST_DIMS) return fail(r, "argument %d has no shape", i);
        if (!hlo_same_type(&args[i], type))
            return fail(r, "argument %d is %s, not %s", i, hlo_type_text(&args[i], have, sizeof have),
                        hlo_type_text(type, want, sizeof want));
        if (args[i].count != type->count) return fail(r, "argument %d has a count that is not of its shape", i);
        if (!args[i].data && type->count) return fail(r, "argument %d has no data", i);
        if (type->type == HLO_I1)
            for (int64_t k = 0; k < type->count; k++)
                if (((const uint8_t *)args[i].data)[k] > 1)
                    return fail(r, "argument %d: element %lld is neither 0 nor 1", i, (long long)k);
    }
    return true;
}

/* The array moves to the caller where nothing else has it. */
static bool give_result(hlo_run_state *r, int i, hlo_array *result) {
    hlo_slot *slot = &r->slot[r->program->main.returned[i]];
    const hlo_array *type = &r->program->result[i];
    const size_t bytes = (size_t)type->count * hlo_type_size(type->type);
    *result = *type;
    if (slot->buffer && slot->buffer->uses == 1) {
        result->data = slot->buffer->data;
        slot->buffer->data = NULL;
        /* the slot stays for results that are the same value */
        slot->data = result->data;
        free(slot->buffer);
        slot->buffer = NULL;
        return true;
    }
    result->data = hlo_scratch(r, (int64_t)bytes, 1);
    if (!result->data) return false;
    if (bytes) memcpy(result->data, slot->data, bytes);
    return true;
}

static bool run_main(hlo_run_state *r, const hlo_array *args, hlo_array *results) {
    const hlo_region *main = &r->program->main;
    for (int i = 0; i < main->num_arguments; i++) hlo_lend(r, main->first + i, args[i].data);
    if (!hlo_run_region(r, main)) return false;
    for (int i = 0; i < r->program->num_results; i++)
        if (!give_result(r, i, &results[i])) return false;
    return true;
}

bool hlo_run(const hlo_program *program, const hlo_array *args, int num_args, hlo_array *results, char *error,
             size_t error_size) {
    hlo_run_state r = {program, NULL, error, error_size};
    if (error_size) *error = '\0';
    for (int i = 0; i < program->num_results; i++) results[i] = (hlo_array){0};
    if (!check_arguments(&r, args, num_args)) return false;
    r.slot = calloc((size_t)program->num_values + 1, sizeof *r.slot);
    if (!r.slot) return fail(&r, "there is no memory for the values");
    const bool done = run_main(&r, args, results);
    for (int v = 0; v < program->num_values; v++) release(&r.slot[v]);
    free(r.slot);
    for (int i = 0; !done && i < program->num_results; i++) hlo_array_free(&results[i]);
    return done;
}
