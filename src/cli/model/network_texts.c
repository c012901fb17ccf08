#include "cli/model/network_texts.h"

#include <string.h>

#include "cli/command.h"
#include "model/model.h"
#include "muster/layers.h"

bool network_takes_strings(const network_ends *ends) {
    return ends->num_inputs > 0 && ends->input[0].dtype == MST_STRING;
}

mst_status network_check_strings(const char *path, const network_ends *ends) {
    for (int i = 0; i < ends->num_inputs && ends->num_inputs > 1; i++)
        if (ends->input[i].dtype == MST_STRING)
            return MST_FAIL(MST_UNIMPLEMENTED,
                            "'%s': takes texts ('%s') and other inputs: the commands give texts to networks with one "
                            "input only; in C, mst_fit and mst_predict take a dataset with all of them",
                            path, ends->input[i].name);
    return MST_OK;
}

void network_set_text_length(const char *path, mst_model *model, int64_t length) {
    for (int64_t i = 0; i < model->num_layers; i++) {
        mst_layer_text_vectorization_options *o = model->layer[i].options;
        if (strcmp(model->layer[i].type->name, "text_vectorization") != 0) continue;
        if (length) o->sequence_length = length;
        if (o->sequence_length) continue;
        if (o->output_mode <= MST_OUTPUT_MODE_INT)
            command_warn(
                "'%s': layer '%s' has no output_sequence_length: it takes 300 words of a text; "
                "--sequence-length takes more",
                path, model->layer[i].name);
        else
            command_warn("'%s': layer '%s' counts the first 300 words of a text; --sequence-length takes more", path,
                         model->layer[i].name);
    }
}
