/* Arguments of calls in files of Keras, such as masks and `training`: taken, or refused by an error that names them.
 * cmocka needs the first four headers before its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "muster/model_file.h"
#include "support/expect.h"
#include "support/folder.h"

static mst_status load_text(const char *text) {
    mst_model *model;
    const mst_status status = mst_model_load(folder_write_text("net.json", text), &model, NULL);
    mst_model_destroy(model);
    return status;
}

/* A mask of NUMBER, made of input "in", of an LSTM after an Embedding, as Keras 3 writes it. */
static mst_status load_masked(const char *mask_zero, const char *number, const char *source) {
#define TENSOR(name) "{\"class_name\": \"__keras_tensor__\", \"config\": {\"keras_history\": [\"" name "\", 0, 0]}}"
    char text[4096];
    snprintf(text, sizeof text,
             "{\"class_name\": \"Functional\", \"config\": {\"layers\": [{\"class_name\": \"InputLayer\", \"config\": "
             "{\"name\": \"in\", \"batch_shape\": [null, 4]}}, {\"class_name\": \"Embedding\", \"config\": {\"name\": "
             "\"e\", \"input_dim\": 3, \"output_dim\": 2, \"mask_zero\": %s}, \"inbound_nodes\": [{\"args\": [" TENSOR(
                 "in") "]}]}, {\"class_name\": \"NotEqual\", \"config\": {\"name\": \"n\"}, "
                       "\"inbound_nodes\": [{\"args\": [" TENSOR("in") ", %s]}]}, {\"class_name\": \"Embedding\", "
                       "\"config\": {\"name\": \"other\", \"input_dim\": 3, \"output_dim\": 2}, "
                       "\"inbound_nodes\": [{\"args\": [" TENSOR("in") "]}]}, {\"class_name\": \"LSTM\", "
                       "\"config\": {\"name\": \"l\", \"units\": 2}, \"inbound_nodes\": [{\"args\": [%s], "
                       "\"kwargs\": {\"mask\": " TENSOR("n") "}}]}], \"input_layers\": [[\"in\", 0, 0]], "
                       "\"output_layers\": [[\"l\", 0, 0]]}}",
             mask_zero, number, source);
    return load_text(text);
}

static void masks_are_those_of_layers(void **state) {
    (void)state;
    EXPECT_OK(load_masked("true", "0", TENSOR("e")));
    EXPECT_ERROR(load_masked("false", "0", TENSOR("e")), MST_UNIMPLEMENTED, "mask is not that of an Embedding");
    EXPECT_ERROR(load_masked("true", "1", TENSOR("e")), MST_UNIMPLEMENTED, "mask is not that of an Embedding");
    EXPECT_ERROR(load_masked("true", "0", TENSOR("n")), MST_UNIMPLEMENTED, "is applied to 'n' (NotEqual)");
    EXPECT_ERROR(load_masked("true", "0", TENSOR("other")), MST_UNIMPLEMENTED, "from which none comes here");
}

/* A call of a layer of this class with these arguments, as Keras 3 and Keras 2 write it. */
static mst_status load_called(const char *class_name, const char *config, const char *inbound) {
    char text[4096];
    snprintf(text, sizeof text,
             "{\"class_name\": \"Functional\", \"config\": {\"layers\": [{\"class_name\": \"InputLayer\", \"config\": "
             "{\"name\": \"in\", \"batch_shape\": [null, 4, 3]}}, {\"class_name\": \"%s\", \"config\": {\"name\": \"l\""
             "%s}, \"inbound_nodes\": [%s]}], \"input_layers\": [[\"in\", 0, 0]], "
             "\"output_layers\": [[\"l\", 0, 0]]}}",
             class_name, config, inbound);
    return load_text(text);
}

static void arguments_of_calls_are_taken_or_refused(void **state) {
    (void)state;
#define WITH(kwargs) "{\"args\": [" TENSOR("in") "], \"kwargs\": {" kwargs "}}"
#define WITH_2(kwargs) "[[\"in\", 0, 0, {" kwargs "}]]"
    static const char heads[] = ", \"num_heads\": 2, \"key_dim\": 3";
    EXPECT_OK(load_called("LSTM", ", \"units\": 3", WITH("\"initial_state\": null, \"training\": false")));
    EXPECT_ERROR(load_called("LSTM", ", \"units\": 3", WITH("\"initial_state\": [" TENSOR("in") "]")),
                 MST_UNIMPLEMENTED, "layer 'l' (LSTM): is called with the argument 'initial_state'");
    EXPECT_ERROR(load_called("GRU", ", \"units\": 3", WITH_2("\"initial_state\": [\"in\", 0, 0]")), MST_UNIMPLEMENTED,
                 "layer 'l' (GRU): is called with the argument 'initial_state'");
    EXPECT_OK(load_called("Dense", ", \"units\": 3", "{\"args\": [], \"kwargs\": {\"inputs\": " TENSOR("in") "}}"));
    EXPECT_ERROR(load_called("Dense", ", \"units\": 3", "{\"args\": [" TENSOR("in") ", true], \"kwargs\": {}}"),
                 MST_UNIMPLEMENTED, "argument 2 of its call is no output of a layer");
    /* Keras 2 does in training what the call says; Keras 3 what fit says */
    EXPECT_OK(load_called("BatchNormalization", "", WITH("\"training\": false")));
    EXPECT_OK(load_called("BatchNormalization", ", \"trainable\": false", WITH_2("\"training\": false")));
    EXPECT_OK(load_called("BatchNormalization", "", WITH_2("\"training\": false")));
    EXPECT_OK(load_called("Dropout", ", \"rate\": 0.5", WITH_2("\"training\": null")));
    EXPECT_ERROR(load_called("Dropout", ", \"rate\": 0.5", WITH_2("\"training\": true")), MST_UNIMPLEMENTED,
                 "is called with training=True");
    EXPECT_ERROR(load_called("Resizing", ", \"height\": 3, \"width\": 2, \"crop_to_aspect_ratio\": true", WITH("")),
                 MST_UNIMPLEMENTED, "layer 'l' (Resizing): crop_to_aspect_ratio = true is not taken here");
    EXPECT_ERROR(load_called("Resizing", ", \"height\": 3, \"width\": 2, \"interpolation\": \"lanczos3\"", WITH("")),
                 MST_UNIMPLEMENTED, "layer 'l' (Resizing): interpolation = \"lanczos3\" is not taken here");
    EXPECT_ERROR(load_called("MultiHeadAttention", heads,
                             WITH("\"value\": " TENSOR("in") ", \"attention_mask\": " TENSOR("in"))),
                 MST_UNIMPLEMENTED, "the argument 'attention_mask'");
    EXPECT_ERROR(load_called("MultiHeadAttention", heads,
                             WITH("\"value\": " TENSOR("in")) ", " WITH(
                                 "\"value\": " TENSOR("in") ", \"use_causal_mask\": true")),
                 MST_UNIMPLEMENTED, "its calls differ in use_causal_mask");
#undef WITH
#undef WITH_2
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST_IN_FOLDER(masks_are_those_of_layers),
                                       TEST_IN_FOLDER(arguments_of_calls_are_taken_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
