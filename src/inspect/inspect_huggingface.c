/* Folders of Hugging Face: GPT-2 and Llama. */
#include "inspect/inspector.h"
#include "model_file/huggingface/huggingface.h"
#include "model_file/huggingface/huggingface_files.h"

static mst_inspect_match inspect_huggingface_knows(const mst_inspect_source *s) {
    return s->is_folder && mst_huggingface_is(s->path) ? MST_INSPECT_SURE : MST_INSPECT_NO;
}

static void tell_config(mst_report *r, const mst_gpt_network *c) {
    const char *type = c->is_llama ? "llama" : "gpt2";
    mst_report_title(r, "Hugging Face", "%s, %lld layer%s of width %lld, %lld heads", type, (long long)c->layers,
                     c->layers == 1 ? "" : "s", (long long)c->width, (long long)c->heads);
    mst_report_set(r, NULL, "model_type", json_string(type));
    mst_report_set(r, NULL, "layers", json_integer(c->layers));
    mst_report_set(r, NULL, "width", json_integer(c->width));
    mst_report_set(r, NULL, "heads", json_integer(c->heads));
    mst_report_set(r, NULL, "key_value_heads", json_integer(c->key_value_heads));
    mst_report_set(r, NULL, "vocabulary_size", json_integer(c->vocabulary_size));
    mst_report_set(r, NULL, "positions", json_integer(c->positions));
    mst_report_set(r, NULL, "tied", json_boolean(!c->is_untied));
    mst_report_line(r, "vocabulary of %lld, %lld positions, %lld heads of keys and values, outputs %s",
                    (long long)c->vocabulary_size, (long long)c->positions, (long long)c->key_value_heads,
                    c->is_untied ? "with weights of their own" : "share the weights of the embedding");
}

static void tell_tensors(mst_report *r, const mst_safetensors *file) {
    for (int64_t i = 0; i < mst_safetensors_count(file); i++) {
        mst_tensor *tensor;
        mst_status status = mst_safetensors_read(file, i, &tensor);
        if (status == MST_UNIMPLEMENTED) status = mst_safetensors_read_f32(file, i, &tensor); /* F16 */
        if (status)
            mst_report_damage(r, status);
        else
            mst_report_tensor(r, mst_safetensors_name(file, i), tensor, "");
        mst_tensor_release(tensor);
    }
}

/* Reports whether Muster can read the model. */
static mst_status try_model(const char *path, mst_report *r) {
    mst_model *model;
    MST_TRY(mst_model_create(&model));
    const mst_status status = mst_huggingface_load(path, false, model, NULL);
    mst_model_destroy(model);
    if (status != MST_UNIMPLEMENTED) mst_report_set(r, NULL, "is_taken", json_boolean(!status));
    return status;
}

static mst_status inspect_huggingface_print(const mst_inspect_source *source, mst_report *r) {
    mst_gpt_network config;
    mst_huggingface_files files;
    const mst_status known = mst_huggingface_read_config(source->path, &config, NULL);
    if (known) {
        mst_report_title(r, "Hugging Face", "%s", known == MST_UNIMPLEMENTED ? "another network" : "cannot be read");
        return known;
    }
    tell_config(r, &config);
    const bool has_tokenizer = mst_huggingface_has_tokenizer(source->path);
    mst_report_set(r, NULL, "has_tokenizer", json_boolean(has_tokenizer));
    if (has_tokenizer) mst_report_line(r, "a tokenizer, for --tokenizer");
    const mst_status opened = mst_huggingface_open(source->path, &files);
    for (int64_t i = 0; !opened && i < files.num_files; i++) tell_tensors(r, files.file[i]);
    mst_huggingface_close(&files);
    return opened ? opened : try_model(source->path, r);
}

const mst_inspector mst_inspector_huggingface = {
    .name = "folder of Hugging Face", .knows = inspect_huggingface_knows, .print = inspect_huggingface_print};
