/** SANITIZED: the address or the thread sanitizer is on, which has a malloc and an address space of its own. */
#ifndef MUSTER_TEST_SUPPORT_SANITIZED_H
#define MUSTER_TEST_SUPPORT_SANITIZED_H

#ifndef __has_feature /* of clang */
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || __has_feature(address_sanitizer) || \
    __has_feature(thread_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#endif
