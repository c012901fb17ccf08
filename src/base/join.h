/** Joins parts into one name. */
#ifndef MUSTER_BASE_JOIN_H
#define MUSTER_BASE_JOIN_H

/** The name A_B, made of the expansions of A and B. */
#define MST_JOIN(a, b) MST_JOIN_AS_WRITTEN(a, b)
#define MST_JOIN_AS_WRITTEN(a, b) a##_##b

#endif
