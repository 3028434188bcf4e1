# T18: a library that installs its kernels: its users need no Morello, and nothing installed names it but
# the comments and the namespace of the header itself.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

set(spec "(a: f32[2,2], b: f32[2,2]): f32 = matmul(a, b)")
file(WRITE "${WORK}/library/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(library LANGUAGES CXX)
include(\"${MODULE}\")
morello_add_kernel(inlined SPEC \"${spec}\" NAMESPACE lib HEADER lib/inlined.h MACHINE x86-64-v3)
morello_add_kernel(compiled SPEC \"${spec}\" NAMESPACE lib HEADER lib/compiled.h MACHINE x86-64-v3
                   TYPE STATIC)
install(TARGETS inlined compiled EXPORT LibraryTargets FILE_SET HEADERS)
install(EXPORT LibraryTargets NAMESPACE lib:: DESTINATION cmake FILE libraryConfig.cmake)
")
configure("${WORK}/library" "${WORK}/library/build" "-DMORELLO_EXECUTABLE=${MORELLO}")
build("${WORK}/library/build")
must("${CMAKE_COMMAND}" --install "${WORK}/library/build" --prefix "${WORK}/first")
file(RENAME "${WORK}/first" "${WORK}/prefix")
file(REMOVE_RECURSE "${WORK}/library")

file(GLOB_RECURSE files "${WORK}/prefix/*.cmake")
foreach(file IN LISTS files)
  file(READ "${file}" text)
  string(TOLOWER "${text}" text)
  string(REPLACE "${WORK}" "" text "${text}")
  if(text MATCHES "morello::|morelloconfig|\\.generate|\\.update")
    fail("${file} names Morello:\n${text}")
  endif()
endforeach()

file(WRITE "${WORK}/user/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(library REQUIRED)
add_executable(user main.cc)
target_link_libraries(user PRIVATE lib::inlined lib::compiled)
")
file(WRITE "${WORK}/user/main.cc" "#include \"lib/inlined.h\"
#include \"lib/compiled.h\"

int main() {
  const float a[] = {1, 2, 3, 4};
  float c[4];
  float d[4];
  lib::inlined(a, a, c);
  lib::compiled(a, a, d);
  return c[3] == 22 && d[3] == 22 ? 0 : 1;
}
")
configure("${WORK}/user" "${WORK}/user/build" "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
build("${WORK}/user/build")
must("${WORK}/user/build/user")
