/* tokens:FILE: the tokens of a long text, cut into examples of one length, for models that predict the next token. A
 * test part is in a file of its own: a folder has train.EXT and test.EXT or val.EXT. */
#include <stdio.h>
#include <unistd.h>

#include "base/ending.h"
#include "data/spec/data_spec.h"
#include "muster/transforms.h"

static const char *const endings[] = {".u16", ".u32", ".npy", ".u8", ".txt", ".bin"};
enum { PATH_SIZE = 4096, NUM_ENDINGS = sizeof endings / sizeof *endings };

static bool find_in(const char *folder, const char *part, char path[PATH_SIZE]) {
    for (int i = 0; i < NUM_ENDINGS; i++) {
        const int size = snprintf(path, PATH_SIZE, "%s/%s%s", folder, part, endings[i]);
        if (size < PATH_SIZE && access(path, F_OK) == 0) return true;
    }
    return false;
}

/* The file of a part of ARGUMENT, a file or a folder. */
static mst_status find_part(const char *argument, bool test, bool whole, char path[PATH_SIZE]) {
    char inside[PATH_SIZE];
    const bool is_folder = snprintf(inside, sizeof inside, "%s/.", argument) < PATH_SIZE && access(inside, F_OK) == 0;
    if (!is_folder && test && !whole)
        return MST_FAIL(
            MST_NOT_FOUND,
            "'tokens:%s': a file is the train part, and there is no test part: name it with --test-data, or "
            "take a folder with train.u16 and test.u16",
            argument);
    if (!is_folder)
        return snprintf(path, PATH_SIZE, "%s", argument) < PATH_SIZE
                   ? MST_OK
                   : MST_FAIL(MST_INVALID, "'tokens:%.100s...': the path is too long", argument);
    if (find_in(argument, test ? "test" : "train", path) || (test && find_in(argument, "val", path))) return MST_OK;
    return MST_FAIL(MST_NOT_FOUND, "'tokens:%s': the folder has no %s.u16, .u32, .npy, .u8, .txt or .bin", argument,
                    test ? "test or val" : "train");
}

static mst_status tokens_spec_open_part(const char *argument, bool test, const mst_data_options *options,
                                        mst_dataset **out) {
    char path[PATH_SIZE];
    MST_TRY(find_part(argument, test, options && options->whole_file, path));
    return mst_dataset_from_tokens(path,
                                   &(mst_tokens_options){.positions = options ? options->sequence_length : 0,
                                                         .vocabulary = options ? options->max_tokens : 0},
                                   out);
}

const mst_data_spec mst_data_spec_tokens = {
    .form = "tokens:FILE",
    .help =
        "tokens of a long text, of which models predict the next: FILE.u16, .u32, .npy, or the bytes of any file; or "
        "a folder with train and test files",
    .takes = MST_SPEC_TEXTS,
    .open_with = tokens_spec_open_part,
};
