/** Opening a saved model with its data, for `muster evaluate` and `muster predict`. */
#ifndef MUSTER_CLI_MODEL_SAVED_MODEL_H
#define MUSTER_CLI_MODEL_SAVED_MODEL_H

#include "cli/model/model_note.h"
#include "cli/model/name_map.h"
#include "cli/model/objective.h"
#include "cli/model/table_layers.h"
#include "cli/option_list.h"
#include "cli/table_options.h"
#include "muster/checkpoint.h"

typedef struct saved_options {
    const char *checkpoint_dir, *load;
    bool use_ema;
    /** Where loss, data, image_size or raw_pixels is not given, what the file notes is taken. */
    const char *loss, *loss_weights;
    int activation;       /**< mst_activation, as the loss */
    const char *metrics;  /**< as the loss; NULL: not given */
    const char *positive; /**< as in training where not given; NULL: not given */
    const char *data, *data_dir, *class_names, *name_map;
    const char *text;    /**< the column of texts of a table, where it is called otherwise than in training */
    table_options table; /**< without drop: the schema says which columns there are */
    int64_t image_size;
    bool raw_pixels;
    int64_t batch_size;
    const char *devices;
    const char *precision; /**< as the loss; NULL: not given */
    bool json;
    bool predicts;               /**< of muster predict, which may have */
    const char *const *pictures; /**< files and folders in place of data */
    int num_pictures;
} saved_options;

/** The options of saved_options, which begins the struct of the command. */
extern const option saved_model_options[];

typedef struct saved_model {
    mst_model *model;
    table_layers table;       /**< of the columns, at the beginning of the model */
    mst_dataset *data;        /**< the test part */
    const mst_dataset *files; /**< the files that DATA is made of, pictures or texts; NULL: rows have no files */
    mst_restored restored;
    objective objective[MST_MAX_TARGETS]; /**< of each output */
    int num_objectives;
    mst_precision precision; /**< that was asked for */
    model_note note;
    class_names own_names[MST_MAX_TARGETS]; /**< of the classes of each output, where the note does not hold them */
    name_map variables;                     /**< of --name-map: names of variables here and in the file */
} saved_model;

/** Opens the data, builds the dense layers that the file has weights of, and restores these. LIST: which options were
 *  given. COMMAND: "predict" needs no labels. Returns an exit status; where it is not 0, the error was printed, else
 *  nothing was. Close it also after a failure. */
int saved_model_open(const saved_options *o, const option_list *list, const char *command, saved_model *out);
/** Prints what was restored, and where the processor lacks what it is to be computed in. */
MST_CHECKED mst_status saved_model_show(const saved_model *saved, bool json);
/** Restores the weights again, from what is the newest checkpoint by now. */
MST_CHECKED mst_status saved_model_restore(const saved_options *o, saved_model *saved);
/** The same as saved_model_open, which --checkpoint-dir or --load must have named something for, with the library's
 *  error in place of a printed one. */
MST_CHECKED mst_status saved_model_open_quietly(const saved_options *o, const option_list *list, const char *command,
                                                saved_model *out);
void saved_model_close(saved_model *saved);

#endif
