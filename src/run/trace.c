/* Notes of a frame while it runs, and the run of a trace that is made from them afterwards.
 *
 * Each device writes notes of its own into room that was allocated for its whole program, without a lock. Notes name
 * nodes by their numbers; fill_device copies names and specs, since a trace outlives its plan. Memory over time is
 * computed from the same notes: a value takes memory from the beginning of the node that makes it to the end of the
 * last node that reads it. */
#include "run/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/no_memory.h"

/* ---- while a frame runs ---- */

mst_status mst_run_notes_create(const mst_plan *plan, mst_run_notes **out) {
    const int devices = plan->host->devices->count;
    mst_run_notes *notes = *out = calloc(1, sizeof *notes + (size_t)devices * sizeof *notes->device);
    if (!notes) return MST_NO_MEMORY("for a trace");
    notes->num_devices = devices;
    for (int d = 0; d < devices; d++) {
        const mst_program *program = &plan->program[d];
        mst_notes *own = &notes->device[d];
        own->capacity = 2 * program->num_calls + program->num_actions; /* each call may wait for a compiler */
        own->most_programs = program->num_calls;
        own->note = calloc((size_t)own->capacity + 1, sizeof *own->note);
        own->program = calloc((size_t)own->most_programs + 1, sizeof *own->program);
        if (own->note && own->program) continue;
        mst_run_notes_free(notes);
        *out = NULL;
        return MST_NO_MEMORY("for a trace");
    }
    return MST_OK;
}

void mst_run_notes_free(mst_run_notes *notes) {
    for (int d = 0; notes && d < notes->num_devices; d++) {
        free(notes->device[d].note);
        free(notes->device[d].program);
    }
    free(notes);
}

static void add_note(mst_notes *notes, const mst_note *note) {
    if (notes->count < notes->capacity) notes->note[notes->count++] = *note;
}

void mst_note_call(mst_run_notes *notes, int device, int32_t node, int64_t begin) {
    add_note(&notes->device[device], &(mst_note){.node = node, .other = -1, .begin = begin, .end = mst_clock_now()});
}

void mst_note_compiling(mst_run_notes *notes, int device, int32_t node, int64_t begin) {
    add_note(&notes->device[device],
             &(mst_note){.compiles = true, .node = node, .other = -1, .begin = begin, .end = mst_clock_now()});
}

void mst_note_program(mst_run_notes *notes, int device, int32_t node, int64_t begin, int64_t end) {
    mst_notes *own = &notes->device[device];
    const int64_t before = own->num_programs ? own->program[own->num_programs - 1].end : begin;
    if (own->num_programs == own->most_programs) return;
    if (begin < before) begin = before;
    if (end < begin) end = begin;
    own->program[own->num_programs++] = (mst_note){.node = node, .other = -1, .begin = begin, .end = end};
}

int64_t mst_note_action(mst_run_notes *notes, int device, const mst_action *action, int64_t begin) {
    const bool waits = action->kind == MST_DO_WAIT, of_point = waits || action->kind == MST_DO_REACH;
    const int64_t now = mst_clock_now();
    if (action->kind == MST_DO_RUN) return now; /* its calls are noted one by one */
    add_note(&notes->device[device], &(mst_note){.kind = action->kind,
                                                 .node = of_point || action->kind == MST_DO_GATE ? -1 : action->first,
                                                 .other = waits ? action->device : -1,
                                                 .point = of_point ? action->first : 0,
                                                 .begin = begin,
                                                 .end = now});
    return now;
}

/* ---- a run of the trace ---- */

static void free_run(mst_traced_run *run) {
    for (int d = 0; d < run->num_devices; d++) {
        free(run->device[d].did);
        free(run->device[d].program);
        free(run->device[d].held);
        free(run->device[d].memory);
    }
    free(run->device);
    mst_arena_free(&run->memory);
}

static int64_t bytes_made(const mst_plan *plan, const mst_plan_node *node) {
    int64_t bytes = 0;
    for (int i = 0; i < node->num_dst; i++) bytes += mst_plan_bytes(&plan->value[node->dst + i]);
    return bytes;
}

static mst_status fill_node(mst_traced_run *run, const mst_plan *plan, const mst_plan_node *node, mst_traced *out) {
    mst_spec *dst = mst_arena_alloc(&run->memory, ((size_t)node->num_dst + 1) * sizeof *dst);
    out->name = mst_arena_string(&run->memory, node->name);
    out->op = mst_arena_string(&run->memory, node->op->name);
    if (!out->name || !out->op || !dst) return MST_NO_MEMORY("for a trace");
    for (int i = 0; i < node->num_dst; i++) dst[i] = plan->value[node->dst + i].spec;
    out->dst = dst;
    out->num_dst = node->num_dst;
    out->bytes = bytes_made(plan, node);
    return MST_OK;
}

static mst_status fill_did(mst_traced_run *run, const mst_trace *trace, const mst_plan *plan, const mst_note *note,
                           mst_traced *did) {
    *did = (mst_traced){.kind = note->kind,
                        .compiles = note->compiles,
                        .name = "",
                        .op = "",
                        .other = note->other,
                        .point = note->point,
                        .begin = note->begin - trace->began,
                        .end = note->end - trace->began};
    return note->node >= 0 ? fill_node(run, plan, &plan->node[note->node], did) : MST_OK;
}

static mst_status fill_device(mst_traced_run *run, const mst_trace *trace, const mst_plan *plan, int d,
                              const mst_notes *notes) {
    mst_traced_device *device = &run->device[d];
    device->name = mst_arena_string(&run->memory, plan->host->devices->device[d].text);
    device->did = calloc((size_t)notes->count + 1, sizeof *device->did);
    device->program = calloc((size_t)notes->num_programs + 1, sizeof *device->program);
    if (!device->name || !device->did || !device->program) return MST_NO_MEMORY("for a trace");
    for (int64_t i = 0; i < notes->count; i++)
        MST_TRY(fill_did(run, trace, plan, &notes->note[i], &device->did[device->num_did++]));
    for (int64_t i = 0; i < notes->num_programs; i++)
        MST_TRY(fill_did(run, trace, plan, &notes->program[i], &device->program[device->num_programs++]));
    return MST_OK;
}

/* ---- memory over time ---- */

/* When each node first began and last ended; 0 if it did not run. */
typedef struct span {
    int64_t begin, end;
} span;

static void extend_span(const mst_trace *trace, const mst_note *note, span *spans) {
    if (note->node < 0 || note->compiles) return;
    span *s = &spans[note->node];
    const int64_t begin = note->begin - trace->began, end = note->end - trace->began;
    if (!s->end || begin < s->begin) s->begin = begin;
    if (end > s->end) s->end = end;
}

static void find_spans(const mst_trace *trace, const mst_run_notes *notes, span *spans) {
    for (int d = 0; d < notes->num_devices; d++) {
        const mst_notes *own = &notes->device[d];
        for (int64_t i = 0; i < own->count; i++) extend_span(trace, &own->note[i], spans);
        for (int64_t i = 0; i < own->num_programs; i++) extend_span(trace, &own->program[i], spans);
    }
}

static int by_time(const void *a, const void *b) {
    const mst_traced_memory *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static mst_status add_change(mst_traced_device *device, int64_t time, int64_t bytes) {
    MST_TRY(mst_grow(&device->memory, sizeof *device->memory, device->num_memory + 1, &device->memory_capacity));
    device->memory[device->num_memory++] = (mst_traced_memory){time, bytes};
    return MST_OK;
}

/* Turns the changes of memory, sorted by time, into running sums. Changes at the same time become one. */
static void sum_changes(mst_traced_device *device) {
    int64_t sum = 0, kept = 0;
    if (device->num_memory) qsort(device->memory, (size_t)device->num_memory, sizeof *device->memory, by_time);
    for (int64_t i = 0; i < device->num_memory; i++) {
        sum += device->memory[i].bytes;
        if (kept && device->memory[kept - 1].time == device->memory[i].time) kept--;
        device->memory[kept++] = (mst_traced_memory){device->memory[i].time, sum};
    }
    device->num_memory = kept;
}

/* Fills the memory over time. A value takes memory from the beginning of the node that makes it to the end of the last
 * node that reads it or a view of it. */
static mst_status fill_memory(mst_traced_run *run, const mst_plan *plan, const span *spans, int64_t *last) {
    for (int64_t n = 0; n < plan->num_nodes; n++)
        for (int i = 0; i < plan->node[n].num_src && spans[n].end; i++) {
            int64_t *of_root = &last[plan->value[plan->node[n].src[i]].root];
            if (spans[n].end > *of_root) *of_root = spans[n].end;
        }
    for (int64_t v = 0; v < plan->num_values; v++) {
        const mst_plan_value *value = &plan->value[v];
        const span *made = &spans[value->node];
        if (value->root != v || value->space != MST_IN_ARENA || !made->end) continue;
        const int32_t d = plan->node[value->node].device;
        const int64_t end = last[v] > made->end ? last[v] : made->end;
        MST_TRY(add_change(&run->device[d], made->begin, mst_plan_bytes(value)));
        MST_TRY(add_change(&run->device[d], end, -mst_plan_bytes(value)));
    }
    for (int d = 0; d < run->num_devices; d++) sum_changes(&run->device[d]);
    return MST_OK;
}

static mst_status add_memory(const mst_trace *trace, mst_traced_run *run, const mst_plan *plan,
                             const mst_run_notes *notes) {
    span *spans = calloc((size_t)plan->num_nodes + 1, sizeof *spans);
    int64_t *last = calloc((size_t)plan->num_values + 1, sizeof *last);
    mst_status status = spans && last ? MST_OK : MST_NO_MEMORY("for a trace");
    if (!status) {
        find_spans(trace, notes, spans);
        status = fill_memory(run, plan, spans, last);
    }
    free(spans);
    free(last);
    return status;
}

static mst_status add_held(const mst_trace *trace, mst_traced_run *run, const mst_plan *plan,
                           const mst_run_notes *notes) {
    for (int64_t n = 0; n < plan->num_nodes; n++) {
        const mst_plan_node *node = &plan->node[n];
        if (node->dead || !node->origin || !mst_plan_is_silent(plan, node)) continue;
        mst_traced_device *device = &run->device[node->device];
        const mst_notes *own = &notes->device[node->device];
        const int64_t begin = own->count ? own->note[0].begin - trace->began : 0;
        MST_TRY(mst_grow(&device->held, sizeof *device->held, device->num_held + 1, &device->held_capacity));
        mst_traced *held = &device->held[device->num_held++];
        *held = (mst_traced){.other = -1, .begin = begin, .end = begin};
        MST_TRY(fill_node(run, plan, node, held));
    }
    return MST_OK;
}

static mst_status fill_run(const mst_trace *trace, mst_traced_run *run, const mst_plan *plan,
                           const mst_run_notes *notes) {
    run->device = calloc((size_t)notes->num_devices, sizeof *run->device);
    if (!run->device) return MST_NO_MEMORY("for a trace");
    run->num_devices = notes->num_devices;
    for (int d = 0; d < notes->num_devices; d++) MST_TRY(fill_device(run, trace, plan, d, &notes->device[d]));
    MST_TRY(add_held(trace, run, plan, notes));
    return add_memory(trace, run, plan, notes);
}

void mst_trace_add(mst_trace *trace, const mst_plan *plan, int64_t step, const mst_run_notes *notes) {
    mst_traced_run run = {.step = step};
    mst_status status = fill_run(trace, &run, plan, notes);
    pthread_mutex_lock(&trace->lock);
    if (!status) status = mst_grow(&trace->run, sizeof *trace->run, trace->num_runs + 1, &trace->capacity);
    if (!status)
        trace->run[trace->num_runs++] = run;
    else
        trace->num_lost++;
    pthread_mutex_unlock(&trace->lock);
    if (status) free_run(&run);
}

/* ---- traces ---- */

mst_status mst_trace_create(mst_trace **out) {
    if (MST_IS_NULL(out)) return MST_INVALID;
    mst_trace *trace = *out = calloc(1, sizeof *trace);
    if (!trace) return MST_NO_MEMORY("for a trace");
    pthread_mutex_init(&trace->lock, NULL);
    trace->began = mst_clock_now();
    trace->wall_began = mst_clock_wall();
    return MST_OK;
}

void mst_trace_destroy(mst_trace *trace) {
    if (!trace) return;
    for (int64_t i = 0; i < trace->num_runs; i++) free_run(&trace->run[i]);
    pthread_mutex_destroy(&trace->lock);
    free(trace->run);
    free(trace);
}

int64_t mst_trace_num_runs(const mst_trace *trace) {
    if (MST_IS_NULL(trace)) return 0;
    pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&trace->lock);
    const int64_t count = trace->num_runs;
    pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&trace->lock);
    return count;
}
