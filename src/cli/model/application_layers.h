/** Networks of muster/applications.h by their names in --model. */
#ifndef MUSTER_CLI_MODEL_APPLICATION_LAYERS_H
#define MUSTER_CLI_MODEL_APPLICATION_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/dataset.h"
#include "muster/model.h"

/** The I-th value of --model, including mlp, and its help; NULL past the last. */
const char *application_form(int i);
const char *application_help(int i);
/** Whether NAME is one of the networks of muster/applications.h: "lenet", "mobilenet_v2:0.5". */
bool application_is(const char *name);
/** MST_INVALID if NAME is neither such a network nor mlp. The message then tells the most similar name. Also
 *  MST_INVALID if NAME has an alpha, as in "mobilenet_v2:0.5", that is not a number above 0 and at most 100. */
MST_CHECKED mst_status application_check(const char *name);
/** Whether the network NAME takes texts, as numbers of tokens, instead of pictures. */
bool application_takes_texts(const char *name);
/** Whether it gives a row of classes for each position of its input, such as each pixel. */
bool application_has_positions(const char *name);
/** Whether it predicts the token after each position of a long text: "gpt:6x384". */
bool application_predicts_tokens(const char *name);

/** What a language model is given beside the sizes in its name. */
typedef struct application_heads {
    int64_t heads;           /**< 0: one for each 64 units of the width */
    int64_t key_value_heads; /**< 0: as many */
    double dropout;
} application_heads;
/** Adds the layers of NAME, which has been checked, to MODEL, for the inputs of DATA and with OUTPUTS linear outputs,
 *  or of a language model for OUTPUTS tokens, with HEADS. If NAME takes texts, DATA must have texts. Else MST_INVALID
 *  if the inputs are not pictures, whose shape is height, width and optionally channels. */
MST_CHECKED mst_status application_layers(const char *name, mst_model *model, const mst_dataset *data, int64_t outputs,
                                          const application_heads *heads);

#endif
