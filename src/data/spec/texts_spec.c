/* texts:PATH: text files, whose texts become numbers. PATH is a folder with a folder of files for each class, or with a
 * file for each class, in which lines of % separate texts. If there is a test part, these are in PATH/train and
 * PATH/test. With the schema of a training, or a tokenizer, PATH may also be a file, which has no labels, or -,
 * standard input. */
#include <stdio.h>
#include <stdlib.h>

#include "base/folder.h"
#include "base/no_memory.h"
#include "base/path_list.h"
#include "base/standard_input.h"
#include "data/spec/data_spec.h"
#include "data/spec/validation_part.h"
#include "data/text/text_data.h"

enum { PATH_SIZE = 4096 };

static mst_status open_folder(const char *path, const mst_data_options *options, mst_dataset **out) {
    const mst_texts_options o = {.schema = options ? options->schema : NULL,
                                 .encoding = options ? options->encoding : NULL,
                                 .no_classes = options && options->raw_texts && options->inputs_only};
    mst_dataset *texts;
    MST_TRY(mst_dataset_from_texts(path, &o, &texts));
    return mst_text_data_make(mst_standard_input_name(path), texts, options, out);
}

static mst_status open_test(const char *train_path, const char *test_path, const mst_data_options *options,
                            mst_dataset **out) {
    mst_data_options o = options ? *options : (mst_data_options){0};
    mst_dataset *train;
    MST_TRY(open_folder(train_path, options, &train));
    o.schema = mst_dataset_schema(train);
    o.tokenizer = NULL; /* it is in the schema */
    const mst_status status = open_folder(test_path, &o, out);
    mst_dataset_release(train);
    return status;
}

/* Opens the part PART of each folder in LIST. */
static mst_status open_list(const char *list, const char *part, const mst_data_options *options, mst_dataset **out) {
    char *one = NULL, *paths = NULL, folder[PATH_SIZE];
    size_t size = 0;
    FILE *text = open_memstream(&paths, &size);
    mst_status status = text ? MST_OK : MST_NO_MEMORY("for the names of folders");
    for (const char *rest = list; rest && !status;) {
        status = mst_path_list_next(&rest, &one);
        if (status) break;
        const int length = snprintf(folder, PATH_SIZE, "%s/%s", one, part);
        const bool has_part = length > 0 && length < PATH_SIZE && mst_is_folder(folder);
        fprintf(text, "%s%s", has_part ? folder : one, rest ? "\n" : "");
    }
    if (text && fclose(text) && !status) status = MST_NO_MEMORY("for the names of folders");
    if (!status) status = open_folder(paths, options, out);
    free(paths);
    free(one);
    return status;
}

/* Opens a list of folders or files. Its test part has the words and classes of the train part. */
static mst_status open_part_of_list(const char *list, bool test, const mst_data_options *options, mst_dataset **out) {
    mst_data_options o = options ? *options : (mst_data_options){0};
    mst_dataset *train = NULL;
    if (!test || o.schema) return open_list(list, test ? "test" : "train", options, out);
    MST_TRY(open_list(list, "train", options, &train));
    o.schema = mst_dataset_schema(train);
    const mst_status status = open_list(list, "test", &o, out);
    mst_dataset_release(train);
    return status;
}

static mst_status texts_spec_open_part(const char *path, bool test, const mst_data_options *options,
                                       mst_dataset **out) {
    char train_path[PATH_SIZE], test_path[PATH_SIZE];
    if (mst_path_list_is(path)) return open_part_of_list(path, test, options, out);
    const int length = snprintf(train_path, PATH_SIZE, "%s/train", path);
    if (length < 0 || length >= PATH_SIZE)
        return MST_FAIL(MST_INVALID, "data: the path of folder '%.80s...' is too long", path);
    snprintf(test_path, PATH_SIZE, "%s/test", path);
    const bool has_train = mst_is_folder(train_path), has_test = mst_is_folder(test_path);
    if (!test) return open_folder(has_train ? train_path : path, options, out);
    const bool has_parts = has_train && has_test;
    const bool is_known =
        options && (options->schema || ((options->tokenizer || options->raw_texts) && options->whole_file));
    if (is_known && (has_parts || !options->parts_only)) return open_folder(has_test ? test_path : path, options, out);
    if (!has_parts)
        return MST_FAIL(MST_NOT_FOUND, "data: '%s' has no test part: it needs the folders train and test", path);
    return open_test(train_path, test_path, options, out);
}

const mst_data_spec mst_data_spec_texts = {
    .form = "texts:PATH",
    .help =
        "text files in a folder for each class, or a file for each class with % lines between texts; or PATH/train, "
        "PATH/val, "
        "PATH/test; to predict, also a file of texts, or - for standard input",
    .takes = MST_SPEC_TEXTS | MST_SPEC_ENCODING | MST_SPEC_TOKENIZER,
    .reads_lists = true,
    .validation = mst_validation_folder,
    .open_with = texts_spec_open_part,
};
