# Muster's own modules (src/module/module.h): for each that can be built the library libmuster-NAME.so, which the shared
# library loads when it is first used. The static library has those in it that are LINKED.

set(MODULE_INFOS "")            # rows of mst_module_info_table, for all modules
set(MODULE_FILES ${PROJECT_SOURCE_DIR}/src/module/entry.c) # what only modules have in them
set(MODULES "")                 # targets of those that can be built
set(LINKED_MODULES "")          # objects that the static library has in it,
set(LINKED_MODULE_FILES "")     # their sources,
set(LINKED_MODULE_LIBRARIES "") # and the libraries that those need

# muster_module(NAME [LINKED] [CXX] USED_FOR TEXT LIBRARY NAME PKG_CONFIG MODULE... PACKAGE PACKAGE FILE FILE [PARTS FILE...]
#               [PIECES FILE...] [TYPES TYPE...])
#   FILE     defines `const mst_module mst_module_NAME`, and is no part of the library without the module
#   PARTS    other files that are no part of the library without the module
#   PIECES   files of the library, or of the command, that the module has in it too
#   PACKAGE  of Debian, with the headers
#   TYPES    of devices that the module gives
#   CXX      it has parts in C++
#   HEADER   in place of PKG_CONFIG, where the library is only needed when the module is used: the header, which defines
#            VERSION_MAJOR and VERSION_MINOR, and is looked for in MUSTER_NAME_INCLUDE and in the folders HINTS
function(muster_module name)
  cmake_parse_arguments(ARG "LINKED;CXX" "USED_FOR;LIBRARY;PACKAGE;FILE;HEADER;VERSION_MAJOR;VERSION_MINOR"
                        "PKG_CONFIG;PARTS;PIECES;TYPES;HINTS" ${ARGN})
  foreach(file ${ARG_FILE} ${ARG_PARTS} ${ARG_PIECES}) # also where the module cannot be built
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${file})
      message(FATAL_ERROR "module ${name}: there is no ${file}")
    endif()
  endforeach()
  set(found MUSTER_MODULE_${name})
  set(version "")
  if(ARG_HEADER)
    muster_find_header(${name} ${ARG_HEADER} ${ARG_VERSION_MAJOR} ${ARG_VERSION_MINOR} version ${ARG_HINTS})
    set(library muster_${name}_header)
  else()
    pkg_check_modules(${found} QUIET IMPORTED_TARGET ${ARG_PKG_CONFIG})
    set(library PkgConfig::${found})
    if(${found}_FOUND)
      list(GET ARG_PKG_CONFIG 0 first)
      set(version ${${found}_VERSION}${${found}_${first}_VERSION}) # the latter where there are several
    endif()
  endif()
  if(ARG_CXX AND NOT CMAKE_CXX_COMPILER)
    set(version "")
    message(STATUS "Module ${name}: left out, so no ${ARG_USED_FOR}: install a C++ compiler")
  elseif(TARGET ${library})
    muster_build_module(${name} ${library} "${ARG_FILE};${ARG_PARTS}" ${ARG_PIECES})
    list(APPEND MODULES muster-${name})
    if(ARG_LINKED)
      list(APPEND LINKED_MODULES $<TARGET_OBJECTS:muster_module_${name}>)
      list(APPEND LINKED_MODULE_FILES ${PROJECT_SOURCE_DIR}/${ARG_FILE})
      list(APPEND LINKED_MODULE_LIBRARIES ${${found}_LIBRARIES})
    endif()
    message(STATUS "Module ${name}: ${ARG_LIBRARY} ${version}")
  else()
    message(STATUS "Module ${name}: left out, so no ${ARG_USED_FOR}: install ${ARG_PACKAGE} (${ARG_LIBRARY})")
  endif()
  foreach(file ${ARG_FILE} ${ARG_PARTS})
    list(APPEND MODULE_FILES ${PROJECT_SOURCE_DIR}/${file})
  endforeach()
  string(REPLACE ";" " " types "${ARG_TYPES}")
  string(APPEND MODULE_INFOS "    {\"${name}\", \"${ARG_USED_FOR}\", \"${ARG_LIBRARY}\", \"${ARG_PACKAGE}\", "
         "\"${version}\", \"${types}\"},\n")
  foreach(variable MODULE_FILES MODULES LINKED_MODULES LINKED_MODULE_FILES LINKED_MODULE_LIBRARIES MODULE_INFOS)
    set(${variable} "${${variable}}" PARENT_SCOPE)
  endforeach()
endfunction()

# Looks for HEADER of module NAME. If it is there, defines the target muster_NAME_header, and sets VERSION to what the header
# defines as MAJOR and MINOR.
function(muster_find_header name header major minor version)
  string(TOUPPER MUSTER_${name}_INCLUDE folder)
  find_path(${folder} ${header} HINTS ${ARGN} NO_DEFAULT_PATH)
  mark_as_advanced(${folder})
  if(NOT ${folder})
    return()
  endif()
  file(STRINGS ${${folder}}/${header} lines REGEX "^#define (${major}|${minor}) [0-9]+$")
  string(REGEX REPLACE "[^0-9;]+" "" numbers "${lines}")
  string(REPLACE ";" "." numbers "${numbers}")
  set(${version} "${numbers}" PARENT_SCOPE)
  add_library(muster_${name}_header INTERFACE IMPORTED)
  set_target_properties(muster_${name}_header PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${${folder}})
endfunction()

function(muster_module_flags target)
  add_dependencies(${target} generated_headers)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PRIVATE include src ${GENERATED})
  target_compile_definitions(${target} PRIVATE MST_VERSION="${PROJECT_VERSION}")
  target_link_libraries(${target} PRIVATE muster_flags ${ARGN})
endfunction()

add_library(muster_module_entry OBJECT EXCLUDE_FROM_ALL src/module/entry.c)
muster_module_flags(muster_module_entry)

# The objects muster_module_NAME, which the static library may have in it, and of them the module muster-NAME.
function(muster_build_module name library files)
  add_library(muster_module_${name} OBJECT ${files})
  muster_module_flags(muster_module_${name} ${library})
  target_compile_definitions(muster_module_${name} PRIVATE MST_MODULE_NAME="${name}" MST_MODULE_SYMBOL=mst_module_${name})
  add_library(muster-${name} MODULE $<TARGET_OBJECTS:muster_module_entry> $<TARGET_OBJECTS:muster_module_${name}> ${ARGN})
  muster_module_flags(muster-${name} ${library} m)
  # Only the entry is seen from outside, and nothing is left for the program that loads the module to define.
  target_link_options(muster-${name} PRIVATE -Wl,--defsym=mst_module_here=mst_module_${name}
                      -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/module.map)
  if(NOT MUSTER_SANITIZE)
    target_link_options(muster-${name} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

# The tables of module.c: MODULE_INFO_TABLE of all modules, and of those linked in LINKED_MODULE_TABLE for the static
# library and NO_MODULE_TABLE for the shared one.
macro(muster_module_tables)
  set(MODULE_INFO_TABLE ${GENERATED}/mst_module_info_table.c)
  set(LINKED_MODULE_TABLE ${GENERATED}/static/mst_module_table.c)
  set(NO_MODULE_TABLE ${GENERATED}/shared/mst_module_table.c)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/module_info_table.c.in ${MODULE_INFO_TABLE} @ONLY)
  muster_generate(${LINKED_MODULE_TABLE} table.awk "/dev/null;${LINKED_MODULE_FILES}" -v type=mst_module)
  muster_generate(${NO_MODULE_TABLE} table.awk /dev/null -v type=mst_module)
endmacro()
