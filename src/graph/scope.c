/* Scopes and unique names.
 *
 * The open scopes are a stack. A push saves the current scope on it and then changes the current scope. A pop restores
 * the saved scope. So everything that holds for a new node (name prefix, device, control sources, reuse of variables)
 * is in graph->current.
 *
 * A name that is taken gets a suffix, as in TensorFlow: add, add_1, add_2. The table `suffixes` has for each used name
 * the last suffix given to it (0: none), so that the next one is found without a search. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "graph/device_name.h"
#include "graph/graph.h"
#include "graph/name_rule.h"

/* Opens a scope of KIND as a copy of the current one. Returns 0 if memory runs out: no scope is open then, and nothing
 * may be popped. The functions open_... and enter_name below return 1 even if a name or a device is wrong: the error
 * stays on the graph, the scope is open, and its pop matches. */
static int push(mst_graph *graph, mst_scope_kind kind) {
    if (mst_grow(&graph->scope, sizeof *graph->scope, graph->num_scopes + 1, &graph->scope_capacity)) {
        mst_graph_keep_error(graph);
        return 0;
    }
    graph->scope[graph->num_scopes++] = graph->current;
    graph->current.kind = kind;
    return 1;
}

static void pop_scope(mst_graph *graph, mst_scope_kind kind) {
    if (graph->num_scopes == 0 || graph->current.kind != kind) {
        MST_FAIL(MST_INVALID, "scopes: a pop without its push; leave mst_with_... blocks by their end only");
        mst_graph_keep_error(graph);
        return;
    }
    graph->current = graph->scope[--graph->num_scopes];
}

static void pop(mst_graph *graph, mst_scope_kind kind) {
    const mst_claim claim = mst_graph_claim(graph);
    if (claim) pop_scope(graph, kind);
    mst_graph_yield(graph, claim);
}

/* Whether PART can be a part of a name. Names become paths of files and keys of formats, in which an empty part, "."
 * and ".." mean another place. */
static bool is_name_part(const char *part, size_t size) {
    return size > 0 && !(part[0] == '.' && (size == 1 || (size == 2 && part[1] == '.')));
}

bool mst_name_is_valid(const char *name) {
    if (!name || name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/")] != '\0')
        return false;
    for (size_t size;; name += size + 1) {
        size = strcspn(name, "/");
        if (!is_name_part(name, size)) return false;
        if (!name[size]) return true;
    }
}

static const char *no_memory_for_name(void) {
    MST_NO_MEMORY("for a name");
    return NULL;
}

/* The name followed by '/'. NULL with an error set if NAME is NULL or memory runs out. */
static const char *prefix_of(mst_graph *graph, const char *name) {
    const char *prefix = name ? mst_arena_print(&graph->arena, "%s/", name) : NULL;
    return prefix || !name ? prefix : no_memory_for_name();
}

const char *mst_graph_unique_name(mst_graph *graph, const char *base) {
    if (!mst_name_is_valid(base)) {
        MST_FAIL(MST_INVALID, "name '%s': " MST_NAME_RULE, base ? base : "(null)");
        return NULL;
    }
    const char *full = mst_arena_print(&graph->arena, "%s%s", graph->current.name_prefix, base);
    if (!full) return no_memory_for_name();
    if (mst_names_get(&graph->names, full) < 0 && mst_names_get(&graph->suffixes, full) < 0)
        return mst_names_set(&graph->suffixes, full, 0) ? NULL : full;
    int64_t suffix = mst_names_get(&graph->suffixes, full);
    if (suffix < 0) suffix = 0;
    const char *unique;
    do {
        unique = mst_arena_print(&graph->arena, "%s_%lld", full, (long long)++suffix);
        if (!unique) return no_memory_for_name();
    } while (mst_names_get(&graph->names, unique) >= 0 || mst_names_get(&graph->suffixes, unique) >= 0);
    if (mst_names_set(&graph->suffixes, full, suffix) || mst_names_set(&graph->suffixes, unique, 0)) return NULL;
    return unique;
}

/* Marks NAME as used. If it has the form BASE_7 and BASE is used too, the next name made from BASE is at least
 * BASE_8. */
static mst_status use_name(mst_graph *graph, const char *name) {
    if (mst_names_get(&graph->suffixes, name) < 0) MST_TRY(mst_names_set(&graph->suffixes, name, 0));
    const char *underscore = strrchr(name, '_');
    const size_t most_digits = 9;
    if (!underscore || !underscore[1] || underscore[1] == '0' || strlen(underscore + 1) > most_digits ||
        underscore[1 + strspn(underscore + 1, "0123456789")])
        return MST_OK;
    const int64_t number = strtol(underscore + 1, NULL, 10);
    const int64_t last = mst_names_get_part(&graph->suffixes, name, (size_t)(underscore - name));
    if (last < 0 || last >= number) return MST_OK;
    const char *base = mst_arena_print(&graph->arena, "%.*s", (int)(underscore - name), name);
    if (!base) return MST_NO_MEMORY("for a name");
    return mst_names_set(&graph->suffixes, base, number);
}

mst_status mst_graph_adopt_name(mst_graph *graph, const char *name) {
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        if (mst_names_get_part(&graph->suffixes, name, (size_t)(slash - name)) >= 0) continue;
        const char *scope = mst_arena_print(&graph->arena, "%.*s", (int)(slash - name), name);
        if (!scope) return MST_NO_MEMORY("for a name");
        MST_TRY(use_name(graph, scope));
    }
    return use_name(graph, name);
}

mst_status mst_graph_release_name(mst_graph *graph, const char *name) {
    MST_TRY(mst_names_set(&graph->names, name, -1));
    if (mst_names_get(&graph->suffixes, name) != 0) return MST_OK; /* other names have been made from it */
    MST_TRY(mst_names_set(&graph->suffixes, name, -1));
    const char *underscore = strrchr(name, '_');
    if (!underscore) return MST_OK;
    char base[512];
    snprintf(base, sizeof base, "%.*s", (int)(underscore - name), name);
    int64_t suffix = mst_names_get(&graph->suffixes, base);
    char last[32];
    snprintf(last, sizeof last, "%lld", (long long)suffix);
    if (suffix < 1 || strcmp(underscore + 1, last) != 0) return MST_OK;
    const char *key = mst_arena_string(&graph->arena, base);
    if (!key) return MST_NO_MEMORY("for a name");
    return mst_names_set(&graph->suffixes, key, suffix - 1);
}

static int open_name(mst_graph *graph, const char *name) {
    const char *prefix = prefix_of(graph, mst_graph_unique_name(graph, name));
    if (!prefix) mst_graph_keep_error(graph);
    if (!push(graph, MST_SCOPE_NAME)) return 0;
    if (prefix) graph->current.name_prefix = prefix;
    return 1;
}

int mst_name_scope_push(mst_graph *graph, const char *name) {
    if (MST_IS_NULL(graph) || MST_IS_NULL_IN(graph, name)) return 0;
    const mst_claim claim = mst_graph_claim(graph);
    const int open = claim ? open_name(graph, name) : 0;
    mst_graph_yield(graph, claim);
    return open;
}

void mst_name_scope_pop(mst_graph *graph) {
    if (!MST_IS_NULL(graph)) pop(graph, MST_SCOPE_NAME);
}

static int enter_name(mst_graph *graph, const char *prefix) {
    if (!push(graph, MST_SCOPE_NAME)) return 0;
    const char *copy = *prefix ? prefix_of(graph, prefix) : "";
    if (!copy) mst_graph_keep_error(graph);
    if (copy) graph->current.name_prefix = copy;
    return 1;
}

int mst_name_scope_enter(mst_graph *graph, const char *prefix) {
    if (MST_IS_NULL(graph) || MST_IS_NULL_IN(graph, prefix)) return 0;
    const mst_claim claim = mst_graph_claim(graph);
    const int open = claim ? enter_name(graph, prefix) : 0;
    mst_graph_yield(graph, claim);
    return open;
}

const char *mst_name_scope(const mst_graph *graph) {
    if (MST_IS_NULL(graph)) return "";
    static _Thread_local char text[512];
    size_t length = strlen(graph->current.name_prefix);
    if (length) length--;
    if (length >= sizeof text) length = sizeof text - 1;
    memcpy(text, graph->current.name_prefix, length);
    text[length] = '\0';
    return text;
}

const char *mst_graph_merge_device(mst_graph *graph, const char *outer, const char *inner) {
    mst_device_name a, b;
    char text[MST_DEVICE_TEXT];
    if (mst_device_name_parse(outer, &a) || mst_device_name_parse(inner, &b)) return NULL;
    mst_device_name_merge(&a, &b);
    const char *merged = mst_arena_string(&graph->arena, mst_device_name_print(&a, text));
    if (!merged) MST_NO_MEMORY("for a device name");
    return merged;
}

/* Whether DEVICE names a type or a number of a device, and not only a job or a task. */
static bool names_device(const char *device) {
    mst_device_name name;
    return !mst_device_name_parse(device, &name) && (*name.type || name.index >= 0);
}

static int open_device(mst_graph *graph, const char *device, bool soft) {
    const char *merged = device ? mst_graph_merge_device(graph, graph->current.device, device) : "", *inner = "";
    if (merged && device && graph->current.setter)
        inner = mst_graph_merge_device(graph, graph->current.setter_inner, device);
    if (!merged || !inner) mst_graph_keep_error(graph);
    if (!push(graph, MST_SCOPE_DEVICE)) return 0;
    if (!merged || !inner) return 1;
    graph->current.device = merged;
    graph->current.setter_inner = inner;
    graph->current.soft = soft || (graph->current.soft && device && !names_device(device));
    if (!device) graph->current.setter = NULL;
    return 1;
}

static int push_device(mst_graph *graph, const char *device, bool soft) {
    const mst_claim claim = mst_graph_claim(graph);
    const int open = claim ? open_device(graph, device, soft) : 0;
    mst_graph_yield(graph, claim);
    return open;
}

int mst_device_push(mst_graph *graph, const char *device) {
    return MST_IS_NULL(graph) ? 0 : push_device(graph, device, false);
}

int mst_soft_device_push(mst_graph *graph, const char *device) {
    return push_device(graph, device, true);
}

int mst_host_push(mst_graph *graph, bool host) {
    return push_device(graph, host ? "/device:CPU:0" : "", false);
}

void mst_device_pop(mst_graph *graph) {
    if (!MST_IS_NULL(graph)) pop(graph, MST_SCOPE_DEVICE);
}

struct mst_device_setter {
    mst_device_name device; /* device of variables, merged with the outer scopes */
    mst_choose_task choose;
    void *context;
};

static mst_device_setter *make_setter(mst_graph *graph, const char *variables, mst_choose_task choose,
                                      const void *context, size_t size) {
    const char *device = mst_graph_merge_device(graph, graph->current.device, variables);
    if (!device) return NULL;
    mst_device_setter *setter = mst_arena_alloc(&graph->arena, sizeof *setter);
    if (setter) setter->context = mst_arena_copy(&graph->arena, context, size);
    if (!setter || !setter->context) {
        MST_NO_MEMORY("for a device scope");
        return NULL;
    }
    setter->choose = choose;
    return mst_device_name_parse(device, &setter->device) ? NULL : setter;
}

static int open_setter(mst_graph *graph, const char *variables, const char *others, mst_choose_task choose,
                       const void *context, size_t size) {
    const mst_device_setter *setter = make_setter(graph, variables, choose, context, size);
    const char *merged = setter ? mst_graph_merge_device(graph, graph->current.device, others) : NULL;
    if (!merged) mst_graph_keep_error(graph);
    if (!push(graph, MST_SCOPE_DEVICE)) return 0;
    if (!merged) return 1;
    graph->current.device = merged;
    graph->current.setter = setter;
    graph->current.setter_inner = "";
    return 1;
}

int mst_device_setter_push(mst_graph *graph, const char *variables, const char *others, mst_choose_task choose,
                           const void *context, size_t size) {
    const mst_claim claim = mst_graph_claim(graph);
    const int open = claim ? open_setter(graph, variables, others, choose, context, size) : 0;
    mst_graph_yield(graph, claim);
    return open;
}

mst_status mst_device_setter_place(mst_graph *graph, mst_node *node) {
    const mst_device_setter *setter = graph->current.setter;
    mst_device_name name = setter->device, inner;
    char text[MST_DEVICE_TEXT];
    MST_TRY(mst_device_name_parse(graph->current.setter_inner, &inner));
    if (!*inner.job || strcmp(inner.job, name.job) == 0) name.task = setter->choose(setter->context, &node->dst[0]);
    mst_device_name_merge(&name, &inner);
    const char *device = mst_arena_string(&graph->arena, mst_device_name_print(&name, text));
    if (!device) return MST_NO_MEMORY("for a device name");
    node->device = device;
    return MST_OK;
}

static int open_control(mst_graph *graph, mst_value value) {
    if (!push(graph, MST_SCOPE_CONTROL)) return 0;
    if (mst_value_is_none(value)) return 1;
    if (mst_grow(&graph->control, sizeof *graph->control, graph->current.num_control + 1, &graph->control_capacity)) {
        mst_graph_keep_error(graph);
        return 1;
    }
    graph->control[graph->current.num_control++] = value.node;
    return 1;
}

int mst_control_push(mst_graph *graph, mst_value value) {
    if (MST_IS_NULL(graph)) return 0;
    const mst_claim claim = mst_graph_claim(graph);
    const int open = claim ? open_control(graph, value) : 0;
    mst_graph_yield(graph, claim);
    return open;
}

void mst_control_clear(mst_graph *graph) {
    graph->current.first_control = graph->current.num_control;
}

void mst_seed_scope(mst_graph *graph, uint64_t salt) {
    graph->current.seed_prefix = graph->current.name_prefix;
    graph->current.seed_salt = salt;
}

void mst_control_pop(mst_graph *graph) {
    if (!MST_IS_NULL(graph)) pop(graph, MST_SCOPE_CONTROL);
}

static int open_variables(mst_graph *graph, const char *name, mst_reuse reuse) {
    const char *prefix = prefix_of(graph, mst_graph_unique_name(graph, name)), *variables = NULL;
    if (prefix && !(variables = mst_arena_print(&graph->arena, "%s%s/", graph->current.variable_prefix, name)))
        variables = no_memory_for_name();
    if (!prefix || !variables) mst_graph_keep_error(graph);
    if (!push(graph, MST_SCOPE_VARIABLE)) return 0;
    if (prefix) graph->current.name_prefix = prefix;
    if (variables) graph->current.variable_prefix = variables;
    if (reuse != MST_REUSE_INHERIT) graph->current.reuse = reuse;
    return 1;
}

int mst_variable_scope_push(mst_graph *graph, const char *name, mst_reuse reuse) {
    if (MST_IS_NULL(graph) || MST_IS_NULL_IN(graph, name)) return 0;
    const mst_claim claim = mst_graph_claim(graph);
    const int open = claim ? open_variables(graph, name, reuse) : 0;
    mst_graph_yield(graph, claim);
    return open;
}

void mst_variable_scope_pop(mst_graph *graph) {
    if (!MST_IS_NULL(graph)) pop(graph, MST_SCOPE_VARIABLE);
}
