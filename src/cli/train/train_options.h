/** The options of `muster train`. */
#ifndef MUSTER_CLI_TRAIN_TRAIN_OPTIONS_H
#define MUSTER_CLI_TRAIN_TRAIN_OPTIONS_H

#include "cli/option_list.h"
#include "cli/table_options.h"
#include "muster/train.h"

enum { PS_PLACEMENT_GREEDY = 1 };   /* 0: round-robin */
enum { VALIDATION_ROWS_LAST = 1 };  /* 0: random */
enum { INTERPOLATION_NEAREST = 1 }; /* 0: bilinear */
enum { PAD_FRONT = 1 };             /* 0: back */

/** The values of the options. A member that was not given has the default of the tables, else 0. */
typedef struct train_options {
    const char *model;
    integer_list hidden_units;
    int64_t heads, key_value_heads;
    int activation; /**< mst_activation */
    int64_t classes;
    double batch_norm_momentum;
    const char *loss, *loss_weights, *metrics, *positive, *class_weight, *ignore_class;
    double l1, l2, dropout;
    const char *data, *data_dir, *class_names;
    table_options table;
    const char *validation_data, *test_data; /**< NULL: parts of `data` */
    const char *text, *tokenizer;
    int64_t max_tokens, sequence_length;
    int pad; /**< PAD_FRONT or 0 */
    bool raw_columns;
    int64_t embed_above;
    double validation_split;
    int64_t folds;       /**< 0: none */
    int validation_rows; /**< VALIDATION_ROWS_LAST or 0 */
    int64_t skip_corrupt, image_size;
    bool raw_pixels, shuffle, flip;
    int pixels; /**< PIXELS_UNIT, ..., which training_pixels reads */
    int64_t crop_padding;
    double brightness, contrast, rotation, zoom, translation, mixup, cutmix;
    int fill_mode;     /**< mst_fill_mode */
    int interpolation; /**< INTERPOLATION_NEAREST or 0 */
    int strategy;      /**< mst_strategy_kind */
    const char *ps_hosts, *worker_hosts, *job_name, *bind, *cluster_key, *update_log, *replay_updates, *transport;
    bool insecure, sharded_state;
    int task_index, is_sync, replicas_to_aggregate, max_staleness;
    int ps_placement; /**< PS_PLACEMENT_GREEDY or 0 */
    int64_t ps_part_bytes;
    double timeout, recovery_timeout;
    int elastic;
    const char *devices, *visible_devices;
    int shards;
    int64_t batch_size, batch_per_replica;
    int64_t epochs, steps;
    uint64_t seed;
    const char *optimizer_name;
    mst_optimizer optimizer; /**< without its rule, and without the schedule's kind and lists */
    int schedule;            /**< mst_schedule_kind */
    integer_list boundaries;
    number_list values;
    bool evaluate, confusion, use_ema;
    const char *predict;
    const char *checkpoint_dir, *save_every; /**< "1000", "60s" */
    int64_t keep;
    double keep_every_hours;
    bool resume, best, restore_best_weights;
    const char *save, *load, *name_map, *freeze;
    bool save_optimizer;
    const char *monitor;
    int64_t patience;
    double min_delta;
    int64_t reduce_on_plateau, plateau_cooldown;
    double plateau_factor, plateau_min_delta, min_learning_rate;
    int progress; /**< mst_progress */
    int64_t log_every;
    bool json, summary;
    int64_t check_replicas;
    bool log_device_placement, allow_soft_placement, check_numerics, recompute, pin;
    const char *dump_plan, *precision, *compile_cache;
    int64_t memory_limit;
    double step_timeout;
    const char *history, *logdir, *profile;
    int64_t histograms_every;
} train_options;

extern const option_section train_sections[];

/** Whether SPEC is of a kind that --data lists. If so, an error comes from the data and not from the spec. */
bool train_data_is_known(const char *spec);
/** Fills OUT with the options for TensorBoard; its folder is NULL if nothing is written. */
MST_CHECKED mst_status train_log_options(const train_options *o, mst_tensorboard *out);
/** Makes the requested optimizer and checks it. By default its schedule decays over TOTAL_STEPS; -1: not known. */
MST_CHECKED mst_status train_optimizer(const train_options *o, const option_list *list, int64_t total_steps,
                                       mst_optimizer *out);

/** Whether an option of the optimizer or of its schedule was given. */
bool train_optimizer_is_given(const option_list *list);

#endif
