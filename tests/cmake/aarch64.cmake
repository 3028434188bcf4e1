# T17: a program for AArch64 from here, run by QEMU: with MORELLO_EXECUTABLE, with kernels that are checked
# in and no generator, and with a generator that the build makes for this host first. Given besides: CROSS_CXX, QEMU.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

file(WRITE "${WORK}/toolchain.cmake" "set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER \"${CROSS_CXX}\")
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
")
file(WRITE "${WORK}/extra.cmake" [[
add_executable(program ${sources})
target_link_libraries(program PRIVATE kernels)
target_compile_options(program PRIVATE ${warnings})
]])
file(COPY "${CMAKE_CURRENT_LIST_DIR}/program" DESTINATION "${WORK}")

# build_for_aarch64(<directory> <argument of cmake>...)
function(build_for_aarch64 tree)
  must("${CMAKE_COMMAND}" -S "${WORK}/program" -B "${WORK}/${tree}" -G "${GENERATOR}"
    -DTYPE=STATIC "-DCMAKE_TOOLCHAIN_FILE=${WORK}/toolchain.cmake"
    "-DEXTRA=${WORK}/extra.cmake" ${ARGN})
  build("${WORK}/${tree}")
  set(built "${output}")
  must("${QEMU}" -L /usr/aarch64-linux-gnu "${WORK}/${tree}/program")
  expect_match("${tree}" "selected: scalar scalar scalar scalar\n.*all kernels right")
  set(output "${built}" PARENT_SCOPE)
endfunction()

build_for_aarch64(given "-DMORELLO_MODULE=${MODULE}" "-DMORELLO_EXECUTABLE=${MORELLO}")
expect_count("given: the generator" "Performing build step" 0)

# Generated in a build for this host, then used where there is no generator.
file(COPY "${SOURCE}/cmake" DESTINATION "${WORK}/installed")  # without the sources beside it
set(vendored "-DMORELLO_MODULE=${WORK}/installed/cmake/MorelloGenerate.cmake"
    "-DVENDOR_DIR=${WORK}/kernels")
configure("${WORK}/program" "${WORK}/host" -DTYPE=STATIC "-DEXTRA=${WORK}/extra.cmake" ${vendored}
          "-DMORELLO_EXECUTABLE=${MORELLO}")
build("${WORK}/host" --target kernels.update)
build_for_aarch64(vendored ${vendored})
expect_count("vendored: kernels generated" "Morello: kernels" 0)

# From Morello's sources, as a part of the project; CXX names the target's compiler, as it does in
# builds of distributions. Its second build has nothing to compile or to generate.
file(WRITE "${WORK}/module.cmake" "add_subdirectory(\"${SOURCE}\" morello EXCLUDE_FROM_ALL)\n")
set(ENV{CXX} "${CROSS_CXX}")
build_for_aarch64(nested "-DMORELLO_MODULE=${WORK}/module.cmake"
                  "-DMORELLO_NATIVE_ARGS=-DCMAKE_CXX_COMPILER=${CXX}")
expect_match("nested" "Performing build step for 'morello_native_build'")
must("${WORK}/nested/morello/native/generator/cli/morello" --version)
build("${WORK}/nested")
expect_count("nested, again" "Building CXX|Morello: " 0)
file(SHA256 "${WORK}/given/morello/kernels/include/kernels.h" given)
file(SHA256 "${WORK}/nested/morello/kernels/include/kernels.h" nested)
if(NOT given STREQUAL nested)
  fail("the two generators wrote different headers")
endif()
