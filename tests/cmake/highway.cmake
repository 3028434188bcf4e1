# T25: a kernel goes into a project in the manner of gemma.cpp (CMake 3.11, its own flags, Highway with
# dynamic dispatch, ranges of rows for workers, rows that lie apart), and changes nothing until the build
# asks for it: the header is generated and checked in by a project that has Morello, and three lines of
# CMake use it where there is none; without a network. The header may be included before Highway's region
# of target attributes or inside it.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/without_network.cmake")

find_offline()
file(COPY "${CMAKE_CURRENT_LIST_DIR}/highway/" DESTINATION "${WORK}/project")

# build_and_test(<compiler> <flags> <what the test prints>)
function(build_and_test compiler flags regex)
  cmake_path(GET compiler FILENAME name)
  set(tree "${WORK}/${name}${flags}")
  must(${offline} "${CMAKE_COMMAND}" -S "${WORK}/project" -B "${tree}" -G "${GENERATOR}"
       "-DCMAKE_CXX_COMPILER=${compiler}" "-DCMAKE_CXX_FLAGS=${flags}")
  must(${offline} "${CMAKE_COMMAND}" --build "${tree}")
  must("${tree}/matmul_test")
  expect_match("${name} ${flags}" "${regex}")
endfunction()
build_and_test("${CXX}" "-DAS_IT_IS" "AVX2: Highway's\n.*all right")

file(WRITE "${WORK}/generate/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(generate LANGUAGES CXX)
enable_testing()
include(\"${MODULE}\")
morello_add_kernel(matvec NAMESPACE generated MACHINE zen4 ISA avx2 scalar
                   SPEC \"(x: bf16[1,256], w: bf16[256,n%16 near 1024] col strided, scale: f32[1], add: f32[n]): f32 = matmul(x, w) * scale + add\"
                   VENDOR_DIR \"${WORK}/project/third_party/kernels\")
")
configure("${WORK}/generate" "${WORK}/generate/build" "-DMORELLO_EXECUTABLE=${MORELLO}")
build("${WORK}/generate/build" --target matvec.update)

file(APPEND "${WORK}/project/CMakeLists.txt" [[
include(third_party/kernels/matvec.cmake)
target_link_libraries(libmodel matvec)
target_compile_definitions(libmodel PUBLIC MODEL_GENERATED_MATVEC=1)
]])
string(REPLACE "," ";" COMPILERS "${COMPILERS}")
foreach(compiler IN LISTS COMPILERS)
  foreach(flag IN ITEMS -DINCLUDE_BEFORE -DINCLUDE_INSIDE)
    build_and_test("${compiler}" "${flag}" "AVX2: generated\n.*all right")
  endforeach()
endforeach()
