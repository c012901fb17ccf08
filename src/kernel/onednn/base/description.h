/** Descriptions of arrays for oneDNN. They hide the differences between versions 2 and 3 of its interface. mst_forget
 *  frees a description; a description of all zeros is none. */
#ifndef MUSTER_KERNEL_ONEDNN_BASE_DESCRIPTION_H
#define MUSTER_KERNEL_ONEDNN_BASE_DESCRIPTION_H

#include <dnnl.h>
#include <stdbool.h>
#include <string.h>

/** Whether the implementation of DESCRIPTOR may compute what CONTEXT describes. */
typedef bool mst_fits(const void *context, const_dnnl_primitive_desc_t descriptor);

#if DNNL_VERSION_MAJOR >= 3

typedef dnnl_memory_desc_t mst_description;
typedef const_dnnl_memory_desc_t mst_const_description;

static inline dnnl_status_t mst_describe_dims(mst_description *out, dnnl_data_type_t type, int ndim,
                                              const dnnl_dims_t dims, const dnnl_dims_t strides) {
    return dnnl_memory_desc_create_with_strides(out, ndim, dims, type, strides);
}

static inline dnnl_status_t mst_describe_dims_tagged(mst_description *out, dnnl_data_type_t type, int ndim,
                                                     const dnnl_dims_t dims, dnnl_format_tag_t tag) {
    return dnnl_memory_desc_create_with_tag(out, ndim, dims, type, tag);
}

static inline dnnl_status_t mst_describe_copy(mst_description *to, mst_const_description from) {
    return dnnl_memory_desc_clone(to, from);
}

static inline void mst_forget(mst_description *d) {
    if (*d) dnnl_memory_desc_destroy(*d);
}

/** D in the form of an argument of oneDNN's functions. */
static inline mst_const_description mst_as_given(const mst_description *d) {
    return *d;
}

/** Describes a primitive that rearranges FROM to TO. */
static inline dnnl_status_t mst_describe_reorder(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                 mst_const_description from, mst_const_description to) {
    return dnnl_reorder_primitive_desc_create(out, from, engine, to, engine, NULL);
}

/** Replaces the implementation of D by the first one, from it on, for which FITS is true. */
static inline dnnl_status_t mst_describe_fitting(dnnl_primitive_desc_t d, mst_fits *fits, const void *context) {
    dnnl_status_t status = dnnl_success;
    while (!status && !fits(context, d)) status = dnnl_primitive_desc_next_impl(d);
    return status == dnnl_last_impl_reached ? dnnl_unimplemented : status;
}

/** Describes a primitive that computes C = A B, and adds BIAS unless that is NULL. The first
 *  implementation for which FITS is true is taken. */
static inline dnnl_status_t mst_describe_product(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                 const mst_description *a, const mst_description *b,
                                                 const mst_description *bias, const mst_description *c,
                                                 dnnl_primitive_attr_t attributes, mst_fits *fits,
                                                 const void *context) {
    const dnnl_status_t status =
        dnnl_matmul_primitive_desc_create(out, engine, *a, *b, bias ? *bias : NULL, *c, attributes);
    return status ? status : mst_describe_fitting(*out, fits, context);
}

#else

typedef dnnl_memory_desc_t mst_description;
typedef const dnnl_memory_desc_t *mst_const_description;

static inline dnnl_status_t mst_describe_dims(mst_description *out, dnnl_data_type_t type, int ndim,
                                              const dnnl_dims_t dims, const dnnl_dims_t strides) {
    return dnnl_memory_desc_init_by_strides(out, ndim, dims, type, strides);
}

static inline dnnl_status_t mst_describe_dims_tagged(mst_description *out, dnnl_data_type_t type, int ndim,
                                                     const dnnl_dims_t dims, dnnl_format_tag_t tag) {
    return dnnl_memory_desc_init_by_tag(out, ndim, dims, type, tag);
}

static inline dnnl_status_t mst_describe_copy(mst_description *to, mst_const_description from) {
    *to = *from;
    return dnnl_success;
}

static inline void mst_forget(mst_description *d) {
    (void)d;
}

static inline mst_const_description mst_as_given(const mst_description *d) {
    return d;
}

static inline dnnl_status_t mst_describe_reorder(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                 mst_const_description from, mst_const_description to) {
    return dnnl_reorder_primitive_desc_create(out, from, engine, to, engine, NULL);
}

/** Sets OUT to the first implementation for DESC for which FITS is true. */
static inline dnnl_status_t mst_describe_fitting(dnnl_primitive_desc_t *out, const_dnnl_op_desc_t desc,
                                                 dnnl_engine_t engine, dnnl_primitive_attr_t attributes, mst_fits *fits,
                                                 const void *context) {
    dnnl_primitive_desc_iterator_t all;
    dnnl_status_t status = dnnl_primitive_desc_iterator_create(&all, desc, attributes, engine, NULL);
    if (status) return status;
    *out = dnnl_primitive_desc_iterator_fetch(all);
    while (*out && !fits(context, *out)) {
        dnnl_primitive_desc_destroy(*out);
        *out = NULL;
        status = dnnl_primitive_desc_iterator_next(all);
        if (!status) *out = dnnl_primitive_desc_iterator_fetch(all);
    }
    dnnl_primitive_desc_iterator_destroy(all);
    if (status == dnnl_iterator_ends) return dnnl_unimplemented;
    return status || *out ? status : dnnl_out_of_memory;
}

static inline dnnl_status_t mst_describe_product(dnnl_primitive_desc_t *out, dnnl_engine_t engine,
                                                 const mst_description *a, const mst_description *b,
                                                 const mst_description *bias, const mst_description *c,
                                                 dnnl_primitive_attr_t attributes, mst_fits *fits,
                                                 const void *context) {
    dnnl_matmul_desc_t product;
    const dnnl_status_t status = dnnl_matmul_desc_init(&product, a, b, bias, c);
    return status ? status : mst_describe_fitting(out, &product, engine, attributes, fits, context);
}

#endif

/* oneDNN takes arrays of DNNL_MAX_NDIMS elements; a tensor may have fewer dimensions. */
static inline dnnl_status_t mst_describe(mst_description *out, dnnl_data_type_t type, int ndim, const dnnl_dim_t *dim,
                                         const dnnl_dim_t *stride) {
    dnnl_dims_t dims, strides;
    memcpy(dims, dim, (size_t)ndim * sizeof *dim);
    memcpy(strides, stride, (size_t)ndim * sizeof *stride);
    return mst_describe_dims(out, type, ndim, dims, strides);
}

static inline dnnl_status_t mst_describe_tagged(mst_description *out, dnnl_data_type_t type, int ndim,
                                                const dnnl_dim_t *dim, dnnl_format_tag_t tag) {
    dnnl_dims_t dims;
    memcpy(dims, dim, (size_t)ndim * sizeof *dim);
    return mst_describe_dims_tagged(out, type, ndim, dims, tag);
}

/** Describes an array in the layout that a primitive chooses. */
static inline dnnl_status_t mst_describe_any(mst_description *out, dnnl_data_type_t type, int ndim,
                                             const dnnl_dim_t *dim) {
    return mst_describe_tagged(out, type, ndim, dim, dnnl_format_tag_any);
}

#endif
