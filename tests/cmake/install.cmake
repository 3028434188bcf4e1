# T18: the installed package: what is in it, that it may be moved, that a consumer and the example build
# with nothing else, and what it says when it cannot be used.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/installed.cmake")

set(prefix "${WORK}/moved")
must("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first")
file(RENAME "${WORK}/first" "${prefix}")

expect_installed("${prefix}")

# The manual page is well-formed, where there is a program to say so.
find_program(GROFF groff)
if(GROFF)
  must("${GROFF}" -man -Tascii -ww -z "${prefix}/share/man/man1/morello.1")
  expect_count("the manual page" "warning|error" 0)
endif()

# Nothing in it names the trees it came from.
file(GLOB_RECURSE texts "${prefix}/lib/*.cmake" "${prefix}/include/*")
foreach(file IN LISTS texts)
  file(READ "${file}" text)
  foreach(path IN ITEMS "${SOURCE}" "${BUILD}" "${WORK}/first")
    string(FIND "${text}" "${path}" at)
    if(NOT at EQUAL -1)
      fail("${file} contains the path ${path}")
    endif()
  endforeach()
endforeach()

configure("${CMAKE_CURRENT_LIST_DIR}/consumer" "${WORK}/consumer" "-DCMAKE_PREFIX_PATH=${prefix}")
build("${WORK}/consumer")
must("${WORK}/consumer/app/app")
expect_match("consumer" "all kernels right")

# A request that cannot be met fails with the reason.
function(refused request reason)
  file(MAKE_DIRECTORY "${WORK}/refused")
  file(WRITE "${WORK}/refused/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\n"
    "project(refused LANGUAGES NONE)\nfind_package(Morello ${request} REQUIRED)\n")
  run("${CMAKE_COMMAND}" -S "${WORK}/refused" -B "${WORK}/refused/build" -G "${GENERATOR}"
      "-DCMAKE_PREFIX_PATH=${prefix}")
  if(result EQUAL 0)
    fail("find_package(Morello ${request}) succeeded")
  endif()
  string(REGEX REPLACE "[ \n]+" " " output "${output}")  # CMake fills these lines
  expect_match("find_package(Morello ${request})" "${reason}")
endfunction()
refused("COMPONENTS Machines" "Morello has no components, asked for: Machines")
refused("0.0.9" "compatible with requested version \"0.0.9\"")

# The example, standing alone.
configure("${SOURCE}/examples/gemma_matvec" "${WORK}/example" "-DCMAKE_PREFIX_PATH=${prefix}")
build("${WORK}/example")
must("${WORK}/example/gemma_matvec" --rounds 1)
expect_match("example" "verified")
build("${WORK}/example")
expect_match("second build of the example" "ninja: no work to do")
