# T17: cross builds, as far as no cross compiler is needed: MORELLO_EXECUTABLE, kernels that are checked
# in, a generator built for this host first, and what is said when there is none. The target is this machine under another name.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

file(WRITE "${WORK}/toolchain.cmake" "set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR elsewhere)
set(CMAKE_CXX_COMPILER \"${CXX}\")
")
# As of a package for the target, which cannot run here.
file(WRITE "${WORK}/foreign" "")
file(COPY "${SOURCE}/cmake" DESTINATION "${WORK}/installed")  # without the sources beside it

set(package installed)

# project_with(<lines before the kernel> <arguments of the kernel>) -> result, output
function(project_with lines arguments)
  file(REMOVE_RECURSE "${WORK}/build")
  file(WRITE "${WORK}/source/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(cross LANGUAGES CXX)
set(MORELLO_MACHINES_DIR \"${SOURCE}/generator/target/machines\")
include(\"${WORK}/${package}/cmake/MorelloGenerate.cmake\")
${lines}
morello_add_kernel(twice SPEC \"(a: f32[4]): f32 = a + a\" ${arguments})
add_executable(app main.cc)
target_link_libraries(app PRIVATE twice)
")
  run("${CMAKE_COMMAND}" -S "${WORK}/source" -B "${WORK}/build" -G "${GENERATOR}"
      "-DCMAKE_TOOLCHAIN_FILE=${WORK}/toolchain.cmake" ${ARGN})
  set(result "${result}" PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_error what text)
  string(FIND "${output}" "${text}" at)
  if(result EQUAL 0 OR at EQUAL -1)
    fail("${what}: expected an error\n${text}\nbut it said\n${output}")
  endif()
endfunction()

file(WRITE "${WORK}/source/main.cc" "#include \"twice.h\"

int main() {
  const float a[] = {1, 2, 3, 4};
  float out[4];
  morello::twice(a, out);
  return out[0] == 2 && out[3] == 8 ? 0 : 1;
}
")

project_with("" "MACHINE x86-64-v3" "-DMORELLO_EXECUTABLE=${MORELLO}")
expect_match("MORELLO_EXECUTABLE" "Morello: the generator is ${MORELLO} \\(MORELLO_EXECUTABLE\\)")
build("${WORK}/build")
must("${WORK}/build/app")

project_with("" "" "-DMORELLO_EXECUTABLE=${MORELLO}")
expect_error("native" "
   morello_add_kernel(twice): MACHINE native is the machine that builds, but this is a cross build
   Name the machine that will run the kernels:
     MACHINE <name>|<file.toml>
   In ${WORK}/source/CMakeLists.txt
")

set(ways "
   Either build one
     cmake -S <morello> -B host && cmake --build host --target morello
   and configure with
     -DMORELLO_EXECUTABLE=$PWD/host/generator/cli/morello
   or install one and say
     find_package(Morello REQUIRED)
   or check in the header: add  VENDOR_DIR <dir>  and, where there is a generator, build
     twice.update
   In ${WORK}/source/CMakeLists.txt
")
project_with("" "MACHINE x86-64-v3")
expect_error("none" "
   morello_add_kernel(twice): no Morello generator that runs on this host${ways}")

set(foreign "add_executable(Morello::morello IMPORTED)
set_target_properties(Morello::morello PROPERTIES IMPORTED_LOCATION \"${WORK}/foreign\")")
project_with("${foreign}" "MACHINE x86-64-v3")
expect_error("foreign" "
   morello_add_kernel(twice): no Morello generator that runs on this host
   The package's ${WORK}/foreign does not run here as a generator (--version: Permission denied)${ways}")

project_with("add_executable(tool tool.cc)\nadd_executable(Morello::morello ALIAS tool)"
             "MACHINE x86-64-v3")
expect_error("built for the target" "no Morello generator that runs on this host${ways}")

# Checked in by a build that has a generator; then there is none.
set(checked_in "MACHINE x86-64-v3 VENDOR_DIR \"${WORK}/kernels\"")
project_with("" "${checked_in}")
expect_error("nothing checked in" "no Morello generator that runs on this host${ways}")
project_with("" "${checked_in}" "-DMORELLO_EXECUTABLE=${MORELLO}")
build("${WORK}/build" --target twice.update)
project_with("" "${checked_in}")
build("${WORK}/build")
must("${WORK}/build/app")

# With Morello's sources beside the module. Their place is taken by a project that "builds" the generator
# we have, and that minds what it is told: nothing of the target. Whatever is built again is the same.
file(COPY "${SOURCE}/cmake" DESTINATION "${WORK}/sources")
file(WRITE "${WORK}/sources/generator/cli/main.cc" "")
file(WRITE "${WORK}/sources/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(Morello LANGUAGES NONE)
if(CMAKE_CROSSCOMPILING OR DEFINED ENV{CXX} OR NOT CMAKE_BUILD_TYPE STREQUAL Release OR NOT told)
  message(FATAL_ERROR \"the target's settings came through\")
endif()
add_custom_target(morello COMMAND \"\${CMAKE_COMMAND}\" -E copy_if_different \"${MORELLO}\"
                  \"\${CMAKE_BINARY_DIR}/generator/cli/morello\")
")
set(package sources)
set(ENV{CXX} "${CXX}")
project_with("" "MACHINE x86-64-v3" -DMORELLO_NATIVE_ARGS=-Dtold=ON -DCMAKE_BUILD_TYPE=Debug)
expect_match("nested" "Morello: the generator is morello_native \\(built for this host in ")
build("${WORK}/build" -j 4)
expect_count("nested: kernels generated" "Morello: twice" 1)
must("${WORK}/build/app")
build("${WORK}/build")
expect_count("nested, again: kernels generated" "Morello: twice|Building CXX" 0)
project_with("" "MACHINE x86-64-v3" -DMORELLO_NATIVE_BUILD=OFF)
expect_error("nested build forbidden" "no Morello generator that runs on this host${ways}")
