/** The rows of a CSV file (RFC 4180), with a header unless .no_header is set, read as a whole. A gzip file is
 *  decompressed. The path "-" is standard input, which can be read only once. Component 0 is f32 [columns]: all columns
 *  except the labels, in the order of the file. Component 1 is the label.
 *
 *  The type of a column follows from its cells: decimal integers; floats; or categories if no cell is a number.
 *  Categories are numbered from 0 in the order of their bytes, so files with the same categories number them alike.
 *  Numbers with a decimal comma, with thousands separators, or with signs such as % or $ are read if the column can be
 *  read in only one way. Labels are i64, or f32 if they are floats. Cells may be quoted; numbers may have spaces around
 *  them. mst_dataset_class_name gives the names of a label's categories, and with .separate those of any column.
 *  OPTIONS may be NULL.
 *
 *  Fails as mst_dataset_from_idx does; with MST_CORRUPT if the file is not a table, MST_NOT_FOUND if it lacks a
 *  column, MST_INVALID if a number is missing, does not fit or can be read in two ways, or text and numbers are mixed.
 *  The message names the file, the line on which the row begins, and the column. */
#ifdef MST_DATASET_HEADER
/** What a number becomes if its cell is empty, or NA, N/A, n/a, NaN, nan, null, NULL or None. */
typedef enum mst_missing {
    MST_MISSING_REFUSE = 0, /**< an error that names row and column */
    MST_MISSING_NAN         /**< NaN */
} mst_missing;
typedef struct mst_csv_options {
    int zero_;
    const char *label;             /**< the column of labels; NULL: the last one */
    const char *const *labels;     /**< in place of .label: several columns of labels, all of numbers, which become one
                                        component, f32 [num_labels], in this order, also with .separate */
    int num_labels;                /**< 0: there is one, .label */
    const char *const *categories; /**< columns that have categories even if their cells are numbers */
    int num_categories;
    const char *like; /**< a CSV file whose columns, types and categories are used: for a test part, the file of the
                           train part. It has the label. A category that it lacks is an error */
    const char
        *schema;    /**< used instead of like and label: the text that mst_dataset_schema returned for the train part. A
                         file without the column of labels gives only the inputs */
    bool separate;  /**< each column is a component of its own, in the order of the file, the label last; integers and
                         categories are i64, floats f32 */
    char delimiter; /**< between cells; 0: ',' */
    const char *const *texts; /**< columns that stay strings; needs .separate, except for the label */
    int num_texts;
    const char *const *drop; /**< columns to ignore, as if the file did not have them; not with a schema, which
                                  says itself which columns are used */
    int num_drop;
    mst_missing missing; /**< for f32 inputs; missing labels and i64 are always an error. A column of integers with a
                              missing cell becomes floats */
    const char *text;    /**< a column that stays strings, as component 0. Component 1 is the label; other columns are
                              ignored. With the schema of such a table, .text and .label rename its columns:
                              they are the names in this file; "": the name in the schema */
    bool unknown_categories; /**< with like or schema: an unknown category of an input, or an empty cell, becomes -1 */
    char decimal;   /**< decimal mark, '.' or ','; 0: what fits all cells of the column, or what the schema says */
    char thousands; /**< between groups of three digits: ',', '.', '\'', or ' ' for any space; 0: as for decimal */
    const char *const *dates; /**< inputs that are dates. "born" becomes four numbers: year, month, weekday (Monday
                                   is 0) and seconds since 1970, which f32 holds to within 128. "born=year+month"
                                   becomes only those named. Not with a schema, which says which are dates */
    int num_dates;
    char comment;         /**< lines that begin with this character are skipped, as '#'; 0: none are */
    bool no_header;       /**< the first line is a row, too; the columns have the names "1", "2", "3" and so on */
    const char *encoding; /**< of the file, a name that iconv knows, as "latin1"; NULL: UTF-8. A byte order mark
                           *   overrules it, so that UTF-16 with a mark needs no name */
    const char *weight; /**< the column of the examples' weights, numbers from 0, which becomes the last component, f32;
                         *   a weight that is missing is an error. NULL: there are none */
    bool inputs_only;   /**< do not read the column of labels; with a schema, as if the file did not have it */
} mst_csv_options;
MST_API MST_CHECKED mst_status mst_dataset_from_csv(const char *path, const mst_csv_options *options,
                                                    mst_dataset **out);
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/long_work.h"
#include "base/no_memory.h"
#include "data/dataset.h"
#include "data/nested.h"
#include "data/sources/csv_column.h"

typedef struct csv_table {
    mst_csv *csv, *like; /* like: the file that defines the columns, often csv itself; NULL: the schema does */
    mst_schema schema;
    mst_csv_column *column; /* [num_columns], the labels last */
    int num_columns, num_labels;
    int *label;          /* [num_labels], the places of the labels in LIKE; NULL: the schema has them */
    bool no_label;       /* the file has no column of labels */
    mst_tensor **tensor; /* [num_components] */
    int num_components;
} csv_table;

static bool is_named(const char *const *names, int n, const char *name) {
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static int num_inputs(const csv_table *t) {
    return t->num_columns - t->num_labels;
}

/* The number of columns without labels that the file does not have. */
static int num_read(const csv_table *t) {
    return t->no_label ? num_inputs(t) : t->num_columns;
}

/* Which of the labels is column I of the file; -1: it is none. */
static int label_at(const csv_table *t, int i) {
    for (int k = 0; k < t->num_labels; k++)
        if (t->label[k] == i) return k;
    return -1;
}

static bool is_label(const csv_table *t, int i) {
    return label_at(t, i) >= 0;
}

static mst_status make_columns(csv_table *t, const mst_csv_options *o, int num_columns) {
    t->num_columns = num_columns;
    t->num_components = o->separate ? num_inputs(t) + 1 : 2;
    t->column = calloc((size_t)num_columns, sizeof *t->column);
    t->tensor = calloc((size_t)t->num_components + 1, sizeof *t->tensor); /* there may be weights */
    return t->column && t->tensor ? MST_OK : MST_NO_MEMORY("for %d columns", num_columns);
}

/* The error for a column of strings that would have to be part of the f32 inputs. */
static mst_status refuse_text(const char *column) {
    return MST_FAIL(MST_INVALID, "from_csv: column '%s' is text, which inputs of f32 cannot hold: set .separate",
                    column);
}

/* Finds how column I of the file is read. ALONE: it becomes a component of its own, so it may be text. */
static mst_status find_column(const csv_table *t, const mst_csv_options *o, int i, bool alone, mst_csv_column *out) {
    const char *name = mst_csv_header(t->like, i);
    const mst_csv_reading as = {.categories = is_named(o->categories, o->num_categories, name),
                                .part = out->part,
                                .notation = {.decimal = o->decimal, .thousands = o->thousands}};
    if (!is_named(o->texts, o->num_texts, name)) return mst_csv_column_find(t->like, i, &as, out);
    *out = (mst_csv_column){.name = name, .place = i, .type = MST_CSV_TEXTS, .is_label = out->is_label};
    return alone ? MST_OK : refuse_text(name);
}

/* The length of the name in DATE, "born=year+month". *PARTS is "year+month"; NULL: all parts. A '=' may also belong to
 * the name. */
static size_t split_date(const csv_table *t, const char *date, const char **parts) {
    const char *equals = strrchr(date, '=');
    for (int i = 0; equals && i < mst_csv_num_columns(t->like); i++)
        if (strcmp(mst_csv_header(t->like, i), date) == 0) equals = NULL;
    *parts = equals ? equals + 1 : NULL;
    return equals ? (size_t)(equals - date) : strlen(date);
}

/* Whether PART is in the list PARTS, "year+month". */
static bool has_part(const char *parts, const char *part) {
    const size_t size = strlen(part);
    for (const char *at = parts; at; at = strchr(at, '+'), at = at ? at + 1 : NULL)
        if (strcspn(at, "+") == size && strncmp(at, part, size) == 0) return true;
    return false;
}

static mst_status check_parts(const char *parts) {
    for (const char *at = parts; at; at = strchr(at, '+'), at = at ? at + 1 : NULL) {
        const size_t size = strcspn(at, "+");
        int part = MST_CSV_YEAR;
        while (part < MST_CSV_NUM_DATE_PARTS &&
               (strlen(mst_csv_date_part_names[part]) != size || strncmp(mst_csv_date_part_names[part], at, size) != 0))
            part++;
        if (part == MST_CSV_NUM_DATE_PARTS)
            return MST_FAIL(MST_INVALID,
                            "dates have no part '%.*s': write year, month, weekday or seconds, joined by +, as in "
                            "born=year+month",
                            (int)size, at);
    }
    return MST_OK;
}

/* Checks the names and parts of the dates in O, and that none of them is a column of labels. */
static mst_status check_dates(const csv_table *t, const mst_csv_options *o) {
    for (int i = 0; i < o->num_dates; i++) {
        const char *parts;
        int column = 0;
        const size_t size = split_date(t, o->dates[i], &parts);
        char *name = strndup(o->dates[i], size);
        if (!name) return MST_NO_MEMORY("for the name of a column");
        const mst_status status = mst_csv_find(t->like, name, &column);
        free(name);
        MST_TRY(status);
        MST_TRY(check_parts(parts));
        if (is_label(t, column))
            return MST_FAIL(MST_INVALID, "'%s': the column of labels, '%s', cannot be a date", mst_csv_name(t->like),
                            mst_csv_header(t->like, column));
    }
    return MST_OK;
}

/* How often the dates in O name the column HEADER. */
static int count_dates(const csv_table *t, const mst_csv_options *o, const char *header) {
    const char *parts;
    int count = 0;
    for (int i = 0; i < o->num_dates; i++) {
        const size_t size = split_date(t, o->dates[i], &parts);
        count += strlen(header) == size && strncmp(o->dates[i], header, size) == 0;
    }
    return count;
}

/* Checks that no column is in more than one list of O. */
static mst_status check_lists(const csv_table *t, const mst_csv_options *o) {
    for (int i = 0; i < mst_csv_num_columns(t->like); i++) {
        const char *header = mst_csv_header(t->like, i), *option[4];
        char shown[MST_CSV_SHOWN];
        const int dates = count_dates(t, o, header);
        int count = 0;
        mst_csv_show(header, shown);
        if (is_named(o->drop, o->num_drop, header)) option[count++] = "drop";
        if (is_named(o->categories, o->num_categories, header)) option[count++] = "categories";
        if (dates) option[count++] = "dates";
        if (is_named(o->texts, o->num_texts, header)) option[count++] = "text";
        if (count > 1)
            return MST_FAIL(MST_INVALID,
                            "'%s': column %s is named in --%s and in --%s (in C: .%s, .%s): name it in one of them",
                            mst_csv_name(t->like), shown, option[0], option[1], option[0], option[1]);
        if (dates > 1)
            return MST_FAIL(
                MST_INVALID,
                "'%s': column %s is named twice in --dates: name it once with all parts, as born=year+month",
                mst_csv_name(t->like), shown);
        if (o->text && !is_label(t, i) && count && (dates || strcmp(option[0], "categories") == 0))
            return MST_FAIL(MST_INVALID,
                            "'%s': column %s is named in --%s, but with --text only the texts and the labels are read: "
                            "leave it out",
                            mst_csv_name(t->like), shown, option[0]);
    }
    return MST_OK;
}

/* Writes the numbers that column I becomes to PART, and returns how many. If it is not a date: 1, MST_CSV_NO_DATE. */
static int parts_of(const csv_table *t, const mst_csv_options *o, int i, mst_csv_date_part part[]) {
    const char *header = mst_csv_header(t->like, i), *parts;
    int count = 0;
    part[0] = MST_CSV_NO_DATE;
    for (int d = 0; d < o->num_dates && !count; d++) {
        const size_t size = split_date(t, o->dates[d], &parts);
        if (strlen(header) != size || strncmp(o->dates[d], header, size) != 0) continue;
        for (int p = MST_CSV_YEAR; p < MST_CSV_NUM_DATE_PARTS; p++)
            if (!parts || has_part(parts, mst_csv_date_part_names[p])) part[count++] = (mst_csv_date_part)p;
    }
    return count ? count : 1;
}

static bool is_weight(const mst_csv_options *o, const char *name) {
    return o->weight && strcmp(name, o->weight) == 0;
}

/* The weight is no input. With .text, all columns but that one and the labels are dropped, too. */
static bool is_dropped(const csv_table *t, const mst_csv_options *o, int i) {
    const char *name = mst_csv_header(t->like, i);
    return is_weight(o, name) || is_named(o->drop, o->num_drop, name) ||
           (o->text && !is_label(t, i) && strcmp(name, o->text) != 0);
}

/* Finds label K, the column NAME. */
static mst_status find_label(csv_table *t, const mst_csv_options *o, int k, const char *name) {
    char shown[MST_CSV_SHOWN];
    int place;
    MST_TRY(mst_csv_find(t->like, name, &place));
    if (is_label(t, place))
        return MST_FAIL(MST_INVALID, "'%s': column %s is named twice as a label: name it once", mst_csv_name(t->like),
                        mst_csv_show(name, shown));
    t->label[k] = place;
    if (is_dropped(t, o, place))
        return MST_FAIL(MST_INVALID, "'%s': the column of labels, '%s', cannot be dropped too", mst_csv_name(t->like),
                        name);
    if (o->text && strcmp(name, o->text) == 0)
        return MST_FAIL(MST_INVALID, "'%s': column '%s' cannot be the label and the text", mst_csv_name(t->like), name);
    return MST_OK;
}

/* Finds the columns of labels: those of .labels, or the last column that is neither dropped nor the text nor the
 * weight. */
static mst_status find_labels(csv_table *t, const mst_csv_options *o) {
    t->num_labels = o->num_labels ? o->num_labels : 1;
    t->label = malloc((size_t)t->num_labels * sizeof *t->label);
    if (!t->label) return MST_NO_MEMORY("for %d columns of labels", t->num_labels);
    for (int k = 0; k < t->num_labels; k++) t->label[k] = -1;
    for (int k = 0; k < o->num_labels; k++) MST_TRY(find_label(t, o, k, o->labels[k]));
    for (int i = 0; i < mst_csv_num_columns(t->like) && !o->num_labels; i++) {
        const char *name = mst_csv_header(t->like, i);
        const bool is_text = o->text && strcmp(name, o->text) == 0;
        if (!is_named(o->drop, o->num_drop, name) && !is_text && !is_weight(o, name)) *t->label = i;
    }
    return MST_OK;
}

/* Checks that the column of weights is there, and is nothing else. */
static mst_status check_weight(const csv_table *t, const mst_csv_options *o) {
    char shown[MST_CSV_SHOWN];
    int ignored;
    if (!o->weight) return MST_OK;
    MST_TRY(mst_csv_find(t->like, o->weight, &ignored));
    const bool is_other = is_named(o->labels, o->num_labels, o->weight) || (o->text && is_weight(o, o->text)) ||
                          is_named(o->drop, o->num_drop, o->weight) || count_dates(t, o, o->weight) ||
                          is_named(o->categories, o->num_categories, o->weight);
    if (!is_other) return MST_OK;
    return MST_FAIL(MST_INVALID,
                    "'%s': column %s has the weights of the examples (--sample-weight, in C: .weight): name it in no "
                    "other option",
                    mst_csv_name(t->like), mst_csv_show(o->weight, shown));
}

/* Checks the names of columns in O, and finds the labels. *COUNT is the number of columns that are not dropped. */
static mst_status find_names(csv_table *t, const mst_csv_options *o, int *count) {
    int ignored;
    *count = 0;
    /* "" is a column without a name. Such columns at the end that have no text either were left out when the file was
     * read (mst_csv_has_hollow); then there may be none to find. */
    for (int i = 0; i < o->num_drop; i++)
        if (*o->drop[i] || !mst_csv_has_hollow(t->like)) MST_TRY(mst_csv_find(t->like, o->drop[i], &ignored));
    for (int i = 0; i < o->num_categories; i++) MST_TRY(mst_csv_find(t->like, o->categories[i], &ignored));
    for (int i = 0; i < o->num_texts; i++) MST_TRY(mst_csv_find(t->like, o->texts[i], &ignored));
    MST_TRY(check_weight(t, o));
    MST_TRY(find_labels(t, o));
    MST_TRY(check_dates(t, o));
    MST_TRY(check_lists(t, o));
    for (int i = 0; i < mst_csv_num_columns(t->like); i++) *count += !is_dropped(t, o, i);
    if (o->text && *count == 1 && o->inputs_only) { /* texts alone */
        t->num_labels = 0;
        return MST_OK;
    }
    if (o->text && *count < 2)
        return MST_FAIL(MST_INVALID, "'%s': has no column of labels beside the texts in '%s'", mst_csv_name(t->like),
                        o->text);
    if (*count < 1) return MST_FAIL(MST_INVALID, "'%s': all columns are dropped", mst_csv_name(t->like));
    if (*count < 2 && !o->separate)
        return MST_FAIL(MST_INVALID, "'%s': has 1 column%s, inputs and labels are due%s%s", mst_csv_name(t->like),
                        o->num_drop ? " that is not dropped" : "", o->num_drop ? "" : ": ",
                        o->num_drop ? "" : mst_csv_delimiter_hint(mst_csv_header(t->like, 0)));
    if (*count <= t->num_labels && !o->separate)
        return MST_FAIL(MST_INVALID, "'%s': all columns%s are labels: inputs are due", mst_csv_name(t->like),
                        o->num_drop ? " that are not dropped" : "");
    return MST_OK;
}

/* Several labels are one row of numbers. */
static mst_status check_several_labels(const csv_table *t) {
    char shown[MST_CSV_SHOWN];
    for (int i = num_inputs(t); i < t->num_columns && t->num_labels > 1 && !t->no_label; i++)
        if (t->column[i].type == MST_CSV_CATEGORIES || t->column[i].type == MST_CSV_TEXTS)
            return MST_FAIL(MST_INVALID,
                            "'%s': column %s is of classes, and several labels must all be numbers: train a model for "
                            "it alone, write a column of 0 and 1 for each class, or take a network of a file with an "
                            "output for each label",
                            mst_csv_name(t->like), mst_csv_show(t->column[i].name, shown));
    return MST_OK;
}

static mst_status find_columns(csv_table *t, const mst_csv_options *o) {
    int count, place = 0;
    mst_csv_date_part part[MST_CSV_NUM_DATE_PARTS];
    MST_TRY(find_names(t, o, &count));
    for (int i = 0; i < mst_csv_num_columns(t->like); i++)
        if (!is_dropped(t, o, i)) count += parts_of(t, o, i, part) - 1;
    MST_TRY(make_columns(t, o, count));
    for (int i = 0; i < mst_csv_num_columns(t->like); i++) {
        mst_long_work_step((uint64_t)i / 2); /* the other half is the reading of the values */
        if (is_dropped(t, o, i)) continue;
        const int label = label_at(t, i);
        const int parts = parts_of(t, o, i, part);
        for (int p = 0; p < parts; p++) {
            mst_csv_column *column = &t->column[label >= 0 ? num_inputs(t) + label : place++];
            *column = (mst_csv_column){.missing = o->missing, .is_label = label >= 0, .part = part[p]};
            if (label >= 0 && o->inputs_only)
                *column = (mst_csv_column){.name = mst_csv_header(t->like, i), .place = i, .is_label = true};
            else
                MST_TRY(find_column(t, o, i, o->separate || label >= 0, column));
        }
    }
    t->no_label = o->inputs_only;
    t->num_components -= t->no_label;
    MST_TRY(check_several_labels(t));
    if (o->decimal || o->thousands) return MST_OK;
    return mst_csv_columns_check(t->like, t->column, num_read(t), false);
}

static bool has_column(const mst_csv *csv, const char *name) {
    for (int i = 0; i < mst_csv_num_columns(csv); i++)
        if (strcmp(mst_csv_header(csv, i), name) == 0) return true;
    return false;
}

/* Replaces the schema's names of the text and label columns by those of the options: this file may use other names. */
static mst_status rename_columns(csv_table *t, const mst_csv_options *o) {
    mst_schema_column *column = t->schema.column;
    const int label = t->schema.num_columns - t->schema.num_labels;
    for (int i = 0; i < label && *o->text; i++)
        if (strcmp(column[i].type, "text") == 0) column[i].name = o->text;
    for (int k = 0; k < o->num_labels && k < t->schema.num_labels; k++) column[label + k].name = o->labels[k];
    if (label < 1 || strcmp(column[0].name, column[label].name) != 0) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s': column '%s' cannot be the label and the text", mst_csv_name(t->csv),
                    column[label].name);
}

/* Replaces the notation found in training by that of the options, since another file may be written differently.
 * Without such options it stays. */
static void rewrite_notation(const mst_csv_options *o, mst_csv_notation *notation) {
    if (!o->decimal && !o->thousands) return;
    if (o->decimal || o->thousands == '.' || o->thousands == ',')
        notation->decimal = o->decimal ? o->decimal : o->thousands == '.' ? ',' : '.';
    notation->thousands = o->thousands ? o->thousands : o->decimal == ',' ? '.' : ',';
}

/* The labels of the options, if there are any, must be those of the schema. */
static mst_status check_known_labels(const csv_table *t, const mst_csv_options *o) {
    const mst_schema_column *label = t->schema.column + t->schema.num_columns - t->schema.num_labels;
    if (o->num_labels && o->num_labels != t->schema.num_labels)
        return MST_FAIL(MST_INVALID, "'%s': %d column%s of labels %s named here, and there were %d in training",
                        mst_csv_name(t->csv), o->num_labels, o->num_labels == 1 ? "" : "s",
                        o->num_labels == 1 ? "is" : "are", t->schema.num_labels);
    for (int k = 0; k < o->num_labels; k++)
        if (strcmp(o->labels[k], label[k].name) != 0)
            return MST_FAIL(MST_INVALID, "'%s': the column of labels is '%s' here, and was '%s' in training",
                            mst_csv_name(t->csv), o->labels[k], label[k].name);
    return MST_OK;
}

/* Whether the file has one of the labels of the schema. */
static bool has_label(const csv_table *t) {
    for (int i = num_inputs(t); i < t->num_columns; i++)
        if (has_column(t->csv, t->schema.column[i].name)) return true;
    return false;
}

static mst_status take_columns(csv_table *t, const mst_csv_options *o) {
    if (o->like || o->num_categories || (o->num_texts && !o->text) || o->num_drop || o->num_dates)
        return MST_FAIL(
            MST_INVALID,
            "from_csv: .schema already says how each column is read: leave out .like, .categories, .texts, .drop and "
            ".dates");
    MST_TRY(mst_schema_read(o->schema, &t->schema));
    if (o->text) MST_TRY(rename_columns(t, o));
    t->num_labels = t->schema.num_labels;
    const int label = t->schema.num_columns - t->num_labels;
    if (label < 1 && !o->separate) return MST_FAIL(MST_INVALID, "schema: it is not of a table: it has 1 column");
    MST_TRY(check_known_labels(t, o));
    MST_TRY(make_columns(t, o, t->schema.num_columns));
    for (int i = 0; i < t->num_columns; i++) {
        MST_TRY(mst_csv_column_from_schema(&t->schema.column[i], i, &t->column[i]));
        rewrite_notation(o, &t->column[i].notation);
        if (t->column[i].type == MST_CSV_TEXTS && !o->separate && i < label) return refuse_text(t->column[i].name);
    }
    t->no_label = o->inputs_only || !has_label(t);
    t->num_components -= t->no_label;
    return MST_OK;
}

/* Finds the index of column I in t->csv. */
static mst_status place_of(const csv_table *t, int i, int *place) {
    *place = t->column[i].place;
    const char *name = t->column[i].name;
    if (*place < mst_csv_num_columns(t->csv) && name && strcmp(mst_csv_header(t->csv, *place), name) == 0)
        return MST_OK;
    return mst_csv_find(t->csv, name, place);
}

/* A '.' or ',' in a number may be a decimal mark, or stand between thousands. The file that defines the columns was
 * already checked for this; checks the file of the rows too, if it is another one. */
static mst_status check_new_points(const csv_table *t, const mst_csv_options *o) {
    const int n = num_read(t);
    if (t->like == t->csv || o->decimal || o->thousands) return MST_OK;
    mst_csv_column *placed = malloc((size_t)t->num_columns * sizeof *placed);
    if (!placed) return MST_NO_MEMORY("for %d columns", n);
    memcpy(placed, t->column, (size_t)t->num_columns * sizeof *placed);
    mst_status status = MST_OK;
    for (int i = 0; i < n && !status; i++) status = place_of(t, i, &placed[i].place);
    if (!status) status = mst_csv_columns_check(t->csv, placed, n, true);
    free(placed);
    return status;
}

/* Reads the N columns from FIRST on into component C, f32 [rows, n]. */
static mst_status read_numbers(csv_table *t, int first, int n, int c) {
    MST_TRY(mst_tensor_create(MST_F32, MST_SHAPE(mst_csv_num_rows(t->csv), n), &t->tensor[c]));
    for (int i = 0; i < n; i++) {
        int place;
        mst_long_work_step((uint64_t)(t->num_columns + i) / 2);
        MST_TRY(place_of(t, first + i, &place));
        float *dst = (float *)mst_tensor_data(t->tensor[c]) + i;
        MST_TRY(mst_csv_column_read_f32(t->csv, place, &t->column[first + i], dst, n));
    }
    return MST_OK;
}

static mst_status read_inputs(csv_table *t) {
    return read_numbers(t, 0, num_inputs(t), 0);
}

/* Reads column I alone into component C. */
static mst_status read_column(csv_table *t, int i, int c) {
    int place;
    const mst_csv_column *column = &t->column[i];
    const mst_dtype dtype = column->type == MST_CSV_FLOATS  ? MST_F32
                            : column->type == MST_CSV_TEXTS ? MST_STRING
                                                            : MST_I64;
    MST_TRY(place_of(t, i, &place));
    MST_TRY(mst_tensor_create(dtype, MST_SHAPE(mst_csv_num_rows(t->csv)), &t->tensor[c]));
    if (dtype == MST_STRING) return mst_csv_column_read_texts(t->csv, place, t->tensor[c]);
    void *data = mst_tensor_data(t->tensor[c]);
    return dtype == MST_F32 ? mst_csv_column_read_f32(t->csv, place, column, data, 1)
                            : mst_csv_column_read_i64(t->csv, place, column, data);
}

static mst_status name_classes(const csv_table *t, bool separate, mst_dataset **dataset) {
    for (int i = separate ? 0 : num_inputs(t); i < num_read(t); i++) { /* several labels are no categories */
        const mst_csv_column *column = &t->column[i];
        mst_dataset *named;
        if (column->type != MST_CSV_CATEGORIES) continue;
        MST_TRY(mst_dataset_name_classes(*dataset, separate ? i : 1, column->category, column->num_categories, &named));
        mst_dataset_release(*dataset);
        *dataset = named;
    }
    return MST_OK;
}

static mst_status add_schema(const csv_table *t, mst_dataset **dataset) {
    mst_schema_column *columns = calloc((size_t)t->num_columns, sizeof *columns);
    char *text;
    mst_dataset *described = NULL;
    if (!columns) return MST_NO_MEMORY("for a schema");
    for (int i = 0; i < t->num_columns; i++) columns[i] = mst_csv_column_to_schema(&t->column[i]);
    mst_status status = mst_schema_write(columns, t->num_columns, t->num_labels, &text);
    if (!status) status = mst_dataset_add_schema(*dataset, text, &described);
    free(columns);
    MST_TRY(status);
    mst_dataset_release(*dataset);
    *dataset = described;
    return MST_OK;
}

static mst_status check_weights(const csv_table *t, int place, const float *weight) {
    char where[MST_CSV_PLACE], shown[MST_CSV_SHOWN];
    bool all_zero = true;
    for (int64_t row = 0; row < mst_csv_num_rows(t->csv); row++) {
        if (!isfinite(weight[row]) || weight[row] < 0)
            return MST_FAIL(MST_INVALID, "%s: %s is no weight of an example: it must be a number from 0",
                            mst_csv_place(t->csv, row, place, where),
                            mst_csv_show(mst_csv_cell(t->csv, row, place), shown));
        all_zero &= weight[row] == 0;
    }
    if (!all_zero) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s': all weights of the examples are 0: there is nothing to learn from",
                    mst_csv_name(t->csv));
}

/* Reads the column of weights as one more component. */
static mst_status read_weights(csv_table *t, const mst_csv_options *o) {
    const mst_csv_reading as = {.notation = {.decimal = o->decimal, .thousands = o->thousands}};
    mst_csv_column column = {.missing = MST_MISSING_REFUSE, .is_weight = true};
    char shown[MST_CSV_SHOWN];
    int place;
    MST_TRY(mst_csv_find(t->csv, o->weight, &place));
    mst_status status = mst_csv_column_find(t->csv, place, &as, &column);
    if (!status && column.type == MST_CSV_CATEGORIES)
        status = MST_FAIL(MST_INVALID, "'%s': column %s is text: the weights of examples are numbers",
                          mst_csv_name(t->csv), mst_csv_show(o->weight, shown));
    mst_tensor **weights = &t->tensor[t->num_components];
    if (!status) status = mst_tensor_create(MST_F32, MST_SHAPE(mst_csv_num_rows(t->csv)), weights);
    if (!status) {
        t->num_components++;
        status = mst_csv_column_read_f32(t->csv, place, &column, mst_tensor_data(*weights), 1);
    }
    if (!status) status = check_weights(t, place, mst_tensor_data(*weights));
    mst_csv_column_free(&column);
    return status;
}

static mst_status read_values(csv_table *t, const mst_csv_options *o) {
    const int n = num_inputs(t), component = o->separate ? n : 1; /* of the labels */
    if (!o->separate) MST_TRY(read_inputs(t));
    for (int i = 0; i < n && o->separate; i++) MST_TRY(read_column(t, i, i));
    if (!t->no_label)
        MST_TRY(t->num_labels > 1 ? read_numbers(t, n, t->num_labels, component) : read_column(t, n, component));
    return o->weight && !t->no_label ? read_weights(t, o) : MST_OK;
}

/* Finds what the columns are, and reads their values. */
static mst_status make_values(csv_table *t, const mst_csv_options *o) {
    MST_TRY(o->schema ? take_columns(t, o) : find_columns(t, o));
    for (int i = 0; i < t->num_columns; i++) {
        mst_csv_column *column = &t->column[i];
        column->is_label = i >= num_inputs(t);
        column->missing = o->missing;
        column->unknown_categories = o->unknown_categories && t->like != t->csv && !column->is_label;
    }
    MST_TRY(check_new_points(t, o));
    return read_values(t, o);
}

static mst_status csv_source_make(csv_table *t, const char *path, const mst_csv_options *o, mst_dataset **out) {
    const mst_csv_format format = {
        .delimiter = o->delimiter, .comment = o->comment, .no_header = o->no_header, .encoding = o->encoding};
    MST_TRY(mst_csv_read(path, &format, &t->csv));
    if (!o->schema) t->like = t->csv;
    if (o->like && !o->schema) MST_TRY(mst_csv_read(o->like, &format, &t->like));
    mst_long_work_begin(MST_LONG_WORK_READING, path, "columns", (uint64_t)mst_csv_num_columns(t->csv));
    mst_status status = make_values(t, o);
    mst_long_work_end();
    MST_TRY(status);
    MST_TRY(mst_dataset_from_tensors(t->tensor, t->num_components, out));
    status = name_classes(t, o->separate, out);
    if (!status) status = add_schema(t, out);
    if (!status) return MST_OK;
    mst_dataset_release(*out);
    *out = NULL;
    return status;
}

/* Lists of names must not contain NULL. */
static mst_status check_names(const char *const *names, int n, const char *what) {
    if (n > 0 && MST_IS_NULL(names)) return MST_INVALID;
    for (int i = 0; i < n; i++)
        if (!names[i]) return MST_FAIL(MST_INVALID, "from_csv: the name of %s column %d is NULL", what, i);
    return MST_OK;
}

static mst_status check_csv_options(const mst_csv_options *o) {
    MST_TRY(check_names(o->categories, o->num_categories, "category"));
    MST_TRY(check_names(o->texts, o->num_texts, "text"));
    MST_TRY(check_names(o->drop, o->num_drop, "dropped"));
    MST_TRY(check_names(o->dates, o->num_dates, "date"));
    MST_TRY(check_names(o->labels, o->num_labels, "label"));
    if (o->label && o->num_labels) return MST_FAIL(MST_INVALID, "from_csv: set .label or .labels, not both");
    if (o->decimal && o->decimal != '.' && o->decimal != ',')
        return MST_FAIL(MST_INVALID, "from_csv: decimal is '%c': it must be '.' or ','", o->decimal);
    if (o->thousands && !strchr(",.' ", o->thousands))
        return MST_FAIL(MST_INVALID, "from_csv: thousands is '%c': it must be ',', '.', ' ' or '\''", o->thousands);
    if (o->decimal && o->thousands == o->decimal)
        return MST_FAIL(MST_INVALID, "from_csv: decimal and thousands are both '%c'", o->decimal);
    return MST_OK;
}

mst_status mst_dataset_from_csv(const char *path, const mst_csv_options *options, mst_dataset **out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    static const mst_csv_options defaults;
    csv_table t = {0};
    *out = NULL;
    if (!options) options = &defaults;
    MST_TRY(check_csv_options(options));
    mst_csv_options o = *options;
    if (o.label) o.labels = &options->label, o.num_labels = 1;
    if (o.text) o.separate = true, o.texts = &options->text, o.num_texts = 1;
    const mst_status status = csv_source_make(&t, path, &o, out);
    for (int i = 0; t.column && i < t.num_columns; i++) mst_csv_column_free(&t.column[i]);
    for (int i = 0; t.tensor && i < t.num_components; i++) mst_tensor_release(t.tensor[i]);
    mst_schema_free(&t.schema);
    free(t.column);
    free(t.label);
    free(t.tensor);
    if (t.like != t.csv) mst_csv_close(t.like);
    mst_csv_close(t.csv);
    return status;
}

mst_dataset *mst_data_from_csv(const char *path, const mst_csv_options *options) {
    MST_DATASET_OPEN(mst_dataset_from_csv(path, options, &out));
}
