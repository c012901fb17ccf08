/* The options that describe data are each for some kinds of data. One that is not in the table is for all. */
#include "cli/data_options.h"

#include <stdio.h>
#include <string.h>

#include "cli/standard_output.h"
#include "muster/dataset.h"

enum { KIND = 32, LIST = 512 };

/* Kinds as in data specs; a table in which a column of texts is the input is "csv-text". */
#define TABLE "csv"
#define TEXT_TABLE "csv-text"
#define ANY_TABLE TABLE " " TEXT_TABLE
#define PICTURE_FILES "images masks tfds tfrecord"
#define PICTURES "images tfds tfrecord idx npz fashion-mnist"
#define NO_CELLS "has no cells in columns"
#define NO_COLUMNS "has no columns of numbers and categories as inputs"
#define NO_PIXELS "has no pictures"
#define NO_TEXTS "has no texts"

static const struct {
    const char *option, *lack, *kinds;
} rows[] = {
    {"skip-corrupt", "has no records or pictures of which damaged ones could be skipped", PICTURE_FILES},
    {"label", "has no column of labels to choose", ANY_TABLE},
    {"sample-weight", NO_CELLS, ANY_TABLE},
    {"delimiter", NO_CELLS, ANY_TABLE},
    {"comment", NO_CELLS, ANY_TABLE},
    {"no-header", NO_CELLS, ANY_TABLE},
    {"decimal", NO_CELLS, ANY_TABLE},
    {"thousands", NO_CELLS, ANY_TABLE},
    {"text", NO_CELLS, ANY_TABLE},
    {"encoding", "has no text in an encoding", ANY_TABLE " texts"},
    {"drop", NO_CELLS, ANY_TABLE},
    {"categories", NO_CELLS, ANY_TABLE},
    {"missing", NO_COLUMNS, TABLE},
    {"dates", NO_CELLS, ANY_TABLE},
    {"raw-columns", NO_COLUMNS, TABLE},
    {"embed-above", NO_COLUMNS, TABLE},
    {"tokenizer", NO_TEXTS, "texts lines tokens " TEXT_TABLE},
    {"max-tokens", "has no texts whose words are numbered", "texts word-ids lines tokens " TEXT_TABLE},
    {"sequence-length", NO_TEXTS, "texts word-ids lines tokens " TEXT_TABLE},
    {"pad", "has no texts of several lengths", "texts word-ids " TEXT_TABLE},
    {"image-size", "has no picture files to resize", PICTURE_FILES},
    {"pixels", NO_PIXELS, PICTURES " masks"},
    {"raw-pixels", NO_PIXELS, PICTURES " masks"},
    {"flip", NO_PIXELS, PICTURES " masks"},
    {"crop-padding", NO_PIXELS, PICTURES " masks"},
    {"rotation", NO_PIXELS, PICTURES " masks"},
    {"zoom", NO_PIXELS, PICTURES " masks"},
    {"translation", NO_PIXELS, PICTURES " masks"},
    {"fill-mode", NO_PIXELS, PICTURES " masks"},
    {"interpolation", NO_PIXELS, PICTURES " masks"},
    {"brightness", NO_PIXELS, PICTURES " masks"},
    {"contrast", NO_PIXELS, PICTURES " masks"},
    {"mixup", "has no pictures with a class each", PICTURES},
    {"cutmix", "has no pictures with a class each", PICTURES},
};

/* The next word of *WORDS, of *SIZE characters; NULL past the last. */
static const char *next_word(const char **words, size_t *size) {
    const char *word = *words + strspn(*words, " ");
    *size = strcspn(word, " ");
    *words = word + *size;
    return *size ? word : NULL;
}

static bool has_word(const char *words, const char *wanted) {
    const char *word;
    size_t size;
    while ((word = next_word(&words, &size)))
        if (strlen(wanted) == size && strncmp(word, wanted, size) == 0) return true;
    return false;
}

/* The form of the kind that a word of SIZE characters names: "csv:FILE". */
static const char *form_of(const char *word, size_t size) {
    const char *form;
    if (size == strlen(TEXT_TABLE) && strncmp(word, TEXT_TABLE, size) == 0) return "csv:FILE with --text";
    for (int i = 0; (form = mst_dataset_form(i)); i++)
        if (strcspn(form, ":") == size && strncmp(form, word, size) == 0) return form;
    return NULL;
}

/* Writes "texts:PATH, csv:FILE and npz:FILE" for KINDS. If all tables are among them, those with texts are not named
 * apart. */
static const char *list_forms(const char *kinds, char *text, size_t size) {
    const bool all_tables = has_word(kinds, TABLE) && has_word(kinds, TEXT_TABLE);
    const char *word, *last = NULL;
    size_t length, used = 0;
    *text = '\0';
    while ((word = next_word(&kinds, &length)) && used < size) {
        const char *form = form_of(word, length);
        if (!form || (all_tables && length == strlen(TEXT_TABLE) && strncmp(word, TEXT_TABLE, length) == 0)) continue;
        if (last) used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", last);
        last = form;
    }
    if (last && used < size) snprintf(text + used, size - used, "%s%s", used ? " and " : "", last);
    return text;
}

/* Whether the user gave the option. A flag that was switched off is not given, nor is --text -, texts on standard
 * input. */
static bool user_gave(const option_list *list, const char *name) {
    static const char *const off[] = {"false", "0", "no", "off"};
    if (!option_given(list, name)) return false;
    for (int i = 0; i < list->count; i++) {
        const option_entry *entry = &list->entry[i];
        if (strcmp(entry->option.name, name) != 0) continue;
        if (standard_output_is(entry->text)) return false;
        if (entry->from_file && !entry->config_line) return false; /* it was taken from a model's note */
        for (int k = 0; k < 4 && entry->option.type == OPTION_FLAG; k++)
            if (option_same_word(entry->text, off[k])) return false;
    }
    return true;
}

static mst_status check(const option_list *list, const char *kind, const char *spec) {
    char forms[LIST];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (has_word(rows[i].kinds, kind) || !user_gave(list, rows[i].option)) continue;
        return MST_FAIL(MST_INVALID, "'%s' %s: --%s is for %s: leave it out", spec, rows[i].lack, rows[i].option,
                        list_forms(rows[i].kinds, forms, sizeof forms));
    }
    return MST_OK;
}

mst_status data_options_check(const option_list *list, const char *spec, bool has_texts) {
    const size_t size = strcspn(spec, ":");
    char kind[KIND];
    if (size >= sizeof kind) return MST_OK; /* no kind: it is refused where it is opened */
    snprintf(kind, sizeof kind, "%.*s", (int)size, spec);
    if (!form_of(kind, size)) return MST_OK;
    if (has_texts && strcmp(kind, TABLE) == 0) snprintf(kind, sizeof kind, TEXT_TABLE);
    return check(list, kind, spec);
}

mst_status data_options_check_pictures(const option_list *list, const char *path) {
    return check(list, "images", path);
}

mst_status data_options_check_pixels(const option_list *list, const char *spec, const mst_dtype *stored, int n) {
    const char *option = user_gave(list, "pixels") ? "pixels" : user_gave(list, "raw-pixels") ? "raw-pixels" : NULL;
    if (!option) return MST_OK;
    for (int i = 0; i < n; i++)
        if (stored[i] == MST_U8) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "'%s' has inputs of %s: --%s is for u8 pixels from 0 to 255, others stay as they are: leave it out",
                    spec, mst_dtype_name(stored[0]), option);
}
