/** Networks of muster/applications.h by the names that --model has for them. */
#ifndef MUSTER_CLI_APPLICATION_LAYERS_H
#define MUSTER_CLI_APPLICATION_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/model.h"

/** What --model takes, mlp among them, for an option; NULL past the last. */
const char *application_form(int i);
/** Whether NAME is one of the networks: lenet, mobilenet_v2, mobilenet_v2:ALPHA, resnet50. */
bool application_is(const char *name);
/** MST_INVALID where NAME is neither one of them nor mlp, or ALPHA is no number above 0; it names the nearest. */
MST_CHECKED mst_status application_check(const char *name);
/** Adds the layers of NAME, which has been checked, to MODEL, for inputs of SHAPE and with OUTPUTS linear outputs.
 *  MST_INVALID where SHAPE is not height and width, or these and channels. */
MST_CHECKED mst_status application_layers(const char *name, mst_model *model, mst_shape shape, int64_t outputs);

#endif
