/** The list of all transports: the build makes it of the rows that files of this folder define as
 *  `const mst_transport_row mst_transport_row_NAME = {`. A transport without a library of its own has its row beside
 *  its type; a module is not part of the library, so its transports have their rows in a file NAME_row.c. */
#ifndef MUSTER_TRANSPORT_TRANSPORT_ROW_H
#define MUSTER_TRANSPORT_TRANSPORT_ROW_H

#include "transport/transport.h"

/** Where a transport is: one of the last three members says so. */
typedef struct mst_transport_row {
    const char *name;
    bool is_for_tests; /**< errors do not suggest it */
    const mst_transport_type *type;
    const char *module; /**< its interface is an array of types, ended by one without a name */
    mst_status (*find)(const mst_transport_type **out);
} mst_transport_row;

/** Ended by NULL. */
extern const mst_transport_row *const mst_transport_row_table[];

/** Finds a type in a module whose interface is as above. MST_NOT_FOUND, MST_UNAVAILABLE. */
MST_CHECKED mst_status mst_transport_in_module(const char *module, const char *name, const mst_transport_type **out);

#endif
