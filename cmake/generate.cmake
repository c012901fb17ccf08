# Public headers, tables and lists that are made of the files of a folder, so that what a folder holds is the list of
# it. The functions add to the lists HEADERS, INSTALLED_HEADERS, TABLES and LISTS; a PATTERN is that of files in src/.

# muster_generate(OUT SCRIPT FILES OPTION...): OUT is what the awk script cmake/SCRIPT prints of FILES. It is touched
# only where it changes, so that editing a kernel does not compile again whatever includes muster/ops.h. What is not
# there yet is also made at once, for editors.
function(muster_generate out script files)
  get_filename_component(folder ${out} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  set(sources ${PROJECT_SOURCE_DIR}/cmake/source.awk ${PROJECT_SOURCE_DIR}/cmake/${script})
  list(TRANSFORM sources PREPEND "-f;" OUTPUT_VARIABLE programs)
  set(command awk -v out=${out} ${ARGN} ${programs} ${files})
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${command} > ${out}.new
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${out}.new ${out}
    DEPENDS ${files} ${sources}
    COMMENT "${out}"
    VERBATIM)
  if(NOT EXISTS ${out})
    execute_process(COMMAND ${command} OUTPUT_FILE ${out} RESULT_VARIABLE failed)
    if(failed) # so will the build, which must not take what is half made
      file(REMOVE ${out})
    endif()
  endif()
endfunction()

# muster_public_header(NAME SCRIPT FILES OPTION...): the public header muster/NAME.h. Its #line directives name files of
# this tree, so that errors and debuggers do; what is installed has none.
macro(muster_public_header name script files)
  muster_generate(${GENERATED}/muster/${name}.h ${script} "${files}" ${ARGN})
  set(installed ${PROJECT_BINARY_DIR}/installed/muster/${name}.h)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/installed/muster)
  add_custom_command(
    OUTPUT ${installed}
    COMMAND sed "/^#line /d" ${GENERATED}/muster/${name}.h > ${installed}
    DEPENDS ${GENERATED}/muster/${name}.h
    COMMENT "${installed}"
    VERBATIM)
  set(HEADERS ${HEADERS} ${GENERATED}/muster/${name}.h PARENT_SCOPE)
  set(INSTALLED_HEADERS ${INSTALLED_HEADERS} ${installed} PARENT_SCOPE)
endmacro()

# muster_table(TYPE PATTERNS): of all that is defined as `const TYPE TYPE_NAME`, TYPE_table.c with the table TYPE_table,
# and for who needs one of them by its name FOLDER/list.h with declarations; FOLDER is the first pattern up to its first
# star.
function(muster_table type patterns)
  list(TRANSFORM patterns PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE paths)
  file(GLOB files CONFIGURE_DEPENDS ${paths})
  string(REGEX REPLACE "/[^/]*[*].*$" "" folder "${patterns}")
  muster_generate(${GENERATED}/${type}_table.c table.awk "${files}" -v type=${type} -v make=table)
  muster_generate(${GENERATED}/${folder}/list.h table.awk "${files}" -v type=${type} -v make=list)
  set(TABLES ${TABLES} ${GENERATED}/${type}_table.c PARENT_SCOPE)
  set(LISTS ${LISTS} ${GENERATED}/${folder}/list.h PARENT_SCOPE)
endfunction()

# muster_header(NAME BLOCK PATTERNS OPTION...): the public header muster/NAME.h with what the files declare in their
# blocks, each `#ifdef BLOCK` (cmake/header.awk), in the order of the patterns.
function(muster_header name block patterns)
  set(files "")
  foreach(pattern ${patterns})
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${pattern})
    list(APPEND files ${found})
  endforeach()
  muster_public_header(${name} header.awk "${files}" -v name=${name} -v block=${block} ${ARGN})
endfunction()

# muster_kind(KIND NAME ENUM FOLDER): from the files of FOLDER that have an enumerator of ENUM (cmake/kind.awk) the
# public header muster/NAME.h, and mst_KIND_table.c with mst_KIND_table and mst_KIND_names, which FOLDER/KIND.h
# declares.
function(muster_kind kind name enum folder)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.c)
  string(TOUPPER "MST_${kind}_HEADER" block)
  set(options -v kind=${kind} -v plural=${name} -v enum=${enum} -v block=${block})
  muster_public_header(${name} kind.awk "${files}" ${options} -v make=header)
  muster_generate(${GENERATED}/mst_${kind}_table.c kind.awk "${files}" ${options} -v make=table
                  -v include=${folder}/${kind}.h)
  set(TABLES ${TABLES} ${GENERATED}/mst_${kind}_table.c PARENT_SCOPE)
endfunction()
