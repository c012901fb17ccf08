/* The options of a command, from its tables to the members of its struct.
 *
 *      sections  ->  option_list_make: one list
 *                ->  options_parse: defaults, arguments  ->  config_read: file of --config
 *                ->  options_exclude: options that exclude each other  ->  struct
 *
 * Each option is converted and checked by its type (`set`). The error of a wrong value tells what is allowed, and the
 * error of an unknown option tells the most similar one. The command line takes precedence over the file, also between
 * options that exclude each other. */
#include "cli/option_list.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/did_you_mean.h"
#include "base/no_memory.h"

enum { NAME_SIZE = 64, MOST_NAMES = 256 };

/* ---- the list ---- */

const char *option_of_field(const option_section *section, const mst_field *field) {
    for (const field_name *names = section->names; names && names->field; names++)
        if (strcmp(names->field, field->name) == 0) return names->option;
    return field->name;
}

static bool type_of(const mst_field *field, option_type *type, const char **metavar) {
    *metavar = "N";
    switch (field->type) {
        case MST_FIELD_TYPE_BOOL: *type = OPTION_FLAG, *metavar = NULL; return true;
        case MST_FIELD_TYPE_I32: *type = OPTION_INT; return true;
        case MST_FIELD_TYPE_I64: *type = OPTION_INTEGER; return true;
        case MST_FIELD_TYPE_U64: *type = OPTION_UNSIGNED; return true;
        case MST_FIELD_TYPE_F64: *type = OPTION_NUMBER, *metavar = "X"; return true;
        case MST_FIELD_TYPE_ENUM: *type = OPTION_CHOICE, *metavar = NULL; return true;
        case MST_FIELD_TYPE_STRING: *type = OPTION_TEXT, *metavar = "TEXT"; return true;
        default: return false;
    }
}

static void add_field(option_list *list, const option_section *section, const mst_field *field) {
    option_entry *entry = &list->entry[list->count];
    const char *name = option_of_field(section, field);
    option *option = &entry->option;
    if (!name || !type_of(field, &option->type, &option->metavar)) return;
    snprintf(entry->name, sizeof entry->name, "%s", name);
    for (char *c = entry->name; *c; c++)
        if (*c == '_') *c = '-';
    option->name = entry->name;
    option->offset = section->offset + field->offset;
    option->low = field->low;
    option->high = field->high;
    option->of_field = true;
    option->noted = section->noted;
    /* 0 in a whole number means "not given": where the default is another number, 0 cannot be given */
    option->above_low = field->initial != 0 && field->low == 0 && option->type != OPTION_NUMBER;
    option->help = field->help;
    option->choices = field->names;
    if (field->names) {
        option->initial = field->names[(int)field->initial];
    } else if (field->initial != 0) {
        snprintf(entry->initial, sizeof entry->initial, "%g", field->initial);
        option->initial = entry->initial;
    }
    list->count++;
}

static void add_option(option_entry *entry, const option *option) {
    entry->option = *option;
    if (!option->choice) return;
    for (int i = 0; i < OPTION_MOST_CHOICES && option->choice(i); i++) entry->choices[i] = option->choice(i);
    entry->option.choices = entry->choices;
}

/* Options that every command with options has. Their members are in the list itself, not in the command's options. */
static const option common_options[] = {
    {"config", OPTION_FILE, offsetof(option_list, config), "FILE",
     .help = "takes options from FILE, a line each: name = value; those of the command line count before it"},
    {"print-config", OPTION_FLAG, offsetof(option_list, print_config),
     .help = "prints the options in effect as --config reads them, and does nothing else"},
    {0}};

static void add_common(option_list *list) {
    if (!list->count) return;
    list->entry[list->count].title = "Configuration";
    for (const option *option = common_options; option->name; option++) {
        list->entry[list->count].common = true;
        add_option(&list->entry[list->count++], option);
    }
}

mst_status option_list_make(const option_section *sections, option_list *out) {
    *out = (option_list){0};
    int count = sizeof common_options / sizeof *common_options;
    for (const option_section *section = sections; section->title; section++) {
        for (const option *option = section->options; option && option->name; option++) count++;
        for (const mst_field *field = section->fields; field && field->name; field++) count++;
    }
    out->entry = calloc((size_t)count + 1, sizeof *out->entry);
    if (!out->entry) return MST_NO_MEMORY("for %d options", count);
    for (const option_section *section = sections; section->title; section++) {
        int first = out->count;
        for (const option *option = section->options; option && option->name; option++)
            add_option(&out->entry[out->count++], option);
        for (const mst_field *field = section->fields; field && field->name; field++) add_field(out, section, field);
        if (out->count > first) out->entry[first].title = section->title;
    }
    add_common(out);
    return MST_OK;
}

void option_list_free(option_list *list) {
    free(list->entry);
    free(list->config_text);
    *list = (option_list){0};
}

bool option_same_word(const char *a, const char *b) {
    for (; *a && *b; a++, b++) {
        char x = *a == '_' ? '-' : *a, y = *b == '_' ? '-' : *b;
        if (strncasecmp(&x, &y, 1) != 0) return false;
    }
    return *a == *b;
}

static option_entry *option_list_find(const option_list *list, const char *name) {
    for (int i = 0; i < list->count; i++) {
        const option *option = &list->entry[i].option;
        if (option_same_word(option->name, name) || (option->alias && option_same_word(option->alias, name)))
            return &list->entry[i];
    }
    return NULL;
}

bool option_given(const option_list *list, const char *name) {
    const option_entry *entry = option_list_find(list, name);
    return entry && entry->given;
}

/* ---- values ---- */

static const char *join(const char *const *words, char *text, size_t size, const char *between) {
    size_t used = 0;
    *text = '\0';
    for (int i = 0; words && words[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? between : "", words[i]);
    return text;
}

/* VALUE is NaN if TEXT is not a number. */
static mst_status number_fail(const option *o, const char *text, const char *kind, double value) {
    char range[64] = "", bound[32];
    snprintf(bound, sizeof bound, "%g", o->high);
    if (value > o->high) /* a bound such as 1 - 1e-12 is printed as 1 */
        snprintf(range, sizeof range, ", %s %s", strtod(bound, NULL) > o->high ? "below" : "at most", bound);
    else if (o->low != 0 || o->high != 0)
        snprintf(range, sizeof range, o->above_low ? ", above %g" : ", at least %g", o->low);
    return MST_FAIL(MST_INVALID, "--%s %s: must be %s%s", o->name, text, kind, range);
}

static bool in_range(const option *o, double value) {
    if (o->low == 0 && o->high == 0) return true;
    return value <= o->high && (o->above_low ? value > o->low : value >= o->low);
}

static mst_status parse_integer(const option *o, const char *text, const char *whole, int64_t *out) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool right = end != text && !*end && !errno;
    if (!right || !in_range(o, (double)value))
        return number_fail(o, whole, "a whole number", right ? (double)value : NAN);
    *out = value;
    return MST_OK;
}

static mst_status parse_number(const option *o, const char *text, const char *whole, double *out) {
    char *end;
    double value = strtod(text, &end);
    bool right = end != text && !*end && isfinite(value);
    if (!right || !in_range(o, value)) return number_fail(o, whole, "a number", right ? value : NAN);
    *out = value == 0 && o->of_field ? MST_ZERO : value;
    return MST_OK;
}

static mst_status parse_unsigned(const option *o, const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    /* seeds are also written to JSON, whose numbers end there */
    bool right = end != text && !*end && !errno && !strchr(text, '-') && value <= INT64_MAX;
    if (!right) return number_fail(o, text, "a whole number, at least 0 and below 2^63", NAN);
    *out = value;
    return MST_OK;
}

/* Parses 512, 512B, 512K, 512KB or 512KiB, where the letter stands for a power of 1024. */
static mst_status parse_bytes(const option *o, const char *text, int64_t *out) {
    static const char letters[] = "KMGT";
    char *unit;
    double value = strtod(text, &unit);
    const char *letter = isalpha((unsigned char)*unit) ? strchr(letters, toupper((unsigned char)*unit)) : NULL;
    const char *rest = letter ? unit + 1 : unit;
    bool right = unit != text && (!*rest || strcasecmp(rest, "B") == 0 || (letter && strcasecmp(rest, "iB") == 0));
    double bytes = right ? ldexp(value, letter ? 10 * (int)(letter - letters + 1) : 0) : 0;
    if (!(bytes >= 1 && bytes <= 1e18))
        return MST_FAIL(MST_INVALID, "--%s %s: must be a size such as 512MB or 2GB", o->name, text);
    *out = (int64_t)bytes;
    return MST_OK;
}

static mst_status choice_fail(const option *o, const char *text) {
    char list[512];
    join(o->choices, list, sizeof list, ", ");
    for (int i = 0; o->later && o->later[i]; i++)
        if (option_same_word(o->later[i], text))
            return MST_FAIL(MST_INVALID, "--%s %s: not built yet: there is %s", o->name, text, list);
    char guess[MST_DID_YOU_MEAN_TEXT];
    if (*mst_did_you_mean(text, o->choices, guess, sizeof guess))
        return MST_FAIL(MST_INVALID, "--%s: there is no '%s'%s (there is %s)", o->name, text, guess, list);
    return MST_FAIL(MST_INVALID, "--%s: there is no '%s': use one of %s", o->name, text, list);
}

static mst_status parse_choice(const option *o, const char *text, int *out) {
    for (int i = 0; o->also && o->also[i]; i += 2)
        if (option_same_word(o->also[i], text)) text = o->also[i + 1];
    for (int i = 0; o->choices[i]; i++)
        if (option_same_word(o->choices[i], text)) {
            *out = i;
            return MST_OK;
        }
    return choice_fail(o, text);
}

/* Checks a list OUTPUT=CHOICE,OUTPUT=CHOICE. The value is TEXT itself. */
static mst_status parse_words(const option *o, const char *text, const char **out) {
    char word[NAME_SIZE];
    int choice = 0;
    if (!strchr(text, '=')) {
        MST_TRY(parse_choice(o, text, &choice));
        *out = o->choices[choice];
        return MST_OK;
    }
    for (const char *at = text;; at++) {
        const size_t size = strcspn(at, ",");
        const char *equals = memrchr(at, '=', size);
        if (!equals) return MST_FAIL(MST_INVALID, "--%s: '%.*s' must be OUTPUT=NAME", o->name, (int)size, at);
        snprintf(word, sizeof word, "%.*s", (int)(at + size - equals - 1), equals + 1);
        MST_TRY(parse_choice(o, word, &choice));
        at += size;
        if (!*at) break;
    }
    *out = text;
    return MST_OK;
}

bool option_flag_word(const char *text, bool *out) {
    static const char *const words[] = {"false", "true", "0", "1", "no", "yes", "off", "on", NULL}; /* in turn */
    int i = 0;
    while (words[i] && strcasecmp(words[i], text) != 0) i++;
    *out = i % 2;
    return words[i];
}

static mst_status parse_flag(const option *o, const char *text, bool *out) {
    if (option_flag_word(text, out)) return MST_OK;
    return MST_FAIL(MST_INVALID, "--%s=%s: must be true or false", o->name, text);
}

/* Parses a list such as "500,200" into integers[i] or numbers[i]. */
static mst_status parse_list(const option *o, const char *text, int64_t *integers, double *numbers, int *count) {
    char item[NAME_SIZE];
    *count = 0;
    if (o->may_be_none && strcmp(text, "none") == 0) return MST_OK;
    for (const char *at = text;; at++) {
        size_t size = strcspn(at, ",");
        if (*count == OPTION_LIST_SIZE)
            return MST_FAIL(MST_INVALID, "--%s: at most %d numbers", o->name, OPTION_LIST_SIZE);
        if (size >= sizeof item) return MST_FAIL(MST_INVALID, "--%s: '%.20s...' is too long for a number", o->name, at);
        snprintf(item, sizeof item, "%.*s", (int)size, at);
        if (integers) MST_TRY(parse_integer(o, item, text, &integers[*count]));
        if (numbers) MST_TRY(parse_number(o, item, text, &numbers[*count]));
        ++*count;
        at += size;
        if (!*at) return MST_OK;
    }
}

static mst_status set(const option *o, const char *text, void *values) {
    void *at = (char *)values + o->offset;
    int64_t integer = 0;
    int choice = 0;
    switch (o->type) {
        case OPTION_FLAG: return parse_flag(o, text, at);
        case OPTION_INTEGER: return parse_integer(o, text, text, at);
        case OPTION_INT: MST_TRY(parse_integer(o, text, text, &integer)); return *(int *)at = (int)integer, MST_OK;
        case OPTION_UNSIGNED: return parse_unsigned(o, text, at);
        case OPTION_NUMBER: return parse_number(o, text, text, at);
        case OPTION_BYTES: return parse_bytes(o, text, at);
        case OPTION_CHOICE: return parse_choice(o, text, at);
        case OPTION_WORD:
            MST_TRY(parse_choice(o, text, &choice));
            *(const char **)at = o->choices[choice];
            return MST_OK;
        case OPTION_WORDS: return parse_words(o, text, at);
        case OPTION_INTEGERS:
            return parse_list(o, text, ((integer_list *)at)->value, NULL, &((integer_list *)at)->count);
        case OPTION_NUMBERS: return parse_list(o, text, NULL, ((number_list *)at)->value, &((number_list *)at)->count);
        default: break;
    }
    if (!*text && !o->may_be_empty)
        return MST_FAIL(MST_INVALID, "--%s: the %s is empty", o->name, o->metavar ? o->metavar : "value");
    *(const char **)at = text;
    return MST_OK;
}

static mst_status set_entry(option_list *list, const option_entry *entry, const char *text, void *values) {
    return set(&entry->option, text, entry->common ? (void *)list : values);
}

/* ---- the command line ---- */

/* Fails since the option of ARGUMENT is unknown. ARGUMENT is --NAME, or --no-NAME if NEGATED, perhaps with a value.
 * Only flags can be negated. */
static mst_status option_list_unknown(const option_list *list, const char *argument, const char *name, bool negated) {
    const char *names[MOST_NAMES + 1] = {NULL};
    int count = 0;
    for (int i = 0; i < list->count && count < MOST_NAMES; i++)
        if (!negated || list->entry[i].option.type == OPTION_FLAG) names[count++] = list->entry[i].option.name;
    const char *nearest = mst_nearest(name, names);
    if (nearest)
        return MST_FAIL(MST_INVALID, "there is no option '%s': did you mean '--%s%s'?", argument, negated ? "no-" : "",
                        nearest);
    return MST_FAIL(MST_INVALID, "there is no option '%s': --help lists what there is", argument);
}

static mst_status give(option_list *list, option_entry *entry, const char *text, void *values) {
    if (entry->common && entry->given && entry->option.type == OPTION_FILE)
        return MST_FAIL(MST_INVALID, "--%s: give one file, not two", entry->option.name);
    entry->given = true;
    entry->text = text;
    return set_entry(list, entry, text, values);
}

mst_status options_set(option_list *list, const char *name, const char *text, int line, void *values) {
    option_entry *entry = option_list_find(list, name);
    if (!entry) return option_list_unknown(list, name, name, false);
    if (entry->common) return MST_FAIL(MST_INVALID, "'%s' can stand on the command line only", entry->option.name);
    if (entry->config_line)
        return MST_FAIL(MST_INVALID, "'%s' is set in line %d already", entry->option.name, entry->config_line);
    entry->config_line = line;
    const char *before = entry->given ? entry->text : NULL;
    entry->from_file = !before;
    MST_TRY(give(list, entry, text, values));
    return before ? give(list, entry, before, values) : MST_OK;
}

/* Parses --name, --name=value, --name value or --no-name. *NEXT points to the arguments after it. */
static mst_status parse_option(option_list *list, const char *argument, char *const **next, void *values) {
    char name[NAME_SIZE];
    const char *begin = argument + 2, *equals = strchr(begin, '=');
    size_t size = equals ? (size_t)(equals - begin) : strlen(begin);
    if (argument[1] != '-' || size == 0 || size >= sizeof name)
        return option_list_unknown(list, argument, argument + 1, false);
    memcpy(name, begin, size);
    name[size] = '\0';
    option_entry *entry = option_list_find(list, name);
    if (!entry && !equals && (strncmp(name, "no-", 3) == 0 || strncmp(name, "no_", 3) == 0)) {
        entry = option_list_find(list, name + 3);
        if (entry && entry->option.type != OPTION_FLAG)
            return MST_FAIL(MST_INVALID, "--%s takes a value and cannot be switched off: leave it out",
                            entry->option.name);
        if (!entry) return option_list_unknown(list, argument, name + 3, true);
        return give(list, entry, "false", values);
    }
    if (!entry) return option_list_unknown(list, argument, name, false);
    if (entry->option.type == OPTION_FLAG) return give(list, entry, equals ? equals + 1 : "true", values);
    if (equals) return give(list, entry, equals + 1, values);
    if (!**next || strncmp(**next, "--", 2) == 0) {
        char form[NAME_SIZE * 4];
        option_print(&entry->option, form, sizeof form);
        return MST_FAIL(MST_INVALID, "--%s: a value must follow: %s", entry->option.name, form);
    }
    return give(list, entry, *(*next)++, values);
}

static size_t size_of(option_type type) {
    switch (type) {
        case OPTION_FLAG: return sizeof(bool);
        case OPTION_INTEGER:
        case OPTION_UNSIGNED:
        case OPTION_BYTES: return sizeof(int64_t);
        case OPTION_INT:
        case OPTION_CHOICE: return sizeof(int);
        case OPTION_NUMBER: return sizeof(double);
        case OPTION_INTEGERS: return sizeof(integer_list);
        case OPTION_NUMBERS: return sizeof(number_list);
        default: return sizeof(const char *);
    }
}

/* Sets ENTRY back to its default, as if it had not been given. */
static mst_status forget(option_list *list, option_entry *entry, void *values) {
    entry->given = entry->from_file = false;
    memset((char *)values + entry->option.offset, 0, size_of(entry->option.type));
    return entry->option.initial ? set_entry(list, entry, entry->option.initial, values) : MST_OK;
}

/* Whether ENTRY was given, and as something that another option may contradict: a flag that is false says nothing. */
static bool is_chosen(const option_entry *entry, const void *values) {
    const bool is_flag = entry->option.type == OPTION_FLAG;
    return entry->given && !(is_flag && !*(const bool *)((const char *)values + entry->option.offset));
}

mst_status options_exclude(option_list *list, void *values) {
    for (int i = 0; i < list->count; i++) {
        option_entry *entry = &list->entry[i];
        option_entry *other = entry->option.excludes ? option_list_find(list, entry->option.excludes) : NULL;
        if (!other || !is_chosen(entry, values) || !is_chosen(other, values)) continue;
        if (entry->from_file == other->from_file)
            return MST_FAIL(MST_INVALID, "give --%s or --%s, not both", other->option.name, entry->option.name);
        MST_TRY(forget(list, entry->from_file ? entry : other, values));
    }
    return MST_OK;
}

mst_status options_parse(option_list *list, char *const *arguments, void *values, const char **positional, int max,
                         int *num_positional) {
    int count = 0;
    bool has_ended = false; /* after "--" there are no options */
    for (int i = 0; i < list->count; i++)
        if (list->entry[i].option.initial)
            MST_TRY(set_entry(list, &list->entry[i], list->entry[i].option.initial, values));
    for (char *const *next = arguments; *next;) {
        const char *argument = *next++;
        if (!has_ended && strcmp(argument, "--") == 0) {
            has_ended = true;
        } else if (!has_ended && argument[0] == '-' && argument[1]) {
            MST_TRY(parse_option(list, argument, &next, values));
        } else if (count < max) {
            positional[count++] = argument;
        } else {
            return MST_FAIL(MST_INVALID, "'%s' is one argument too many: options begin with --", argument);
        }
    }
    *num_positional = count;
    return MST_OK;
}

void option_print(const option *option, char *text, size_t size) {
    char words[256] = "";
    if (option->choices && !option->metavar) join(option->choices, words, sizeof words, "|");
    const char *value = *words ? words : option->metavar ? option->metavar : "";
    snprintf(text, size, "--%s%s%s", option->name, *value ? " " : "", value);
}
