# T28: every preset of CMakePresets.json is valid, and the workflow that builds a generator to be
# handed to other builds works in a copy of the sources.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

must("${CMAKE_COMMAND}" -S "${SOURCE}" --list-presets=all)
foreach(preset IN ITEMS default generator asan clang check)
  expect_match("presets" "\"${preset}\"")
endforeach()
foreach(part IN ITEMS CMakeLists.txt CMakePresets.json cmake docs generator runtime)
  file(COPY "${SOURCE}/${part}" DESTINATION "${WORK}/copy")
endforeach()
file(READ "${SOURCE}/CMakePresets.json" text)
string(JSON count LENGTH "${text}" configurePresets)
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON name GET "${text}" configurePresets ${i} name)
  must("${CMAKE_COMMAND}" -S "${WORK}/copy" --preset ${name} -N)
endforeach()
if(LONG)
  execute_process(COMMAND "${CMAKE_COMMAND}" --workflow --preset generator
    WORKING_DIRECTORY "${WORK}/copy" COMMAND_ERROR_IS_FATAL ANY)
  must("${WORK}/copy/host/generator/cli/morello" --version)
endif()
