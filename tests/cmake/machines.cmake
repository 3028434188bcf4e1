# T24: machine files from hwloc's descriptions (XML), one with caches and one without: what is found
# and what is guessed; and that a build which has to be reproducible refuses this computer.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

set(source "${WORK}/source")
set(sets "cpuset=\"0x00000003\" complete_cpuset=\"0x00000003\" nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\"")
function(describe file caches)
  set(open "")
  set(close "")
  foreach(cache IN LISTS caches)
    string(REGEX MATCH "^(L.)=(.*)$" found "${cache}")
    string(REPLACE "L" "" depth "${CMAKE_MATCH_1}")
    math(EXPR id "10 + ${depth}")
    string(APPEND open "<object type=\"${CMAKE_MATCH_1}Cache\" ${sets} gp_index=\"${id}\" cache_size=\"${CMAKE_MATCH_2}\" depth=\"${depth}\" cache_linesize=\"64\" cache_associativity=\"8\" cache_type=\"0\">\n")
    string(APPEND close "</object>\n")
  endforeach()
  file(WRITE "${source}/${file}" "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">
<topology version=\"2.0\">
<object type=\"Machine\" os_index=\"0\" ${sets} allowed_cpuset=\"0x00000003\" allowed_nodeset=\"0x00000001\" gp_index=\"1\">
<object type=\"NUMANode\" os_index=\"0\" ${sets} gp_index=\"2\" local_memory=\"1073741824\"/>
<object type=\"Package\" os_index=\"0\" ${sets} gp_index=\"3\">
<info name=\"CPUVendor\" value=\"AuthenticAMD\"/>
<info name=\"CPUFamilyNumber\" value=\"23\"/>
<info name=\"CPUModelNumber\" value=\"113\"/>
${open}<object type=\"Core\" os_index=\"0\" ${sets} gp_index=\"20\">
<object type=\"PU\" os_index=\"0\" cpuset=\"0x00000001\" complete_cpuset=\"0x00000001\" nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\" gp_index=\"21\"/>
<object type=\"PU\" os_index=\"1\" cpuset=\"0x00000002\" complete_cpuset=\"0x00000002\" nodeset=\"0x00000001\" complete_nodeset=\"0x00000001\" gp_index=\"22\"/>
</object>
${close}</object>
</object>
</topology>
")
endfunction()
describe(full.xml "L3=12582912;L2=393216;L1=16384")
describe(bare.xml "")

set(spec "(a: f32[6,40], b: f32[40,48]): f32 = matmul(a, b)")
file(WRITE "${source}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(machines LANGUAGES CXX)
include(\"${MODULE}\")
morello_add_machine(full XML full.xml)
morello_add_machine(bare XML bare.xml)
add_subdirectory(sub)
")
file(WRITE "${source}/sub/CMakeLists.txt" "
morello_add_kernel(one SPEC \"${spec}\" MACHINE full)
morello_add_kernel(two SPEC \"${spec}\" MACHINE bare LOCK my.lock LOCKED)
")
set(tree "${WORK}/build")
configure("${source}" "${tree}" "-DMORELLO_EXECUTABLE=${MORELLO}")
build("${tree}" --target morello_update)
build("${tree}" --target clean)
build("${tree}")
expect_match("a full description" "Morello: a machine file of [^\n]*full.xml")
foreach(level IN ITEMS L1 L2 L3)
  expect_count("guesses" "morello: note: hwloc knows no ${level}: took [0-9]+ bytes shared by [0-9]+ from zen2" 1)
endforeach()
build("${tree}")
expect_match("again" "no work to do")

# expect(<machine> <key=value>...)
function(expect machine)
  file(READ "${tree}/morello/machines/${machine}.toml" toml)
  foreach(line IN LISTS ARGN)
    string(FIND "${toml}" "${line}\n" at)
    if(at EQUAL -1)
      fail("${machine} lacks ${line}:\n${toml}")
    endif()
  endforeach()
endfunction()
expect(full "name = \"native-zen2\"" "cores = 1" "bytes = 12582912" "bytes = 393216" "bytes = 16384")
must("${MORELLO}" machine show zen2)
string(REGEX MATCHALL "bytes = [0-9]+" standard "${output}")
expect(bare "name = \"native-zen2\"" "cores = 1" ${standard})

# native: for a developer. Refused where bytes have to repeat; a file or a name is not.
file(WRITE "${source}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(machines LANGUAGES CXX)
include(\"${MODULE}\")
morello_add_kernel(k SPEC \"${spec}\" MACHINE \${WHICH})
")
function(try which wanted)
  run("${CMAKE_COMMAND}" -E env --unset=SOURCE_DATE_EPOCH ${ARGN} "${CMAKE_COMMAND}" -S "${source}"
      -B "${WORK}/native" -G "${GENERATOR}" "-DMORELLO_EXECUTABLE=${MORELLO}" "-DWHICH=${which}")
  if(wanted STREQUAL "works" AND NOT result EQUAL 0)
    fail("${which} was refused\n${output}")
  elseif(NOT wanted STREQUAL "works")
    expect_match("${which} ${ARGN}" "MACHINE native depends on the machine that builds, but ${wanted}")
  endif()
endfunction()
try(native works)
try(native "SOURCE_DATE_EPOCH asks" SOURCE_DATE_EPOCH=1)
try(x86-64-v3 works SOURCE_DATE_EPOCH=1)
file(REMOVE_RECURSE "${WORK}/native")
try(native "LOCKED asks" MORELLO_LOCKED=ON)
try(zen4 works MORELLO_LOCKED=ON SOURCE_DATE_EPOCH=1)
