# muster_generate(OUT SCRIPT FILES OPTION...): OUT is what the awk script cmake/SCRIPT prints of FILES. It is touched only
# where it changes, so that editing a kernel does not compile again whatever includes muster/ops.h.
function(muster_generate out script files)
  get_filename_component(folder ${out} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(
    OUTPUT ${out}
    COMMAND awk ${ARGN} -f ${PROJECT_SOURCE_DIR}/cmake/${script} ${files} > ${out}.new
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${out}.new ${out}
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/${script}
    COMMENT "${out}"
    VERBATIM)
endfunction()

# muster_kind(KIND PLURAL ENUM FOLDER): from the files of FOLDER that have an enumerator of ENUM (see cmake/kind.awk) the
# public header muster/PLURAL.h, and KIND_table.c with what FOLDER/KIND.h declares: mst_KIND_table and mst_KIND_names.
function(muster_kind kind plural enum folder)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.c)
  set(options -v kind=${kind} -v plural=${plural} -v enum=${enum})
  muster_generate(${GENERATED}/muster/${plural}.h kind.awk "${files}" ${options} -v make=header)
  muster_generate(${GENERATED}/${kind}_table.c kind.awk "${files}" ${options} -v make=table -v header=${folder}/${kind}.h)
  set(HEADERS ${HEADERS} ${GENERATED}/muster/${plural}.h PARENT_SCOPE)
  set(TABLES ${TABLES} ${GENERATED}/${kind}_table.c PARENT_SCOPE)
endfunction()
