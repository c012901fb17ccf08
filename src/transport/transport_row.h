/** The list of all transports: the build makes it of the rows that files of this folder define as
 *  `const mst_transport_row mst_transport_row_NAME = {`. A transport without a library of its own has its row beside
 *  its type; a module is not part of the library, so its transports have their rows in a file NAME_row.c. */
#ifndef MUSTER_TRANSPORT_TRANSPORT_ROW_H
#define MUSTER_TRANSPORT_TRANSPORT_ROW_H

#include "transport/transport.h"

/** Who may choose a transport. Users are not told the names of transports for tests. */
typedef enum mst_transport_use {
    MST_TRANSPORT_FOR_TESTS,  /**< a test names it */
    MST_TRANSPORT_FOR_ALL,    /**< all tasks of a cluster */
    MST_TRANSPORT_FOR_WORKERS /**< workers that train without parameter servers */
} mst_transport_use;

/** A transport. One of the last three members says where it is; the others are NULL. */
typedef struct mst_transport_row {
    const char *name;
    mst_transport_use use;
    const mst_transport_type *type;
    const char *module; /**< its interface is an array of types, ended by one without a name */
    mst_status (*find)(const mst_transport_type **out);
} mst_transport_row;

/** Ended by NULL. */
extern const mst_transport_row *const mst_transport_row_table[];

/** The name of transport I, from 0, among the transports that all tasks may choose; NULL past the last. */
MST_API const char *mst_transport_name(int i);
/** As mst_transport_name; after those come the transports that only workers may choose. */
MST_API const char *mst_transport_worker_name(int i);

/** Finds a type in a module whose interface is as above. MST_NOT_FOUND, MST_UNAVAILABLE. */
MST_CHECKED mst_status mst_transport_in_module(const char *module, const char *name, const mst_transport_type **out);

#endif
