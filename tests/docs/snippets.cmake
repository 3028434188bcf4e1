# The snippets of README.md as a project of their own, with the installed package.
include("${CMAKE_CURRENT_LIST_DIR}/../cmake/support.cmake")

file(READ "${SOURCE}/README.md" readme)

# The one fenced block of a kind -> `text`
function(snippet kind)
  string(REGEX MATCHALL "\n```${kind}\n" found "${readme}")
  list(LENGTH found count)
  if(NOT count EQUAL 1)
    fail("README.md has ${count} blocks of ${kind}")
  endif()
  string(FIND "${readme}" "\n```${kind}\n" begin)
  string(SUBSTRING "${readme}" ${begin} -1 text)
  string(REGEX REPLACE "^\n```[a-z]+\n" "" text "${text}")
  string(FIND "${text}" "\n```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  set(text "${text}\n" PARENT_SCOPE)
endfunction()

snippet(cmake)
file(WRITE "${WORK}/app/CMakeLists.txt" "${text}")
snippet(cpp)
file(WRITE "${WORK}/app/main.cc" "${text}")
string(REGEX MATCH "  // ([0-9.]+)\n" found "${text}")
set(expected "${CMAKE_MATCH_1}")

must("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
configure("${WORK}/app" "${WORK}/app/build" "-DCMAKE_PREFIX_PATH=${WORK}/prefix"
          -DMORELLO_MACHINE=zen5 -DCMAKE_BUILD_TYPE=Release
          "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror")
build("${WORK}/app/build")
must("${WORK}/app/build/app")
if(expected STREQUAL "" OR NOT output STREQUAL "${expected}\n")
  fail("README.md promises \"${expected}\", the program printed\n${output}")
endif()
