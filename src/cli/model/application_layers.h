/** Networks of muster/applications.h by the names that --model has for them. */
#ifndef MUSTER_CLI_MODEL_APPLICATION_LAYERS_H
#define MUSTER_CLI_MODEL_APPLICATION_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/dataset.h"
#include "muster/model.h"

/** What --model takes, mlp among them, and what each is, for an option; NULL past the last. */
const char *application_form(int i);
const char *application_help(int i);
/** Whether NAME is one of the networks of muster/applications.h: "lenet", "mobilenet_v2:0.5". */
bool application_is(const char *name);
/** MST_INVALID where NAME is neither one of them nor mlp, or ALPHA is no number above 0; it names the nearest. */
MST_CHECKED mst_status application_check(const char *name);
/** Whether it takes texts, whose tokens are numbers, in place of pictures. */
bool application_takes_texts(const char *name);
/** Adds the layers of NAME, which has been checked, to MODEL, for the inputs of DATA and with OUTPUTS linear outputs.
 *  MST_INVALID where the inputs are no pictures: height and width, or these and channels; DATA must be of texts where
 *  NAME takes these. */
MST_CHECKED mst_status application_layers(const char *name, mst_model *model, const mst_dataset *data, int64_t outputs);

#endif
