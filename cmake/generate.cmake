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
