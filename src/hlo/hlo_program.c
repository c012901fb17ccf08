/* A program: its sources, faults, ops and results, and the whole text. */
#include "hlo/hlo_program.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "base/number.h"
#include "hlo/hlo_writer.h"

mst_status mst_hlo_program_create(mst_hlo_program **out) {
    *out = calloc(1, sizeof **out);
    if (!*out) return MST_NO_MEMORY("for a program");
    const mst_status status = mst_grow(&(*out)->value, sizeof *(*out)->value, 1, &(*out)->value_capacity);
    if (status) {
        mst_hlo_program_destroy(*out);
        *out = NULL;
        return status;
    }
    (*out)->num_values = 1; /* id 0 is MST_NO_HLO */
    return MST_OK;
}

void mst_hlo_program_destroy(mst_hlo_program *p) {
    if (!p) return;
    mst_arena_free(&p->arena);
    for (int64_t i = 0; i < p->num_tensors; i++) mst_tensor_release(p->tensor[i]);
    free(p->tensor);
    free(p->body.data);
    free(p->whole.data);
    free(p->value);
    free(p->source);
    free(p->source_value);
    free(p->result);
    free(p->fault);
    free(p);
}

/* ---- sources ---- */

static mst_hlo add_source(mst_hlo_program *p, const mst_hlo_source *source) {
    const int64_t n = p->num_sources;
    mst_hlo_keep(p, mst_grow(&p->source, sizeof *p->source, n + 1, &p->source_capacity));
    mst_hlo_keep(p, mst_grow(&p->source_value, sizeof *p->source_value, n + 1, &p->source_value_capacity));
    if (p->failure.code) return MST_NO_HLO;
    p->source[n] = *source;
    p->source_value[n] =
        mst_hlo_value_add(p, &(mst_hlo_value){.number = (int)n, .part = -1, .is_source = true, .spec = source->spec});
    p->num_sources++;
    return p->source_value[n];
}

mst_hlo mst_hlo_program_source(mst_hlo_program *p, const mst_spec *spec) {
    return add_source(p, &(mst_hlo_source){.kind = MST_HLO_SOURCE_VALUE, .spec = *spec});
}

static const mst_spec two_words = {.dtype = MST_HLO_U32, .shape = {.ndim = 1, .dim = {2}}};

mst_hlo mst_hlo_key(mst_lower *l, uint64_t stream) {
    mst_hlo_program *p = l->program;
    for (int64_t i = 0; i < p->num_sources; i++)
        if (p->source[i].kind == MST_HLO_SOURCE_KEY && p->source[i].stream == stream) return p->source_value[i];
    return add_source(p, &(mst_hlo_source){.kind = MST_HLO_SOURCE_KEY, .spec = two_words, .stream = stream});
}

mst_hlo mst_hlo_step(mst_lower *l) {
    mst_hlo_program *p = l->program;
    if (!p->step.id) p->step = add_source(p, &(mst_hlo_source){.kind = MST_HLO_SOURCE_STEP, .spec = two_words});
    return p->step;
}

mst_status mst_hlo_program_tensor(mst_hlo_program *p, mst_dtype dtype, int64_t count, mst_tensor **out) {
    *out = NULL;
    mst_status status = mst_grow(&p->tensor, sizeof *p->tensor, p->num_tensors + 1, &p->tensor_capacity);
    if (!status) status = mst_tensor_create(dtype, MST_SHAPE(count), out);
    mst_hlo_keep(p, status);
    if (!status) p->tensor[p->num_tensors++] = *out;
    return status;
}

mst_hlo mst_hlo_tensor_source(mst_hlo_program *p, mst_tensor *tensor) {
    const mst_spec spec = {.dtype = mst_tensor_dtype(tensor), .shape = mst_tensor_shape(tensor)};
    return add_source(p, &(mst_hlo_source){.kind = MST_HLO_SOURCE_TENSOR, .spec = spec, .tensor = tensor});
}

int mst_hlo_program_num_sources(const mst_hlo_program *p) {
    return (int)p->num_sources;
}

const mst_hlo_source *mst_hlo_program_source_at(const mst_hlo_program *p, int i) {
    return &p->source[i];
}

/* ---- faults ---- */

mst_hlo mst_hlo_fault_word(mst_lower *l) {
    mst_hlo_program *p = l->program;
    if (!p->fault_word.id) p->fault_word = mst_hlo_number(l, MST_I32, 0);
    return p->fault_word;
}

void mst_hlo_fault(mst_lower *l, mst_hlo mask, mst_status code, const char *format, ...) {
    mst_hlo_program *p = l->program;
    if (mst_hlo_lacks(l, mask)) return;
    if (mst_hlo_spec(l, mask).dtype != MST_BOOL || !code || !format) {
        mst_hlo_fail(l, "a fault wants bools, a status that is an error, and a message");
        return;
    }
    if (p->no_faults) {
        mst_hlo_fail(l, "a function of elements cannot fail");
        return;
    }
    char text[512];
    va_list list;
    va_start(list, format);
    mst_format_list(text, sizeof text, format, list);
    va_end(list);
    const char *message = mst_arena_print(&p->arena, "%s%s '%s': %s", p->place ? p->place : "",
                                          l->op ? l->op->name : "update", l->name ? l->name : "", text);
    mst_hlo_keep(p, message ? MST_OK : MST_NO_MEMORY("for a program"));
    mst_hlo_keep(p, mst_grow(&p->fault, sizeof *p->fault, p->num_faults + 1, &p->fault_capacity));
    if (p->failure.code) return;
    p->fault[p->num_faults++] = (mst_hlo_fault_site){.code = code, .message = message};
    const mst_hlo failed = mst_hlo_reduce_whole(l, "or", mask, 0), word = mst_hlo_fault_word(l);
    const mst_hlo number = mst_hlo_number(l, MST_I32, (double)p->num_faults), none = mst_hlo_number(l, MST_I32, 0);
    const mst_hlo is_first = mst_hlo_binary(l, "and", failed, mst_hlo_compare(l, "EQ", word, none));
    p->fault_word = mst_hlo_select(l, is_first, number, word);
}

mst_hlo mst_hlo_has_failed(mst_lower *l) {
    return mst_hlo_compare(l, "NE", mst_hlo_fault_word(l), mst_hlo_number(l, MST_I32, 0));
}

int mst_hlo_program_num_faults(const mst_hlo_program *p) {
    return (int)p->num_faults;
}

mst_status mst_hlo_program_fault_at(const mst_hlo_program *p, int i, const char **message) {
    *message = p->fault[i].message;
    return p->fault[i].code;
}

mst_status mst_hlo_program_fault(const mst_hlo_program *p, int word) {
    if (word < 1 || word > p->num_faults)
        return MST_FAIL(MST_INTERNAL, "a program reports fault %d, and has %lld", word, (long long)p->num_faults);
    return MST_FAIL(p->fault[word - 1].code, "%s", p->fault[word - 1].message);
}

/* ---- ops and results ---- */

enum { NAMED_SRC = 8 }; /* most sources of an op that is one operation of StableHLO */

/* Writes an op that is the one operation of StableHLO that `hlo` names. Its sources are broadcast to the shape of
 * output 0. */
static void write_named(mst_lower *l) {
    if (l->num_dst != 1) {
        mst_hlo_fail(l, "an operation has one output, not %d", l->num_dst);
        return;
    }
    mst_hlo src[NAMED_SRC];
    if (l->num_src > NAMED_SRC) {
        mst_hlo_fail(l, "too many sources for one operation");
        return;
    }
    for (int i = 0; i < l->num_src; i++) src[i] = mst_hlo_broadcast(l, l->src[i], l->dst_spec[0].shape);
    mst_hlo_call(l, l->op->hlo, "", l->num_src, src, 1, &l->dst_spec[0], &l->dst[0]);
}

static void check_outputs(mst_lower *l) {
    for (int k = 0; k < l->num_dst; k++) {
        if (mst_hlo_lacks(l, l->dst[k])) return;
        const mst_spec spec = mst_hlo_spec(l, l->dst[k]);
        char have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
        if (spec.dtype != l->dst_spec[k].dtype || !mst_shape_equal(spec.shape, l->dst_spec[k].shape))
            mst_hlo_fail(l, "output %d is %s%s, not %s%s", k, mst_dtype_name(spec.dtype),
                         mst_shape_print(spec.shape, have, sizeof have), mst_dtype_name(l->dst_spec[k].dtype),
                         mst_shape_print(l->dst_spec[k].shape, want, sizeof want));
    }
}

mst_status mst_hlo_program_op(mst_hlo_program *p, mst_lower *l) {
    l->program = p;
    for (int k = 0; k < l->num_dst; k++) l->dst[k] = MST_NO_HLO;
    if (p->failure.code) return mst_failure_restore(&p->failure);
    if (!l->op->hlo && !l->op->lower)
        return MST_FAIL(MST_UNIMPLEMENTED, "%s '%s' has no StableHLO: it runs on CPUs only", l->op->name, l->name);
    if (l->op->lower)
        l->op->lower(l);
    else
        write_named(l);
    check_outputs(l);
    return p->failure.code ? mst_failure_restore(&p->failure) : MST_OK;
}

void mst_hlo_program_result(mst_hlo_program *p, mst_hlo value) {
    mst_lower l = {.program = p, .name = "result"};
    if (mst_hlo_lacks(&l, value)) return;
    mst_hlo_keep(p, mst_grow(&p->result, sizeof *p->result, p->num_results + 1, &p->result_capacity));
    if (!p->failure.code) p->result[p->num_results++] = value;
}

void mst_hlo_program_donate(mst_hlo_program *p, mst_hlo source, mst_hlo value) {
    mst_lower l = {.program = p, .name = "result"};
    if (mst_hlo_lacks(&l, source) || mst_hlo_lacks(&l, value)) return;
    const mst_hlo_value *from = &p->value[source.id];
    const mst_spec spec = mst_hlo_spec(&l, value);
    const bool is_free = from->is_source && !p->source[from->number].taken_by;
    if (!is_free || from->spec.dtype != spec.dtype || !mst_shape_equal(from->spec.shape, spec.shape)) {
        mst_hlo_fail(&l, "takes the memory of what is no source of its type, or of one that another result takes");
        return;
    }
    const int number = from->number;
    mst_hlo_program_result(p, value);
    if (!p->failure.code) p->source[number].taken_by = p->num_results;
}

mst_status mst_hlo_program_finish(mst_hlo_program *p, const char **text) {
    *text = NULL;
    if (p->num_faults) mst_hlo_program_result(p, p->fault_word);
    mst_hlo_text *w = &p->whole;
    mst_hlo_write(p, w, "module @main {\n  func.func public @main(");
    for (int64_t i = 0; i < p->num_sources; i++) {
        mst_hlo_write(p, w, "%s%%a%lld: ", i ? ", " : "", (long long)i);
        mst_hlo_write_type(p, w, &p->source[i].spec);
        const int64_t result = p->source[i].taken_by - 1;
        if (result >= 0) mst_hlo_write(p, w, " {tf.aliasing_output = %lld : i32}", (long long)result);
    }
    mst_hlo_write(p, w, ") -> ");
    mst_hlo_write_types(p, w, (int)p->num_results, p->result);
    mst_hlo_write(p, w, " {\n%s    \"func.return\"(", p->body.data ? p->body.data : "");
    for (int64_t i = 0; i < p->num_results; i++) {
        if (i) mst_hlo_write(p, w, ", ");
        mst_hlo_write_name(p, w, p->result[i]);
    }
    mst_hlo_write(p, w, ") : ");
    mst_hlo_write_types(p, w, (int)p->num_results, p->result);
    mst_hlo_write(p, w, " -> ()\n  }\n}\n");
    if (p->failure.code) return mst_failure_restore(&p->failure);
    *text = w->data;
    return MST_OK;
}
