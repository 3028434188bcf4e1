# morello_add_kernel(): from a kernel's spec to an ordinary CMake target. Reference: docs/cmake.md
#
#   morello_add_kernel(<target>
#     SPEC <spec> | SPECS <name>=<spec>... | SPEC_FILE <file>
#     [TYPE INTERFACE|STATIC|OBJECT] [NAME <function>] [NAMESPACE <a::b>] [HEADER <file.h>]
#     [MACHINE <name>|<file.toml>|native] [ISA <isa>...] [THREADS <count>]
#     [OUTPUT_DIR <dir>] [EXCLUDE_FROM_ALL] [STATS])
#
# How it fits together. One custom command runs the generator. Its OUTPUT is a stamp and the header
# is a byproduct: the generator leaves an unchanged header's time alone, so that nothing is
# recompiled, and writes the stamp last. The custom target <target>.update makes that stamp, and
# <target> depends on it: without that, a consumer in another directory would compile before the
# header exists. Specs reach the generator in a file, never on a command line or in a CMake list.

# Under Makefiles byproducts have no rule of their own: a deleted header would never come back. The
# guard target runs this file as a script, which takes the stamp away when a file is missing.
if(CMAKE_SCRIPT_MODE_FILE)
  foreach(file IN LISTS FILES)
    if(NOT EXISTS "${file}")
      file(REMOVE "${STAMP}")
    endif()
  endforeach()
  return()
endif()

if(CMAKE_VERSION VERSION_LESS 3.25)
  message(FATAL_ERROR " Morello needs CMake 3.25 or newer; this is CMake ${CMAKE_VERSION}.")
endif()

# Functions are global in CMake, include_guard() works by path: a second copy of this file (say,
# fetched and installed) would silently replace the functions of the first.
get_property(_morello_loaded GLOBAL PROPERTY _MORELLO_MODULE)
if(_morello_loaded)
  get_property(_morello_version GLOBAL PROPERTY _MORELLO_VERSION)
  if(NOT "${_morello_version}" STREQUAL "${Morello_VERSION}")
    message(FATAL_ERROR " Morello ${Morello_VERSION} is loaded after Morello ${_morello_version}:\n"
      "   ${CMAKE_CURRENT_LIST_FILE}\n   ${_morello_loaded}\n One build can use one of them.")
  endif()
  return()
endif()
set_property(GLOBAL PROPERTY _MORELLO_MODULE "${CMAKE_CURRENT_LIST_FILE}")
set_property(GLOBAL PROPERTY _MORELLO_VERSION "${Morello_VERSION}")

# The names of the machine files that come with the generator: the package says where they are; in
# the source tree they are beside the code that reads them.
if(NOT DEFINED MORELLO_MACHINES_DIR)
  set(MORELLO_MACHINES_DIR "${CMAKE_CURRENT_LIST_DIR}/../generator/target/machines")
endif()
file(GLOB _morello_machines RELATIVE "${MORELLO_MACHINES_DIR}" "${MORELLO_MACHINES_DIR}/*.toml")
list(TRANSFORM _morello_machines REPLACE "\\.toml$" "")
list(SORT _morello_machines COMPARE NATURAL)
set_property(GLOBAL PROPERTY _MORELLO_MACHINES "${_morello_machines}")

# Not cmake_minimum_required(), which would overwrite the consumer's own. Functions keep the
# policies in force where they are defined, so a consumer may ask for CMake 3.11.
cmake_policy(VERSION 3.25...4.0)

include("${CMAKE_CURRENT_LIST_DIR}/MorelloCheck.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/MorelloGenerator.cmake")

set(MORELLO_EXECUTABLE "" CACHE FILEPATH "The Morello generator; empty: the one of the package")
set(MORELLO_PARALLEL_JOBS 1 CACHE STRING "Generators that run at once (each uses all cores)")
# Not a PATH: CMake would make a path of OFF too.
set(MORELLO_CACHE_DIR "$ENV{MORELLO_CACHE_DIR}" CACHE STRING
    "Where solved sub-problems are kept; empty: in the build tree; OFF: nowhere")
mark_as_advanced(MORELLO_EXECUTABLE MORELLO_PARALLEL_JOBS MORELLO_CACHE_DIR)

foreach(_morello_property IN ITEMS KERNELS HEADER SOURCE IMPL STATS)
  define_property(TARGET PROPERTY MORELLO_${_morello_property})
endforeach()

macro(_morello_vocabulary)
  set(flags EXCLUDE_FROM_ALL STATS)
  set(singles SPEC SPEC_FILE TYPE NAME NAMESPACE HEADER MACHINE THREADS OUTPUT_DIR)
  set(lists SPECS ISA)
  set(keywords SPEC SPECS SPEC_FILE TYPE NAME NAMESPACE HEADER MACHINE ISA THREADS OUTPUT_DIR
               EXCLUDE_FROM_ALL STATS)
  set(types INTERFACE STATIC OBJECT)
  set(isas avx512_bf16 avx512_vnni avx512 avx2_vnni avx2 scalar)  # widest first: the order in which the header tries them
  set(max_threads 1024)
  foreach(word IN LISTS singles lists)
    unset(arg_${word})  # the caller may have variables of these names
  endforeach()
endmacro()

function(morello_add_kernel)
  _morello_vocabulary()
  set(target "${ARGV0}")
  set(problem "")
  set(given "")
  set(key "")
  set(key_values 1)
  set(spec_count 0)
  math(EXPR last "${ARGC} - 1")
  if(last GREATER 0)
    foreach(i RANGE 1 ${last})
      set(value "${ARGV${i}}")
      if(problem STREQUAL "")
        _morello_take()
      endif()
    endforeach()
  endif()
  foreach(step IN ITEMS call target specs names header output machine isa threads generator
                        language)
    if(problem STREQUAL "")
      cmake_language(CALL _morello_check_${step})
    endif()
  endforeach()
  if(NOT problem STREQUAL "")
    # A line that begins with a space is printed as it is: no wrapping of paths and commands.
    string(REPLACE "\n" "\n " problem "${problem}")
    message(FATAL_ERROR " morello_add_kernel(${target}): ${problem}\n In ${CMAKE_CURRENT_LIST_FILE}")
  endif()
  _morello_global_setup()
  _morello_command()
  _morello_library()
endfunction()

# What exists once in a build: the umbrella target, the job pool, the summary.
function(_morello_global_setup)
  get_property(others GLOBAL PROPERTY _MORELLO_TARGETS)
  if(NOT others)
    add_custom_target(morello_codegen)
    cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _morello_finish)
  endif()
  _morello_pool()
  if(machine_file STREQUAL "${CMAKE_BINARY_DIR}/morello/native.toml" AND NOT TARGET morello_machine)
    _morello_native_machine()
  endif()
  set_property(GLOBAL APPEND PROPERTY _MORELLO_TARGETS "${target}")
  set_property(GLOBAL PROPERTY "_MORELLO_OWNER_${header_path}" "${target}")
  foreach(kernel IN LISTS kernels)
    set_property(GLOBAL PROPERTY "_MORELLO_OWNER_${namespace}::${kernel}" "${target}")
  endforeach()
endfunction()

# Searches use all cores, so they run one by one, beside the other jobs. Ninja rejects a build with
# an undeclared pool, and the property hides the variable CMAKE_JOB_POOLS: hence the copy.
function(_morello_pool)
  if(NOT CMAKE_GENERATOR MATCHES "Ninja")
    return()
  endif()
  get_property(pools GLOBAL PROPERTY JOB_POOLS)
  if(NOT pools AND DEFINED CMAKE_JOB_POOLS)
    set(pools "${CMAKE_JOB_POOLS}")
  endif()
  if(NOT ";${pools}" MATCHES ";morello=")
    list(APPEND pools "morello=${MORELLO_PARALLEL_JOBS}")
  endif()
  set_property(GLOBAL PROPERTY JOB_POOLS "${pools}")
endfunction()

function(_morello_finish)
  _morello_pool()  # again: the project may have set the property after the first kernel
  get_property(targets GLOBAL PROPERTY _MORELLO_TARGETS)
  list(JOIN targets ", " names)
  message(STATUS "Morello: kernels in ${names}")
endfunction()

# This machine, looked at once per build tree (and when the generator changes).
function(_morello_native_machine)
  set(stamp "${machine_file}.stamp")
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/morello")
  add_custom_command(OUTPUT "${stamp}" BYPRODUCTS "${machine_file}"
    COMMAND ${generator} machine detect --output "${machine_file}.new"
    COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${machine_file}.new" "${machine_file}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS ${generator} VERBATIM COMMENT "Morello: looking at this machine")
  add_custom_target(morello_machine DEPENDS "${stamp}")
  _morello_guard(morello_machine "${stamp}" "${machine_file}")
endfunction()

function(_morello_guard name stamp)
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    get_property(script GLOBAL PROPERTY _MORELLO_MODULE)
    add_custom_target(${name}.guard VERBATIM
      COMMAND "${CMAKE_COMMAND}" "-DSTAMP=${stamp}" "-DFILES=${ARGN}" -P "${script}")
    add_dependencies(${name} ${name}.guard)
  endif()
endfunction()

# -> memo_arguments. The directory is neither an input nor an output: what it holds changes how long
# a search takes, never a byte of what is generated.
function(_morello_memo)
  string(TOUPPER "${MORELLO_CACHE_DIR}" word)
  if(word MATCHES "^(OFF|NO|N|FALSE|0)$")
    set(memo_arguments --no-memo PARENT_SCOPE)
    return()
  endif()
  set(directory "${CMAKE_BINARY_DIR}/morello/memo")
  if(NOT word STREQUAL "")
    cmake_path(ABSOLUTE_PATH MORELLO_CACHE_DIR BASE_DIRECTORY "${CMAKE_BINARY_DIR}" NORMALIZE
               OUTPUT_VARIABLE directory)
  endif()
  set(memo_arguments --memo "${directory}" PARENT_SCOPE)
endfunction()

# The custom command and <target>.update -> impl_path, stats_path
function(_morello_command)
  set(stamp "${work}/${target}.stamp")
  set(impl_path "${work}/${target}.impl")
  set(stats_path "${work}/${target}.stats.json")
  set(files "${header_path}" ${source_path} "${impl_path}" "${stats_path}")
  foreach(file IN LISTS files)  # Make does not create the directories of outputs
    cmake_path(GET file PARENT_PATH directory)
    file(MAKE_DIRECTORY "${directory}")
  endforeach()
  set(extra "")
  if(source_path)
    list(APPEND extra --source "${source_path}")
  endif()
  set(show "")
  if("STATS" IN_LIST given)
    set(show COMMAND "${CMAKE_COMMAND}" -E cat "${stats_path}")
  endif()
  set(what "${kernels}")
  if("SPEC_FILE" IN_LIST given)
    cmake_path(GET spec_file FILENAME what)
  endif()
  list(JOIN what ", " what)
  _morello_memo()
  add_custom_command(OUTPUT "${stamp}" BYPRODUCTS ${files}
    COMMAND ${generator} generate --spec-file "${spec_file}" ${spec_arguments}
            --machine "${machine}" ${isa_arguments} --threads "${arg_THREADS}"
            --namespace "${namespace}" --header "${header_path}" --header-name "${header}"
            ${extra} --impl "${impl_path}" --stats "${stats_path}" --stamp "${stamp}"
            ${memo_arguments}
    ${show}
    DEPENDS ${generator} "${spec_file}" ${machine_file}
    JOB_POOL morello VERBATIM COMMENT "Morello: ${target} (${what})")
  set(all ALL)
  if("EXCLUDE_FROM_ALL" IN_LIST given)
    set(all "")
  endif()
  add_custom_target(${target}.update ${all} DEPENDS "${stamp}")
  add_dependencies(morello_codegen ${target}.update)
  if(machine_file STREQUAL "${CMAKE_BINARY_DIR}/morello/native.toml")
    add_dependencies(${target}.update morello_machine)
  endif()
  _morello_guard(${target}.update "${stamp}" ${files})
  set(impl_path "${impl_path}" PARENT_SCOPE)
  set(stats_path "${stats_path}" PARENT_SCOPE)
endfunction()

function(_morello_library)
  set(scope PUBLIC)
  if(arg_TYPE STREQUAL "INTERFACE")
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  else()
    add_library(${target} ${arg_TYPE} "${source_path}")
    _morello_compile_settings()
  endif()
  add_dependencies(${target} ${target}.update)
  target_sources(${target} ${scope}
    FILE_SET HEADERS BASE_DIRS "${include_dir}" FILES "${header_path}")
  target_compile_features(${target} ${scope} cxx_std_17)
  set_target_properties(${target} PROPERTIES
    MORELLO_KERNELS "${kernels}" MORELLO_HEADER "${header_path}" MORELLO_SOURCE "${source_path}"
    MORELLO_IMPL "${impl_path}" MORELLO_STATS "${stats_path}")
  if("EXCLUDE_FROM_ALL" IN_LIST given)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# The generated source of TYPE STATIC and OBJECT.
function(_morello_compile_settings)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF CXX_VISIBILITY_PRESET hidden
    DISABLE_PRECOMPILE_HEADERS ON CXX_CLANG_TIDY "" CXX_CPPCHECK "" CXX_INCLUDE_WHAT_YOU_USE "")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "MSVC")
    # No exceptions: intrinsics are not nothrow, so that noexcept would need the C++ runtime.
    # An unoptimised kernel is about six times slower and nobody steps through it.
    target_compile_options(${target} PRIVATE -fno-exceptions
      $<$<OR:$<CONFIG:Debug>,$<CONFIG:>>:-O2>)
  endif()
endfunction()
