/** Named arguments: the definitions behind all macros that take `.member = value`.
 *
 *      mst_matmul(x, w)                                the required arguments come first, without a name
 *      mst_matmul(x, w, .transpose_b = true)           the others are named; an argument that is not given has its
 *      default
 *
 *  In C the named arguments stand in any order. In C++ (C++20) they stand in the order in which the struct declares
 *  them. A member of a member is written `.session = {.devices = "cpu:2"}`. Required arguments never have a name.
 *
 *  Each macro gives an object whose address can be taken. It lives until the end of the block in C, and until the end
 *  of the whole expression in C++.
 */
#ifndef MUSTER_NAMED_H
#define MUSTER_NAMED_H

/** The number 0, for a member whose default is another number: `.learning_rate_power = MST_ZERO`. A member that is 0
 * counts as not given; this is -0.0, which computes like 0. */
#define MST_ZERO (-0.0)

/* Suppresses warnings about members that are not given, because leaving them out is intended here. Headers
 * with macros of named arguments have this line too, so that compilers report a mistake at the program's
 * line, not in the macros. */
#pragma GCC system_header

/* MST_NAMED(T, ...): a T with named members. MST_NAMED_1(T, a, ...): the first argument is the first member after
 * `zero_`, here a. MST_NAMED_2 and MST_NAMED_3 do the same with two and three arguments. MST_NAMED_WITH(T, member,
 * value, ...): MEMBER, the first one after `zero_`, has VALUE. */
#ifdef __cplusplus

extern "C++" {
template <class T>
inline T &mst_named_(T &&object) {
    return object;
}
}

#define MST_NAMED(T, ...) (mst_named_(T{__VA_ARGS__}))
#define MST_NAMED_WITH(T, member, value, ...) (mst_named_(T{.zero_ = 0, .member = value __VA_OPT__(, ) __VA_ARGS__}))
#define MST_NAMED_1(T, a, ...) MST_NAMED_1_(T, a, __VA_ARGS__)
#define MST_NAMED_2(T, a, b, ...) MST_NAMED_2_(T, a, b, __VA_ARGS__)
#define MST_NAMED_3(T, a, b, c, ...) MST_NAMED_3_(T, a, b, c, __VA_ARGS__)
#define MST_NAMED_1_(T, a, va, ...) (mst_named_(T{.zero_ = 0, .a = va __VA_OPT__(, ) __VA_ARGS__}))
#define MST_NAMED_2_(T, a, b, va, vb, ...) (mst_named_(T{.zero_ = 0, .a = va, .b = vb __VA_OPT__(, ) __VA_ARGS__}))
#define MST_NAMED_3_(T, a, b, c, va, vb, vc, ...) \
    (mst_named_(T{.zero_ = 0, .a = va, .b = vb, .c = vc __VA_OPT__(, ) __VA_ARGS__}))

#else

/* `.zero_ = 0` allows an empty list. An argument without a name after it sets the member after `zero_`. */
#define MST_NAMED(T, ...) ((T){.zero_ = 0, __VA_ARGS__})
#define MST_NAMED_WITH(T, member, value, ...) ((T){.member = (value), .zero_ = 0, __VA_ARGS__})
#define MST_NAMED_1(T, a, ...) MST_NAMED(T, __VA_ARGS__)
#define MST_NAMED_2(T, a, b, ...) MST_NAMED(T, __VA_ARGS__)
#define MST_NAMED_3(T, a, b, c, ...) MST_NAMED(T, __VA_ARGS__)

#endif
#endif
