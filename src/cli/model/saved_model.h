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
    int activation;           /**< mst_activation; if not given, as noted in the file */
    const char *metrics;      /**< NULL: not given, as noted in the file */
    const char *ignore_class; /**< as `positive` */
    const char *positive;     /**< NULL: not given, as in training */
    const char *data, *data_dir, *class_names, *name_map;
    const char *text;      /**< the column of texts of a table, if it has another name than in training */
    const char *tokenizer; /**< of texts, for a network without a vocabulary of its own */
    table_options table;   /**< without `drop`: the schema tells the columns */
    int64_t image_size, skip_corrupt;
    int64_t sequence_length; /**< 0: not given */
    bool raw_pixels;
    int pixels; /**< PIXELS_UNIT, ... */
    int64_t batch_size;
    const char *devices;
    const char *precision; /**< NULL: not given, as noted in the file */
    bool json;
    bool predicts;               /**< the command is muster predict, which may have pictures */
    const char *const *pictures; /**< files and folders instead of data */
    int num_pictures;
} saved_options;

/** The options that fill saved_options, which must be the first member of the command's struct. */
extern const option saved_model_options[];

typedef struct saved_model {
    mst_model *model;
    table_layers table;       /**< of the columns, at the beginning of the model */
    mst_dataset *data;        /**< the test part */
    const mst_dataset *files; /**< knows the picture or text files that `data` is made of; NULL: rows have no files */
    mst_restored restored;
    objective objective[MST_MAX_TARGETS]; /**< of each output */
    int num_objectives;
    mst_precision precision;    /**< the requested precision */
    char *accelerators_problem; /**< why the accelerators of a plugin are not used; NULL: there is no reason */
    model_note note;
    application_pixels known_pixels;        /**< if these decided what became of u8 pixels; else its name is NULL */
    class_names own_names[MST_MAX_TARGETS]; /**< of the classes of each output, unless the note owns them */
    class_names label_columns;              /**< of a table with several labels; else NULL */
    name_map variables;                     /**< of --name-map: names of variables here and in the file */
} saved_model;

/** Opens the data, builds the model of the file, and restores its weights. LIST tells which options were given. COMMAND
 *  is "evaluate" or "predict"; the latter needs no labels. Returns an exit status and prints an error if it is not 0.
 *  Close OUT also after a failure. */
int saved_model_open(const saved_options *o, const option_list *list, const char *command, saved_model *out);
/** The precision in which the model is computed. */
mst_precision saved_model_precision(const saved_model *saved);
/** Prints what was restored, and a note if the devices compute in another precision than the requested one. */
MST_CHECKED mst_status saved_model_show(const saved_model *saved, bool json);
/** Adds the devices on which the model is computed to an event. */
void saved_model_add_devices(json_t **event, const saved_model *saved);
/** Restores the weights again, from the checkpoint that is now the newest. */
MST_CHECKED mst_status saved_model_restore(const saved_options *o, saved_model *saved);
/** The same as saved_model_open, but reports a failure as the library's error instead of printing it. --checkpoint-dir
 *  or --load must be given. */
MST_CHECKED mst_status saved_model_open_quietly(const saved_options *o, const option_list *list, const char *command,
                                                saved_model *out);
void saved_model_close(saved_model *saved);

#endif
