# `make install`: the library, its modules and headers, the command, and what lets others find them (pkg-config, find_package).
include(CMakePackageConfigHelpers)

install(TARGETS muster muster_archive EXPORT muster_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(MODULES)
  install(TARGETS ${MODULES} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/muster)
endif()
# Where others look for libraries is the same in the build and once installed: to change it at installation CMake would
# end that of the build with an empty part, which is the current folder. It has the folders of libraries that are not the
# system's (scripts/check-binaries).
foreach(target muster muster_command ${MODULES})
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
endforeach()
install(DIRECTORY include/muster DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${INSTALLED_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/muster)

if(TARGET muster_command)
  # The command finds the library from its own place wherever both are moved to: beside it in the build, then where it is
  # installed.
  file(RELATIVE_PATH library_from_command ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(muster_command PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/${library_from_command}")
  install(TARGETS muster_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

  # The manual page and the completions of shells come from the command itself.
  set(texts "")
  foreach(row "man|muster.1|man/man1" "completion bash|muster|bash-completion/completions"
              "completion zsh|_muster|zsh/site-functions" "completion fish|muster.fish|fish/vendor_completions.d")
    string(REPLACE "|" ";" row ${row})
    list(GET row 0 topic)
    list(GET row 1 name)
    list(GET row 2 folder)
    separate_arguments(topic)
    set(text ${PROJECT_BINARY_DIR}/share/${folder}/${name})
    add_custom_command(OUTPUT ${text} COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/share/${folder}
                       COMMAND muster_command help ${topic} > ${text} DEPENDS muster_command VERBATIM)
    list(APPEND texts ${text})
    install(FILES ${text} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/${folder})
  endforeach()
  add_custom_target(muster_texts ALL DEPENDS ${texts})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# `cmake --build BUILD --target uninstall` removes what the last installation of this build wrote.
if(PROJECT_SOURCE_DIR STREQUAL CMAKE_SOURCE_DIR)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
                    WORKING_DIRECTORY ${PROJECT_BINARY_DIR} VERBATIM)
endif()

# Where both directories are inside the prefix, muster.pc names them from its own place, so that the tree can be moved.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
  set(pc_prefix "\${pcfiledir}/${prefix_from_pc}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
list(TRANSFORM STATIC_LIBRARIES PREPEND -l OUTPUT_VARIABLE pc_private)
list(TRANSFORM pc_private REPLACE "^-l/" "/")
list(JOIN pc_private " " pc_private)
configure_file(cmake/muster.pc.in ${PROJECT_BINARY_DIR}/muster.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/muster.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/muster)
install(EXPORT muster_targets NAMESPACE muster:: FILE muster-targets.cmake DESTINATION ${package_directory})
configure_package_config_file(cmake/muster-config.cmake.in ${PROJECT_BINARY_DIR}/muster-config.cmake
                              INSTALL_DESTINATION ${package_directory} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/muster-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/muster-config.cmake ${PROJECT_BINARY_DIR}/muster-config-version.cmake
        DESTINATION ${package_directory})
