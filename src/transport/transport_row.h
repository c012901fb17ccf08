/** The list of all transports. The build makes it from the rows that files of this folder define as `const
 *  mst_transport_row mst_transport_row_NAME = {`. A transport that needs no other library has its row beside its type.
 *  A module is not part of Muster's library, so the rows of its transports are in a file NAME_row.c. */
#ifndef MUSTER_TRANSPORT_TRANSPORT_ROW_H
#define MUSTER_TRANSPORT_TRANSPORT_ROW_H

#include "transport/transport.h"

/** Who may choose a transport. The first two are for tests: users are not told the names of such transports. */
typedef enum mst_transport_use {
    MST_TRANSPORT_FOR_TESTS,      /**< tests that open a transport themselves; training tasks refuse it */
    MST_TRANSPORT_FOR_TEST_TASKS, /**< training tasks in tests */
    MST_TRANSPORT_FOR_ALL,        /**< all tasks of a cluster */
    MST_TRANSPORT_FOR_WORKERS     /**< workers that train without parameter servers */
} mst_transport_use;

/** A transport. One of the last three members says where it is; the others are NULL. */
typedef struct mst_transport_row {
    const char *name;
    mst_transport_use use;
    bool has_fixed_tasks; /**< all tasks are there from the beginning to the end, so none may be missing */
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

enum { MST_TRANSPORT_LIST = 256 };
/** Writes the names that NAME gives, one of the two functions above, as "shm, zmq or mpi". Returns TEXT. */
const char *mst_transport_list(const char *(*name)(int i), char text[MST_TRANSPORT_LIST]);

/** The row of the transport with a name; NULL: there is none. */
const mst_transport_row *mst_transport_row_find(const char *name);

/** Finds the type NAME in MODULE, whose interface is an array of types. MST_NOT_FOUND, MST_UNAVAILABLE. */
MST_CHECKED mst_status mst_transport_in_module(const char *module, const char *name, const mst_transport_type **out);

#endif
