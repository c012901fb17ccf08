/** Opening a saved model with its data, for `muster evaluate` and `muster predict`. */
#ifndef MUSTER_CLI_MODEL_SAVED_MODEL_H
#define MUSTER_CLI_MODEL_SAVED_MODEL_H

#include <jansson.h>

#include "cli/model/application_pixels.h"
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
    /** If loss, data, image_size, pixels or raw_pixels is not given, the value noted in the file is used. */
    const char *loss, *loss_weights;
    int activation;           /**< mst_activation; if not given, the one noted in the file */
    const char *metrics;      /**< NULL: not given; those noted in the file are used */
    const char *ignore_class; /**< NULL: not given; as in training */
    const char *positive;     /**< NULL: not given; as in training */
    const char *data, *data_dir, *class_names, *name_map;
    const char *text;      /**< the column of texts in a table, if its name is not the same as in training */
    const char *tokenizer; /**< file of the tokenizer of texts, for a network that is saved without a vocabulary */
    table_options table;   /**< without `drop`: the schema lists the columns */
    int64_t image_size, skip_corrupt;
    int64_t sequence_length; /**< 0: not given */
    bool raw_pixels;
    int pixels; /**< PIXELS_UNIT, ... */
    int64_t batch_size;
    const char *devices;
    const char *precision; /**< NULL: not given; the one noted in the file is used */
    bool json;
    bool predicts;               /**< the command is muster predict, which may have pictures */
    const char *const *pictures; /**< files and folders instead of data */
    int num_pictures;
} saved_options;

/** The options that fill saved_options, which must be the first member of the command's struct. */
extern const option saved_model_options[];

typedef struct saved_model {
    mst_model *model;
    table_layers table;       /**< the layers for the columns of a table, at the beginning of the model */
    mst_dataset *data;        /**< the test part */
    const mst_dataset *files; /**< has the paths of the picture or text files of the rows; NULL: rows have no files */
    mst_restored restored;
    objective objective[MST_MAX_TARGETS]; /**< one for each output */
    int num_objectives;
    mst_precision precision;    /**< the requested precision */
    char *accelerators_problem; /**< why the accelerators of the plugin cannot be used; NULL: no problem */
    model_note note;
    application_pixels known_pixels;        /**< keras.applications decides how u8 is scaled; name NULL: it does not */
    class_names own_names[MST_MAX_TARGETS]; /**< names of the classes of each output, unless the note owns them */
    class_names label_columns;              /**< names of a table's columns of labels; NULL if there is only one */
    name_map variables;                     /**< --name-map: names of variables in the model and in the file */
} saved_model;

/** Opens the data, builds the model of the file, and restores its weights. LIST tells which options were given. COMMAND
 *  is "evaluate" or "predict"; "predict" needs no labels. Returns an exit status, and prints an error if the status is
 *  not 0. Close OUT also after a failure. */
int saved_model_open(const saved_options *o, const option_list *list, const char *command, saved_model *out);
/** The precision in which the model is computed. */
mst_precision saved_model_precision(const saved_model *saved);
/** Prints what was restored, and a note if the devices compute in another precision than the requested one. */
MST_CHECKED mst_status saved_model_show(const saved_model *saved, bool json);
/** Adds the devices on which the model is computed to an event. */
void saved_model_add_devices(json_t **event, const saved_model *saved);
/** Restores the weights again, from the newest checkpoint at the time of the call. */
MST_CHECKED mst_status saved_model_restore(const saved_options *o, saved_model *saved);
/** The same as saved_model_open, but reports a failure as the library's error instead of printing it. --checkpoint-dir
 *  or --load must be given. */
MST_CHECKED mst_status saved_model_open_quietly(const saved_options *o, const option_list *list, const char *command,
                                                saved_model *out);
void saved_model_close(saved_model *saved);

#endif
