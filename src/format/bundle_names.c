/* The names that the object graph of tf.train.Checkpoint gives to the tensors of a bundle.
 *
 * The graph is a message in a string tensor of the bundle. It has objects with named children, variables with the key
 * of their tensor, and slots of optimizers. An entry can be found by these names:
 *
 *      dense/kernel          the full name of its variable, unless several variables have this name
 *      model/dense/kernel    the shortest path of objects from the root
 *      dense/kernel/m        a slot: the name of its variable (the full name, else the path), the name of the slot
 *
 * A name that is also a key of the bundle is taken as the key. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "format/bundle.pb-c.h"
#include "format/bundle_inside.h"

typedef Muster__TrackableObjectGraph__TrackableObject object;
typedef Muster__TrackableObjectGraph__TrackableObject__SlotVariableReference slot_reference;

enum {
    AMBIGUOUS = -2 /* a name of several entries */,
    PATH_MOST = 1024 /* longer paths of objects get no name: in a damaged file they could have any length */
};
static const char variable_value[] = "VARIABLE_VALUE";

/* If object I is a variable with an entry, returns the message that has its key, and sets *ENTRY; else NULL. */
static const Muster__TrackableObjectGraph__TrackableObject__SerializedTensor *value_of(
    const mst_bundle *b, const Muster__TrackableObjectGraph *graph, int64_t i, int64_t *entry) {
    if (i < 0 || (size_t)i >= graph->n_nodes) return NULL;
    for (size_t k = 0; k < graph->nodes[i]->n_attributes; k++) {
        const Muster__TrackableObjectGraph__TrackableObject__SerializedTensor *a = graph->nodes[i]->attributes[k];
        if (strcmp(a->name, variable_value) != 0) continue;
        *entry = mst_bundle_find_key(b, a->checkpoint_key, strlen(a->checkpoint_key));
        return *entry < 0 ? NULL : a;
    }
    return NULL;
}

/* Makes NAME another name of ENTRY, unless the name is taken. NAME must live as long as the bundle. */
static mst_status add_name(mst_bundle *b, const char *name, int64_t entry) {
    if (!name) return MST_NO_MEMORY("to read '%s'", b->name);
    if (!*name || mst_names_get(&b->names, name) != -1) return MST_OK;
    return mst_names_set(&b->names, name, entry);
}

/* Whether TensorFlow made up NAME because the program gave none; such a name says nothing. */
static bool is_default_name(const char *name) {
    static const char variable[] = "Variable";
    const size_t size = sizeof variable - 1;
    return strncmp(name, variable, size) == 0 && (!name[size] || name[size] == '_');
}

/* Adds a full name. If several variables have it, none of them gets it. */
static mst_status add_full_name(mst_bundle *b, const char *full_name, int64_t entry) {
    const int64_t other = mst_names_get(&b->names, full_name);
    if (!*full_name || is_default_name(full_name)) return MST_OK;
    if (other >= 0 && other != entry) {
        b->object_name[other] = NULL;
        return mst_names_set(&b->names, full_name, AMBIGUOUS);
    }
    if (other == AMBIGUOUS) return MST_OK;
    const char *name = mst_arena_string(&b->arena, full_name);
    MST_TRY(add_name(b, name, entry));
    if (!b->object_name[entry]) b->object_name[entry] = name;
    return MST_OK;
}

/* Adds the full names of variables, as TensorFlow 1 would have named them. */
static mst_status add_full_names(mst_bundle *b, const Muster__TrackableObjectGraph *graph) {
    for (size_t i = 0; i < graph->n_nodes; i++) {
        int64_t entry;
        const Muster__TrackableObjectGraph__TrackableObject__SerializedTensor *a =
            value_of(b, graph, (int64_t)i, &entry);
        if (a) MST_TRY(add_full_name(b, a->full_name, entry));
    }
    return MST_OK;
}

/* The last part of the name of a slot: "m". The slots of TensorFlow 1's optimizers have full names that end with the
 * class of the optimizer, such as "Momentum", with a capital letter. For these slots the class is returned, because
 * Keras has slots with the same short name and another meaning. */
static const char *slot_name(const slot_reference *slot, const char *full_name) {
    const char *slash = strrchr(full_name, '/'), *last = slash ? slash + 1 : full_name;
    return *last >= 'A' && *last <= 'Z' ? last : slot->slot_name;
}

/* Names a slot by its variable and the slot's own name: "dense/kernel/m". */
static mst_status add_slot(mst_bundle *b, const Muster__TrackableObjectGraph *graph, const slot_reference *slot) {
    int64_t variable, entry;
    const Muster__TrackableObjectGraph__TrackableObject__SerializedTensor *a =
        value_of(b, graph, slot->slot_variable_node_id, &entry);
    if (!a || !value_of(b, graph, slot->original_variable_node_id, &variable) || !b->object_name[variable])
        return MST_OK;
    const char *own = slot_name(slot, a->full_name);
    if (strlen(own) > PATH_MOST) return MST_OK;
    const char *name = mst_arena_print(&b->arena, "%s/%s", b->object_name[variable], own);
    MST_TRY(add_name(b, name, entry));
    b->object_name[entry] = name;
    return MST_OK;
}

static mst_status add_slots(mst_bundle *b, const Muster__TrackableObjectGraph *graph) {
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (size_t k = 0; k < graph->nodes[i]->n_slot_variables; k++)
            MST_TRY(add_slot(b, graph, graph->nodes[i]->slot_variables[k]));
    return MST_OK;
}

/* Adds the shortest path from the root to each object: "model/dense/kernel". PATH[i] is NULL for objects that have not
 * been reached. QUEUE has room for all objects. */
static mst_status add_paths(mst_bundle *b, const Muster__TrackableObjectGraph *graph, const char **path,
                            size_t *queue) {
    size_t count = 0;
    path[0] = "";
    queue[count++] = 0;
    for (size_t i = 0; i < count; i++) {
        const object *parent = graph->nodes[queue[i]];
        const char *base = path[queue[i]];
        int64_t entry;
        if (value_of(b, graph, (int64_t)queue[i], &entry)) {
            MST_TRY(add_name(b, base, entry));
            if (!b->object_name[entry]) b->object_name[entry] = base;
        }
        for (size_t k = 0; k < parent->n_children; k++) {
            const int64_t child = parent->children[k]->node_id;
            const char *local = parent->children[k]->local_name;
            if (child < 0 || (size_t)child >= graph->n_nodes || path[child]) continue;
            if (strlen(base) + strlen(local) > PATH_MOST) continue;
            path[child] = mst_arena_print(&b->arena, "%s%s%s", base, *base ? "/" : "", local);
            if (!path[child]) return MST_NO_MEMORY("to read '%s'", b->name);
            queue[count++] = (size_t)child;
        }
    }
    return MST_OK;
}

static mst_status add_names(mst_bundle *b, const Muster__TrackableObjectGraph *graph) {
    if (graph->n_nodes == 0) return MST_OK;
    b->object_name = calloc((size_t)b->count + 1, sizeof *b->object_name);
    const char **path = calloc(graph->n_nodes, sizeof *path);
    size_t *queue = calloc(graph->n_nodes, sizeof *queue);
    mst_status status = b->object_name && path && queue ? MST_OK : MST_NO_MEMORY("to read '%s'", b->name);
    if (!status) status = add_full_names(b, graph);
    if (!status) status = add_paths(b, graph, path, queue);
    if (!status) status = add_slots(b, graph);
    free(path);
    free(queue);
    return status;
}

mst_status mst_bundle_read_names(mst_bundle *bundle) {
    const int64_t i = mst_bundle_find_key(bundle, MST_BUNDLE_OBJECT_GRAPH, sizeof MST_BUNDLE_OBJECT_GRAPH - 1);
    char *bytes;
    size_t size;
    if (i < 0) return MST_OK;
    MST_TRY(mst_bundle_read_string(bundle, i, 0, &bytes, &size));
    Muster__TrackableObjectGraph *graph = muster__trackable_object_graph__unpack(NULL, size, (const uint8_t *)bytes);
    free(bytes);
    if (!graph) return MST_FAIL(MST_CORRUPT, "'%s': the object graph is damaged", bundle->name);
    const mst_status status = add_names(bundle, graph);
    muster__trackable_object_graph__free_unpacked(graph, NULL);
    return status;
}
