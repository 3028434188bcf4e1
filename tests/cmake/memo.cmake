# T9: MORELLO_CACHE_DIR: where solved sub-problems go, and that nothing that is generated depends on it:
# no, a cold, a warm, a damaged, a truncated, an unwritable directory; two builds at once.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")
unset(ENV{MORELLO_CACHE_DIR})

file(WRITE "${WORK}/source/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(memo LANGUAGES CXX)
include(\"${MODULE}\")
set(MORELLO_MACHINE x86-64-v3)
morello_add_kernel(first SPEC \"(a: f32[48,64], b: f32[64,96] packed): f32 = matmul(a, b)\")
morello_add_kernel(second SPEC \"(a: f32[96,64], b: f32[64,96] packed): f32 = matmul(a, b)\"
                   TYPE OBJECT)
")

# build_with(<name> [<argument>...]): a build tree of its own, compared with the first.
function(build_with name)
  set(tree "${WORK}/${name}")
  configure("${WORK}/source" "${tree}" "-DMORELLO_EXECUTABLE=${MORELLO}" ${ARGN})
  build("${tree}")
  foreach(file IN ITEMS first/include/first.h first/first.impl second/include/second.h
          second/second.cc second/second.impl)
    file(SHA256 "${WORK}/off/morello/${file}" want)
    file(SHA256 "${tree}/morello/${file}" got)
    if(NOT got STREQUAL want)
      fail("${name}: ${file} is another one")
    endif()
  endforeach()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_tables directory)
  file(GLOB tables "${directory}/*")
  if(NOT tables)
    fail("there is nothing in ${directory}")
  endif()
  foreach(table IN LISTS tables)
    if(NOT table MATCHES "/[0-9a-f]+\\.memo$")
      fail("${table} was left in ${directory}")
    endif()
  endforeach()
endfunction()

build_with(off -DMORELLO_CACHE_DIR=OFF)
if(EXISTS "${WORK}/off/morello/memo")
  fail("OFF: ${WORK}/off/morello/memo exists")
endif()

build_with(standard)
expect_tables("${WORK}/standard/morello/memo")

set(shared "${WORK}/sh ared")
build_with(cold "-DMORELLO_CACHE_DIR=${shared}")
expect_tables("${shared}")
build_with(warm "-DMORELLO_CACHE_DIR=${shared}")
build_with(relative -DMORELLO_CACHE_DIR=here/memo)
expect_tables("${WORK}/relative/here/memo")

# The environment gives the first value only.
set(ENV{MORELLO_CACHE_DIR} "${WORK}/env")
build_with(environment)
expect_tables("${WORK}/env")
build_with(off)
if(EXISTS "${WORK}/off/morello/memo")
  fail("OFF: the environment won")
endif()
unset(ENV{MORELLO_CACHE_DIR})

# Damage and directories that cannot be: a note in the build's output, the same bytes.
file(GLOB tables "${shared}/*.memo")
foreach(table IN LISTS tables)
  file(WRITE "${table}" "not a table")
endforeach()
build_with(damaged "-DMORELLO_CACHE_DIR=${shared}")
expect_match("damaged" "morello: note: memo table .*: it is truncated; it is not used")
expect_tables("${shared}")
# Tables that end too early.
file(GLOB tables "${shared}/*.memo")
foreach(table IN LISTS tables)
  execute_process(COMMAND head -c 64 "${table}" OUTPUT_FILE "${WORK}/part")
  file(COPY_FILE "${WORK}/part" "${table}")
endforeach()
build_with(truncated "-DMORELLO_CACHE_DIR=${shared}")
expect_match("truncated" "morello: note: memo table .*: it is truncated or damaged; it is not used")
build_with(repaired "-DMORELLO_CACHE_DIR=${shared}")
expect_count("repaired" "morello: note:" 0)
file(WRITE "${WORK}/file" "")
build_with(impossible "-DMORELLO_CACHE_DIR=${WORK}/file")
expect_match("impossible" "morello: note: memo table .*: Not a directory")

# A directory that cannot be written to (root can, and is not told).
file(MAKE_DIRECTORY "${WORK}/read only")
file(CHMOD "${WORK}/read only" PERMISSIONS OWNER_READ OWNER_EXECUTE)
build_with(read_only "-DMORELLO_CACHE_DIR=${WORK}/read only")
file(CHMOD "${WORK}/read only" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

# Two builds fill one cold directory at the same time: a pipe's commands run together. Nothing goes
# through the pipe: nobody reads it, and who writes when the other one is done gets a SIGPIPE.
foreach(name IN ITEMS left right)
  configure("${WORK}/source" "${WORK}/${name}" "-DMORELLO_EXECUTABLE=${MORELLO}"
            "-DMORELLO_CACHE_DIR=${WORK}/both")
endforeach()
execute_process(COMMAND sh -c "exec \"$0\" --build \"$1\" > /dev/null" "${CMAKE_COMMAND}" "${WORK}/left"
                COMMAND "${CMAKE_COMMAND}" --build "${WORK}/right"
                RESULTS_VARIABLE results OUTPUT_QUIET ERROR_VARIABLE said)
if(NOT results STREQUAL "0;0")
  fail("two builds at once: ${results}\n${said}")
endif()
build_with(left "-DMORELLO_CACHE_DIR=${WORK}/both")
build_with(right "-DMORELLO_CACHE_DIR=${WORK}/both")
expect_tables("${WORK}/both")
