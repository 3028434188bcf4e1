# T13: one program with avx512, avx2 and scalar variants is right on CPUs that have all, some and
# none of them, without an instruction that the CPU lacks; it takes the widest that there is. QEMU
# stands for the CPUs and stops at an unknown instruction. Given besides: QEMU, OBJDUMP, and
# COMPILERS, separated by commas.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/disassembly.cmake")

file(WRITE "${WORK}/extra.cmake" [[
add_executable(program ${sources})
target_link_libraries(program PRIVATE kernels)
]])

function(expect_on cpu isa program)
  must("${QEMU}" -cpu "${cpu}" "${program}")
  expect_match("${program} on ${cpu}" "selected: ${isa} ${isa} ${isa} ${isa}\n.*all kernels right")
endfunction()

string(REPLACE "," ";" COMPILERS "${COMPILERS}")
foreach(type IN ITEMS INTERFACE STATIC)
  foreach(CXX IN LISTS COMPILERS)
    cmake_path(GET CXX FILENAME name)
    set(tree "${WORK}/${type}-${name}")
    configure("${CMAKE_CURRENT_LIST_DIR}/program" "${tree}" -DTYPE=${type}
      "-DMORELLO_MODULE=${MODULE}" "-DMORELLO_EXECUTABLE=${MORELLO}"
      "-DEXTRA=${WORK}/extra.cmake" "-DMORELLO_CACHE_DIR=${WORK}/memo" -DCMAKE_CXX_FLAGS=-O2)
    build("${tree}")
    expect_vectors_apart("${tree}/program")
    foreach(cpu IN ITEMS qemu64 Nehalem SandyBridge)  # the last one has AVX but neither AVX2 nor FMA
      expect_on(${cpu} scalar "${tree}/program")
    endforeach()
    expect_on(Haswell avx2 "${tree}/program")
    must("${tree}/program")
    expect_match("${tree}/program on this CPU" "all kernels right")
  endforeach()
endforeach()
