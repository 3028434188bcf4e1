# T25: a kernel goes into a project in the manner of gemma.cpp (CMake 3.11, Highway with dynamic
# dispatch): the header is generated and checked in by a project that has Morello, and three lines of
# CMake use it where there is none; without a network. The header may be included before Highway's region
# of target attributes or inside it.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/without_network.cmake")

find_offline()
file(COPY "${CMAKE_CURRENT_LIST_DIR}/highway/" DESTINATION "${WORK}/project")

file(WRITE "${WORK}/generate/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(generate LANGUAGES CXX)
include(\"${MODULE}\")
morello_add_kernel(logits NAME product NAMESPACE logits MACHINE zen4 ISA avx2 scalar
                   SPEC \"(x: f32[1,64], w: f32[64,48] col): f32 = matmul(x, w)\"
                   VENDOR_DIR \"${WORK}/project/third_party/kernels\")
")
configure("${WORK}/generate" "${WORK}/generate/build" "-DMORELLO_EXECUTABLE=${MORELLO}")
build("${WORK}/generate/build" --target logits.update)

file(APPEND "${WORK}/project/CMakeLists.txt" [[
include(third_party/kernels/logits.cmake)
target_link_libraries(libmatvec PUBLIC logits)
add_executable(matvec_test main.cc)
target_link_libraries(matvec_test libmatvec)
]])
string(REPLACE "," ";" COMPILERS "${COMPILERS}")
foreach(CXX IN LISTS COMPILERS)
  cmake_path(GET CXX FILENAME name)
  foreach(flag IN ITEMS -DINCLUDE_BEFORE -DINCLUDE_INSIDE)
    set(tree "${WORK}/${name}${flag}")
    must(${offline} "${CMAKE_COMMAND}" -S "${WORK}/project" -B "${tree}" -G "${GENERATOR}"
         "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=-O2 ${flag}")
    must(${offline} "${CMAKE_COMMAND}" --build "${tree}")
    must("${tree}/matvec_test")
    expect_match("${name} ${flag}" "AVX2: generated\n.*all right")
  endforeach()
endforeach()
