/* Makes the fingerprints (cluster/fingerprint.h) of version, options, program, data and machine, which must be the same
 * on all workers that train together. */
#include "train/worker_fingerprints.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/rng.h"
#include "data/dataset.h"
#include "data/row_hash.h"
#include "data/settings.h"
#include "device/device.h"
#include "graph/graph.h"
#include "graph/options.h"
#include "muster/device.h"
#include "muster/version.h"
#include "op/list.h"
#include "rule/constraint.h"
#include "rule/rule.h"
#include "run/session.h"
#include "strategy/strategy.h"
#include "task/task.h"

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

/* Adds all options except the seed, which differs from shard to shard. */
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

/* Adds the nodes whose names begin with SCOPE; SCOPE itself is not included. */
static uint64_t add_nodes(uint64_t hash, const mst_graph *graph, const char *scope) {
    const size_t length = strlen(scope);
    for (int64_t n = 0; graph && n < graph->num_nodes; n++) {
        const mst_node *node = graph->node[n];
        if (strncmp(node->name, scope, length) != 0) continue;
        hash = add_text(add_text(hash, node->op->name), node->name + length);
        /* the options of a sum over the replicas say where the shard is */
        if (node->op != &mst_op_sum_replicas) hash = add_options(hash, node->op->fields, node->options);
    }
    return hash;
}

static uint64_t add_real(uint64_t hash, double number) {
    int64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return add_number(hash, bits);
}

static uint64_t add_constraint(uint64_t hash, const mst_constraint *constraint, mst_shape shape) {
    mst_constraint_form form;
    mst_constraint_form_make(constraint, shape, &form);
    hash = add_real(add_real(add_real(add_number(hash, form.kind), form.min_value), form.max_value), form.rate);
    for (int i = 0; i < form.axes.count; i++) hash = add_number(hash, form.axes.axis[i]);
    return hash;
}

/* Adds the weights. Slots belong to the optimizer, which is an option. */
static uint64_t add_weights(uint64_t hash, const mst_graph *graph) {
    for (int64_t n = 0; n < graph->num_nodes; n++) {
        const mst_node *node = graph->node[n];
        if (!(node->op->flags & MST_OP_VARIABLE)) continue;
        const mst_variable_options *o = node->options;
        if (o->kind != MST_STATE_WEIGHT) continue;
        hash = add_number(add_spec(add_text(hash, node->name), &node->dst[0]), o->join);
        if (o->constraint.kind) hash = add_constraint(hash, &o->constraint, node->dst[0].shape);
    }
    return hash;
}

/* A hash of the weights, of the replica of this task's first shard, and of the reported values. Names are hashed
 * without the number of the shard. */
static uint64_t hash_program(const mst_trainer *trainer) {
    char scope[32];
    snprintf(scope, sizeof scope, "replica_%d/", trainer->strategy.first_shard);
    uint64_t hash = add_nodes(add_weights(0, trainer->graph), trainer->graph, scope);
    for (int m = 0; m < trainer->num_metrics; m++) hash = add_text(hash, trainer->metric_name[m]);
    return hash;
}

/* A hash of the rates at some steps, and of the boundaries and values, which are not in mst_schedule_fields. */
static uint64_t hash_schedule(const mst_schedule *schedule) {
    static const int64_t steps[] = {0, 1, 10, 100, 1000, 10000}; /* where schedules are compared */
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && mst_schedule_is_set(schedule); i++)
        hash = add_real(hash, mst_schedule_at(schedule, steps[i]));
    for (int p = 0; p < schedule->num_pieces; p++) {
        hash = add_real(hash, schedule->value[p]);
        if (p + 1 < schedule->num_pieces) hash = add_number(hash, schedule->boundary[p]);
    }
    return hash;
}

/* ---- options ---- */

/* The fingerprints so far: at most MST_FINGERPRINTS_MOST - 1, since the task adds one more (task/task_join.c). */
typedef struct fingerprint_list {
    mst_fingerprint *out;
    int32_t count;
} fingerprint_list;

/* Adds F to the list. If the list is full, its last entry becomes a hash of all further ones. */
static void add_fingerprint(fingerprint_list *list, mst_fingerprint f) {
    enum { LAST = MST_FINGERPRINTS_MOST - 2 };
    if (list->count <= LAST) {
        list->out[list->count++] = f;
        return;
    }
    mst_fingerprint *last = &list->out[LAST];
    *last = (mst_fingerprint){.name = "more", .hash = mst_rng_mix(add_text(last->hash, f.name), f.hash)};
}

static bool has(const fingerprint_list *list, const char *name) {
    bool found = false;
    for (int32_t i = 0; i < list->count; i++) found |= strcmp(list->out[i].name, name) == 0;
    return found;
}

/* Makes the name of an option from WHAT: "random_flip"; "random_flip 2" if the list already has that name. */
static void name_one_more(const fingerprint_list *list, const char *what, char *name, size_t size) {
    snprintf(name, size, "%s", what);
    for (int number = 2; has(list, name); number++) snprintf(name, size, "%.20s %d", what, number);
}

static void add_option(fingerprint_list *list, const char *name, const char *value) {
    add_fingerprint(list, mst_fingerprint_option(name, value));
}

/* Adds an option whose text VALUE shows only a part of the compared settings; HASH covers all of them. */
static void add_part(fingerprint_list *list, const char *name, const char *value, uint64_t hash) {
    mst_fingerprint f = mst_fingerprint_option(name, value);
    f.hash = hash;
    add_fingerprint(list, f);
}

static void add_hash(fingerprint_list *list, const char *name, uint64_t hash) {
    add_part(list, name, "", hash);
}

/* Adds each of FIELDS as an option, with PREFIX before its name. */
static void add_fields(fingerprint_list *list, const char *prefix, const mst_field *fields, const void *options) {
    for (const mst_field *field = fields; field->name; field++) {
        const mst_field one[] = {*field, MST_FIELD_END};
        char name[MST_FINGERPRINT_NAME], text[TEXT];
        const size_t skip = strlen(field->name);
        const size_t length = mst_options_print(one, options, text, sizeof text);
        const bool is_rule = strcmp(field->name, "rule") == 0;
        snprintf(name, sizeof name, "%s%s", prefix, is_rule ? "optimizer" : field->name);
        add_option(list, name, length == 0 ? "not set" : text[skip] == '=' ? text + skip + 1 : "true");
    }
}

static void add_fit_options(fingerprint_list *list, const mst_trainer *trainer, const mst_fit_options *o,
                            int64_t batch_size) {
    const mst_strategy *s = &trainer->strategy;
    const mst_precision wanted = trainer->options.session.precision,
                        precision = mst_strategy_compiles(s) ? wanted : mst_precision_here(wanted);
    const struct {
        const char *name;
        int64_t value;
    } number[] = {
        {"seed", (int64_t)trainer->options.seed},
        {"batch_size", batch_size},
        {"epochs", o->epochs},
        {"steps", o->steps},
        {"num_shards", trainer->asked_shards},
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
        {"mixed_bfloat16", precision == MST_MIXED_BFLOAT16},
        {"tensorfloat32", precision == MST_TENSORFLOAT32},
        {"elastic_min", trainer->rules.counts_others ? 0 : mst_task_elastic_min(trainer->options.task)},
    };
    char text[MST_NUMBER_TEXT];
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        snprintf(text, sizeof text, "%" PRId64, number[i].value);
        add_option(list, number[i].name, text);
    }
    add_option(list, "validation_split", mst_number_print_f64(o->validation_split, text));
}

static void add_machine(fingerprint_list *list) {
    mst_machine m;
    mst_machine_read(&m);
    add_option(list, "kernels", m.isa);
    add_part(list, "oneDNN", m.onednn_isa, m.onednn_isa_bits);
    add_option(list, "processor", m.cpu);
    const mst_library *library;
    /* oneDNN is the first in the list */
    if (mst_libraries(&library) > 0) add_option(list, "oneDNN version", library->version);
}

/* Adds the identity of each type of device that has one (device/device.h). The number of devices does not matter. */
static void add_devices(fingerprint_list *list, const mst_devices *devices) {
    for (int d = 0; d < devices->count; d++) {
        const mst_device_type *type = devices->device[d].type;
        char name[MST_FINGERPRINT_NAME];
        snprintf(name, sizeof name, "device %s", type->name);
        if (mst_device_is_here(devices, d) && type->identity && !has(list, name))
            add_option(list, name, type->identity());
    }
}

/* ---- the weights ---- */

/* Adds the penalties. They are not in the graph's loss: they are added after the replicas, or in the update of
 * parameter servers. */
static void add_penalties(fingerprint_list *list, const mst_graph *graph) {
    uint64_t hash = 0;
    int64_t count = 0;
    char text[MST_FINGERPRINT_VALUE] = "";
    for (int64_t n = 0; n < graph->num_nodes; n++) {
        const mst_node *node = graph->node[n];
        const mst_variable_options *o = node->options;
        if (!(node->op->flags & MST_OP_VARIABLE) || (o->l1 == 0 && o->l2 == 0)) continue;
        char l1[MST_NUMBER_TEXT], l2[MST_NUMBER_TEXT];
        mst_number_print_f32(o->l1, l1);
        mst_number_print_f32(o->l2, l2);
        if (count++ == 0) snprintf(text, sizeof text, "l1 %.14s, l2 %.14s", l1, l2);
        hash = add_text(add_text(add_text(hash, node->name), l1), l2);
    }
    if (count > 1) snprintf(text + strlen(text), sizeof text - strlen(text), " of %" PRId64 " weights", count);
    if (count) add_part(list, "penalties", text, hash);
}

static void add_trainable(fingerprint_list *list, const mst_graph *graph) {
    uint64_t hash = 0;
    int64_t count = 0, trainable = 0;
    char text[MST_FINGERPRINT_VALUE];
    for (int64_t n = 0; n < graph->num_nodes; n++) {
        const mst_node *node = graph->node[n];
        const mst_variable_options *o = node->options;
        if (!(node->op->flags & MST_OP_VARIABLE) || o->kind != MST_STATE_WEIGHT) continue;
        count++;
        if (o->not_trainable || o->hidden) continue;
        trainable++;
        hash = add_text(hash, node->name);
    }
    snprintf(text, sizeof text, "%" PRId64 " of %" PRId64 " weights", trainable, count);
    add_part(list, "trainable", text, hash);
}

/* ---- the data ---- */

/* A visit of the stages of the data. `alike`: workers must have the same data. False: workers are asynchronous, and
 * their data may differ, but must have the same stages. */
typedef struct data_visit {
    fingerprint_list *list; /* NULL: only the hash is computed */
    bool alike;
    uint64_t hash;
} data_visit;

static void visit_stage(void *context, const mst_dataset *stage, const char *settings) {
    data_visit *v = context;
    char name[MST_FINGERPRINT_NAME];
    if (!v->alike && stage->type->takes_some) return;
    uint64_t hash = add_text(add_text(0, stage->type->name), settings);
    for (int i = 0; i < stage->num_components; i++) hash = add_spec(hash, &stage->row[i]);
    v->hash = add_number(v->hash, (int64_t)hash);
    if (!v->list || !stage->upstream) return; /* not for a source: it is compared by its rows */
    name_one_more(v->list, stage->type->name, name, sizeof name);
    add_part(v->list, name, *settings ? settings : "there", hash);
}

/* A hash of the first rows, if the source has them in memory. Rows of other sources are not read, and the hash is 0:
 * reading them twice may be slow, or have side effects. */
static uint64_t hash_rows(const mst_dataset *source) {
    uint64_t hash;
    int rows;
    if (source->type->read || source->type->values) return 0;
    return mst_dataset_hash_rows((mst_dataset *)(uintptr_t)source, &hash, &rows) ? 0 : hash;
}

/* A hash of the schema, which decides how categories and classes are numbered. */
static uint64_t hash_schema(const mst_dataset *data) {
    const char *schema = mst_dataset_schema(data);
    return schema ? add_text(1, schema) : 0;
}

/* Adds the stages of the input, one option for each, and then a hash of everything else in DATA. */
static void add_data(fingerprint_list *list, const mst_trainer *trainer, const mst_dataset *data) {
    const bool alike = !trainer->rules.counts_others || trainer->strategy.synchronous;
    data_visit v = {.list = list, .alike = alike, .hash = add_number(0, mst_dataset_num_rows(data))};
    const mst_dataset *source = data;
    while (source->upstream) source = source->upstream;
    mst_dataset_visit_stages(data, visit_stage, &v);
    for (int c = 0; c < trainer->num_components; c++) v.hash = add_spec(v.hash, &trainer->row[c]);
    add_hash(list, "program", hash_program(trainer));
    add_hash(list, "data", v.hash);
    add_hash(list, "schema", alike ? hash_schema(data) : 0);
    add_hash(list, "rows", alike ? hash_rows(source) : 0);
    add_hash(list, "files", alike && source->type->contents ? source->type->contents(source) : 0);
}

/* ---- callbacks ---- */

/* Adds one option for each callback with settings, "early_stopping: patience 3". Returns whether there are any. */
static bool add_callbacks(fingerprint_list *list, const mst_fit_options *o) {
    int count = 0;
    for (int i = 0; i < o->num_callbacks; i++) {
        const mst_callback *callback = &o->callbacks[i];
        char text[TEXT] = "", name[MST_FINGERPRINT_NAME];
        if (!callback->settings) continue;
        callback->settings(callback->context, text, sizeof text);
        const uint64_t hash = add_number(add_text(0, text), count++);
        char *value = text + strcspn(text, ":");
        if (*value) *value++ = '\0';
        value += strspn(value, " ");
        name_one_more(list, text, name, sizeof name);
        add_part(list, name, *value ? value : "there", hash);
    }
    return count > 0;
}

/* Adds the validation data, if there are callbacks with settings: they may decide by its loss or metrics. */
static void add_validation(fingerprint_list *list, const mst_dataset *data) {
    if (!data) return;
    data_visit v = {.alike = true, .hash = add_number(0, mst_dataset_num_rows(data))};
    const mst_dataset *source = data;
    while (source->upstream) source = source->upstream;
    mst_dataset_visit_stages(data, visit_stage, &v);
    add_hash(list, "validation", add_number(v.hash, (int64_t)hash_rows(source)));
}

/* Options come before the program in the list: a difference in the program may be due to them. */
int32_t mst_worker_fingerprints(const mst_trainer *trainer, const mst_fit_options *options, int64_t batch_size,
                                mst_fingerprint out[MST_FINGERPRINTS_MOST]) {
    fingerprint_list list = {.out = out};
    add_hash(&list, "version", mst_rng_hash_name(mst_version()));
    add_hash(&list, "calls", 1); /* 1: training; 0: a collective (task/task_collectives.c) */
    add_fit_options(&list, trainer, options, batch_size);
    add_fields(&list, "", mst_optimizer_fields, &trainer->optimizer);
    add_fields(&list, "schedule.", mst_schedule_fields, &trainer->optimizer.schedule);
    add_hash(&list, "schedule", hash_schedule(&trainer->optimizer.schedule));
    add_penalties(&list, trainer->graph);
    add_trainable(&list, trainer->graph);
    const bool decides = add_callbacks(&list, options);
    add_machine(&list);
    if (trainer->rules.in_step) add_devices(&list, &trainer->session->devices);
    add_data(&list, trainer, options->data);
    if (decides) add_validation(&list, options->validation);
    return list.count;
}
