# T5: kernels made in one directory, used in two others that come before it, built from clean by
# eight jobs, ROUNDS times: whoever includes the header waits for it. One consumer gets the target
# along two ways.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

set(source "${WORK}/source")
file(WRITE "${source}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(directories LANGUAGES CXX)
include(\"${MODULE}\")
add_subdirectory(b)
add_subdirectory(c)
add_subdirectory(a)
")
file(WRITE "${source}/a/CMakeLists.txt" "
morello_add_kernel(made SPEC \"(a: f32[1,1], b: f32[1,1]): f32 = matmul(a, b)\" ISA scalar
                   MACHINE x86-64-v3 HEADER a/made.h)
morello_add_kernel(compiled SPEC \"(a: f32[1,1], b: f32[1,1]): f32 = matmul(a, b)\" ISA scalar
                   MACHINE x86-64-v3 TYPE STATIC HEADER a/compiled.h)
")
file(WRITE "${source}/b/CMakeLists.txt" "
add_library(objects OBJECT b.cc)
target_link_libraries(objects PUBLIC made)
add_library(archive STATIC b2.cc)
target_link_libraries(archive PUBLIC made compiled)
")
file(WRITE "${source}/c/CMakeLists.txt" "
add_executable(c c.cc)
target_link_libraries(c PRIVATE objects archive made compiled)
")
set(body "const float x = 3; float y = 0;")
file(WRITE "${source}/b/b.cc"
  "#include \"a/made.h\"\nfloat b() { ${body} morello::made(&x, &x, &y); return y; }\n")
file(WRITE "${source}/b/b2.cc"
  "#include \"a/compiled.h\"\nfloat b2() { ${body} morello::compiled(&x, &x, &y); return y; }\n")
file(WRITE "${source}/c/c.cc"
  "#include \"a/compiled.h\"\n#include \"a/made.h\"\nfloat b();\nfloat b2();\n"
  "int main() { ${body} morello::made(&x, &x, &y); morello::compiled(&x, &y, &y);"
  " return b() == 9 && b2() == 9 && y == 27 ? 0 : 1; }\n")

configure("${source}" "${WORK}/build" "-DMORELLO_EXECUTABLE=${MORELLO}")
foreach(round RANGE 1 ${ROUNDS})
  build("${WORK}/build" --target clean)
  file(GLOB_RECURSE headers "${WORK}/build/*.h")
  if(headers)
    fail("target clean left ${headers}")
  endif()
  build("${WORK}/build" -j 8)
  must("${WORK}/build/c/c")
endforeach()
