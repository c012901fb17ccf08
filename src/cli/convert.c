/** muster convert: data from one format to another. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/ending.h"
#include "base/folder.h"
#include "cli/array_notes.h"
#include "cli/column_notes.h"
#include "cli/command.h"
#include "cli/convert_network.h"
#include "cli/convert_tokens.h"
#include "cli/left_out.h"
#include "cli/model/network_file.h"
#include "cli/number_text.h"
#include "cli/spec_kind.h"
#include "cli/table_options.h"
#include "muster/dataset.h"

enum { WHY_SIZE = 1024, PATH_SIZE = 4096 };

typedef struct convert_options {
    int64_t shards, skip_corrupt, image_size;
    bool gray, overwrite;
    table_options table;
    int compression; /* mst_tfrecord_compression */
    const char *tokenizer;
} convert_options;

static const char *const compressions[] = {"none", "gzip", "zlib", NULL}; /* in the order of mst_tfrecord_compression */

static const option options[] = {
    {"shards", OPTION_INTEGER, offsetof(convert_options, shards), "N", NULL, 1, 99999,
     .help = "tfrecord: files of each part, PREFIX-train-00000-of-00010 and so on (default 1)"},
    {"compression", OPTION_CHOICE, offsetof(convert_options, compression), .initial = "none", .choices = compressions,
     .help = "tfrecord: of whole files; plain ones can be read in any order"},
    {"skip-corrupt", OPTION_INTEGER, offsetof(convert_options, skip_corrupt), "N", NULL, 0, 1e15,
     .help = "from tfrecord: damaged records that are left out; one more is an error"},
    {"image-size", OPTION_INTEGER, offsetof(convert_options, image_size), "N", NULL, 1, 16384,
     .help = "from images, tfds and tfrecord: pictures are resized to N x N pixels (default 224)"},
    {"gray", OPTION_FLAG, offsetof(convert_options, gray),
     .help = "from images, tfds and tfrecord: one channel in place of red, green and blue"},
    {"label", OPTION_TEXT, offsetof(convert_options, table.label), "COLUMN,COLUMN,...",
     .help = "from csv: the column of labels (default: the last), or several of numbers"},
    {"delimiter", OPTION_TEXT, offsetof(convert_options, table.delimiter), "C",
     .help = "from csv: what is between cells: a character, or tab (default: a comma)"},
    {"comment", OPTION_TEXT, offsetof(convert_options, table.comment), "C",
     .help = "from csv: lines that begin with this character, such as '#', are skipped (default: none are)"},
    {"no-header", OPTION_FLAG, offsetof(convert_options, table.no_header),
     .help = "from csv: the first line is a row too, and the columns have the names 1, 2, 3 and so on"},
    {"encoding", OPTION_TEXT, offsetof(convert_options, table.encoding), "NAME",
     .help = "from csv: as of muster train (default: UTF-8, or as the byte order mark says)"},
    {"drop", OPTION_TEXT, offsetof(convert_options, table.drop), "COLUMN,COLUMN,...", .may_be_empty = true,
     .help = "from csv: columns that are left out"},
    {"categories", OPTION_TEXT, offsetof(convert_options, table.categories), "COLUMN,COLUMN,...", .may_be_empty = true,
     .help = "from csv: columns of numbers that are categories, such as postal codes"},
    {"decimal", OPTION_TEXT, offsetof(convert_options, table.decimal), "C",
     .help = "from csv: the decimal mark of numbers, ',' or '.' (default: the one that fits all cells of a column)"},
    {"thousands", OPTION_TEXT, offsetof(convert_options, table.thousands), "C",
     .help = "from csv: the thousands separator: ',', '.', an apostrophe, or space (default: the one that fits all "
             "cells of a column)"},
    {"dates", OPTION_TEXT, offsetof(convert_options, table.dates), "COLUMN,COLUMN,...",
     .help = "from csv: columns of dates, which become numbers, as in muster train"},
    {"tokenizer", OPTION_FILE, offsetof(convert_options, tokenizer), "PATH",
     .help =
         "to tokens: tokenizer.json, vocab.json with merges.txt, a SentencePiece FILE.model, or a folder with one of "
         "these"},
    {"overwrite", OPTION_FLAG, offsetof(convert_options, overwrite),
     .help = "files that are there are replaced; a folder of pictures is not"},
    {0}};

static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

static void print_part(const char *name, const mst_dataset *part) {
    char rows[NUMBER_TEXT], shape[MST_SHAPE_TEXT];
    if (!part) return;
    printf("  %-6s %s rows", name, number_text(mst_dataset_num_rows(part), rows));
    for (int i = 0; i < mst_dataset_num_components(part); i++) {
        const mst_spec spec = mst_dataset_spec(part, i);
        printf("%s %s %s", i ? "," : ":", mst_dtype_name(spec.dtype), mst_shape_print(spec.shape, shape, sizeof shape));
    }
    if (mst_dataset_num_corrupt(part))
        printf(", %s damaged left out", number_text(mst_dataset_num_corrupt(part), rows));
    left_out_print(part);
    putchar('\n');
}

/* Opens the train part and, if there is one, the test part. If there is no test part, WHY gets the reason. */
static mst_status open_parts(const char *spec, const convert_options *o, mst_dataset *part[2], char *why, size_t size) {
    const mst_data_options data = {.skip_corrupt = o->skip_corrupt, .image_size = o->image_size, .channels = o->gray};
    MST_TRY(table_options_open(&o->table, spec, "train", data, &part[0]));
    const mst_status status = table_options_open(&o->table, spec, "test", data, &part[1]);
    if (status != MST_NOT_FOUND) return status;
    snprintf(why, size, "%s", mst_error()->message);
    return MST_OK;
}

/* Checks the encoding of a table, and warns of its header, and of categories that become numbers. In another table they
 * stay texts, so there is no warning of them. */
static mst_status warn_of_columns(const char *from, const char *to, const convert_options *o,
                                  const mst_dataset *train) {
    if (!spec_is_table(from)) return MST_OK;
    if (column_notes_check(mst_dataset_schema(train))) return mst_error_prefix("'%s'", from);
    if (!o->table.no_header) column_notes_warn_of_header(mst_dataset_schema(train));
    if (spec_is_table(to)) return MST_OK;
    return column_notes_warn(mst_dataset_schema(train), o->table.categories, mst_dataset_num_rows(train));
}

/* Whether PATH is a folder of checkpoints, or the prefix of one. */
static bool is_checkpoint(const char *path) {
    char file[PATH_SIZE];
    if (mst_is_folder(path) && snprintf(file, sizeof file, "%s/checkpoint", path) < PATH_SIZE &&
        access(file, F_OK) == 0)
        return true;
    return snprintf(file, sizeof file, "%s.index", path) < PATH_SIZE && access(file, F_OK) == 0;
}

static int convert_run(const command_call *call) {
    const convert_options *o = call->options;
    mst_dataset *part[2] = {NULL, NULL};
    char why[WHY_SIZE] = "";
    if (call->num_positional < 2)
        return command_fail(EXIT_USAGE, "convert: from what to what? write convert fashion-mnist tfrecord:DIR/fm");
    const char *from = call->positional[0], *to = call->positional[1];
    if (convert_tokens_is(to)) return convert_tokens(from, to, o->tokenizer, o->overwrite);
    if (o->tokenizer)
        return command_fail(EXIT_USAGE, "--tokenizer: is for tokens:FILE.u16, FILE.u32 and FILE.npy, not for '%s'", to);
    if (network_file_is(from)) return convert_network(from, to, o->overwrite);
    if (mst_ends_in(from, ".safetensors") || is_checkpoint(from))
        return command_fail(EXIT_FAILED,
                            "'%s': has weights, and convert takes data, or a whole model, " NETWORK_FILES
                            ", which muster train --save FILE.keras writes",
                            from);
    mst_status status = open_parts(from, o, part, why, sizeof why);
    if (!status) array_notes_warn(from);
    if (!status) status = warn_of_columns(from, to, o, part[0]);
    if (!status)
        status = mst_dataset_write(to, part[0], part[1],
                                   &(mst_write_options){.num_shards = o->shards,
                                                        .compression = (mst_tfrecord_compression)o->compression,
                                                        .keep_files = !o->overwrite});
    if (!status) {
        command_print("%s from %s", to, from);
        print_part("train", part[0]);
        print_part("test", part[1]);
        if (spec_is_table(from) && column_notes_print(mst_dataset_schema(part[0]), "  read   ")) putchar('\n');
        if (!part[1]) command_print("  test   none: %s", why);
    }
    int code = EXIT_DONE;
    if (status == MST_EXISTS && !o->overwrite && !spec_is_of_kind(to, "images:"))
        code = command_fail(EXIT_FAILED, "%s, or say --overwrite", mst_error()->message);
    else if (status)
        code = command_fail_library(EXIT_FAILED, NULL);
    mst_dataset_release(part[0]);
    mst_dataset_release(part[1]);
    return code;
}

const command command_convert = {
    .name = "convert",
    .summary = "writes data in another format: TFRecord in shards, NPZ, IDX, CSV, folders of pictures; and models",
    .usage = "SPEC SPEC [options]",
    .notes =
        "The first is any data spec that muster train --data takes; the second is tfrecord:PREFIX, npz:FILE, idx:DIR, "
        "csv:PREFIX or images:DIR. Rows keep their order, so that a training on either gives the same weights; folders "
        "of pictures are read class after class. Files are written to the side and renamed when they are whole.\n"
        "A whole model, FILE.keras, FILE.h5 or FILE.onnx, becomes FILE.keras, FILE.h5, FILE.weights.h5, FILE.json, "
        "FILE.onnx, FILE.safetensors or FILE.npz; operators of ONNX must be layers for a file of Keras.\n"
        "FILE.json, which has no weights, becomes FILE.json.\n"
        "A folder of Hugging Face with GPT-2 or Llama becomes FOLDER/, FILE.onnx, FILE.safetensors or FILE.npz.\n"
        "With --tokenizer, lines:FILE, one text with its line ends, or texts:PATH, texts with the token that ends a "
        "text "
        "behind each, becomes tokens:FILE.u16, FILE.u32 or FILE.npy: ids in 16 or 32 bits, little-endian, one "
        "stream.\n \n"
        "muster convert fashion-mnist tfrecord:data/fm --shards 10\n"
        "muster convert lines:book.txt tokens:book.u16 --tokenizer gpt2\n"
        "muster convert old.h5 new.keras",
    .sections = sections,
    .options_size = sizeof(convert_options),
    .max_positional = 2,
    .takes_specs = true,
    .run = convert_run,
};
