# Public headers, tables and lists that are made of the files of a folder, so that what a folder holds is the list of it.
# The functions add to the lists HEADERS, TABLES and LISTS; a PATTERN is that of files in src/.

# muster_generate(OUT SCRIPT FILES OPTION...): OUT is what the awk script cmake/SCRIPT prints of FILES. It is touched only
# where it changes, so that editing a kernel does not compile again whatever includes muster/ops.h. What is not there yet
# is also made at once, for editors.
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
  if(NOT EXISTS ${out})
    execute_process(COMMAND awk ${ARGN} -f ${PROJECT_SOURCE_DIR}/cmake/${script} ${files} OUTPUT_FILE ${out})
  endif()
endfunction()

# muster_table(TYPE PATTERN): of all that is defined as `const TYPE TYPE_NAME`, TYPE_table.c with the table TYPE_table, and
# for who needs one of them by its name FOLDER/list.h with declarations; FOLDER is PATTERN up to its first star.
function(muster_table type pattern)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${pattern})
  string(REGEX REPLACE "/[^/]*[*].*$" "" folder ${pattern})
  muster_generate(${GENERATED}/${type}_table.c table.awk "${files}" -v type=${type} -v make=table)
  muster_generate(${GENERATED}/${folder}/list.h table.awk "${files}" -v type=${type} -v make=list)
  set(TABLES ${TABLES} ${GENERATED}/${type}_table.c PARENT_SCOPE)
  set(LISTS ${LISTS} ${GENERATED}/${folder}/list.h PARENT_SCOPE)
endfunction()

# muster_header(NAME PATTERNS OPTION...): the public header muster/NAME.h with what the files declare (cmake/header.awk), in
# the order of the patterns.
function(muster_header name patterns)
  set(files "")
  foreach(pattern ${patterns})
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${pattern})
    list(APPEND files ${found})
  endforeach()
  muster_generate(${GENERATED}/muster/${name}.h header.awk "${files}" -v name=${name} ${ARGN})
  set(HEADERS ${HEADERS} ${GENERATED}/muster/${name}.h PARENT_SCOPE)
endfunction()

# muster_kind(KIND NAME ENUM FOLDER): from the files of FOLDER that have an enumerator of ENUM (cmake/kind.awk) the public
# header muster/NAME.h, and mst_KIND_table.c with mst_KIND_table and mst_KIND_names, which FOLDER/KIND.h declares.
function(muster_kind kind name enum folder)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.c)
  set(options -v kind=${kind} -v plural=${name} -v enum=${enum})
  muster_generate(${GENERATED}/muster/${name}.h kind.awk "${files}" ${options} -v make=header)
  muster_generate(${GENERATED}/mst_${kind}_table.c kind.awk "${files}" ${options} -v make=table
                  -v include=${folder}/${kind}.h)
  set(HEADERS ${HEADERS} ${GENERATED}/muster/${name}.h PARENT_SCOPE)
  set(TABLES ${TABLES} ${GENERATED}/mst_${kind}_table.c PARENT_SCOPE)
endfunction()
