# What the module's targets and tests run:  cmake -DDO=<what> ... -P MorelloScript.cmake
cmake_minimum_required(VERSION 3.25)

if(DO STREQUAL "guard")
  # Under Makefiles byproducts have no rule of their own: a deleted header would never come back.
  # So the stamp goes when one of FILES is missing.
  foreach(file IN LISTS FILES)
    if(NOT EXISTS "${file}")
      file(REMOVE "${STAMP}")
    endif()
  endforeach()
elseif(DO STREQUAL "compare")
  # Every file of NAMES in VENDORED must be as it is in GENERATED, but for the ends of lines.
  set(differing "")
  foreach(name IN LISTS NAMES)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files --ignore-eol
                            "${GENERATED}/${name}" "${VENDORED}/${name}"
                    RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    if(NOT result EQUAL 0)
      string(APPEND differing "\n  ${VENDORED}/${name}")
      find_program(DIFF diff)
      if(DIFF)
        execute_process(COMMAND "${DIFF}" -u "${VENDORED}/${name}" "${GENERATED}/${name}")
      endif()
    endif()
  endforeach()
  if(differing)
    message(FATAL_ERROR " Not what Morello generates today:${differing}\n To update:\n   ${UPDATE}")
  endif()
else()
  message(FATAL_ERROR "DO=${DO}")
endif()
