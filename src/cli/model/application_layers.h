/** Networks of muster/applications.h by their names in --model. */
#ifndef MUSTER_CLI_MODEL_APPLICATION_LAYERS_H
#define MUSTER_CLI_MODEL_APPLICATION_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/dataset.h"
#include "muster/model.h"

/** Value I of --model, and its help. The values include mlp. NULL if I is past the last. */
const char *application_form(int i);
const char *application_help(int i);
/** Whether NAME is one of the networks of muster/applications.h: "lenet", "mobilenet_v2:0.5". */
bool application_is(const char *name);
/** MST_INVALID if NAME is neither such a network nor mlp. The message then tells the most similar name. Also
 *  MST_INVALID if NAME has an alpha, as in "mobilenet_v2:0.5", that is not a number above 0 and at most 100. */
MST_CHECKED mst_status application_check(const char *name);
/** Whether the network NAME takes texts, as numbers of tokens, instead of pictures. */
bool application_takes_texts(const char *name);
/** Whether the network NAME gives a row of classes for each position of its input, such as each pixel. */
bool application_has_positions(const char *name);
/** Whether the network NAME predicts the token after each position of a long text: "gpt:6x384". */
bool application_predicts_tokens(const char *name);

/** Settings of a language model, besides the sizes in its name. */
typedef struct application_heads {
    int64_t heads;           /**< 0: one for each 64 units of the width */
    int64_t key_value_heads; /**< 0: as many as `heads` */
    double dropout;
} application_heads;
/** Adds the layers of the network NAME, which has been checked, to MODEL. They take the inputs of DATA, and end with
 *  OUTPUTS linear outputs; for a language model, OUTPUTS is the number of tokens, and HEADS is used. If NAME takes
 *  texts, DATA must have texts. Otherwise the inputs must be pictures, [height, width] or [height, width, channels]; if
 *  they are not, MST_INVALID. */
MST_CHECKED mst_status application_layers(const char *name, mst_model *model, const mst_dataset *data, int64_t outputs,
                                          const application_heads *heads);

#endif
