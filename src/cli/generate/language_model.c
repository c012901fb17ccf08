#include "cli/generate/language_model.h"

#include "cli/model/model_note.h"
#include "cli/model/network_file.h"
#include "model_file/huggingface/huggingface.h"
#include "model_file/keras/network_text.h"
#include "muster/checkpoint.h"
#include "muster/dataset.h"

enum { BYTES = 256 };

/* Makes the network that is noted in the newest checkpoint, with its weights. */
static mst_status open_checkpoint(const char *folder, model_note *note, mst_model **out) {
    const mst_restore_options weights = {.kinds = 1u << MST_STATE_WEIGHT};
    mst_store *store;
    mst_restored where = {.path = NULL};
    MST_TRY(mst_store_create(&store));
    mst_status status = mst_checkpoint_restore(folder, store, NULL, &where);
    if (!status && model_note_read(store, note)) status = mst_error_prefix("'%s'", where.path);
    if (!status && !note->network)
        status = MST_FAIL(MST_INVALID, "'%s': is not of a language model, as muster train --model gpt:6x384 makes one",
                          where.path);
    if (!status) status = mst_network_parse(where.path, note->network, out);
    if (!status) status = mst_checkpoint_restore(where.path, mst_model_store(*out), &weights, NULL);
    mst_restored_free(&where);
    mst_store_release(store);
    return status;
}

static mst_status open_file(const char *path, model_note *note, mst_model **out) {
    if (!network_file_is(path))
        return MST_FAIL(MST_INVALID,
                        "'%s': is no file of a whole model: save it as FILE.keras, give a folder of Hugging "
                        "Face, which has a config.json, or one of checkpoints by --checkpoint-dir",
                        path);
    return network_load(path, out, NULL, note);
}

static mst_status take_tokenizer(const language_model_options *o, const model_note *note, language_model *out) {
    const char *path = o->tokenizer;
    if (!path && o->load && mst_huggingface_is(o->load) && mst_huggingface_has_tokenizer(o->load)) path = o->load;
    out->is_foreign = path || !note->schema;
    MST_TRY(path ? mst_tokenizer_open(path, &out->tokenizer) : mst_schema_tokenizer(note->schema, &out->tokenizer));
    MST_TRY(network_tokens(out->model, &out->vocabulary));
    if (!out->vocabulary)
        return MST_FAIL(MST_INVALID,
                        "'%s': begins with no embedding of tokens: it is no language model, as muster train --model "
                        "gpt:6x384 makes one",
                        o->load ? o->load : o->checkpoint_dir);
    if (out->tokenizer || out->vocabulary <= BYTES) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "the model has %lld tokens, which are no bytes, and no tokenizer is noted with it: say which with "
                    "--tokenizer PATH",
                    (long long)out->vocabulary);
}

mst_status language_model_open(const language_model_options *o, language_model *out) {
    model_note note = {.loss = NULL};
    *out = (language_model){.model = NULL};
    mst_status status =
        o->load ? open_file(o->load, &note, &out->model) : open_checkpoint(o->checkpoint_dir, &note, &out->model);
    if (!status) status = take_tokenizer(o, &note, out);
    model_note_free(&note);
    return status;
}

void language_model_close(language_model *m) {
    mst_tokenizer_close(m->tokenizer);
    mst_model_destroy(m->model);
}
