# T15: one build tree with several configurations. The header does not depend on them: it is made
# once, whatever is built in whatever order, also across configurations in one call.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

file(WRITE "${WORK}/extra.cmake" [[
add_executable(program ${sources})
target_link_libraries(program PRIVATE kernels)
]])
file(WRITE "${WORK}/cache.cmake" [[
set(CMAKE_CONFIGURATION_TYPES "Debug;Release" CACHE STRING "")
set(CMAKE_DEFAULT_CONFIGS "Debug;Release" CACHE STRING "")
set(CMAKE_CROSS_CONFIGS all CACHE STRING "")
]])
foreach(type IN ITEMS INTERFACE STATIC)
  set(tree "${WORK}/${type}")
  configure("${CMAKE_CURRENT_LIST_DIR}/program" "${tree}" -DTYPE=${type}
    "-C${WORK}/cache.cmake" "-DMORELLO_MODULE=${MODULE}" "-DMORELLO_EXECUTABLE=${MORELLO}" "-DEXTRA=${WORK}/extra.cmake")
  build("${tree}" --config Debug)
  expect_count("${type}, Debug: kernels generated" "Morello: kernels" 1)
  build("${tree}" --config Release)
  expect_count("${type}, Release: kernels generated" "Morello: kernels" 0)
  foreach(config IN ITEMS Debug Release)
    must("${tree}/${config}/program")
  endforeach()
  build("${tree}" --config Debug)
  expect_match("${type}: Debug again" "no work to do")

  # From clean, both configurations by one call of Ninja.
  build("${tree}" --config Debug --target clean:all)
  build("${tree}" --config Debug --target all:all)
  expect_count("${type}, all: kernels generated" "Morello: kernels" 1)
  foreach(config IN ITEMS Debug Release)
    must("${tree}/${config}/program")
  endforeach()
  build("${tree}" --config Release --target all:all)
  expect_match("${type}: all again" "no work to do")
endforeach()
