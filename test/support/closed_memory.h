/** Memory that nobody may touch: domains whose pages have no access rights except while they are open. For modules that
 *  only tests load; each module has its own domains.
 *
 *  Access rights are those of the whole process. So one domain at a time is open, or two for a copy, and whoever opens
 *  one waits until the others are closed. Never wait for another device with a domain open. */
#ifndef MUSTER_TEST_SUPPORT_CLOSED_MEMORY_H
#define MUSTER_TEST_SUPPORT_CLOSED_MEMORY_H

#include "module/module.h"

/** Comes first. NAME is that of the type of domain, and begins messages. */
void closed_memory_begin(const char *name, const mst_registrar *registrar);
/** The domain of device INDEX, with which mst_device_type has its `domain` filled. */
mst_status closed_memory_find(int index, mst_domain **out);
/** Opens DOMAIN, after which closed_memory_close must follow. If it fails, the domain is closed. */
MST_CHECKED mst_status closed_memory_open(mst_domain *domain);
MST_CHECKED mst_status closed_memory_close(mst_domain *domain);
/** Whether DOMAIN, which is open, has these bytes. */
bool closed_memory_has(const mst_domain *domain, const void *data, size_t bytes);

#endif
