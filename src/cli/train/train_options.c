/* The options of `muster train`, in the sections that `muster help train` shows, and the structs made from several of
 * them: the optimizer with its schedule, and the options of the log. Options of optimizers and schedules come from the
 * library's own tables of fields. */
#include "cli/train/train_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cluster_options.h"
#include "cli/model/application_layers.h"
#include "cli/model/mlp_layers.h"
#include "cli/model/network_file.h"
#include "cli/model/objective.h"
#include "cli/model/objective_metrics.h"
#include "cli/model/scale_inputs.h"
#include "cli/precision.h"
#include "plan/passes.h"

#define AT(member) offsetof(train_options, member)
/* With cosine decay over 5 epochs of Fashion-MNIST, a rate of 0.003 gives an accuracy of 0.885 on the test part; 0.002
 * gives 0.883. */
static const double default_rate = 0.003;

static const char *const progress_kinds[] = {"auto", "bar", "lines", "none", NULL}; /* in the order of mst_progress */
static const char *const validation_rows[] = {"random", "last", NULL};              /* 1 is VALIDATION_ROWS_LAST */
static const char *const fill_modes[] = {"reflect", "constant", "nearest", "wrap", NULL}; /* of mst_fill_mode */
static const char *const interpolations[] = {"bilinear", "nearest", NULL};  /* 1 is INTERPOLATION_NEAREST */
static const char *const pad_sides[] = {"back", "front", NULL};             /* 1 is PAD_FRONT */
static const char *const ps_placements[] = {"round-robin", "greedy", NULL}; /* 1 is PS_PLACEMENT_GREEDY */
#define PASS(name) #name,
static const char *const plan_passes[] = {"all", MST_PASSES(PASS) "stablehlo", NULL};
#undef PASS

static const option model_options[] = {
    {"model", OPTION_FORM, AT(model), "NAME", "mlp", .choice = application_form, .choice_help = application_help,
     .noted = true, .help = "the network that is trained"},
    {"hidden-units", OPTION_INTEGERS, AT(hidden_units), "N,N,...", "500", 1, 1e6, .may_be_none = true, .noted = true,
     .help = "units of each hidden layer; none: there is no hidden layer"},
    {"heads", OPTION_INTEGER, AT(heads), "N", NULL, 1, 1e6, .noted = true,
     .help = "gpt, llama: heads of attention (default: one for each 64 of the width)"},
    {"key-value-heads", OPTION_INTEGER, AT(key_value_heads), "N", NULL, 1, 1e6, .noted = true,
     .help = "gpt, llama: heads of keys and values, each of which serves several heads (default: as many as heads)"},
    {"activation", OPTION_CHOICE, AT(activation), "NAME", "relu", .choice = mlp_activation, .noted = true,
     .help = "of the hidden layers"},
    {"classes", OPTION_INTEGER, AT(classes), "N", NULL, 2, 1e6, .noted = true,
     .help = "number of outputs: labels are below it (default: one more than the largest label; where the data names "
             "its classes, as many as these, and where labels are no class numbers, as many as a label has)"},
    {"loss", OPTION_WORDS, AT(loss), "NAME", "sparse_categorical_crossentropy", .choice = objective_loss,
     .also = objective_short_losses, .choice_help = objective_labels, .noted = true,
     .help = "the loss that training minimizes, and the labels that it takes (default for a table whose labels are "
             "numbers but do not look like class numbers: mean_squared_error); for several outputs "
             "OUTPUT=NAME,OUTPUT=NAME"},
    {"loss-weights", OPTION_TEXT, AT(loss_weights), "OUTPUT=X,OUTPUT=X,...", .noted = true,
     .help = "networks with several outputs: what their losses are multiplied by in the sum (default: as in the file, "
             "else 1)"},
    {"metrics", OPTION_TEXT, AT(metrics), "NAME,NAME,...", .choice = objective_metric,
     .choice_help = objective_metric_help, .noted = true,
     .help = "what is measured beside the loss; OUTPUT=NAME of one of several outputs (default: what fits the loss)"},
    {"positive", OPTION_TEXT, AT(positive), "CLASS", .noted = true,
     .help = "the class, by name or number, for precision, recall, f1, auc and pr_auc (default: the second of two "
             "classes, in the order of names; with more classes all together); OUTPUT=CLASS for one of several "
             "outputs"},
    {"class-weight", OPTION_TEXT, AT(class_weight), "SPEC", .noted = true,
     .help =
         "weights of examples in training by their class: 1,5 of all classes in their order; cat=5,dog=2 by name or "
         "number, others 1; balanced: examples / (classes * examples of the class); of a network with several outputs "
         "OUTPUT=balanced, OUTPUT=CLASS=5, or balanced for all that have classes"},
    {"ignore-class", OPTION_TEXT, AT(ignore_class), "N", .noted = true,
     .help = "labels N, such as 255 or -1, do not count in the loss and the metrics, where labels are class numbers "
             "(default: all count)"},
    {"l2", OPTION_NUMBER, AT(l2), "X", NULL, 0, 1e6, .noted = true,
     .help = "adds X / 2 * sum(w^2) of the kernels to the loss"},
    {"l1", OPTION_NUMBER, AT(l1), "X", NULL, 0, 1e6, .noted = true,
     .help = "adds X * sum |w| of the kernels to the loss"},
    {"dropout", OPTION_NUMBER, AT(dropout), "X", NULL, 0, 0.999, .noted = true,
     .help = "part of each hidden layer left out in a step; gpt, llama: of what each part adds"},
    {0}};

static const option data_options[] = {
    {"data", OPTION_FORM, AT(data), "SPEC", "fashion-mnist", .choice = mst_dataset_form,
     .choice_help = mst_dataset_form_help,
     .help = "what to train on; several files, csv:a.csv,b.csv, or a pattern in quotes, 'csv:data/*.csv'"},
    {"skip-corrupt", OPTION_INTEGER, AT(skip_corrupt), "N", NULL, 0, 1e15,
     .help = "images, masks, tfrecord: damaged pictures or records that are left out; one more is an error"},
    {"label", OPTION_TEXT, AT(table.label), "COLUMN,COLUMN,...", .noted = true,
     .help = "csv: the column of labels (default: the last); several, all of numbers, are predicted together"},
    {"sample-weight", OPTION_TEXT, AT(table.weight), "COLUMN", .may_be_empty = true, .noted = true,
     .help = "csv: the column of the examples' weights, numbers from 0, by which their losses are multiplied, in "
             "training and where loss is measured; it is no input; \"\": none (default: all have the weight 1)"},
    {"delimiter", OPTION_TEXT, AT(table.delimiter), "C", .noted = true,
     .help = "csv: what is between cells: a character, or tab (default: a comma)"},
    {"comment", OPTION_TEXT, AT(table.comment), "C", .noted = true,
     .help = "csv: lines that begin with this character, such as '#', are skipped (default: none are)"},
    {"no-header", OPTION_FLAG, AT(table.no_header), .noted = true,
     .help = "csv: the first line is a row too, and the columns have the names 1, 2, 3 and so on"},
    {"encoding", OPTION_TEXT, AT(table.encoding), "NAME", .noted = true,
     .help = "csv, texts: the encoding, such as latin1, windows-1252 or shift-jis, or another name that iconv -l lists "
             "(default: UTF-8); a byte order mark overrules it"},
    {"drop", OPTION_TEXT, AT(table.drop), "COLUMN,COLUMN,...", .may_be_empty = true, .noted = true,
     .help = "csv: columns that are left out"},
    {"categories", OPTION_TEXT, AT(table.categories), "COLUMN,COLUMN,...", .may_be_empty = true, .noted = true,
     .help = "csv: columns of numbers that are categories, such as postal codes"},
    {"missing", OPTION_CHOICE, AT(table.missing), .initial = "refuse", .choices = table_missing, .noted = true,
     .help = "csv: a number that is empty, NA, NaN or null is an error (refuse), or becomes the mean of the column in "
             "what is trained on"},
    {"decimal", OPTION_TEXT, AT(table.decimal), "C", .noted = true,
     .help = "csv: the decimal mark of numbers, ',' or '.' (default: the one that fits all cells of a column; if both "
             "fit, as with 100,500 alone, that is an error)"},
    {"thousands", OPTION_TEXT, AT(table.thousands), "C", .noted = true,
     .help = "csv: the thousands separator: ',', '.', an apostrophe, or space (default: the one that fits all cells of "
             "a column)"},
    {"dates", OPTION_TEXT, AT(table.dates), "COLUMN,COLUMN,...", .noted = true,
     .help = "csv: columns of dates, which become numbers: year, month, weekday and seconds since 1970; "
             "COLUMN=year+month for some of these (default: a date is a category, with a warning)"},
    {"text", OPTION_TEXT, AT(text), "COLUMN", .noted = true,
     .help = "csv: the inputs are the texts of this column, whose words become numbers as Keras' TextVectorization "
             "makes them; other columns but the label's are left out"},
    {"tokenizer", OPTION_FILE, AT(tokenizer), "PATH", .noted = true,
     .help = "texts: ids of subwords in place of words: tokenizer.json of Hugging Face, vocab.json with merges.txt, a "
             "SentencePiece FILE.model, or a folder with one of these; the saved model keeps it"},
    {"max-tokens", OPTION_INTEGER, AT(max_tokens), "N", NULL, 3, 2147483647, .noted = true,
     .help =
         "texts: size of the vocabulary, the most frequent words of the train part; others count as one; of word-ids "
         "numbers from there on (default "
         "20000)"},
    {"sequence-length", OPTION_INTEGER, AT(sequence_length), "N", NULL, 1, 1e6, .noted = true,
     .help = "texts: words of a text that are taken (default 300)"},
    {"pad", OPTION_CHOICE, AT(pad), .initial = "back", .choices = pad_sides, .noted = true,
     .help = "texts: where shorter ones are padded with 0: back: behind their words; front: before them, as Keras' "
             "pad_sequences does"},
    {"raw-columns", OPTION_FLAG, AT(raw_columns), .noted = true,
     .help =
         "tables: numbers stay as they are, and categories are their numbers; else layers of the model make numbers "
         "of mean 0 and standard deviation 1, and one-hot categories"},
    {"embed-above", OPTION_INTEGER, AT(embed_above), "N", NULL, 1, 1e9, .noted = true,
     .help = "tables: a column of more than N categories is embedded in place of one-hot (default: none)"},
    {"class-names", OPTION_FILE, AT(class_names), "FILE",
     .help = "names of the classes, one in each line; csv, images, tfds and fashion-mnist have their own; of several "
             "outputs with classes OUTPUT=FILE,OUTPUT=FILE"},
    {"image-size", OPTION_INTEGER, AT(image_size), "N", NULL, 1, 16384, .noted = true,
     .help = "images, tfds, tfrecord: pictures are resized to N x N pixels (default: the shorter side of the first "
             "one, at most 64; "
             "of tfds with pictures of one size: that)"},
    {"data-dir", OPTION_FILE, AT(data_dir), "DIR", .help = "the same as --data idx:DIR", .excludes = "data"},
    {"validation-data", OPTION_TEXT, AT(validation_data), "SPEC", .noted = true,
     .help = "what is measured after each epoch, in the form of --data: its test part, and csv:FILE, images:DIR, "
             "texts:PATH, or x and y of npz:FILE, as they are; columns, classes and words are those of --data "
             "(default: the part val, validation or valid beside the part train, if there is one)"},
    {"test-data", OPTION_TEXT, AT(test_data), "SPEC", .noted = true,
     .help = "the same for what is measured at the end (--evaluate, which it turns on, --confusion, --predict); muster "
             "evaluate takes it by default"},
    {"validation-split", OPTION_NUMBER, AT(validation_split), "X", NULL, 0, 0.999, .noted = true,
     .help = "a part X of the training data is kept out, and measured after each epoch", .excludes = "validation-data"},
    {"validation-rows", OPTION_CHOICE, AT(validation_rows), .initial = "random", .choices = validation_rows,
     .noted = true,
     .help = "which rows --validation-split keeps out: random: drawn by --seed, of each class its share; last: the "
             "last ones, as Keras does"},
    {"folds", OPTION_INTEGER, AT(folds), "K", NULL, 2, 1000,
     .help = "k-fold cross validation: each of K parts of the training data, drawn by --seed, of each class its share, "
             "is kept out in turn, and a new model is trained on the others; shows the mean and the standard deviation "
             "of the K results; no model is kept"},
    {"pixels", OPTION_CHOICE, AT(pixels), .initial = "0..1", .choices = pixels_choices, .noted = true,
     .help =
         "what becomes of u8 inputs: 0..1: divided by 255, unless the network begins with a Rescaling; -1..1, torch, "
         "caffe: as by the modes tf, torch and caffe of Keras' preprocess_input; raw: they stay 0 to 255; weights of "
         "keras.applications that are loaded have their own"},
    {"raw-pixels", OPTION_FLAG, AT(raw_pixels), .noted = true, .help = "the same as --pixels raw",
     .excludes = "pixels"},
    {"flip", OPTION_FLAG, AT(flip), .noted = true,
     .help = "pictures, and labels that are pictures: a random half of them is mirrored left to right, another half in "
             "each epoch"},
    {"crop-padding", OPTION_INTEGER, AT(crop_padding), "N", NULL, 0, 16384, .noted = true,
     .help = "pictures, and labels that are pictures: N zeros are added on each side, then a random part of the "
             "original size is cut out"},
    {"rotation", OPTION_NUMBER, AT(rotation), "X", NULL, 0, 1, .noted = true,
     .help =
         "pictures, and labels that are pictures: they are rotated by a random angle from -X to X turns, as by Keras' "
         "RandomRotation"},
    {"zoom", OPTION_NUMBER, AT(zoom), "X", NULL, 0, 0.999, .noted = true,
     .help =
         "the same: their height and width are zoomed by one random number from 1 - X (larger) to 1 + X (smaller), as "
         "by RandomZoom"},
    {"translation", OPTION_NUMBER, AT(translation), "X", NULL, 0, 1, .noted = true,
     .help =
         "the same: they are moved by random parts of their height and width from -X to X, as by RandomTranslation"},
    {"fill-mode", OPTION_CHOICE, AT(fill_mode), .initial = "reflect", .choices = fill_modes, .noted = true,
     .help =
         "what --rotation, --zoom and --translation show beside a picture: its reflection, zeros, the nearest pixel, "
         "or the picture again"},
    {"interpolation", OPTION_CHOICE, AT(interpolation), .initial = "bilinear", .choices = interpolations, .noted = true,
     .help = "how they make values between pixels; labels that are whole numbers always get the nearest"},
    {"brightness", OPTION_NUMBER, AT(brightness), "X", NULL, 0, 1, .noted = true,
     .help = "pictures: a random number from -X to X is added to their pixels, which are 0 to 1"},
    {"contrast", OPTION_NUMBER, AT(contrast), "X", NULL, 0, 1, .noted = true,
     .help = "pictures: their contrast is multiplied by a random number from 1 - X to 1 + X"},
    {"mixup", OPTION_NUMBER, AT(mixup), "ALPHA", NULL, 0, 1, .noted = true,
     .help =
         "pictures with a class each: each is mixed with another one of its batch, and their labels too, as by Keras' "
         "MixUp(alpha=ALPHA), such as 0.2"},
    {"cutmix", OPTION_NUMBER, AT(cutmix), "FACTOR", NULL, 0, 1, .noted = true,
     .help = "the same: a box of each becomes that of another one, as by CutMix(factor=FACTOR), such as 1",
     .excludes = "mixup"},
    {"shuffle", OPTION_FLAG, AT(shuffle), .initial = "true", .noted = true, .help = "a new order each epoch"},
    {0}};

static const option training_options[] = {
    {"epochs", OPTION_INTEGER, AT(epochs), "N", "5", 1, 1e15, .help = "times through the data"},
    {"steps", OPTION_INTEGER, AT(steps), "N", NULL, 1, 1e15, .help = "number of updates, in place of epochs",
     .alias = "train-steps", .excludes = "epochs"},
    {"batch-size", OPTION_INTEGER, AT(batch_size), "N", NULL, 1, 1e15, .noted = true,
     .help = "examples of a step, over all replicas (default 200)"},
    {"batch-per-replica", OPTION_INTEGER, AT(batch_per_replica), "N", NULL, 1, 1e12, .noted = true,
     .help = "the same, for each replica; there are as many replicas as shards", .excludes = "batch-size"},
    {"precision", OPTION_TEXT, AT(precision), "NAME", "float32", .choice = precision_name,
     .choice_help = precision_help, .noted = true, .help = "of products of matrices and of convolutions"},
    {"seed", OPTION_UNSIGNED, AT(seed), "N", "0", .noted = true, .help = "of initial values, order and dropout"},
    {"evaluate", OPTION_FLAG, AT(evaluate), .help = "loss and accuracy on the test part, at the end"},
    {"confusion", OPTION_FLAG, AT(confusion),
     .help = "the same, with the confusion matrix, and precision, recall and f1 of each class"},
    {"use-ema", OPTION_FLAG, AT(use_ema),
     .help =
         "after training the weights become the moving averages that --ema keeps: for --evaluate, --predict and the "
         "hash of the weights"},
    {"predict", OPTION_FILE, AT(predict), "FILE",
     .help =
         "writes the class probabilities of the test part, or what else --loss compares: FILE.csv, with the class of "
         "each row, f32 [n, outputs] in NumPy's .npy, or FILE.npz, an array for each output by its name"},
    {0}};

static const option strategy_options[] = {
    {"strategy", OPTION_CHOICE, AT(strategy), .initial = "auto", .choices = mst_strategy_names,
     .choice_help = mst_strategy_help, .help = "where replicas run"},
    {"devices", OPTION_TEXT, AT(devices), "SPEC",
     .help =
         "cpu:2 is the CPU as two devices, cpu:2/4 with 4 threads each, cpu all cores as one; gpu is all GPUs, gpu:2 "
         "two of them, gpu:1x2 two logical devices on one; tpu:8 eight TPUs (default: all GPUs or TPUs if "
         "MUSTER_PJRT_PLUGIN names such a plugin; else as many devices of one core as there are cores and as divide "
         "the shards; with --strategy one: one GPU or TPU, else cpu); where other programs keep the cores busy, cpu "
         "can be faster, with the same weights"},
    {"visible-devices", OPTION_TEXT, AT(visible_devices), "N,N,...",
     .help = "places in the list of devices that are used, numbered anew from 0, such as 1,0 (default: all)"},
    {"shards", OPTION_INT, AT(shards), "N", NULL, 1, 2048,
     .help = "replicas that a batch is cut into, a multiple of the devices: the same seed, batch size and shards give "
             "the same weights on any number of devices (default: those of the training that is resumed; else 4, or "
             "the number of devices where that does not divide 4; where devices compile, such as GPUs, their number)"},
    {"pin", OPTION_FLAG, AT(pin), .help = "binds each device's threads to its cores"},
    {"memory-limit", OPTION_BYTES, AT(memory_limit), "SIZE",
     .help =
         "of each device, of logical ones too, such as 4096MB, checked before the first step (default: none; memory "
         "grows as it is needed)"},
    {"compile-cache", OPTION_TEXT, AT(compile_cache), "DIR",
     .help =
         "devices that compile: folder of compiled programs, yours alone, at most 1 GB, for the next run; off: none "
         "(default: muster/executables in $XDG_CACHE_HOME or ~/.cache)"},
    {"recompute", OPTION_FLAG, AT(recompute),
     .help = "keeps few values for the backward pass and computes the others again: less memory, about a third more "
             "time, the same weights; with mixed_bfloat16 they differ a little"},
    {"allow-soft-placement", OPTION_FLAG, AT(allow_soft_placement),
     .help = "what cannot run on its device runs on CPU:0"},
    {"log-device-placement", OPTION_FLAG, AT(log_device_placement), .help = "each node's device, on standard error"},
    {"dump-plan", OPTION_TEXT, AT(dump_plan), "PASS", .choices = plan_passes,
     .help = "each plan as it is after a pass, such as memory, or after each (all), or the programs of devices that "
             "compile (stablehlo), on standard error"},
    {"step-timeout", OPTION_NUMBER, AT(step_timeout), "SECONDS", NULL, 0.1, 1e9,
     .help = "how long a step may take before training fails: on devices that compile, the first of each shape with "
             "the time to compile; with other workers, with the time to wait for them (default 600)"},
    {"check-numerics", OPTION_FLAG, AT(check_numerics), .help = "names the first node that makes a NaN or Inf"},
    {"check-replicas", OPTION_INTEGER, AT(check_replicas), "N", "0", -1, 1e15,
     .help =
         "steps between comparisons of the weights that devices and workers keep, which ends training where one has "
         "other bits; 0: once an epoch, -1: never"},
    {0}};

static const option cluster_options[] = {
    CLUSTER_TASK_OPTIONS,
    {"sharded-state", OPTION_FLAG, AT(sharded_state),
     .help = "without parameter servers: each worker keeps the optimizer's state of its part of the parameters only "
             "(ZeRO stage 1), with the same weights"},
    {"issync", OPTION_INT, AT(is_sync), "0|1", NULL, 0, 1,
     .help = "with parameter servers: 1: each update is made of the gradients of all workers; 0: of one worker's "
             "(default 0)"},
    {"replicas-to-aggregate", OPTION_INT, AT(replicas_to_aggregate), "N", NULL, 1, 1e6,
     .help = "with --issync 1: an update is made when the gradients of N workers are there; later ones are dropped "
             "(default: all workers)"},
    {"max-staleness", OPTION_INT, AT(max_staleness), "N", NULL, 1, 1e9,
     .help = "with --issync 0: at most N updates are made between the reading of variables and that of their gradients "
             "(default: any)"},
    {"ps-placement", OPTION_CHOICE, AT(ps_placement), .initial = "round-robin", .choices = ps_placements,
     .help = "round-robin: one variable after the other goes to the next parameter server; greedy: to the one that has "
             "the fewest bytes so far"},
    {"ps-part-bytes", OPTION_BYTES, AT(ps_part_bytes), "SIZE",
     .help = "each parameter server keeps a part of the rows of a variable that has at least SIZE, such as 64MB; one "
             "with fewer rows than there are servers stays whole (default: all do)"},
    CLUSTER_UPDATE_LOG_OPTIONS,
    CLUSTER_CONNECTION_OPTIONS("the key of the cluster, which 'muster keygen FILE' makes: connections are encrypted, "
                               "and only tasks with the same key can join",
                               CLUSTER_TRANSPORT_HELP
                               "; mpi: by the MPI whose mpiexec or srun has started this process, else by MPICH",
                               mst_transport_worker_name),
    {"timeout", OPTION_NUMBER, AT(timeout), "SECONDS", NULL, 0.1, 1e6,
     .help = "silence after which a task is lost (default 10)"},
    {"recovery-timeout", OPTION_NUMBER, AT(recovery_timeout), "SECONDS", NULL, 0.1, 1e9,
     .help = "how long the others wait for a lost task to come back (default 600)"},
    {"elastic", OPTION_INT, AT(elastic), "MIN", NULL, 1, 1e6,
     .help =
         "workers that are lost are not waited for, and come back at any time: MIN of them, and a majority of those "
         "who trained last, are enough (default: all are needed)"},
    {0}};

static const option output_options[] = {
    {"progress", OPTION_CHOICE, AT(progress), .initial = "auto", .choices = progress_kinds,
     .help = "auto: a bar on a terminal, a line an epoch elsewhere; with none there is also no line about reading and "
             "saving that takes over two seconds"},
    {"log-every", OPTION_INTEGER, AT(log_every), "N", "100", 1, 1e15, .help = "steps between lines or events"},
    {"summary", OPTION_FLAG, AT(summary),
     .help =
         "the model's layers, shapes and parameters, as Keras prints them, before training; with --json on standard "
         "error"},
    {"history", OPTION_FILE, AT(history), "FILE",
     .help =
         "writes a row of CSV for each epoch: epoch (from 0), loss, metrics, learning rate, seconds; where training "
         "goes on from a checkpoint, so does the file; -: standard output, and all else goes to standard error"},
    {"logdir", OPTION_FILE, AT(logdir), "DIR",
     .help = "writes curves, the graph and the options to DIR, for TensorBoard and 'muster plot': each epoch, and as "
             "batch_loss and so on every --log-every steps; an evaluator writes to DIR/eval"},
    {"histograms-every", OPTION_INTEGER, AT(histograms_every), "N", NULL, 1, 1e15,
     .help = "with --logdir: epochs between histograms of the weights (default: none)"},
    {"profile", OPTION_TEXT, AT(profile), "A:B",
     .help = "with --logdir: traces steps A to B: their times in TensorBoard's graph, and DIR/trace-A-B.json for "
             "ui.perfetto.dev"},
    {"json", OPTION_FLAG, AT(json),
     .help = "one JSON object a line on standard output, and nothing else; the last is the event done"},
    {0}};

static const option optimizer_options[] = {
    {"optimizer", OPTION_WORD, AT(optimizer_name), .choice = mst_optimizer_name, .noted = true,
     .help = "how weights follow from gradients (default adam)"},
    {"learning-rate", OPTION_NUMBER, AT(optimizer.learning_rate), "X", NULL, 0, 1e9, .above_low = true, .noted = true,
     .help = "step size (default: the optimizer's own in Keras; without --optimizer 0.003)"},
    {0}};

static const option schedule_options[] = {
    {"schedule", OPTION_CHOICE, AT(schedule), .choices = mst_schedule_names, .noted = true,
     .help =
         "how the learning rate goes on (default: cosine over all steps where none of --optimizer, --learning-rate "
         "and --reduce-on-plateau is given, else none); cosine and polynomial end with training without --decay-steps"},
    {"boundaries", OPTION_INTEGERS, AT(boundaries), "N,N,...", NULL, 1, 1e15, .noted = true,
     .help = "piecewise: the last step of each value but the last"},
    {"values", OPTION_NUMBERS, AT(values), "X,X,...", NULL, 0, 1e9, .above_low = true, .noted = true,
     .help = "piecewise: learning rates"},
    {"reduce-on-plateau", OPTION_INTEGER, AT(reduce_on_plateau), "N", NULL, 1, 1e9, .noted = true,
     .help = "multiplies the learning rate by --plateau-factor when N epochs were no better than the best before, by "
             "--monitor; there is no --schedule then"},
    {"plateau-factor", OPTION_NUMBER, AT(plateau_factor), "X", "0.1", 0, 0.999999, .above_low = true, .noted = true,
     .help = "with --reduce-on-plateau"},
    {"plateau-min-delta", OPTION_NUMBER, AT(plateau_min_delta), "X", "0.0001", 0, 1e9, .noted = true,
     .help = "what counts as better, for --reduce-on-plateau"},
    {"plateau-cooldown", OPTION_INTEGER, AT(plateau_cooldown), "N", NULL, 0, 1e9, .noted = true,
     .help = "epochs behind a reduction that --reduce-on-plateau does not count"},
    {"min-learning-rate", OPTION_NUMBER, AT(min_learning_rate), "X", NULL, 0, 1e9, .noted = true,
     .help = "--reduce-on-plateau goes no further down"},
    {0}};

static const option checkpoint_options[] = {
    {"checkpoint-dir", OPTION_FILE, AT(checkpoint_dir), "DIR",
     .help = "checkpoints are written to DIR, in TensorFlow's format, also when SIGINT, SIGTERM or SIGHUP ends "
             "training; where it "
             "holds one, training goes on from there"},
    {"save-every", OPTION_TEXT, AT(save_every), "N",
     .help = "steps between checkpoints, such as 1000, or seconds, such as 60s (default 600s)"},
    {"keep", OPTION_INTEGER, AT(keep), "N", "5", 1, 1e9, .help = "the last N checkpoints stay"},
    {"keep-every-hours", OPTION_NUMBER, AT(keep_every_hours), "H", NULL, 0, 1e6,
     .help = "beside them one each H hours stays"},
    {"resume", OPTION_FLAG, AT(resume), .initial = "true",
     .help = "training goes on from the newest checkpoint; with --no-resume it begins anew, and the old ones stay"},
    {"best", OPTION_FLAG, AT(best), .help = "keeps the checkpoint of the best epoch too, in DIR/best"},
    {"patience", OPTION_INTEGER, AT(patience), "N", NULL, 1, 1e9,
     .help = "training ends when so many epochs were no better than the best before"},
    {"min-delta", OPTION_NUMBER, AT(min_delta), "X", NULL, 0, 1e9, .help = "what counts as better, for --patience"},
    {"restore-best-weights", OPTION_FLAG, AT(restore_best_weights),
     .help = "training ends with the weights of the best epoch, also where it is resumed"},
    {"monitor", OPTION_TEXT, AT(monitor), "NAME",
     .help = "what --patience, --best, --restore-best-weights and --reduce-on-plateau look at: loss, accuracy, "
             "val_loss, val_accuracy "
             "(default: val_loss with "
             "--validation-split or --validation-data, else loss)"},
    {"save", OPTION_FILE, AT(save), "FILE",
     .help = "writes the weights, and the averages of --ema, at the end: FILE.safetensors, FILE.npz, or as Keras has "
             "weights, FILE.weights.h5; or the whole model, with the optimizer where Keras has such a one: FILE.keras, "
             "FILE.h5; or its network alone, FILE.json; or for other programs' inference, FILE.onnx; or FOLDER/, GPT-2 "
             "or Llama as Hugging "
             "Face has them"},
    {"save-optimizer", OPTION_FLAG, AT(save_optimizer),
     .help = "the optimizer's state and the number of steps too in a file of weights, for other programs: --load takes "
             "its weights alone; whole models and checkpoints have them always"},
    {"load", OPTION_FILE, AT(load), "FILE",
     .help = "training begins with the weights of FILE.safetensors, FILE.npz, a checkpoint's prefix, or a folder of "
             "checkpoints; where --checkpoint-dir holds one, that counts. What is noted there of its training holds "
             "where nothing else is given: the data, how it is read, and the layers. " NETWORK_FILES
             ": a whole model, of Keras or of --save, is trained on, in place of a new network: with its loss and its "
             "optimizer, from where that stood, unless other ones are given. With --model NAME or FILE too: the "
             "weights of its layers, and of a FILE.weights.h5, go to the layers of the same names"},
    {"batch-norm-momentum", OPTION_NUMBER, AT(batch_norm_momentum), "X", NULL, 0, 0.999999, .noted = true,
     .help =
         "of the moving statistics of batch normalizations, with which a model is evaluated: they are those of about "
         "the last 1 / (1 - X) steps (default: as the model says; mobilenet_v2 0.999, as Keras has it)"},
    {"freeze", OPTION_TEXT, AT(freeze), "NAME,NAME,...", .noted = true,
     .help = "layers whose weights stay as they are, as Keras' layer.trainable = False; --summary shows their names; "
             "patterns of *, ? and [...] too, and -NAME behind one takes layers out of it: *,-predictions"},
    {"name-map", OPTION_FILE, AT(name_map), "FILE",
     .help =
         "where variables have other names in the file of --load, or in a checkpoint of --checkpoint-dir that another "
         "program wrote: a line for each, such as layer1/weights = dense/kernel"},
    {0}};

static const field_name optimizer_names[] = {
    {"rule", NULL}, {"learning_rate", NULL}, {"ema_decay", "ema"}, {NULL, NULL}};
static const field_name schedule_names[] = {
    {"kind", NULL}, {"rate", NULL}, {"num_pieces", NULL}, {"end", "end_learning_rate"}, {NULL, NULL}};

enum { OPTIMIZER = 5, SCHEDULE = 6 }; /* places in train_sections */

/* Reads the steps "A:B" or "A". */
static mst_status read_steps(const char *text, int64_t *first, int64_t *last) {
    char *end;
    *first = *last = strtoll(text, &end, 10);
    if (end != text && *end == ':') {
        const char *second = end + 1;
        *last = strtoll(second, &end, 10);
        if (end == second) *last = 0;
    }
    if (!*end && *first >= 1 && *last >= *first && *last < INT64_MAX) return MST_OK;
    return MST_FAIL(MST_INVALID, "--profile %s: write two steps, such as 100:110; the first is at least 1", text);
}

mst_status train_log_options(const train_options *o, mst_tensorboard *out) {
    if (!o->logdir && (o->histograms_every || o->profile))
        return MST_FAIL(MST_INVALID, "--%s needs --logdir DIR, the folder to write to",
                        o->profile ? "profile" : "histograms-every");
    *out =
        (mst_tensorboard){.folder = o->logdir, .histograms_every = o->histograms_every, .update_every = o->log_every};
    return o->profile ? read_steps(o->profile, &out->profile_first, &out->profile_last) : MST_OK;
}

const option_section train_sections[] = {
    {.title = "Model", .options = model_options},
    {.title = "Data", .options = data_options},
    {.title = "Training", .options = training_options},
    {.title = "Devices", .options = strategy_options},
    {.title = "Output", .options = output_options},
    [OPTIMIZER] = {"Optimizer", optimizer_options, mst_optimizer_fields, optimizer_names, AT(optimizer), .noted = true},
    [SCHEDULE] = {"Schedule of the learning rate", schedule_options, mst_schedule_fields, schedule_names,
                  AT(optimizer.schedule), .noted = true},
    {.title = "Checkpoints", .options = checkpoint_options},
    {.title = "Cluster", .options = cluster_options},
    {0}};

bool train_data_is_known(const char *spec) {
    const char *form;
    for (int i = 0; (form = mst_dataset_form(i)); i++) {
        size_t size = strcspn(form, ":");
        bool takes_more = form[size] == ':';
        if (strncmp(spec, form, size + takes_more) == 0 && (takes_more ? spec[size + 1] : !spec[size])) return true;
    }
    return false;
}

static mst_status fill_pieces(const train_options *o, mst_schedule *schedule) {
    if (o->values.count != o->boundaries.count + 1)
        return MST_FAIL(MST_INVALID,
                        "--schedule piecewise: needs one value more than boundaries, such as "
                        "--boundaries 1000,2000 --values 0.1,0.01,0.001");
    schedule->num_pieces = o->values.count;
    for (int i = 0; i < o->values.count; i++) schedule->value[i] = o->values.value[i];
    for (int i = 0; i < o->boundaries.count; i++) schedule->boundary[i] = o->boundaries.value[i];
    return MST_OK;
}

/* Clears members whose option was not given, so that each optimizer and schedule sets its own default. */
static void clear_defaults(const option_list *list, const option_section *section, void *options) {
    for (const mst_field *field = section->fields; field->name; field++) {
        double *value = (double *)(void *)((char *)options + field->offset);
        const char *name = option_of_field(section, field);
        if (field->type == MST_FIELD_TYPE_F64 && field->initial != 0 && !(name && option_given(list, name))) *value = 0;
    }
}

mst_status train_optimizer(const train_options *o, const option_list *list, int64_t total_steps, mst_optimizer *out) {
    *out = o->optimizer;
    bool plain = !o->optimizer_name && !option_given(list, "learning-rate");
    mst_schedule *schedule = &out->schedule;
    schedule->kind = (mst_schedule_kind)o->schedule;
    clear_defaults(list, &train_sections[OPTIMIZER], out);
    clear_defaults(list, &train_sections[SCHEDULE], schedule);
    if (plain) out->learning_rate = default_rate;
    if (plain && !option_given(list, "schedule") && !o->reduce_on_plateau) schedule->kind = MST_SCHEDULE_COSINE;
    if (o->reduce_on_plateau && schedule->kind)
        return MST_FAIL(MST_INVALID, "--reduce-on-plateau and --schedule both set the learning rate: give one of them");
    if (schedule->kind == MST_SCHEDULE_PIECEWISE) {
        MST_TRY(fill_pieces(o, schedule));
    } else if (o->values.count || o->boundaries.count) {
        return MST_FAIL(MST_INVALID, "--boundaries and --values are for --schedule piecewise");
    }
    if (mst_schedule_ends(schedule->kind) && !schedule->decay_steps) {
        int64_t left = total_steps - schedule->warmup_steps;
        schedule->decay_steps = left > 0 ? left : 1;
    }
    *out = mst_optimizer_named(o->optimizer_name ? o->optimizer_name : "adam", *out);
    return mst_optimizer_check(out);
}

/* Whether option NAME is for reduce-on-plateau. It is listed among the options of schedules, but is a callback, which
 * works with any optimizer. */
static bool is_of_plateau(const char *name) {
    static const char *const names[] = {"reduce-on-plateau", "plateau-factor", "plateau-min-delta", "plateau-cooldown",
                                        "min-learning-rate"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) found |= strcmp(names[i], name) == 0;
    return found;
}

static bool any_given(const option_list *list, const option_section *section) {
    for (const option *o = section->options; o->name; o++)
        if (option_given(list, o->name) && !is_of_plateau(o->name)) return true;
    for (const mst_field *field = section->fields; field->name; field++) {
        const char *name = option_of_field(section, field);
        if (name && option_given(list, name)) return true;
    }
    return false;
}

bool train_optimizer_is_given(const option_list *list) {
    return any_given(list, &train_sections[OPTIMIZER]) || any_given(list, &train_sections[SCHEDULE]);
}
