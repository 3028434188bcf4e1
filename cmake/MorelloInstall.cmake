# The installed package: the generator and its manual page, the runtime headers, the machine files
# and the module. Every path in it is relative to the package itself, so that the prefix may be moved.
include(CMakePackageConfigHelpers)

set(Morello_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/Morello"
    CACHE STRING "Where MorelloConfig.cmake is installed, relative to the prefix")
set(MORELLO_INSTALL_DATADIR "${CMAKE_INSTALL_DATADIR}/morello")

install(TARGETS morello morello_runtime EXPORT MorelloTargets
        RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT MorelloTargets NAMESPACE Morello:: DESTINATION "${Morello_INSTALL_CMAKEDIR}")

configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/MorelloConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/MorelloConfig.cmake"
  INSTALL_DESTINATION "${Morello_INSTALL_CMAKEDIR}"
  PATH_VARS MORELLO_INSTALL_DATADIR NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# Interfaces may change with each minor version while the major one is 0. The headers and the module
# fit any word size: a cross build may use a host's package.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/MorelloConfigVersion.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(FILES
  "${PROJECT_BINARY_DIR}/package/MorelloConfig.cmake"
  "${PROJECT_BINARY_DIR}/package/MorelloConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/MorelloGenerate.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/MorelloCheck.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/MorelloGenerator.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/MorelloCompanions.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/MorelloScript.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/MorelloVendor.cmake"
  DESTINATION "${Morello_INSTALL_CMAKEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/generator/target/machines"
        DESTINATION "${MORELLO_INSTALL_DATADIR}" FILES_MATCHING PATTERN "*.toml")

# The manual page is made when the build is configured: a build without changes has nothing to do.
set(morello_page "${PROJECT_SOURCE_DIR}/docs/cli.md")
set(morello_man "${PROJECT_BINARY_DIR}/package/morello.1")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${morello_page}")
execute_process(COMMAND_ERROR_IS_FATAL ANY
  COMMAND "${CMAKE_COMMAND}" "-DPAGE=${morello_page}" "-DOUTPUT=${morello_man}"
          -DVERSION=${PROJECT_VERSION} -P "${CMAKE_CURRENT_LIST_DIR}/man.cmake")
install(FILES "${morello_man}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")

# cpack -G DEB: one package, whose dependencies are those of the program.
if(PROJECT_IS_TOP_LEVEL)
  set(CPACK_PACKAGE_NAME morello)
  set(CPACK_PACKAGE_CONTACT "The authors of Morello <morello@localhost>")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_STRIP_FILES ON)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_PACKAGE_SECTION devel)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "cmake (>= 3.25), g++ | clang")
  include(CPack)
endif()
