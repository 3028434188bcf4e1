# Which generator runs; included by MorelloGenerate.cmake. What counts is whether it runs on this
# host, not how it came here: a generator of a package for the target of a cross build does not.

set(MORELLO_NATIVE_BUILD ON CACHE BOOL
    "In a cross build from Morello's sources, build a generator for this host first")
set(MORELLO_NATIVE_ARGS "" CACHE STRING "Arguments of CMake for that build, e.g. its compiler")
mark_as_advanced(MORELLO_NATIVE_BUILD MORELLO_NATIVE_ARGS)
set_property(GLOBAL PROPERTY _MORELLO_SOURCES "${CMAKE_CURRENT_LIST_DIR}/..")

# -> generator: the COMMAND and, for a rebuilt generator, a DEPENDS of the custom command;
#    generator_path: the program if it exists already, else "".
function(_morello_check_generator)
  _morello_find_generator()
  if(NOT problem STREQUAL "")
    set(problem "${problem}" PARENT_SCOPE)
    return()
  endif()
  get_property(told GLOBAL PROPERTY _MORELLO_GENERATOR)
  if(NOT told STREQUAL "${generator}")
    set_property(GLOBAL PROPERTY _MORELLO_GENERATOR "${generator}")
    message(STATUS "Morello: the generator is ${generator} (${found_as})")
  endif()
  set(generator "${generator}" PARENT_SCOPE)
  set(generator_path "${generator_path}" PARENT_SCOPE)
endfunction()

# -> generator, generator_path, found_as; or problem
macro(_morello_find_generator)
  set(generator "")
  set(generator_path "")
  set(refused "")
  if(NOT "${MORELLO_EXECUTABLE}" STREQUAL "")
    set(found_as "MORELLO_EXECUTABLE")
    set(generator "${MORELLO_EXECUTABLE}")
    set(generator_path "${MORELLO_EXECUTABLE}")
    _morello_runs(wrong "${generator_path}")
    if(wrong)
      set(problem "MORELLO_EXECUTABLE \"${MORELLO_EXECUTABLE}\" ${wrong}")
    endif()
  elseif(TARGET Morello::morello)
    get_target_property(imported Morello::morello IMPORTED)
    if(imported)
      get_target_property(path Morello::morello LOCATION)
      _morello_runs(wrong "${path}")
      if(wrong)
        set(refused "\nThe package's ${path} ${wrong}")
      else()
        set(found_as "the package's ${path}")
        set(generator Morello::morello)
        set(generator_path "${path}")
      endif()
    elseif(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
      set(found_as "built in this build")
      set(generator Morello::morello)
    endif()
  endif()
  if(generator STREQUAL "")
    _morello_native_generator()
  endif()
  if(generator STREQUAL "")
    set(problem "no Morello generator that runs on this host${refused}\nEither build one\n  cmake -S <morello> -B host && cmake --build host --target morello\nand configure with\n  -DMORELLO_EXECUTABLE=$PWD/host/generator/cli/morello\nor install one and say\n  find_package(Morello REQUIRED)\nor check in the header: add  VENDOR_DIR <dir>  and, where there is a generator, build\n  ${target}.update")
  endif()
endmacro()

# Why `program` cannot be the generator, or "". Asked once per program and configure run.
function(_morello_runs result program)
  get_property(known GLOBAL PROPERTY "_MORELLO_RUNS_${program}" SET)
  if(NOT known)
    set(wrong "")
    if(NOT EXISTS "${program}" OR IS_DIRECTORY "${program}")
      set(wrong "is not a file")
    else()
      execute_process(COMMAND "${program}" --version RESULT_VARIABLE code
                      OUTPUT_VARIABLE said ERROR_VARIABLE said)
      get_property(module_version GLOBAL PROPERTY _MORELLO_VERSION)
      string(REGEX MATCH "^morello ([0-9]+\\.[0-9]+)\\." version "${said}")
      set(version "${CMAKE_MATCH_1}")
      if(NOT code EQUAL 0 OR version STREQUAL "")
        set(wrong "does not run here as a generator (--version: ${code})")
      elseif(NOT "${module_version}." MATCHES "^${version}\\.|^\\.$")
        set(wrong "is of version ${version}, but this module is of Morello ${module_version}")
      endif()
    endif()
    set_property(GLOBAL PROPERTY "_MORELLO_RUNS_${program}" "${wrong}")
  endif()
  get_property(wrong GLOBAL PROPERTY "_MORELLO_RUNS_${program}")
  set(${result} "${wrong}" PARENT_SCOPE)
endfunction()

# A generator built for this host from the sources that this module is part of, if it is -> generator
macro(_morello_native_generator)
  get_property(sources GLOBAL PROPERTY _MORELLO_SOURCES)
  if(CMAKE_CROSSCOMPILING AND MORELLO_NATIVE_BUILD AND EXISTS "${sources}/generator/cli/main.cc")
    set(found_as "built for this host in ${CMAKE_BINARY_DIR}/morello/native")
    set(generator morello_native)
    if(NOT TARGET morello_native)
      _morello_native_build("${sources}" "${CMAKE_BINARY_DIR}/morello/native")
    endif()
  endif()
endmacro()

# A build of its own, always optimised. Environment variables that name the target's tools are
# hidden from it; a toolchain file is not passed on to begin with.
function(_morello_native_build sources tree)
  set(CMAKE_FOLDER Morello)
  include(ExternalProject)
  set(program "${tree}/generator/cli/morello")
  if(CMAKE_HOST_WIN32)  # CMAKE_EXECUTABLE_SUFFIX is the target's
    string(APPEND program .exe)
  endif()
  set(native_generator "Unix Makefiles")
  if(CMAKE_GENERATOR MATCHES "Ninja")
    set(native_generator "Ninja")
  endif()
  set(clean "${CMAKE_COMMAND}" -E env)
  foreach(variable IN ITEMS AR AS CC CXX LD NM RANLIB STRIP CPPFLAGS CFLAGS CXXFLAGS LDFLAGS
          CMAKE_TOOLCHAIN_FILE PKG_CONFIG PKG_CONFIG_PATH PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR)
    list(APPEND clean --unset=${variable})
  endforeach()
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  separate_arguments(arguments UNIX_COMMAND "${MORELLO_NATIVE_ARGS}")
  ExternalProject_Add(morello_native_build
    PREFIX "${tree}.steps" SOURCE_DIR "${sources}" BINARY_DIR "${tree}" DOWNLOAD_COMMAND ""
    CONFIGURE_COMMAND ${clean} "${CMAKE_COMMAND}" -S "${sources}" -B "${tree}"
      -G "${native_generator}" "-DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM}"
      -DCMAKE_BUILD_TYPE=Release -DMORELLO_DEVELOPER=OFF -DMORELLO_INSTALL=OFF ${arguments}
    BUILD_COMMAND ${clean} "${CMAKE_COMMAND}" --build "${tree}" --target morello -j ${cores}
    INSTALL_COMMAND "" BUILD_BYPRODUCTS "${program}" BUILD_ALWAYS ON
    USES_TERMINAL_BUILD ON EXCLUDE_FROM_ALL ON)
  add_executable(morello_native IMPORTED GLOBAL)
  set_target_properties(morello_native PROPERTIES IMPORTED_LOCATION "${program}")
  add_dependencies(morello_native morello_native_build)
endfunction()
