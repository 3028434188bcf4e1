# Shared by the test scripts, which run as  cmake -D... -P <script>. They are given:
#   MORELLO       the generator            MODULE     cmake/MorelloGenerate.cmake
#   SOURCE        the repository           BUILD      its build tree
#   WORK          a directory of our own   GENERATOR  of CMake            CXX  the compiler
cmake_minimum_required(VERSION 3.25)

# Ends the test. Lines that begin with a space are printed as they are.
function(fail text)
  string(REPLACE "\n" "\n " text "${text}")
  message(FATAL_ERROR " ${text}")
endfunction()

# Runs a command; -> `result`, `output` (both streams, in order).
function(run)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE result
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(result "${result}" PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Runs a command that has to succeed -> `output`
function(must)
  run(${ARGV})
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    fail("FAILED (${result}): ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(configure source build)
  must("${CMAKE_COMMAND}" -S "${source}" -B "${build}" -G "${GENERATOR}"
       "-DCMAKE_CXX_COMPILER=${CXX}" ${ARGN})
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(build dir)
  must("${CMAKE_COMMAND}" --build "${dir}" ${ARGN})
  set(output "${output}" PARENT_SCOPE)
endfunction()

# How often `regex` occurs in `output`.
function(expect_count what regex expected)
  string(REGEX MATCHALL "${regex}" found "${output}")
  list(LENGTH found count)
  if(NOT count EQUAL expected)
    fail("${what}: expected ${expected}, counted ${count} of \"${regex}\" in\n${output}")
  endif()
endfunction()

function(expect_match what regex)
  if(NOT "${output}" MATCHES "${regex}")
    fail("${what}: nothing matches \"${regex}\" in\n${output}")
  endif()
endfunction()

# Ninja and Make look at times in ticks of the file system.
function(tick)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E sleep 0.05)
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
