# T8: the generator built by another compiler, without optimisation, writes the same bytes, from another
# directory, in another locale and time zone, with another number of search threads. Given besides:
# OTHER_CXX.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

set(specs
  "(a: f32[64,48], b: f32[48,80]): f32 = matmul(a, b)"
  "(a: f32[1,1], b: f32[1,1]): f32 = matmul(a, b)"
  "(a: f32[77,100], b: f32[100,100]): f32 = matmul(a, b)"
  "(x: bf16[1,512], w: bf16[512,640] packed): f32 = matmul(x, w)"
  "(a: u8[33,70], b: i8[70,45]): i32 col = matmul(a, b)"
  "(a: bf16[3,5,30], b: f32[30,17] col): bf16 = matmul(a, b)"
  "(x: bf16[7,300]): f32 = reduce_sum(x, axis=0)"
  "(x: f32[19,31], y: f32[19,31] col): f32 = add(x, y)"
  "(x: i8[1000]): f32 = convert(x)")

must("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}/build" -G "${GENERATOR}"
     -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 "-DCMAKE_CXX_COMPILER=${OTHER_CXX}"
     -DMORELLO_DEVELOPER=OFF -DMORELLO_INSTALL=OFF)
build("${WORK}/build" --target morello)
set(other "${WORK}/build/generator/cli/morello")
file(MAKE_DIRECTORY "${WORK}/here" "${WORK}/there/below")

# Without optimisation a search takes five to ten times as long.
set(machines x86-64-v3 zen5)
set(counts 1 2)
set(compared 0)
foreach(machine threads IN ZIP_LISTS machines counts)
  foreach(spec IN LISTS specs)
    set(arguments generate --spec "${spec}" --name k --machine ${machine} --threads ${threads})
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env LC_ALL=C TZ=UTC
                            "${MORELLO}" ${arguments} -j 1
      WORKING_DIRECTORY "${WORK}/here" OUTPUT_VARIABLE one RESULT_VARIABLE first)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo
                            "${other}" ${arguments} -j 2
      WORKING_DIRECTORY "${WORK}/there/below" OUTPUT_VARIABLE two RESULT_VARIABLE second)
    if(NOT first EQUAL 0 OR NOT second EQUAL 0 OR NOT one MATCHES "MORELLO_GENERATED")
      fail("no header for ${spec}: ${first}, ${second}")
    endif()
    if(NOT one STREQUAL two)
      file(WRITE "${WORK}/here/k.h" "${one}")
      file(WRITE "${WORK}/there/k.h" "${two}")
      fail("${spec}, ${machine}, ${threads} threads: ${WORK}/here/k.h and "
           "${WORK}/there/k.h differ")
    endif()
    math(EXPR compared "${compared} + 1")
  endforeach()
endforeach()
message(STATUS "${compared} headers are equal, byte for byte")
