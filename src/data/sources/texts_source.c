/** Text files as strings and classes. Component 0 is the text, string [], component 1 its class, i64. Classes are
 *  numbered from 0, in the order of their names' bytes (mst_dataset_class_name). PATH is
 *
 *  - a folder with a folder for each class, PATH/sport/1.txt: each file is one text;
 *  - a folder of files, each of which is a class, PATH/science: its texts are separated by lines with only a %, as in
 *    the files of `fortune`;
 *  - a file of such texts, or of one text; then there is no component 1;
 *  - several of these folders or files, with a line end between them; their classes are those of all;
 *  - "-", such texts on standard input, which can be read only once.
 *
 *  With a schema that names none of the files in a folder, each of these files is one text, and there is no component 1
 *  either.
 *
 *  Hidden files are ignored, and so are the files *.dat and *.u8 of `fortune`, and byte order marks. Between two lines
 *  of %, white space alone is not a text. Rows come class by class, sorted by file name: shuffle them for training. All
 *  files are read now. OPTIONS may be NULL. mst_dataset_vectorize_text turns the texts into numbers.
 *
 *  Fails with MST_NOT_FOUND, MST_INVALID or MST_IO if there are no such files, or one cannot be read or is not
 *  UTF-8, nor in the encoding of the options: the message names it. */
#ifdef MST_DATASET_HEADER
typedef struct mst_texts_options {
    int zero_;
    const char *schema;   /**< mst_dataset_schema of other texts: classes are numbered as there; others are an error */
    const char *encoding; /**< of the files, as in mst_csv_options */
    bool no_classes;      /**< the files of a folder are one text each, and their names are no classes */
} mst_texts_options;
MST_API MST_CHECKED mst_status mst_dataset_from_texts(const char *path, const mst_texts_options *options,
                                                      mst_dataset **out);
#endif
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/cannot_open.h"
#include "base/ending.h"
#include "base/file.h"
#include "base/long_work.h"
#include "base/no_memory.h"
#include "base/path_list.h"
#include "base/standard_input.h"
#include "base/utf8.h"
#include "data/dataset.h"
#include "data/nested.h"
#include "data/schema.h"
#include "data/transforms/name_files.h"
#include "format/encoding.h"
#include "tensor/tokens.h"

static const size_t MOST_BYTES = (size_t)1 << 34; /* limit for a file */

typedef struct texts {
    mst_arena arena; /* names and paths */
    const char *encoding;
    mst_schema schema; /* schema of the options; empty if they have none */
    const char **class_name;
    int64_t num_classes, name_capacity;
    bool has_labels;
    void **file; /* the bytes of each file */
    int64_t num_files, file_capacity;
    mst_string *text; /* these point into the files */
    int64_t *label;
    int64_t num_texts, text_capacity, label_capacity;
    const char **path; /* [num_paths] the file of each text, if each file is one text; then num_paths is num_texts */
    int64_t num_paths, path_capacity;
    bool no_classes; /* as in the options */
} texts;

/* ---- names ---- */

static int is_wanted(const struct dirent *entry) {
    return entry->d_name[0] != '.' && !mst_ends_in(entry->d_name, ".dat") && !mst_ends_in(entry->d_name, ".u8");
}

static int by_bytes(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static const char *join_path(texts *t, const char *folder, const char *name) {
    return mst_arena_print(&t->arena, mst_ends_in(folder, "/") ? "%s%s" : "%s/%s", folder, name);
}

/* Lists paths in FOLDER, sorted: only folders if FOLDERS is true, else all entries that are not folders. The paths are
 * in the arena of T. */
static mst_status list(texts *t, const char *folder, bool folders, const char ***paths, int64_t *n) {
    struct dirent **entry;
    const int count = scandir(folder, &entry, is_wanted, by_bytes);
    if (count < 0) return mst_cannot_open(folder, "folder");
    *paths = mst_arena_alloc(&t->arena, ((size_t)count + 1) * sizeof **paths);
    mst_status status = *paths ? MST_OK : MST_NO_MEMORY("for the names of files");
    *n = 0;
    for (int i = 0; i < count; i++) {
        const char *path = status ? NULL : join_path(t, folder, entry[i]->d_name);
        if (!status && !path) status = MST_NO_MEMORY("for the names of files");
        if (path && mst_is_folder(path) == folders) (*paths)[(*n)++] = path;
        free(entry[i]);
    }
    free(entry);
    return status;
}

static const char *last_part(const char *path) {
    return strrchr(path, '/') + 1;
}

/* The column of the schema that has the classes; NULL: there is no schema. */
static const mst_schema_column *known_classes(const texts *t) {
    return t->schema.num_columns ? &t->schema.column[t->schema.num_columns - 1] : NULL;
}

/* The number of class NAME in the schema; -1: it is not there. */
static int64_t known_class(const texts *t, const char *name) {
    const mst_schema_column *known = known_classes(t);
    for (int64_t i = 0; known && i < known->num_categories; i++)
        if (strcmp(known->category[i], name) == 0) return i;
    return -1;
}

/* The number of class NAME. Without a schema, a name that is new becomes a new class. */
static mst_status find_class(texts *t, const char *name, int64_t *out) {
    *out = known_class(t, name);
    if (*out >= 0) return MST_OK;
    if (known_classes(t)) return MST_FAIL(MST_INVALID, "class '%s' was not there in training", name);
    for (int64_t i = 0; i < t->num_classes; i++) /* of another folder of a list */
        if (strcmp(t->class_name[i], name) == 0) return *out = i, MST_OK;
    MST_TRY(mst_grow(&t->class_name, sizeof *t->class_name, t->num_classes + 1, &t->name_capacity));
    *out = t->num_classes;
    t->class_name[t->num_classes++] = name;
    return MST_OK;
}

/* ---- texts ---- */

static mst_status texts_source_add(texts *t, const char *data, size_t size, int64_t label) {
    MST_TRY(mst_grow(&t->text, sizeof *t->text, t->num_texts + 1, &t->text_capacity));
    MST_TRY(mst_grow(&t->label, sizeof *t->label, t->num_texts + 1, &t->label_capacity));
    t->text[t->num_texts] = (mst_string){data, size};
    t->label[t->num_texts++] = label;
    return MST_OK;
}

static bool is_blank(const char *data, size_t size) {
    size_t i = 0;
    while (i < size && mst_text_is_white(data[i])) i++;
    return i == size;
}

static mst_status add_between(texts *t, const char *data, size_t size, int64_t label) {
    return is_blank(data, size) ? MST_OK : texts_source_add(t, data, size, label);
}

/* Adds the texts between lines of %. */
static mst_status split(texts *t, const char *data, size_t size, int64_t label) {
    const char *const end = data + size, *first = data;
    for (const char *line = data; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end;
        const size_t length = (size_t)(next - line);
        if (line[0] == '%' && is_blank(line + 1, length - 1)) {
            MST_TRY(add_between(t, first, (size_t)(line - first), label));
            first = next;
        }
        line = next;
    }
    return add_between(t, first, (size_t)(end - first), label);
}

static mst_status read_file(texts *t, const char *path, bool is_one_text, int64_t label) {
    void *bytes;
    size_t size;
    MST_TRY(mst_grow(&t->file, sizeof *t->file, t->num_files + 1, &t->file_capacity));
    MST_TRY(mst_standard_input_is(path) ? mst_standard_input_read(&bytes, &size)
                                        : mst_file_read(path, MOST_BYTES, &bytes, &size));
    path = mst_standard_input_name(path);
    char *data = bytes;
    const mst_status status = mst_encoding_decode(path, t->encoding, &data, &size);
    t->file[t->num_files++] = data;
    MST_TRY(status);
    if (mst_text_check((mst_string){data, size}))
        return MST_FAIL(mst_error()->code, "'%s': %s, or say its --encoding (in C: .encoding)", path,
                        mst_error()->message);
    const size_t mark = mst_utf8_mark_size(data, size);
    const char *first = data + mark;
    if (is_one_text) {
        MST_TRY(mst_grow(&t->path, sizeof *t->path, t->num_paths + 1, &t->path_capacity));
        t->path[t->num_paths++] = path;
    }
    return is_one_text ? texts_source_add(t, first, size - mark, label) : split(t, first, size - mark, label);
}

static mst_status read_class_folder(texts *t, const char *folder) {
    const char **files;
    int64_t n, label;
    MST_TRY(list(t, folder, false, &files, &n));
    if (!n) return MST_OK;
    if (find_class(t, last_part(folder), &label)) return mst_error_prefix("'%s'", folder);
    mst_status status = MST_OK;
    mst_long_work_begin(MST_LONG_WORK_READING, folder, "files", (uint64_t)n);
    for (int64_t i = 0; i < n && !status; i++) {
        mst_long_work_step((uint64_t)i);
        status = read_file(t, files[i], true, label);
    }
    mst_long_work_end();
    return status;
}

static mst_status read_class_file(texts *t, const char *path) {
    int64_t label;
    if (find_class(t, last_part(path), &label)) return mst_error_prefix("'%s'", path);
    return read_file(t, path, false, label);
}

/* Whether the files are classes. With a schema, they are if it has the name of at least one of them. */
static bool are_classes(const texts *t, const char *const *files, int64_t n) {
    bool are = !known_classes(t) && !t->no_classes;
    for (int64_t i = 0; i < n && !are; i++) are = known_class(t, last_part(files[i])) >= 0;
    return are;
}

/* Reads a folder of folders, or of files. A single folder beside files, such as `off` of fortune, is not a class. */
static mst_status read_folder(texts *t, const char *path) {
    const char **folders, **files;
    int64_t num_folders = 0, num_files = 0;
    t->has_labels = true;
    MST_TRY(list(t, path, true, &folders, &num_folders));
    MST_TRY(list(t, path, false, &files, &num_files));
    if (num_folders > 1 || !num_files) {
        for (int64_t i = 0; i < num_folders; i++) MST_TRY(read_class_folder(t, folders[i]));
        return MST_OK;
    }
    t->has_labels = are_classes(t, files, num_files);
    for (int64_t i = 0; i < num_files; i++)
        MST_TRY(t->has_labels ? read_class_file(t, files[i]) : read_file(t, files[i], true, 0));
    return MST_OK;
}

/* ---- the dataset ---- */

static mst_status name_labels(const texts *t, mst_dataset **dataset) {
    const mst_schema_column *known = known_classes(t);
    const mst_schema_column columns[] = {{.name = "text", .type = "text"},
                                         {.name = "class",
                                          .type = "category",
                                          .category = known ? known->category : t->class_name,
                                          .num_categories = known ? known->num_categories : t->num_classes}};
    mst_dataset *named, *described;
    char *text;
    MST_TRY(mst_dataset_name_classes(*dataset, 1, columns[1].category, columns[1].num_categories, &named));
    mst_dataset_release(*dataset);
    *dataset = named;
    MST_TRY(mst_schema_write(columns, 2, 1, &text));
    MST_TRY(mst_dataset_add_schema(named, text, &described));
    mst_dataset_release(named);
    *dataset = described;
    return MST_OK;
}

static mst_status name_paths(const texts *t, mst_dataset **dataset) {
    mst_dataset *named;
    MST_TRY(mst_dataset_name_files(*dataset, t->path, t->num_paths, &named));
    mst_dataset_release(*dataset);
    *dataset = named;
    return MST_OK;
}

static mst_status make_dataset(const texts *t, mst_dataset **out) {
    mst_tensor *component[2] = {NULL, NULL};
    mst_status status = mst_tensor_copy(MST_STRING, MST_SHAPE(t->num_texts), t->text, &component[0]);
    if (!status) status = mst_tensor_copy(MST_I64, MST_SHAPE(t->num_texts), t->label, &component[1]);
    if (!status) status = mst_dataset_from_tensors(component, t->has_labels ? 2 : 1, out);
    for (int i = 0; i < 2; i++) mst_tensor_release(component[i]);
    if (!status && t->has_labels) status = name_labels(t, out);
    if (!status && t->num_paths == t->num_texts) status = name_paths(t, out);
    if (status) mst_dataset_release(*out);
    if (status) *out = NULL;
    return status;
}

/* Reads a folder or a file of a list. Either all of a list have classes, or none has. */
static mst_status read_path(texts *t, const char *path, const mst_texts_options *o) {
    const bool has_classes = !mst_standard_input_is(path) && mst_is_folder(path), had = t->has_labels;
    const bool is_first = !t->num_texts;
    if (o && o->schema && has_classes && !t->schema.num_columns) MST_TRY(mst_schema_read(o->schema, &t->schema));
    MST_TRY(has_classes ? read_folder(t, path) : read_file(t, path, false, 0));
    if (is_first || t->has_labels == had) return MST_OK;
    return MST_FAIL(MST_INVALID, "'%s': has %sclasses, and what is before it in the list has %s", path,
                    t->has_labels ? "" : "no ", t->has_labels ? "none" : "them");
}

static int compare_names(const void *a, const void *b) {
    return strcmp(**(const char *const *const *)a, **(const char *const *const *)b);
}

/* Numbers the classes of several folders in the order of their names' bytes. */
static mst_status sort_classes(texts *t) {
    const int64_t n = t->num_classes;
    const char ***order = n ? malloc((size_t)n * sizeof *order) : NULL, **name = NULL;
    int64_t *new = n ? malloc((size_t)n * sizeof *new) : NULL;
    if (n) name = malloc((size_t)n * sizeof *name);
    const bool good = !n || (order && new &&name);
    for (int64_t i = 0; i < n && good; i++) order[i] = &t->class_name[i];
    if (n && good) qsort(order, (size_t)n, sizeof *order, compare_names);
    for (int64_t i = 0; i < n && good; i++) {
        name[i] = *order[i];
        new[order[i] - t->class_name] = i;
    }
    for (int64_t i = 0; i < n && good; i++) t->class_name[i] = name[i];
    for (int64_t i = 0; i < t->num_texts && n && good; i++) t->label[i] = new[t->label[i]];
    free(order);
    free(new);
    free(name);
    return good ? MST_OK : MST_NO_MEMORY("for the names of classes");
}

static mst_status texts_source_make(texts *t, const char *path, const mst_texts_options *o, mst_dataset **out) {
    char *one = NULL;
    mst_status status = MST_OK;
    if (!mst_path_list_is(path)) status = read_path(t, path, o);
    for (const char *rest = mst_path_list_is(path) ? path : NULL; rest && !status;) {
        status = mst_path_list_next(&rest, &one);
        const char *kept = status ? NULL : mst_arena_string(&t->arena, one); /* names of classes point into it */
        if (!status) status = kept ? read_path(t, kept, o) : MST_NO_MEMORY("for the name of a file");
    }
    free(one);
    MST_TRY(status);
    MST_TRY(sort_classes(t));
    if (t->num_texts) return make_dataset(t, out);
    return MST_FAIL(MST_NOT_FOUND,
                    "'%s': has no texts: a folder of text files for each class is due, or files of texts "
                    "with lines of %% between them",
                    mst_standard_input_name(path));
}

mst_status mst_dataset_from_texts(const char *path, const mst_texts_options *options, mst_dataset **out) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    texts t = {.encoding = options ? options->encoding : NULL, .no_classes = options && options->no_classes};
    *out = NULL;
    const mst_status status = texts_source_make(&t, path, options, out);
    for (int64_t i = 0; i < t.num_files; i++) free(t.file[i]);
    free(t.file);
    free(t.text);
    free(t.label);
    free(t.path);
    free(t.class_name);
    mst_schema_free(&t.schema);
    mst_arena_free(&t.arena);
    return status;
}

mst_dataset *mst_data_from_texts(const char *path, const mst_texts_options *options) {
    MST_DATASET_OPEN(mst_dataset_from_texts(path, options, &out));
}
