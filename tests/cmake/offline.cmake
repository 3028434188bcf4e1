# T21: nothing uses the network. A whole build, the updates, the tests and the reports run where there is
# none (unshare --net); the CMake files of the module name nothing that could fetch.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

include("${CMAKE_CURRENT_LIST_DIR}/without_network.cmake")

find_offline()
if(offline)
  must(${offline} sh -c "cat /proc/net/route /proc/net/dev")
  expect_count("what is left of the network" "eth|en[ops]|default" 0)
endif()

file(COPY "${SOURCE}/examples/vendored/" DESTINATION "${WORK}/source")
file(APPEND "${WORK}/source/generate/CMakeLists.txt"
  "morello_add_kernel(searched SPEC \"(a: f32[6,40], b: f32[40,48]): f32 = matmul(a, b)\" LOCK my.lock MACHINE zen4)\n"
  "morello_add_kernel(here SPEC \"(a: f32[6,40]): f32 = a * a\")\n"
  "morello_add_test(check_all KERNELS layer searched here)\n")
function(offline)
  must(${offline} ${ARGN})
endfunction()
set(tree "${WORK}/build")
offline("${CMAKE_COMMAND}" -S "${WORK}/source/generate" -B "${tree}" -G "${GENERATOR}"
        "-DCMAKE_CXX_COMPILER=${CXX}" "-DMORELLO_EXECUTABLE=${MORELLO}"
        "-DCMAKE_PROJECT_INCLUDE=${MODULE}")
offline("${CMAKE_COMMAND}" --build "${tree}" --target morello_update)
offline("${CMAKE_COMMAND}" --build "${tree}" --target morello_reports)
offline("${CMAKE_COMMAND}" --build "${tree}")
offline("${CMAKE_CTEST_COMMAND}" --test-dir "${tree}" --output-on-failure)

file(GLOB files "${SOURCE}/cmake/*")
foreach(file IN LISTS files)
  file(READ "${file}" text)
  if("${text}" MATCHES "FetchContent|file\\(DOWNLOAD|GIT_REPOSITORY|[^A-Z]URL[ \n]|https?://|curl|wget")
    fail("${file}: ${CMAKE_MATCH_0}")
  endif()
endforeach()
