#include "data/spec/tokens_part.h"

#include <stdio.h>
#include <unistd.h>

#include "base/ending.h"
#include "data/spec/validation_part.h"
#include "muster/transforms.h"

static const char *const endings[] = {".u16", ".u32", ".npy", ".u8", ".txt", ".bin"};
enum { PATH_SIZE = 4096, FIRST_TEXT = 4, NUM_ENDINGS = sizeof endings / sizeof *endings };

/* Finds the file of PART in FOLDER: of texts only those that are not named as tokens. */
static bool find_in(const char *folder, bool is_text, const char *part, char path[PATH_SIZE]) {
    for (int i = is_text ? FIRST_TEXT : 0; i < NUM_ENDINGS; i++) {
        const int size = snprintf(path, PATH_SIZE, "%s/%s%s", folder, part, endings[i]);
        if (size < PATH_SIZE && access(path, F_OK) == 0) return true;
    }
    return false;
}

/* The file of a part of ARGUMENT, a file or a folder. */
static mst_status find_part(const char *argument, bool is_text, bool test, bool whole, char path[PATH_SIZE]) {
    const char *kind = is_text ? "lines" : "tokens", *ending = is_text ? ".txt" : ".u16";
    char inside[PATH_SIZE];
    const bool is_folder = snprintf(inside, sizeof inside, "%s/.", argument) < PATH_SIZE && access(inside, F_OK) == 0;
    if (!is_folder && test && !whole)
        return MST_FAIL(MST_NOT_FOUND,
                        "'%s:%s': a file is the train part, and there is no test part: name it (--test-data of muster "
                        "train, --data of evaluate), or take a folder with train%s and test%s",
                        kind, argument, ending, ending);
    if (!is_folder)
        return snprintf(path, PATH_SIZE, "%s", argument) < PATH_SIZE
                   ? MST_OK
                   : MST_FAIL(MST_INVALID, "'%s:%.100s...': the path is too long", kind, argument);
    if (find_in(argument, is_text, test ? "test" : "train", path) || (test && find_in(argument, is_text, "val", path)))
        return MST_OK;
    return MST_FAIL(MST_NOT_FOUND, "'%s:%s': the folder has no %s%s", kind, argument, test ? "test or val" : "train",
                    is_text ? ".txt" : ".u16, .u32, .npy, .u8, .txt or .bin");
}

bool mst_tokens_part_validation(const char *argument, bool is_text, char *path, size_t size) {
    char found[PATH_SIZE];
    if (!find_in(argument, is_text, "train", found)) return false;
    for (int i = 0; mst_validation_names[i]; i++)
        if (find_in(argument, is_text, mst_validation_names[i], found))
            return snprintf(path, size, "%s", found) < (int)size;
    return false;
}

mst_status mst_tokens_part_open(const char *argument, bool is_text, bool test, const mst_data_options *options,
                                mst_dataset **out) {
    static const mst_data_options none = {.image_size = 0};
    const mst_data_options *o = options ? options : &none;
    char path[PATH_SIZE];
    if (o->pad_front)
        return MST_FAIL(MST_INVALID, "'%s:%s': is one long text, so nothing is padded: leave pad out",
                        is_text ? "lines" : "tokens", argument);
    MST_TRY(find_part(argument, is_text, test, o->whole_file, path));
    return mst_dataset_from_tokens(path,
                                   &(mst_tokens_options){.positions = o->sequence_length,
                                                         .vocabulary = o->max_tokens,
                                                         .tokenizer = o->tokenizer,
                                                         .schema = o->schema,
                                                         .is_text = is_text},
                                   out);
}
