/* Structs of options, handled by their tables of fields: defaults, ranges, copies, comparison, hash. Their text form is
 * in options_text.c.
 *
 * A field (mst_field) describes a member of the struct: its offset, type, default, range and help. A member that is 0
 * was not given and takes its default; a caller that wants 0 itself writes MST_ZERO. The options of a node own what
 * they point to: strings are copied into the graph's arena, tensors and bodies are retained by the graph. */
#include <stdio.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/rng.h"
#include "graph/field.h"
#include "graph/graph.h"
#include "graph/options.h"

static double number(const mst_field *field, const void *at) {
    switch (field->type) {
        case MST_FIELD_TYPE_I32: return *(const int32_t *)at;
        case MST_FIELD_TYPE_ENUM: return *(const int *)at;
        case MST_FIELD_TYPE_DTYPE: return (double)*(const mst_dtype *)at;
        case MST_FIELD_TYPE_I64: return (double)*(const int64_t *)at;
        case MST_FIELD_TYPE_F32: return (double)*(const float *)at;
        case MST_FIELD_TYPE_F64: return *(const double *)at;
        default: return 0;
    }
}

static void set_number(const mst_field *field, void *at, double value) {
    switch (field->type) {
        case MST_FIELD_TYPE_I32: *(int32_t *)at = (int32_t)value; break;
        case MST_FIELD_TYPE_ENUM: *(int *)at = (int)value; break;
        case MST_FIELD_TYPE_DTYPE: *(mst_dtype *)at = (mst_dtype)value; break;
        case MST_FIELD_TYPE_I64: *(int64_t *)at = (int64_t)value; break;
        case MST_FIELD_TYPE_F32: *(float *)at = (float)value; break;
        case MST_FIELD_TYPE_F64: *(double *)at = value; break;
        default: break;
    }
}

mst_status mst_field_given(const mst_field *field, void *at) {
    if (field->initial == 0 || number(field, at) != 0) return MST_OK;
    if (field->type == MST_FIELD_TYPE_F32 || field->type == MST_FIELD_TYPE_F64)
        return set_number(field, at, MST_ZERO), MST_OK;
    return MST_FAIL(MST_INVALID, "%s is 0, must be another number (%s)", field->name, field->help);
}

/* Makes GRAPH own the string, tensor or body that the member at AT points to. */
static mst_status keep(mst_graph *graph, const mst_field *field, void *at) {
    if (field->type == MST_FIELD_TYPE_STRING) {
        const char **text = at;
        if (*text && !(*text = mst_arena_string(&graph->arena, *text))) return MST_NO_MEMORY("for an option");
    } else if (field->type == MST_FIELD_TYPE_TENSOR) {
        mst_tensor *tensor = *(mst_tensor **)at;
        if (!tensor) return MST_OK;
        MST_TRY(mst_grow(&graph->tensor, sizeof tensor, graph->num_tensors + 1, &graph->tensor_capacity));
        graph->tensor[graph->num_tensors++] = mst_tensor_retain(tensor);
    } else if (field->type == MST_FIELD_TYPE_GRAPH) {
        mst_graph *body = *(mst_graph **)at;
        if (!body) return MST_OK;
        MST_TRY(mst_grow(&graph->body, sizeof body, graph->num_bodies + 1, &graph->body_capacity));
        graph->body[graph->num_bodies++] = mst_graph_retain(body);
    } else if (field->type == MST_FIELD_TYPE_VALUE) {
        const mst_value *value = at;
        if (value->node && value->node->graph != graph)
            return MST_FAIL(MST_INVALID, "%s (%s), '%s', is of another graph", field->name, field->help,
                            value->node->name);
    }
    return MST_OK;
}

/* Says what is wrong with a member that later code uses as an index or a length; NULL: nothing. */
static const char *flaw(const mst_field *field, const void *at) {
    int count = 0;
    switch (field->type) {
        case MST_FIELD_TYPE_DTYPE:
            return (unsigned)*(const mst_dtype *)at < MST_NUM_DTYPES ? NULL : "is no dtype: use MST_F32, MST_I64, ...";
        case MST_FIELD_TYPE_ENUM:
            while (field->names[count]) count++;
            return *(const int *)at >= 0 && *(const int *)at < count ? NULL : "is none of its values";
        case MST_FIELD_TYPE_SHAPE: count = ((const mst_shape *)at)->ndim; break;
        case MST_FIELD_TYPE_AXES: count = ((const mst_axes *)at)->count; break;
        default: break;
    }
    return count >= 0 && count <= MST_MAX_NDIM ? NULL : "has a wrong number of dimensions, must be 0 to 8";
}

/* Sets the default if the member was not given, and checks the member. */
static mst_status resolve(const mst_field *field, const char *kind, const char *name, void *at) {
    if (field->type == MST_FIELD_TYPE_NESTED) return mst_options_check(field->nested, kind, name, at);
    double value = number(field, at);
    if (!mst_number_given(value) && field->initial != 0) set_number(field, at, value = field->initial);
    if ((field->low != 0 || field->high != 0) && !(value >= field->low && value <= field->high))
        return MST_FAIL(MST_INVALID, "%s '%s': %s is %g, must be between %g and %g (%s)", kind, name, field->name,
                        value + 0.0, field->low, field->high, field->help); /* shows -0 as 0 */
    const char *wrong = flaw(field, at);
    if (wrong) return MST_FAIL(MST_INVALID, "%s '%s': %s (%s) %s", kind, name, field->name, field->help, wrong);
    return MST_OK;
}

mst_status mst_options_check(const mst_field *fields, const char *kind, const char *name, void *options) {
    for (const mst_field *field = fields; field && field->name; field++)
        MST_TRY(resolve(field, kind, name, (char *)options + field->offset));
    return MST_OK;
}

mst_status mst_options_resolve(mst_graph *graph, const mst_op *op, const char *node, void *options) {
    for (const mst_field *field = op->fields; field && field->name; field++) {
        void *at = (char *)options + field->offset;
        MST_TRY(resolve(field, op->name, node, at));
        MST_TRY(keep(graph, field, at));
    }
    return MST_OK;
}

void mst_options_seed(const mst_graph *graph, const mst_op *op, const char *node, void *options) {
    for (const mst_field *field = op->fields; field && field->name; field++) {
        uint64_t *seed = (uint64_t *)(void *)((char *)options + field->offset);
        if (field->type != MST_FIELD_TYPE_U64 || strcmp(field->name, "seed") != 0 || *seed != 0) continue;
        const char *prefix = graph->current.seed_prefix;
        const bool below = prefix && strncmp(node, prefix, strlen(prefix)) == 0;
        *seed = mst_rng_hash_name(below ? node + strlen(prefix) : node);
        if (below) *seed ^= (graph->current.seed_salt + 1) * 0x9e3779b97f4a7c15u;
    }
}

static size_t field_size(mst_field_type type) {
    switch (type) {
        case MST_FIELD_TYPE_BOOL: return sizeof(bool);
        case MST_FIELD_TYPE_I32: return sizeof(int32_t);
        case MST_FIELD_TYPE_ENUM: return sizeof(int);
        case MST_FIELD_TYPE_F32: return sizeof(float);
        case MST_FIELD_TYPE_DTYPE: return sizeof(mst_dtype);
        case MST_FIELD_TYPE_I64:
        case MST_FIELD_TYPE_U64:
        case MST_FIELD_TYPE_F64: return 8;
        case MST_FIELD_TYPE_SHAPE: return sizeof(mst_shape);
        case MST_FIELD_TYPE_AXES: return sizeof(mst_axes);
        case MST_FIELD_TYPE_VALUE: return sizeof(mst_node *); /* the index is compared separately: padding follows it */
        default: return sizeof(void *);
    }
}

/* The bytes to compare for a field, other than a shape. Axes have no padding, and zeros after the last one; strings are
 * compared by content. */
static const void *field_bytes(const mst_field *field, const void *options, size_t *size) {
    const void *at = (const char *)options + field->offset;
    *size = field_size(field->type);
    if (field->type != MST_FIELD_TYPE_STRING) return at;
    const char *text = *(const char *const *)at;
    *size = text ? strlen(text) : 0;
    return text;
}

bool mst_options_equal(const mst_field *fields, const void *a, const void *b) {
    for (const mst_field *field = fields; field && field->name; field++) {
        const char *left = (const char *)a + field->offset, *right = (const char *)b + field->offset;
        if (field->type == MST_FIELD_TYPE_SHAPE) {
            if (!mst_shape_equal(*(const mst_shape *)left, *(const mst_shape *)right)) return false;
            continue;
        }
        if (field->type == MST_FIELD_TYPE_VALUE &&
            ((const mst_value *)left)->index != ((const mst_value *)right)->index)
            return false;
        size_t left_size, right_size;
        const void *left_bytes = field_bytes(field, a, &left_size), *right_bytes = field_bytes(field, b, &right_size);
        if (left_size != right_size || (left_size && memcmp(left_bytes, right_bytes, left_size) != 0)) return false;
    }
    return true;
}

uint64_t mst_options_hash(const mst_field *fields, const void *options) {
    uint64_t h = 0xcbf29ce484222325u;
    for (const mst_field *field = fields; field && field->name; field++) {
        size_t size;
        const unsigned char *bytes = field_bytes(field, options, &size);
        if (field->type == MST_FIELD_TYPE_SHAPE) size = sizeof(int32_t); /* only `ndim`: padding follows it */
        for (size_t i = 0; i < size; i++) h = (h ^ bytes[i]) * 0x100000001b3u;
    }
    return h;
}

static bool is_set(const mst_field *field, const void *options) {
    size_t size;
    const char *bytes = field_bytes(field, options, &size);
    for (size_t i = 0; i < size; i++)
        if (bytes[i]) return true;
    return false;
}

static bool takes(const mst_option_kind *kind, const char *name) {
    for (int i = 0; kind->takes[i]; i++)
        if (strcmp(kind->takes[i], name) == 0) return true;
    return false;
}

mst_status mst_options_taken(const mst_field *fields, const void *options, const mst_option_kind *kinds, int num_kinds,
                             int kind) {
    for (const mst_field *field = fields; field && field->name; field++) {
        if (!is_set(field, options) || takes(&kinds[kind], field->name)) continue;
        char others[256] = "";
        for (int i = 0, used = 0; i < num_kinds; i++)
            if (takes(&kinds[i], field->name) && (size_t)used < sizeof others)
                used += snprintf(others + used, sizeof others - (size_t)used, "%s%s", used ? ", " : "", kinds[i].name);
        if (*others)
            return MST_FAIL(MST_INVALID, "'%s' has no %s; these have: %s", kinds[kind].name, field->name, others);
    }
    return MST_OK;
}
