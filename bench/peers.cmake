# Other libraries, which generated kernels are measured beside (peers/, graphs/). They are optional:
# those that are not installed are named and left out.

# morello_peer(<name> [COMPILED] [LOADED] [TAKES_AVX512] [HEADER <h>] [LIBRARIES <l>...]
#              [FOLDERS <suffix>...])
# COMPILED: its instruction set is that of the compiler's options. LOADED: it loads its one library
# itself. TAKES_AVX512: it cannot be kept from AVX-512, where the processor has that.
set(morello_peers "")
function(morello_peer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "COMPILED;LOADED;TAKES_AVX512" "HEADER" "LIBRARIES;FOLDERS")
  set(missing "")
  set(includes "")
  set(libraries "")
  if(arg_HEADER)
    find_path(MORELLO_PEER_${name}_INCLUDE ${arg_HEADER} PATH_SUFFIXES ${arg_FOLDERS})
    if(MORELLO_PEER_${name}_INCLUDE)
      set(includes "${MORELLO_PEER_${name}_INCLUDE}")
    else()
      list(APPEND missing ${arg_HEADER})
    endif()
  endif()
  foreach(library IN LISTS arg_LIBRARIES)
    find_library(MORELLO_PEER_${name}_${library} ${library} PATH_SUFFIXES ${arg_FOLDERS})
    if(MORELLO_PEER_${name}_${library})
      list(APPEND libraries "${MORELLO_PEER_${name}_${library}}")
    else()
      list(APPEND missing ${library})
    endif()
  endforeach()
  if(missing)
    list(JOIN missing ", " missing)
    message(STATUS "Morello: no peer ${name}, not installed: ${missing}")
    return()
  endif()
  set(morello_peers ${morello_peers} ${name} PARENT_SCOPE)
  foreach(word IN ITEMS COMPILED LOADED TAKES_AVX512)
    set(${name}_${word} ${arg_${word}} PARENT_SCOPE)
  endforeach()
  set(${name}_includes "${includes}" PARENT_SCOPE)
  set(${name}_libraries "${libraries}" PARENT_SCOPE)
endfunction()

# A static library without a BLAS of its own is enough of LIBXSMM. The serial flavours of the BLAS
# come first: the others start threads.
morello_peer(loops COMPILED)
morello_peer(expert COMPILED)
morello_peer(openblas LOADED LIBRARIES openblas FOLDERS openblas-serial)
morello_peer(blis HEADER blis.h LIBRARIES blis FOLDERS blis-serial blis)
morello_peer(onednn HEADER oneapi/dnnl/dnnl.hpp LIBRARIES dnnl)
morello_peer(eigen COMPILED HEADER Eigen/Core FOLDERS eigen3)
morello_peer(libxsmm HEADER libxsmm.h LIBRARIES xsmm xsmmnoblas)
morello_peer(highway COMPILED HEADER hwy/contrib/dot/dot-inl.h)
morello_peer(xnnpack TAKES_AVX512 HEADER xnnpack.h LIBRARIES XNNPACK pthreadpool)

# The options of the compiler for what is compiled. Highway wants AES to take the processor for one
# with AVX2; without its option GCC takes half vectors for a processor with AVX-512.
set(morello_options_avx2 -O3 -march=haswell -maes)
set(morello_options_avx2_vnni -O3 -march=alderlake)
set(morello_options_avx512 -O3 -march=skylake-avx512 -mprefer-vector-width=512)

# What this processor cannot run is neither searched for nor built: half of the time, without
# AVX-512. `morello_instructions`: those that it can.
include(CheckCXXSourceRuns)
set(CMAKE_REQUIRED_INCLUDES ${PROJECT_SOURCE_DIR}/runtime)
set(CMAKE_REQUIRED_FLAGS -std=c++17)
set(morello_instructions "")
set(morello_test_avx2 "has_avx2() && has_fma()")
set(morello_test_avx2_vnni "${morello_test_avx2} && has_avx_vnni()")
set(morello_test_avx512 "has_avx512f() && has_avx512bw() && has_avx512dq() && has_avx512vl()")
foreach(instructions IN ITEMS avx2 avx2_vnni avx512)
  check_cxx_source_runs("
#include <morello/cpu.h>
#include <morello/avx_vnni.h>
using namespace morello;
int main() { return ${morello_test_${instructions}} ? 0 : 1; }" MORELLO_RUNS_${instructions})
  if(MORELLO_RUNS_${instructions})
    list(APPEND morello_instructions ${instructions})
  else()
    message(STATUS "Morello: nothing is compared with ${instructions}, which this processor lacks")
  endif()
endforeach()
unset(CMAKE_REQUIRED_INCLUDES)
unset(CMAKE_REQUIRED_FLAGS)

# One program per instruction set: libraries settle on theirs once, and what is compiled from
# templates for two of them must not meet in one program.
# morello_peers_program(<program> INSTRUCTIONS avx2|avx2_vnni|avx512 TYPE <type> PEERS <name>...
#                       SOURCES <files>)
# <name>.cc is a peer; its function has that name and takes a `const <type>&`. The program finds
# those that there are in bench_peers.h.
function(morello_peers_program program)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "INSTRUCTIONS;TYPE" "PEERS;SOURCES")
  string(REGEX MATCH "^avx[0-9]+" vectors ${arg_INSTRUCTIONS})
  set(bits 256)
  if(vectors STREQUAL "avx512")
    set(bits 512)
  endif()
  string(COMPARE NOTEQUAL ${arg_INSTRUCTIONS} avx2 vnni)
  add_executable(${program} ${arg_SOURCES})
  set(targets ${program})
  set(rows "")
  set(declarations "")
  foreach(name IN LISTS arg_PEERS)
    if(NOT name IN_LIST morello_peers)
      continue()
    endif()
    if(${name}_TAKES_AVX512 AND bits LESS 512 AND avx512 IN_LIST morello_instructions)
      continue()
    endif()
    if(${name}_COMPILED)
      set(target ${program}_compiled)
      if(NOT TARGET ${target})
        add_library(${target} OBJECT)
        # GCC 12 warns of its own intrinsics for AVX-512, which begin with undefined vectors.
        target_compile_options(${target} PRIVATE ${morello_options_${arg_INSTRUCTIONS}}
          $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized -Wno-maybe-uninitialized>)
        target_link_libraries(${program} PRIVATE ${target})
        list(APPEND targets ${target})
      endif()
    else()
      set(target ${program})
    endif()
    target_sources(${target} PRIVATE ${name}.cc)
    target_include_directories(${target} SYSTEM PRIVATE ${${name}_includes})
    if(${name}_LOADED)
      set_source_files_properties(${name}.cc PROPERTIES
        COMPILE_DEFINITIONS MORELLO_PEER_LIBRARY="${${name}_libraries}")
    else()
      target_link_libraries(${program} PRIVATE ${${name}_libraries})
    endif()
    string(APPEND declarations "Contenders ${name}(const ${arg_TYPE}&);\n")
    string(APPEND rows " X(${name})")
  endforeach()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${program}_peers)
  file(CONFIGURE OUTPUT ${folder}/bench_peers.h @ONLY CONTENT
"#pragma once
namespace morello::bench {
@declarations@}  // namespace morello::bench
#define MORELLO_BENCH_PEERS(X)@rows@
")
  foreach(target IN LISTS targets)
    target_compile_definitions(${target} PRIVATE MORELLO_PEERS_BITS=${bits}
                                                 MORELLO_PEERS_VNNI=$<BOOL:${vnni}>)
    target_include_directories(${target} PRIVATE ${folder})
    target_link_libraries(${target} PRIVATE morello_limits)
  endforeach()
  target_link_libraries(${program} PRIVATE CLI11::CLI11 ${CMAKE_DL_LIBS})
endfunction()

# bench_<name>, which runs the programs bench_<name>_<instructions> and prints a table of what they
# print; those of instructions that the processor lacks have no name.
# morello_comparison(<name> INSTRUCTIONS <instructions>... SOURCES <files> [LIBS <libraries>])
function(morello_comparison name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "INSTRUCTIONS;SOURCES;LIBS")
  morello_bench_program(${name} SOURCES ${arg_SOURCES} LIBS morello_compare ${arg_LIBS})
  foreach(instructions IN LISTS arg_INSTRUCTIONS)
    string(TOUPPER ${instructions} upper)
    if(NOT instructions IN_LIST morello_instructions)
      target_compile_definitions(bench_${name} PRIVATE MORELLO_PROGRAM_${upper}="")
      continue()
    endif()
    target_compile_definitions(bench_${name} PRIVATE
      MORELLO_PROGRAM_${upper}="$<TARGET_FILE:bench_${name}_${instructions}>")
    add_dependencies(bench_${name} bench_${name}_${instructions})
  endforeach()
endfunction()
