/* The interpreter of StableHLO (support/hlo_interpreter.h): the parser of modules, functions, regions and ops. It
 * also resolves the names of values, and finds the last op that needs each value. */
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/hlo_inside.h"

enum { BUCKETS = 1024, NEXT = 48, UNUSED = -1 };

/* A name stands for the values of one op, or for one argument. */
typedef struct name {
    const char *text;
    int length, first, num;
    unsigned bucket;
    int previous; /* of the same bucket; -1: none */
} name;

typedef struct use {
    int depth; /* of the region that has the value */
    int last;  /* op of that region which needs it, perhaps in an inner region; -1: none */
} use;

typedef struct reader {
    hlo_parser p;
    hlo_program *program;
    name *name; /* those visible, innermost last */
    int num_names, room_names;
    int bucket[BUCKETS];                 /* the last name; -1: none */
    use *use;                            /* by value */
    hlo_region *region[HLO_MOST_NESTED]; /* open ones, outermost first */
    int depth;
} reader;

/* ---- memory ---- */

/* ARRAY is the address of a pointer: room there for one more of SIZE bytes after NUM; false: an error was written. */
static bool make_room(hlo_parser *p, void *array, int num, int *room, size_t size) {
    void *items;
    if (num < *room) return true;
    if (*room > INT_MAX / 4) return hlo_bad(p, "the text is too long");
    const int more = *room ? 2 * *room : 8;
    memcpy(&items, array, sizeof items);
    void *moved = realloc(items, (size_t)more * size);
    if (!moved) return hlo_bad(p, "there is no memory for the program");
    memcpy(array, &moved, sizeof moved);
    *room = more;
    return true;
}

static void region_free(hlo_region *region);

static void op_free(hlo_op *op) {
    for (int i = 0; i < op->num_regions; i++) region_free(&op->region[i]);
    hlo_attributes_free(op);
    free(op->region);
    free(op->operand);
    free(op->dead);
}

static void region_free(hlo_region *region) {
    for (int i = 0; i < region->num_ops; i++) op_free(&region->op[i]);
    free(region->op);
    free(region->returned);
}

void hlo_program_free(hlo_program *program) {
    if (!program) return;
    region_free(&program->main);
    free(program->value);
    free(program->result);
    free(program->donated_to);
    free(program);
}

/* ---- names of values ---- */

static bool read_name(reader *r, const char **text, int *length) {
    char next[NEXT];
    hlo_skip(&r->p);
    if (*r->p.at != '%') return hlo_bad(&r->p, "expected a value, found %s", hlo_next(&r->p, next, sizeof next));
    r->p.at++;
    if (isspace((unsigned char)*r->p.at) || *r->p.at == '/') return hlo_bad(&r->p, "expected a name after '%%'");
    return hlo_word(&r->p, text, length);
}

static unsigned bucket_of(const char *text, int length) {
    unsigned hash = 2166136261u;
    for (int i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash % BUCKETS;
}

static const name *find_name(const reader *r, const char *text, int length) {
    for (int i = r->bucket[bucket_of(text, length)]; i >= 0; i = r->name[i].previous)
        if (r->name[i].length == length && !memcmp(r->name[i].text, text, (size_t)length)) return &r->name[i];
    return NULL;
}

static bool declare(reader *r, const char *text, int length, int first, int num) {
    if (find_name(r, text, length)) return hlo_bad(&r->p, "value %%%.*s is defined twice", length, text);
    if (!make_room(&r->p, &r->name, r->num_names, &r->room_names, sizeof *r->name)) return false;
    const unsigned bucket = bucket_of(text, length);
    r->name[r->num_names] = (name){text, length, first, num, bucket, r->bucket[bucket]};
    r->bucket[bucket] = r->num_names++;
    return true;
}

/* The names after the first NUM are visible no longer. */
static void forget_names(reader *r, int num) {
    while (r->num_names > num) {
        const name *last = &r->name[--r->num_names];
        r->bucket[last->bucket] = last->previous;
    }
}

/* A new value of the innermost region */
static bool add_value(reader *r, const hlo_array *type, int last) {
    hlo_program *program = r->program;
    int room = program->room;
    if (!make_room(&r->p, &r->use, program->num_values, &room, sizeof *r->use)) return false;
    if (!make_room(&r->p, &program->value, program->num_values, &program->room, sizeof *program->value)) return false;
    program->value[program->num_values] = *type;
    r->use[program->num_values++] = (use){r->depth - 1, last};
    return true;
}

/* %name or %name#1 */
static bool read_operand(reader *r, int *value) {
    const char *text;
    int length;
    int64_t number = 0;
    if (!read_name(r, &text, &length)) return false;
    const name *found = find_name(r, text, length);
    if (!found) return hlo_bad(&r->p, "value %%%.*s is not defined", length, text);
    if (*r->p.at == '#') {
        r->p.at++;
        if (!hlo_integer(&r->p, &number)) return false;
        if (number < 0 || number >= found->num)
            return hlo_bad(&r->p, "value %%%.*s has %d results, not #%lld", length, text, found->num,
                           (long long)number);
    } else if (found->num > 1)
        return hlo_bad(&r->p, "value %%%.*s has %d results: say which, with #0", length, text, found->num);
    *value = found->first + (int)number;
    r->use[*value].last = r->region[r->use[*value].depth]->num_ops;
    return true;
}

/* ---- types ---- */

/* The types of NUM values in parentheses must be those that they have. */
static bool read_operand_types(reader *r, const int *value, int num, const char *what) {
    if (!hlo_expect(&r->p, "(")) return false;
    for (int i = 0; i < num; i++) {
        char have[HLO_TYPE_TEXT], said[HLO_TYPE_TEXT];
        hlo_array type;
        if (i && !hlo_expect(&r->p, ",")) return false;
        if (!hlo_tensor_type(&r->p, &type)) return false;
        const hlo_array *own = &r->program->value[value[i]];
        if (!hlo_same_type(&type, own))
            return hlo_bad(&r->p, "%s: operand %d is said to be %s, but is %s", what, i,
                           hlo_type_text(&type, said, sizeof said), hlo_type_text(own, have, sizeof have));
    }
    return hlo_expect(&r->p, ")");
}

/* One type, or several in parentheses, each the type of a new value */
static bool read_result_types(reader *r, int last, int *num) {
    hlo_array type;
    *num = 0;
    if (!hlo_accept(&r->p, "(")) {
        *num = 1;
        return hlo_tensor_type(&r->p, &type) && add_value(r, &type, last);
    }
    if (hlo_accept(&r->p, ")")) return true;
    do {
        if (!hlo_tensor_type(&r->p, &type) || !add_value(r, &type, last)) return false;
        if (++*num > HLO_MOST_OPERANDS) return hlo_bad(&r->p, "an op has more than %d results", HLO_MOST_OPERANDS);
    } while (hlo_accept(&r->p, ","));
    return hlo_expect(&r->p, ")");
}

/* ---- ops ---- */

/* Operands in parentheses */
static bool read_operands(reader *r, int **value, int *num) {
    int room = 0;
    *num = 0;
    if (!hlo_expect(&r->p, "(")) return false;
    if (hlo_accept(&r->p, ")")) return true;
    do {
        if (*num == HLO_MOST_OPERANDS) return hlo_bad(&r->p, "an op has more than %d operands", HLO_MOST_OPERANDS);
        if (!make_room(&r->p, value, *num, &room, sizeof **value)) return false;
        if (!read_operand(r, &(*value)[*num])) return false;
        ++*num;
    } while (hlo_accept(&r->p, ","));
    return hlo_expect(&r->p, ")");
}

static bool read_region(reader *r, hlo_region *region, const char *ending);

static bool read_regions(reader *r, hlo_op *op) {
    int room = 0;
    if (!hlo_accept(&r->p, "(")) return true;
    do {
        hlo_region region = {0};
        if (!make_room(&r->p, &op->region, op->num_regions, &room, sizeof *op->region) ||
            !read_region(r, &region, "stablehlo.return")) {
            region_free(&region);
            return false;
        }
        op->region[op->num_regions++] = region;
    } while (hlo_accept(&r->p, ","));
    return hlo_expect(&r->p, ")");
}

/* A name before '=', and how many results it stands for */
typedef struct binding {
    const char *text;
    int length, num;
} binding;

static bool read_bindings(reader *r, binding **bindings, int *num) {
    int room = 0;
    hlo_skip(&r->p);
    if (*r->p.at != '%') return true;
    do {
        int64_t count = 1;
        if (!make_room(&r->p, bindings, *num, &room, sizeof **bindings)) return false;
        binding *b = &(*bindings)[*num];
        if (!read_name(r, &b->text, &b->length)) return false;
        if (hlo_accept(&r->p, ":") && !hlo_integer(&r->p, &count)) return false;
        if (count < 1 || count > HLO_MOST_OPERANDS) return hlo_bad(&r->p, "a name stands for too many or no results");
        b->num = (int)count;
        ++*num;
    } while (hlo_accept(&r->p, ","));
    return hlo_expect(&r->p, "=");
}

static bool declare_results(reader *r, const hlo_op *op, const binding *bindings, int num) {
    int64_t first = 0;
    for (int i = 0; i < num; i++) {
        if (first + bindings[i].num > op->num_results) break;
        if (!declare(r, bindings[i].text, bindings[i].length, op->result + (int)first, bindings[i].num)) return false;
        first += bindings[i].num;
        if (i + 1 == num && first == op->num_results) return true;
    }
    return num == 0 ||
           hlo_bad(&r->p, "stablehlo.%s: it has %d results, but other names", op->row->name, op->num_results);
}

/* Checks what all ops have in common, then the op's own rules. */
static bool check_op(reader *r, hlo_op *op) {
    const hlo_row *row = op->row;
    hlo_check check = {r->program, op, r->p.error, r->p.error_size}, *c = &check;
    HLO_WANT(row->num_operands < 0 ? op->num_operands > 0 : op->num_operands == row->num_operands,
             "it has %d operands, not %d", op->num_operands, row->num_operands < 0 ? 1 : row->num_operands);
    HLO_WANT(row->num_regions < 0 ? op->num_regions > 0 : op->num_regions == row->num_regions,
             "it has %d regions, not %d", op->num_regions, row->num_regions < 0 ? 1 : row->num_regions);
    if (op->num_operands) {
        const hlo_type type = hlo_operand_type(c, 0)->type;
        HLO_WANT(hlo_type_class(type) & row->classes, "operands cannot be of type %s", hlo_type_name(type));
    }
    return row->check(c, op);
}

/* From the opening quote of the name on */
static bool read_op(reader *r, hlo_op *op, const binding *bindings, int num_bindings) {
    hlo_parser *p = &r->p;
    const char *word;
    int length;
    char text[HLO_MOST_WORD + 16];
    op->line = p->line;
    if (!hlo_expect(p, "\"") || !hlo_word(p, &word, &length) || !hlo_expect(p, "\"")) return false;
    op->row = length > 10 && !memcmp(word, "stablehlo.", 10) ? hlo_row_find(word + 10, length - 10) : NULL;
    if (!op->row) return hlo_bad(p, "unknown op '%.*s'", length, word);
    snprintf(text, sizeof text, "%.*s", length, word);
    if (!read_operands(r, &op->operand, &op->num_operands) || !read_regions(r, op)) return false;
    if (!hlo_attributes(p, op) || !hlo_expect(p, ":")) return false;
    if (!read_operand_types(r, op->operand, op->num_operands, text) || !hlo_expect(p, "->")) return false;
    op->result = r->program->num_values;
    return read_result_types(r, r->region[r->depth - 1]->num_ops, &op->num_results) && check_op(r, op) &&
           declare_results(r, op, bindings, num_bindings);
}

static bool read_bound_op(reader *r, hlo_region *region) {
    binding *bindings = NULL;
    int num_bindings = 0;
    hlo_op op = {0};
    const bool done = read_bindings(r, &bindings, &num_bindings) && read_op(r, &op, bindings, num_bindings) &&
                      make_room(&r->p, &region->op, region->num_ops, &region->room, sizeof *region->op);
    free(bindings);
    if (done)
        region->op[region->num_ops++] = op;
    else
        op_free(&op);
    return done;
}

/* ---- regions ---- */

/* Lists in each op the values of this region that it is the last to need. */
static bool list_dead(reader *r, hlo_region *region) {
    for (int pass = 0; pass < 2; pass++) {
        for (int v = region->first; v < region->end; v++) {
            if (r->use[v].depth != r->depth - 1 || r->use[v].last < 0 || r->use[v].last == region->num_ops) continue;
            hlo_op *op = &region->op[r->use[v].last];
            if (pass) op->dead[op->num_dead] = v;
            op->num_dead++;
        }
        for (int i = 0; pass == 0 && i < region->num_ops; i++) {
            hlo_op *op = &region->op[i];
            op->dead = calloc((size_t)op->num_dead + 1, sizeof *op->dead);
            if (!op->dead) return hlo_bad(&r->p, "there is no memory for the program");
            op->num_dead = 0;
        }
    }
    return true;
}

/* Ops up to ENDING, which returns values, and the closing brace. The region is open. */
static bool read_ops(reader *r, hlo_region *region, const char *ending) {
    hlo_parser *p = &r->p;
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\"", ending);
    while (!hlo_accept(p, quoted))
        if (!read_bound_op(r, region)) return false;
    if (!read_operands(r, &region->returned, &region->num_returned) || !hlo_expect(p, ":")) return false;
    if (!read_operand_types(r, region->returned, region->num_returned, ending)) return false;
    if (!hlo_expect(p, "->") || !hlo_expect(p, "(") || !hlo_expect(p, ")") || !hlo_expect(p, "}")) return false;
    region->end = r->program->num_values;
    return list_dead(r, region);
}

static bool read_argument(reader *r) {
    const char *text;
    int length;
    hlo_array type;
    return read_name(r, &text, &length) && hlo_expect(&r->p, ":") && hlo_tensor_type(&r->p, &type) &&
           add_value(r, &type, UNUSED) && declare(r, text, length, r->program->num_values - 1, 1);
}

/* ^bb0(%a: tensor<f32>): */
static bool read_label(reader *r, hlo_region *region) {
    const char *word;
    int length;
    if (!hlo_accept(&r->p, "^")) return true;
    if (!hlo_word(&r->p, &word, &length)) return false;
    if (hlo_accept(&r->p, "(") && !hlo_accept(&r->p, ")")) {
        do {
            if (!read_argument(r)) return false;
        } while (hlo_accept(&r->p, ","));
        if (!hlo_expect(&r->p, ")")) return false;
    }
    region->num_arguments = r->program->num_values - region->first;
    return hlo_expect(&r->p, ":");
}

static bool open_region(reader *r, hlo_region *region) {
    if (r->depth == HLO_MOST_NESTED) return hlo_bad(&r->p, "regions are nested more than %d deep", HLO_MOST_NESTED);
    region->first = r->program->num_values;
    r->region[r->depth++] = region;
    return true;
}

static bool read_region(reader *r, hlo_region *region, const char *ending) {
    const int num_names = r->num_names;
    if (!open_region(r, region)) return false;
    if (!hlo_expect(&r->p, "{") || !read_label(r, region) || !read_ops(r, region, ending)) return false;
    forget_names(r, num_names);
    r->depth--;
    return true;
}

/* ---- the module ---- */

/* {tf.aliasing_output = 0 : i32}, where there is one; the result goes to *TO. */
static bool read_donation(reader *r, int *to) {
    hlo_parser *p = &r->p;
    int64_t number;
    const char *word;
    int length;
    *to = -1;
    if (!hlo_accept(p, "{")) return true;
    if (!hlo_accept(p, "tf.aliasing_output"))
        return hlo_word(p, &word, &length) && hlo_bad(p, "unknown attribute '%.*s' of an argument", length, word);
    if (!hlo_expect(p, "=") || !hlo_integer(p, &number) || !hlo_expect(p, ":") || !hlo_expect(p, "i32")) return false;
    if (number < 0 || number > HLO_MOST_OPERANDS) return hlo_bad(p, "there is no result %lld", (long long)number);
    *to = (int)number;
    return hlo_expect(p, "}");
}

static bool read_arguments(reader *r, hlo_region *region) {
    int room = 0;
    if (!hlo_expect(&r->p, "(")) return false;
    if (hlo_accept(&r->p, ")")) return true;
    do {
        if (!make_room(&r->p, &r->program->donated_to, region->num_arguments, &room, sizeof(int))) return false;
        if (!read_argument(r) || !read_donation(r, &r->program->donated_to[region->num_arguments])) return false;
        if (++region->num_arguments > HLO_MOST_OPERANDS)
            return hlo_bad(&r->p, "there are more than %d arguments", HLO_MOST_OPERANDS);
    } while (hlo_accept(&r->p, ","));
    return hlo_expect(&r->p, ")");
}

static bool read_results(reader *r) {
    hlo_program *program = r->program;
    int room = 0;
    if (!hlo_expect(&r->p, "->")) return false;
    const bool one = !hlo_accept(&r->p, "(");
    if (!one && hlo_accept(&r->p, ")")) return true;
    do {
        if (!make_room(&r->p, &program->result, program->num_results, &room, sizeof *program->result)) return false;
        if (!hlo_tensor_type(&r->p, &program->result[program->num_results])) return false;
        if (++program->num_results > HLO_MOST_OPERANDS)
            return hlo_bad(&r->p, "there are more than %d results", HLO_MOST_OPERANDS);
    } while (!one && hlo_accept(&r->p, ","));
    return one || hlo_expect(&r->p, ")");
}

/* What the function returns is what it says, and no two arguments go to one result. */
static bool check_function(reader *r) {
    const hlo_program *program = r->program;
    const hlo_region *main = &program->main;
    char have[HLO_TYPE_TEXT], said[HLO_TYPE_TEXT];
    if (main->num_returned != program->num_results)
        return hlo_bad(&r->p, "func.return: %d values for %d results", main->num_returned, program->num_results);
    for (int i = 0; i < program->num_results; i++) {
        const hlo_array *type = &program->value[main->returned[i]];
        if (!hlo_same_type(type, &program->result[i]))
            return hlo_bad(&r->p, "func.return: result %d is %s, but %s in the function's type", i,
                           hlo_type_text(type, have, sizeof have),
                           hlo_type_text(&program->result[i], said, sizeof said));
    }
    for (int i = 0; i < main->num_arguments; i++) {
        const int to = program->donated_to[i];
        if (to < 0) continue;
        if (to >= program->num_results || !hlo_same_type(&program->value[main->first + i], &program->result[to]))
            return hlo_bad(&r->p, "argument %d is donated to result %d, which has not its type", i, to);
        for (int k = 0; k < i; k++)
            if (program->donated_to[k] == to)
                return hlo_bad(&r->p, "arguments %d and %d are donated to one result", k, i);
    }
    return true;
}

static bool read_module(reader *r) {
    hlo_parser *p = &r->p;
    const char *word;
    int length;
    char next[NEXT];
    hlo_region *main = &r->program->main;
    if (!hlo_expect(p, "module") || !hlo_expect(p, "@") || !hlo_word(p, &word, &length) || !hlo_expect(p, "{"))
        return false;
    if (!hlo_expect(p, "func.func") || !hlo_expect(p, "public") || !hlo_expect(p, "@main")) return false;
    if (!open_region(r, main) || !read_arguments(r, main) || !read_results(r)) return false;
    if (!hlo_expect(p, "{") || !read_ops(r, main, "func.return") || !check_function(r) || !hlo_expect(p, "}"))
        return false;
    hlo_skip(p);
    return !*p->at || hlo_bad(p, "expected the end of the text, found %s", hlo_next(p, next, sizeof next));
}

hlo_program *hlo_parse(const char *text, char *error, size_t error_size) {
    reader *r = calloc(1, sizeof *r);
    hlo_program *program = calloc(1, sizeof *program);
    const locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    bool done = false;
    if (error_size) *error = '\0';
    if (r && program && locale) {
        r->p = (hlo_parser){text, 1, locale, error, error_size};
        r->program = program;
        for (int i = 0; i < BUCKETS; i++) r->bucket[i] = -1;
        done = read_module(r);
        free(r->name);
        free(r->use);
    } else
        snprintf(error, error_size, "there is no memory for the program");
    if (locale) freelocale(locale);
    free(r);
    if (done) return program;
    hlo_program_free(program);
    return NULL;
}

/* ---- what is known of a program ---- */

int hlo_num_arguments(const hlo_program *program) {
    return program->main.num_arguments;
}

int hlo_num_results(const hlo_program *program) {
    return program->num_results;
}

const hlo_array *hlo_argument(const hlo_program *program, int i) {
    return &program->value[program->main.first + i];
}

const hlo_array *hlo_result(const hlo_program *program, int i) {
    return &program->result[i];
}

int hlo_donated_to(const hlo_program *program, int i) {
    return program->donated_to[i];
}

static int64_t bytes_of_value(const hlo_program *program, int value) {
    const hlo_array *type = &program->value[value];
    /* scalars have no memory of their own */
    return type->count > 1 ? type->count * (int64_t)hlo_type_size(type->type) : 0;
}

/* Whether VALUE is made in REGION and does not leave the program. */
static bool is_inside(const hlo_program *program, const hlo_region *region, int value) {
    if (value < region->first + region->num_arguments) return false;
    for (int i = 0; region == &program->main && i < region->num_returned; i++)
        if (region->returned[i] == value) return false;
    return true;
}

static int64_t most_inside(const hlo_program *program, const hlo_region *region) {
    int64_t live = 0, most = 0;
    for (int i = 0; i < region->num_ops; i++) {
        const hlo_op *op = &region->op[i];
        int64_t inner = 0;
        for (int k = 0; k < op->num_regions; k++) {
            const int64_t bytes = most_inside(program, &op->region[k]);
            if (bytes > inner) inner = bytes;
        }
        for (int k = 0; k < op->num_results; k++)
            if (is_inside(program, region, op->result + k)) live += bytes_of_value(program, op->result + k);
        if (live + inner > most) most = live + inner;
        for (int k = 0; k < op->num_dead; k++)
            if (is_inside(program, region, op->dead[k])) live -= bytes_of_value(program, op->dead[k]);
    }
    return most;
}

int64_t hlo_inside_bytes(const hlo_program *program) {
    return most_inside(program, &program->main);
}
