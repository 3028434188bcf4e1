# T21: three ways in: the installed package, add_subdirectory, FetchContent from a local directory or
# from the package; all without a network. WAYS (separated by commas) chooses among them; with
# FROM_SOURCE the generator is built as a part of the consumer's build, under sanitizers (T14).
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/without_network.cmake")

find_offline()
must("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
set(fetch "include(FetchContent)
FetchContent_Declare(Morello GIT_REPOSITORY https://nowhere.invalid/morello.git GIT_TAG v0.1.0
                     SYSTEM FIND_PACKAGE_ARGS 0.1)
FetchContent_MakeAvailable(Morello)")
set(lines_package "find_package(Morello 0.1 REQUIRED)")
set(arguments_package "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
set(lines_subdirectory "add_subdirectory(\"${SOURCE}\" morello EXCLUDE_FROM_ALL)")
set(arguments_subdirectory "")
set(lines_fetched "${fetch}")
set(arguments_fetched "-DFETCHCONTENT_SOURCE_DIR_MORELLO=${SOURCE}")
set(lines_found "${fetch}")
set(arguments_found "-DCMAKE_PREFIX_PATH=${WORK}/prefix")

string(REPLACE "," ";" WAYS "${WAYS}")
foreach(way IN LISTS WAYS)
  set(source "${WORK}/${way}")
  file(WRITE "${source}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES CXX)
${lines_${way}}
morello_add_kernel(twice SPEC \"(a: f32[4]): f32 = a + a\" THREADS 2)
add_executable(app main.cc)
find_package(Threads REQUIRED)
target_link_libraries(app PRIVATE twice Morello::runtime Threads::Threads)
if(CMAKE_PROJECT_NAME STREQUAL \"Morello\" OR NOT PROJECT_NAME STREQUAL \"app\")
  message(FATAL_ERROR \"names of the project changed\")
endif()
")
  file(WRITE "${source}/main.cc" "#include \"morello/runtime.h\"
#include \"twice.h\"

int main() {
  const float a[] = {1, 2, 3, 4};
  float out[4];
  morello::ThreadPool pool(2);
  morello::twice(a, out, pool);
  return out[0] == 2 && out[3] == 8 ? 0 : 1;
}
")
  set(arguments ${arguments_${way}})
  set(built 0)
  if(FROM_SOURCE)
    set(built 1)
    list(APPEND arguments "-DCMAKE_CXX_FLAGS=-fsanitize=address,undefined")
  elseif(way MATCHES "subdirectory|fetched")
    list(APPEND arguments "-DMORELLO_EXECUTABLE=${MORELLO}")  # as if it were built
  endif()
  must(${offline} "${CMAKE_COMMAND}" -S "${source}" -B "${source}/build" -G "${GENERATOR}"
       "-DCMAKE_CXX_COMPILER=${CXX}" ${arguments})
  must(${offline} "${CMAKE_COMMAND}" --build "${source}/build")
  expect_count("${way}: the generator" "generator/cli/CMakeFiles/morello.dir/main" ${built})
  must(${offline} "${source}/build/app")
endforeach()
