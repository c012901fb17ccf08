#include "parameter_server/ps_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "parameter_server/message_body.h"
#include "store/store.h"

/* ---- memory ---- */

/* Makes an entry in which a value is received. */
static mst_status add_copy(mst_ps_values *values, const char *name, mst_spec spec, mst_state_kind kind,
                           mst_tensor **out) {
    MST_TRY(mst_tensor_create(spec.dtype, spec.shape, out));
    const mst_status status = mst_snapshot_add(values->snapshot, NULL, name, kind, *out);
    mst_tensor_release(*out); /* the snapshot holds a reference, too */
    return status;
}

mst_status mst_ps_values_make(mst_ps_values *values, const mst_ps_program *program, int32_t num_ps) {
    const int32_t count = program->num_variables;
    mst_ps_copy *copy = calloc((size_t)count + 1, sizeof *copy);
    values->copies = (mst_ps_copies){.copy = copy, .count = copy ? count : 0, .num_ps = num_ps};
    values->in_place = calloc((size_t)count + 1, sizeof *values->in_place);
    values->message = calloc((size_t)num_ps, sizeof(mst_task_message *));
    if (!copy || !values->in_place || !values->message) return MST_NO_MEMORY("for %d variables", (int)count);
    MST_TRY(mst_snapshot_create(&values->snapshot));
    MST_TRY(add_copy(values, MST_STATE_GLOBAL_STEP, (mst_spec){MST_I64, MST_SCALAR}, MST_STATE_STEP, &values->step));
    for (int32_t v = 0; v < count; v++) {
        const mst_ps_variable *from = &program->variable[v];
        copy[v].ps = from->ps;
        copy[v].sparse = from->sparse;
        copy[v].kind = from->kind;
        if (!(copy[v].name = strdup(from->name))) return MST_NO_MEMORY("for %d variables", (int)count);
        MST_TRY(add_copy(values, from->name, from->spec, from->kind, &copy[v].value));
    }
    return MST_OK;
}

/* Frees the messages of all servers: the values in them are no longer needed. */
static void leave_messages(mst_ps_values *values) {
    for (int32_t p = 0; p < values->copies.num_ps && values->message; p++) {
        mst_task_message_free(values->message[p]);
        values->message[p] = NULL;
    }
    for (int32_t v = 0; v < values->copies.count && values->in_place; v++) values->in_place[v] = NULL;
}

void mst_ps_values_free(mst_ps_values *values) {
    leave_messages(values);
    mst_snapshot_release(values->snapshot);
    for (int32_t v = 0; v < values->copies.count; v++) free(values->copies.copy[v].name);
    free(values->copies.copy);
    free(values->in_place);
    free(values->message);
}

/* ---- receiving ---- */

static bool is_in_place(const mst_ps_copy *copy) {
    return !copy->sparse && copy->ps != MST_PS_EACH;
}

/* Takes the part of variable V that server P keeps. */
static mst_status take_value(mst_ps_values *values, mst_mail *mail, int32_t p, int32_t v,
                             const mst_task_message *message, mst_message_body_rest *rest) {
    const mst_ps_copy *copy = &values->copies.copy[v];
    char name[300];
    mst_tensor *part;
    bool fits;
    if (is_in_place(copy)) {
        values->in_place[v] = mst_message_body_take(rest, mst_tensor_bytes(copy->value));
        fits = values->in_place[v] != NULL;
    } else {
        MST_TRY(mst_ps_part_view(&values->copies, v, p, copy->value, &part));
        fits = mst_message_body_take_value(rest, copy->sparse, part);
        mst_tensor_release(part);
    }
    if (fits) return MST_OK;
    return MST_FAIL(MST_INVALID, "%s has sent data that is not a value of '%s': start the same program on all workers",
                    mst_mail_name(mail, message->from, name, sizeof name), copy->name);
}

mst_status mst_ps_values_take(mst_ps_values *values, mst_mail *mail, int32_t p, mst_task_message **message) {
    mst_message_body_rest rest = {(*message)->body, (*message)->bytes};
    char name[300];
    mst_task_message_free(values->message[p]);
    values->message[p] = *message;
    *message = NULL;
    for (int32_t v = 0; v < values->copies.count; v++)
        if (mst_ps_keeps(&values->copies, v, p)) MST_TRY(take_value(values, mail, p, v, values->message[p], &rest));
    if (rest.bytes)
        return MST_FAIL(
            MST_INVALID, "%s has sent %zu bytes of variables, %zu too many: start the same program on all workers",
            mst_mail_name(mail, values->message[p]->from, name, sizeof name), values->message[p]->bytes, rest.bytes);
    return MST_OK;
}

/* ---- the store ---- */

/* Adds an entry with the value of variable V, without copying the value. */
static mst_status list_value(const mst_ps_values *values, int32_t v, mst_snapshot *to) {
    const mst_ps_copy *copy = &values->copies.copy[v];
    mst_tensor *value = copy->value;
    if (!values->in_place[v]) return mst_snapshot_add(to, NULL, copy->name, copy->kind, value);
    MST_TRY(mst_tensor_wrap(mst_tensor_dtype(value), mst_tensor_shape(value), (void *)(uintptr_t)values->in_place[v],
                            NULL, NULL, &value));
    const mst_status status = mst_snapshot_add(to, NULL, copy->name, copy->kind, value);
    mst_tensor_release(value);
    return status;
}

/* Adds the step to TO, and the values that are not in the store yet. */
static mst_status list_values(const mst_ps_values *values, mst_snapshot *to) {
    MST_TRY(mst_snapshot_add(to, NULL, MST_STATE_GLOBAL_STEP, MST_STATE_STEP, values->step));
    for (int32_t v = 0; v < values->copies.count; v++)
        if (values->in_place[v] || values->are_saved || !is_in_place(&values->copies.copy[v]))
            MST_TRY(list_value(values, v, to));
    return MST_OK;
}

mst_status mst_ps_values_store(mst_ps_values *values, mst_store *store, int64_t step) {
    mst_snapshot *list;
    MST_TRY(mst_snapshot_create(&list));
    mst_tensor_set(values->step, 0, (double)step);
    mst_status status = list_values(values, list);
    if (!status) status = mst_store_restore(store, list);
    mst_snapshot_release(list);
    if (status) return status;
    leave_messages(values);
    values->are_saved = false;
    return MST_OK;
}

mst_status mst_ps_values_save(mst_ps_values *values, mst_store *store) {
    for (int32_t v = 0; v < values->copies.count && !values->are_saved; v++) {
        const mst_ps_copy *copy = &values->copies.copy[v];
        const mst_spec spec = {mst_tensor_dtype(copy->value), mst_tensor_shape(copy->value)};
        if (is_in_place(copy)) MST_TRY(mst_store_read_to(store, NULL, copy->name, &spec, mst_tensor_data(copy->value)));
    }
    values->are_saved = true;
    return MST_OK;
}
