# T1: one call, six lines of CMake in all, for each TYPE: the program links and runs.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

foreach(type IN ITEMS INTERFACE STATIC OBJECT)
  set(source "${WORK}/${type}")
  file(WRITE "${source}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES CXX)
include(\"${MODULE}\")
morello_add_kernel(product SPEC \"(a: f32[2,2], b: f32[2,2]): f32 = matmul(a, b)\" TYPE ${type})
add_executable(app main.cc)
target_link_libraries(app PRIVATE product)
")
  file(WRITE "${source}/main.cc" "#include \"product.h\"

int main() {
  const float a[] = {1, 2, 3, 4};
  const float b[] = {5, 6, 7, 8};
  float c[4];
  morello::product(a, b, c);
  return c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50 ? 0 : 1;
}
")
  configure("${source}" "${source}/build" "-DMORELLO_EXECUTABLE=${MORELLO}")
  build("${source}/build")
  must("${source}/build/app")
endforeach()
