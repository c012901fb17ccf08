/** The model of `muster train`: what its outputs are trained for, its layers where no file has them, its optimizer. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_MODEL_H
#define MUSTER_CLI_TRAIN_TRAIN_MODEL_H

#include "cli/train/training.h"

/** Makes and compiles the model; the data is open, and so is the task of a cluster. Returns an exit status, and has
 *  printed what was wrong. */
int train_model_make(training *t);

#endif
