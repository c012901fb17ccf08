#include "transport/transport.h"

#include <stdio.h>
#include <string.h>

#include "module/module.h"
#include "transport/transport_row.h"

mst_status mst_transport_in_module(const char *module, const char *name, const mst_transport_type **out) {
    const void *interface;
    MST_TRY(mst_module_interface(module, &interface));
    const mst_transport_type *type = interface;
    while (type->name && strcmp(type->name, name) != 0) type++;
    if (!type->name) return MST_FAIL(MST_NOT_FOUND, "the module %s has no transport '%s'", module, name);
    *out = type;
    return MST_OK;
}

/* The name of the transport with index I among those for USE. NULL: there are only *COUNT of them. */
static const char *name_for(mst_transport_use use, int i, int *count) {
    *count = 0;
    for (const mst_transport_row *const *row = mst_transport_row_table; *row; row++)
        if ((*row)->use == use && (*count)++ == i) return (*row)->name;
    return NULL;
}

const char *mst_transport_name(int i) {
    int count;
    return name_for(MST_TRANSPORT_FOR_ALL, i, &count);
}

const char *mst_transport_worker_name(int i) {
    int count;
    const char *name = name_for(MST_TRANSPORT_FOR_ALL, i, &count);
    return name ? name : name_for(MST_TRANSPORT_FOR_WORKERS, i - count, &count);
}

const char *mst_transport_list(const char *(*name)(int i), char text[MST_TRANSPORT_LIST]) {
    *text = 0;
    for (int i = 0; name(i); i++) {
        const size_t used = strlen(text);
        const char *between = !i ? "" : name(i + 1) ? ", " : " or ";
        snprintf(text + used, MST_TRANSPORT_LIST - used, "%s%s", between, name(i));
    }
    return text;
}

const mst_transport_row *mst_transport_row_find(const char *name) {
    const mst_transport_row *const *row = mst_transport_row_table;
    while (*row && strcmp((*row)->name, name) != 0) row++;
    return *row;
}

mst_status mst_transport_find(const char *name, const mst_transport_type **out) {
    const mst_transport_row *row = mst_transport_row_find(name);
    char names[MST_TRANSPORT_LIST];
    if (!row)
        return MST_FAIL(MST_NOT_FOUND, "there is no transport '%s': take %s", name,
                        mst_transport_list(mst_transport_worker_name, names));
    if (row->module) return mst_transport_in_module(row->module, name, out);
    if (row->find) return row->find(out);
    *out = row->type;
    return MST_OK;
}

typedef struct awaited {
    mst_timeline_due due;
    int64_t deadline;
} awaited;

static bool is_awaited(void *context, int fd) {
    const awaited *a = context;
    return mst_timeline_value(a->due.timeline) < a->due.value && mst_timeline_poll(&a->due, 1, fd, a->deadline);
}

bool mst_transport_await(const mst_transport_type *type, mst_transport *transport, mst_timeline *line, uint64_t value,
                         int64_t deadline) {
    awaited a = {{line, value}, deadline};
    if (!type->receiver || !type->receiver->receive(transport, is_awaited, &a))
        return mst_timeline_wait(line, value, deadline, false);
    return mst_timeline_value(line) >= value;
}
