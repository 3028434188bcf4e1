# T23: the header needs nothing before it and nothing but a compiler: CMake's own check of header
# sets, and a compiler called by hand.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

file(WRITE "${WORK}/extra.cmake" "")
foreach(type IN ITEMS INTERFACE STATIC)
  configure("${CMAKE_CURRENT_LIST_DIR}/program" "${WORK}/${type}" -DTYPE=${type}
    -DCMAKE_VERIFY_INTERFACE_HEADER_SETS=ON "-DMORELLO_MODULE=${MODULE}"
    "-DMORELLO_EXECUTABLE=${MORELLO}" "-DEXTRA=${WORK}/extra.cmake"
    "-DMORELLO_CACHE_DIR=${WORK}/memo"
    "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror")
  build("${WORK}/${type}" --target all_verify_interface_header_sets)
  expect_match("${type}" "kernels_verify_interface_header_sets")
endforeach()

set(include "${WORK}/INTERFACE/morello/kernels/include")
set(program "${CMAKE_CURRENT_LIST_DIR}/program")
must("${CXX}" -std=c++17 "-I${include}" -o "${WORK}/program" "${program}/main.cc"
     "${program}/elsewhere.cc")
must("${WORK}/program")
expect_match("by hand" "all kernels right")
