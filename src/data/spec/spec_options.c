/* Each kind of data says what it has by the bits of `takes` (data_spec.h). This table says what an option needs. */
#include "data/spec/spec_options.h"

#include <stdio.h>
#include <string.h>

#include "data/spec/data_spec.h"

#define CELLS .lack = "has no cells in columns", .needs = MST_SPEC_TABLE
#define COLUMNS \
    .lack = "has no columns of numbers and categories as inputs", .needs = MST_SPEC_TABLE, .never = MST_SPEC_TEXT_COLUMN
#define PIXELS .lack = "has no pictures", .needs = MST_SPEC_PICTURES, .first = "images:"
#define MIXED \
    .lack = "has no pictures with a class each", .needs = MST_SPEC_PICTURES, .never = MST_SPEC_MASKS, .first = "images:"
#define FILES .lack = "has no picture files to resize", .needs = MST_SPEC_IMAGE_SIZE

static const struct {
    const char *option;
    const char *lack;  /* what data is told that the option is not for */
    unsigned needs;    /* the bit of the kinds that it is for, */
    unsigned never;    /* unless they have this one too; 0: none */
    const char *first; /* the kind that a message names first; NULL: in the order of the table */
} rows[] = {
    {"skip-corrupt", .lack = "has no records or pictures of which damaged ones could be skipped",
     .needs = MST_SPEC_SKIP_CORRUPT},
    {"label", .lack = "has no column of labels to choose", .needs = MST_SPEC_TABLE},
    {"sample-weight", CELLS},
    {"delimiter", CELLS},
    {"comment", CELLS},
    {"no-header", CELLS},
    {"decimal", CELLS},
    {"thousands", CELLS},
    {"text", CELLS},
    {"encoding", .lack = "has no text in an encoding", .needs = MST_SPEC_ENCODING},
    {"drop", CELLS},
    {"categories", CELLS},
    {"missing", COLUMNS},
    {"dates", CELLS},
    {"raw-columns", COLUMNS},
    {"embed-above", COLUMNS},
    {"tokenizer", .lack = "has no texts", .needs = MST_SPEC_TOKENIZER, .first = "texts:"},
    {"max-tokens", .lack = "has no texts whose words are numbered", .needs = MST_SPEC_TEXTS, .first = "texts:"},
    {"sequence-length", .lack = "has no texts", .needs = MST_SPEC_TEXTS, .first = "texts:"},
    {"pad", .lack = "has no texts of several lengths", .needs = MST_SPEC_TEXTS, .never = MST_SPEC_LONG_TEXT,
     .first = "texts:"},
    {"image-size", FILES},
    {"channels", FILES},
    {"pixels", PIXELS},
    {"raw-pixels", PIXELS},
    {"flip", PIXELS},
    {"crop-padding", PIXELS},
    {"rotation", PIXELS},
    {"zoom", PIXELS},
    {"translation", PIXELS},
    {"fill-mode", PIXELS},
    {"interpolation", PIXELS},
    {"brightness", PIXELS},
    {"contrast", PIXELS},
    {"mixup", MIXED},
    {"cutmix", MIXED},
};
enum { NUM_ROWS = sizeof rows / sizeof *rows };

const char *mst_spec_option(int i) {
    return i < NUM_ROWS ? rows[i].option : NULL;
}

static int find_row(const char *option) {
    int i = 0;
    while (i < NUM_ROWS && strcmp(rows[i].option, option) != 0) i++;
    return i;
}

/* Whether KIND has what row I needs. A table has texts only in a column of them. */
static bool spec_fits(const mst_data_spec *kind, int i, bool has_texts) {
    unsigned has = kind->takes;
    if (has & MST_SPEC_TABLE && has_texts) has |= MST_SPEC_TEXT_COLUMN;
    if (has & MST_SPEC_TABLE && !has_texts) has &= ~(unsigned)(MST_SPEC_TEXTS | MST_SPEC_TOKENIZER);
    return (has & rows[i].needs) && !(has & rows[i].never);
}

/* The place of KIND among those that row I is for: the one to be named first, others, a table that only has it in a
 * column of texts. -1: it is not for KIND. */
static int rank_of(const mst_data_spec *kind, int i) {
    const char *first = rows[i].first;
    if (spec_fits(kind, i, false)) return first && strncmp(kind->form, first, strlen(first)) == 0 ? 0 : 1;
    return spec_fits(kind, i, true) ? 2 : -1;
}

/* Writes the kinds that row I is for: "texts:PATH, lines:FILE and csv:FILE with --text". */
static void list_kinds(int i, const char *dashes, char *text, size_t size) {
    const mst_data_spec *const *kind;
    int count = 0, written = 0;
    size_t used = 0;
    for (kind = mst_data_spec_table; *kind; kind++) count += rank_of(*kind, i) >= 0;
    for (int rank = 0; rank < 3; rank++) {
        for (kind = mst_data_spec_table; *kind && used < size; kind++) {
            if (rank_of(*kind, i) != rank) continue;
            const char *between = !written ? "" : written == count - 1 ? " and " : ", ";
            used += (size_t)snprintf(text + used, size - used, "%s%s", between, (*kind)->form);
            if (rank == 2 && used < size) used += (size_t)snprintf(text + used, size - used, " with %stext", dashes);
            written++;
        }
    }
}

bool mst_spec_lacks(const char *spec, const char *option, bool has_texts, const char *dashes,
                    char why[MST_SPEC_REASON]) {
    char kinds[MST_SPEC_REASON / 2];
    const mst_data_spec *kind = mst_data_spec_find(spec);
    const int i = find_row(option);
    if (!kind || i == NUM_ROWS || spec_fits(kind, i, has_texts)) return false;
    list_kinds(i, dashes, kinds, sizeof kinds);
    snprintf(why, MST_SPEC_REASON, "%s: %s%s is for %s", rows[i].lack, dashes, option, kinds);
    return true;
}
