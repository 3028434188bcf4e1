# Every wrong call of errors.txt, configured on its own: the whole message is compared, and the last
# line of the call stack must be the consumer's.
#
# A row of errors.txt is: lines "> VARIABLE=value" (definitions; "> env VARIABLE=value" for the
# environment), the call, a line "--", the message. Rows end with a line "==". <S> and <B> stand for the
# consumer's source and build directory.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

set(source "${WORK}/source")
set(build "${WORK}/build")
file(MAKE_DIRECTORY "${source}")
file(WRITE "${source}/kernel.spec" "k(a: f32[2,2], b: f32[2,2]): f32 = matmul(a, b)\n")
# A generator of long ago, which knows nothing but its version.
file(WRITE "${source}/old" "#!/bin/sh\n[ \"$1\" = --version ] && echo morello 0.0.1\n")
file(CHMOD "${source}/old" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

# First line of `text` -> `line`, the rest -> `text`; a CMake list cannot hold these texts.
macro(next_line)
  string(FIND "${text}" "\n" end)
  string(SUBSTRING "${text}" 0 ${end} line)
  math(EXPR end "${end} + 1")
  string(SUBSTRING "${text}" ${end} -1 text)
endmacro()

# CMake's report of an error -> `got`: the message without its indentation, and the place.
function(message_of report)
  string(REGEX MATCH "CMake Error at [^\n]*Morello[A-Za-z]+.cmake:[0-9]+ \\(message\\):\n" head "${report}")
  string(FIND "${report}" "${head}" begin)
  string(LENGTH "${head}" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${report}" ${begin} -1 text)
  string(REGEX REPLACE "\nCall Stack .*" "" text "${text}")
  string(REPLACE "\n   " "\n" text "\n${text}")
  string(REPLACE "${build}" "<B>" text "${text}")
  string(REPLACE "${source}" "<S>" text "${text}")
  string(STRIP "${text}" text)
  set(got "${text}" PARENT_SCOPE)
endfunction()

# One row: `definitions` and `environment` are lists, `call` and `expected` are texts.
function(check_row)
  file(WRITE "${source}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\n"
    "project(consumer LANGUAGES \${LANGUAGES})\n"
    "include(\"${MODULE}\")\n${call}")
  run("${CMAKE_COMMAND}" -E env --unset=SOURCE_DATE_EPOCH ${environment}
      "${CMAKE_COMMAND}" -S "${source}" -B "${build}" -G "${GENERATOR}" "-DLANGUAGES=CXX"
      "-DCMAKE_CXX_COMPILER=${CXX}" -UMORELLO_MACHINE -UMorello_VERSION -UMORELLO_LOCKED -UMORELLO_PROGRESS
      "-DMORELLO_EXECUTABLE=${MORELLO}" ${definitions})
  if(result EQUAL 0)
    fail("this call was accepted:\n${call}")
  endif()
  message_of("${output}")
  if(NOT "${got}" STREQUAL "${expected}")
    fail("the call\n${call}\nwas expected to say\n${expected}\nbut said\n${got}\nWhole output:\n${output}")
  endif()
  if(NOT "${output}" MATCHES "\n  CMakeLists.txt:[0-9]+ \\(morello_add_[a-z]+\\)\n")
    fail("the call\n${call}\nis not in the call stack of\n${output}")
  endif()
endfunction()

file(READ "${CMAKE_CURRENT_LIST_DIR}/errors.txt" text)
set(rows 0)
while(NOT text STREQUAL "")
  set(call "")
  set(expected "")
  set(definitions "")
  set(environment "")
  set(part call)
  next_line()
  while(NOT line STREQUAL "==")
    if("${line}" MATCHES "^> env (.*)$")
      list(APPEND environment "${CMAKE_MATCH_1}")
    elseif("${line}" MATCHES "^> (.*)$")
      string(REPLACE "<S>" "${source}" definition "${CMAKE_MATCH_1}")
      list(APPEND definitions "-D${definition}")
    elseif(line STREQUAL "--")
      set(part expected)
    else()
      string(APPEND ${part} "${line}\n")
    endif()
    next_line()
  endwhile()
  string(STRIP "${expected}" expected)
  string(APPEND expected "\nIn <S>/CMakeLists.txt")
  check_row()
  math(EXPR rows "${rows} + 1")
endwhile()
if(rows LESS 60)
  fail("only ${rows} rows were read")
endif()
message(STATUS "${rows} wrong calls, each with its message")
