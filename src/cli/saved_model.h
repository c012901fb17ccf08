/** A model that was saved, for `muster evaluate` and `muster predict`. */
#ifndef MUSTER_CLI_SAVED_MODEL_H
#define MUSTER_CLI_SAVED_MODEL_H

#include "cli/options.h"
#include "muster/checkpoint.h"

typedef struct saved_options {
    const char *checkpoint_dir, *load;
    bool use_ema;
    int loss; /**< mst_loss */
    const char *data, *data_dir, *label;
    int64_t image_size;
    bool raw_pixels;
    int64_t batch_size;
    const char *devices;
    bool json;
} saved_options;

/** The options of saved_options, which begins the struct of the command. */
extern const option saved_model_options[];

typedef struct saved_model {
    mst_model *model;
    mst_dataset *data; /**< the test part */
    mst_restored restored;
} saved_model;

/** Opens the data and the model: the dense layers that the file has weights of. An exit status, having said what was
 *  wrong. Close it also after a failure. */
int saved_model_open(const saved_options *o, const char *command, saved_model *out);
/** Takes the weights of the newest checkpoint again. */
MST_CHECKED mst_status saved_model_restore(const saved_options *o, saved_model *saved);
void saved_model_close(saved_model *saved);

#endif
