/* What must be the same in all workers that train together (cluster/fingerprint.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/rng.h"
#include "data/dataset.h"
#include "data/row_hash.h"
#include "graph/graph.h"
#include "graph/options.h"
#include "muster/device.h"
#include "muster/version.h"
#include "rule/rule.h"
#include "train/served.h"
#include "train/workers.h"

enum { TEXT = 512 };

/* ---- hashes ---- */

static uint64_t add_number(uint64_t hash, int64_t number) {
    return mst_rng_mix(hash, (uint64_t)number);
}

static uint64_t add_text(uint64_t hash, const char *text) {
    return mst_rng_mix(hash, mst_rng_hash_name(text));
}

static uint64_t add_spec(uint64_t hash, const mst_spec *spec) {
    hash = add_number(hash, (int64_t)spec->dtype);
    for (int d = 0; d < spec->shape.ndim; d++) hash = add_number(hash, spec->shape.dim[d]);
    return hash;
}

static uint64_t add_nodes(uint64_t hash, const mst_graph *graph, const char *scope);

/* All options but the seed, which differs from shard to shard. */
static uint64_t add_options(uint64_t hash, const mst_field *fields, const void *options) {
    char text[TEXT];
    mst_options_print(fields, options, text, sizeof text);
    char *seed = strstr(text, "seed=");
    if (seed) memmove(seed, seed + strcspn(seed, ","), strlen(seed + strcspn(seed, ",")) + 1);
    for (const mst_field *field = fields; field && field->name; field++) {
        const void *at = (const char *)options + field->offset;
        if (field->type == MST_FIELD_TYPE_GRAPH) hash = add_nodes(hash, *(mst_graph *const *)at, "");
    }
    return add_text(hash, text);
}

/* The nodes whose names begin with SCOPE, which does not count. */
static uint64_t add_nodes(uint64_t hash, const mst_graph *graph, const char *scope) {
    const size_t length = strlen(scope);
    for (int64_t n = 0; graph && n < graph->num_nodes; n++) {
        const mst_node *node = graph->node[n];
        if (strncmp(node->name, scope, length) != 0) continue;
        hash = add_text(add_text(hash, node->op->name), node->name + length);
        hash = add_options(hash, node->op->fields, node->options);
    }
    return hash;
}

/* Slots belong to the optimizer, which is an option. */
static uint64_t add_weights(uint64_t hash, const mst_graph *graph) {
    for (int64_t n = 0; n < graph->num_nodes; n++) {
        const mst_node *node = graph->node[n];
        if (!(node->op->flags & MST_OP_VARIABLE)) continue;
        const mst_variable_options *o = node->options;
        if (o->kind == MST_STATE_WEIGHT) hash = add_spec(add_text(hash, node->name), &node->dst[0]);
    }
    return hash;
}

/* The weights, the replica of the first shard here, without the number of the shard in its names, and what is
 * reported. */
static uint64_t hash_program(const mst_trainer *trainer) {
    char scope[32];
    snprintf(scope, sizeof scope, "replica_%d/", trainer->strategy.first_shard);
    uint64_t hash = add_nodes(add_weights(0, trainer->graph), trainer->graph, scope);
    for (int m = 0; m < trainer->num_metrics; m++) hash = add_text(hash, trainer->metric_name[m]);
    return hash;
}

static uint64_t hash_data(const mst_trainer *trainer, const mst_dataset *data) {
    uint64_t hash = add_number(0, mst_dataset_num_rows(data));
    for (int c = 0; c < trainer->num_components; c++) hash = add_spec(hash, &trainer->row[c]);
    for (const mst_dataset *d = data; d; d = d->upstream)
        if (d->type->order) hash = add_number(hash, (int64_t)d->type->order(d));
    return hash;
}

/* What is in the first rows, where the source has them in memory: to read others twice may cost, or change what a
 * program sees. 0: not looked at. */
static uint64_t hash_rows(const mst_dataset *source) {
    uint64_t hash;
    int rows;
    if (source->type->read || source->type->values) return 0;
    return mst_dataset_hash_rows((mst_dataset *)(uintptr_t)source, &hash, &rows) ? 0 : hash;
}

/* The rates themselves: a schedule in pieces has steps and rates that are no fields of it. */
static uint64_t hash_schedule(const mst_schedule *schedule) {
    static const int64_t steps[] = {0, 1, 10, 100, 1000, 10000}; /* where schedules are compared */
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && mst_schedule_is_set(schedule); i++) {
        const double rate = mst_schedule_at(schedule, steps[i]);
        int64_t bits;
        memcpy(&bits, &rate, sizeof bits);
        hash = add_number(hash, bits);
    }
    return hash;
}

/* ---- options ---- */

typedef struct fingerprint_list {
    mst_fingerprint *out; /* [MST_FINGERPRINTS_MOST] */
    int32_t count;
} fingerprint_list;

static void add_hash(fingerprint_list *list, const char *name, uint64_t hash) {
    mst_fingerprint *f = &list->out[list->count++];
    *f = (mst_fingerprint){.hash = hash};
    snprintf(f->name, sizeof f->name, "%s", name);
}

/* Asynchronous workers may well have data of their own. */
static void add_contents(fingerprint_list *list, const mst_trainer *trainer, const mst_dataset *data) {
    const mst_dataset *source = data;
    while (source->upstream) source = source->upstream;
    const bool alike = !mst_is_served(trainer) || trainer->strategy.synchronous;
    add_hash(list, "rows", alike ? hash_rows(source) : 0);
    add_hash(list, "files", alike && source->type->contents ? source->type->contents(source) : 0);
}

/* Each of FIELDS, with PREFIX before its name. */
static void add_fields(fingerprint_list *list, const char *prefix, const mst_field *fields, const void *options) {
    for (const mst_field *field = fields; field->name; field++) {
        const mst_field one[] = {*field, MST_FIELD_END};
        char name[MST_FINGERPRINT_NAME], text[TEXT];
        const size_t skip = strlen(field->name);
        const size_t length = mst_options_print(one, options, text, sizeof text);
        const bool is_rule = strcmp(field->name, "rule") == 0;
        snprintf(name, sizeof name, "%s%s", prefix, is_rule ? "optimizer" : field->name);
        list->out[list->count++] = mst_fingerprint_option(name, length == 0         ? "not set"
                                                                : text[skip] == '=' ? text + skip + 1
                                                                                    : "true");
    }
}

static void add_fit_options(fingerprint_list *list, const mst_trainer *trainer, const mst_fit_options *o,
                            int64_t batch_size) {
    const mst_strategy *s = &trainer->strategy;
    const struct {
        const char *name;
        int64_t value;
    } number[] = {
        {"seed", (int64_t)trainer->options.seed},
        {"batch_size", batch_size},
        {"epochs", o->epochs},
        {"steps", o->steps},
        {"num_shards", s->num_shards},
        {"synchronous", s->synchronous},
        {"replicas_to_aggregate", s->replicas_to_aggregate},
        {"max_staleness", s->max_staleness},
        {"sharded_state", s->sharded_state},
        {"by_bytes", s->by_bytes},
        {"part_bytes", s->part_bytes},
        {"no_shuffle", o->no_shuffle},
        {"drop_remainder", o->drop_remainder},
        {"validation_last", o->validation_last},
        {"check_replicas", o->check_replicas},
        {"mixed_bfloat16", mst_precision_here(trainer->options.session.precision) == MST_MIXED_BFLOAT16},
        {"elastic_min", mst_is_served(trainer) ? 0 : mst_task_elastic_min(trainer->options.task)},
    };
    char text[MST_NUMBER_TEXT];
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        snprintf(text, sizeof text, "%" PRId64, number[i].value);
        list->out[list->count++] = mst_fingerprint_option(number[i].name, text);
    }
    list->out[list->count++] =
        mst_fingerprint_option("validation_split", mst_number_print_f64(o->validation_split, text));
}

static void add_machine(fingerprint_list *list) {
    mst_machine m;
    mst_machine_read(&m);
    list->out[list->count++] = mst_fingerprint_option("kernels", m.isa);
    list->out[list->count] = mst_fingerprint_option("oneDNN", m.onednn_isa);
    list->out[list->count++].hash = m.onednn_isa_bits;
    list->out[list->count++] = mst_fingerprint_option("processor", m.cpu);
}

/* Options come before the program: what differs there may follow from them. */
int32_t mst_workers_fingerprints(const mst_trainer *trainer, const mst_fit_options *options, int64_t batch_size,
                                 mst_fingerprint out[MST_FINGERPRINTS_MOST]) {
    fingerprint_list list = {.out = out};
    add_hash(&list, "version", mst_rng_hash_name(mst_version()));
    add_hash(&list, "calls", 1); /* 0: a collective (cluster/task_collectives.c) */
    add_fit_options(&list, trainer, options, batch_size);
    add_fields(&list, "", mst_optimizer_fields, &trainer->optimizer);
    add_fields(&list, "schedule.", mst_schedule_fields, &trainer->optimizer.schedule);
    add_hash(&list, "schedule", hash_schedule(&trainer->optimizer.schedule));
    add_machine(&list);
    add_hash(&list, "program", hash_program(trainer));
    add_hash(&list, "data", hash_data(trainer, options->data));
    add_contents(&list, trainer, options->data);
    return list.count;
}
