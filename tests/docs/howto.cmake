# "How to add an operator" in generator/README.md: the diff applies to the sources as they are and
# touches what the text says. With LONG the result is built, and its new kernel compiled and run.
include("${CMAKE_CURRENT_LIST_DIR}/../cmake/support.cmake")

file(READ "${SOURCE}/generator/README.md" page)
string(REGEX MATCH "\n```diff\n(.*)\n```" found "${page}")
string(FIND "${CMAKE_MATCH_1}" "\n```" end)
string(SUBSTRING "${CMAKE_MATCH_1}" 0 ${end} diff)
file(WRITE "${WORK}/howto.diff" "${diff}\n")

foreach(part IN ITEMS CMakeLists.txt cmake generator runtime)
  file(COPY "${SOURCE}/${part}" DESTINATION "${WORK}/copy")
endforeach()
# Not the repository around this directory: paths in the diff are those of the copy.
set(ENV{GIT_CEILING_DIRECTORIES} "${WORK}")
must(git -C "${WORK}/copy" apply "${WORK}/howto.diff")

string(REGEX MATCHALL "\n\\+\\+\\+ b/[^\n]+" files "${diff}")
list(TRANSFORM files REPLACE "\n... b/" "")
set(expected generator/spec/CMakeLists.txt generator/spec/ops/square.cc)
if(NOT files STREQUAL expected)
  fail("the diff changes\n${files}\nthe text speaks of\n${expected}")
endif()
if(NOT LONG)
  return()
endif()

configure("${WORK}/copy" "${WORK}/build" -DMORELLO_DEVELOPER=OFF -DMORELLO_INSTALL=OFF
          -DCMAKE_BUILD_TYPE=Release)
build("${WORK}/build" --target morello)
must("${WORK}/build/generator/cli/morello" generate --machine zen5 --name square --header
     "${WORK}/square.h" --spec "(a: f32[100]): f32 = square(a)")
file(WRITE "${WORK}/main.cc" "#include \"square.h\"

int main() {
  float a[100];
  float out[100];
  for (int i = 0; i < 100; ++i) a[i] = static_cast<float>(i - 50);
  morello::square(a, out);
  for (int i = 0; i < 100; ++i)
    if (out[i] != a[i] * a[i]) return 1;
}
")
must("${CXX}" -std=c++17 -O1 -o "${WORK}/main" "${WORK}/main.cc")
must("${WORK}/main")
