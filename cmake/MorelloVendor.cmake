# Kernels that are checked in (VENDOR_DIR) and programs that are (LOCK); included by
# MorelloGenerate.cmake.
#[=[.md
## Checked-in headers

```cmake
morello_add_kernel(ffw SPEC "..." MACHINE zen4 VENDOR_DIR third_party/kernels)
```

With `VENDOR_DIR` the target has the header that lies in that directory, and a build generates
nothing: no search, and no generator need be there. `cmake --build build --target ffw.update` writes
into the directory, and nothing else ever does. Check in what it writes:

| File | Is |
|---|---|
| `<header>` | The header; of `TYPE STATIC` and `OBJECT` also `<target>.cc`. |
| `<target>.cmake` | The same target in plain CMake, for projects without this module: `include()` it. Works with CMake 3.11. |

Any other build system needs the header's directory on its include path and C++17
([examples/vendored](../examples/vendored/README.md) has a Makefile and a Bazel file).

The third and the fourth line of a checked-in header are digests. The first is one of what you asked
for: the spec as it is written, the machine (the name, or the content of the file), type, name,
namespace, header, ISA, dispatch, threads. CMake computes it from the call and compares. The second
is one of the rest of the file, so that a change by hand is seen. Both need no generator and no
compiler, and ends of lines do not count. What a comparison can find:

| The header | without `LOCKED` | with `LOCKED` |
|---|---|---|
| is not there | the target cannot be built; without a generator the configure run stops | the same |
| was made from something else, or changed by hand | a warning when the build is configured | the target cannot be built |

These are errors of the build and not of the configure run, because `ffw.update` has to work then.
A newer generator may write another header for the same call: that is no reason to change what is
checked in, so the digests do not see it. The tests `ffw.up_to_date.generate` and `ffw.up_to_date` do
(they exist where a generator does): they generate into the build tree, compare and print the
difference.

Say `*.h text eol=lf linguist-generated` in `.gitattributes` to keep reviews short.

## Lock files

```cmake
morello_add_kernel(ffw SPEC "..." MACHINE zen4 LOCK morello.lock)
```

A lock file keeps the programs that were found, not the text made from them: a page per kernel, in
one file for all targets of a directory. `cmake --build build --target ffw.update` (`morello_update`
for all targets) writes it; check it in. What it has for the same spec, machine and number of threads
is not searched for, and a newer generator that would find something else keeps to it. To look again,
delete the entries and update.

| The lock file | without `LOCKED` | with `LOCKED` or `-DMORELLO_LOCKED=ON` |
|---|---|---|
| has a current entry | no search | no search |
| has none, or one for another spec, machine or number of threads | a search, and a line in the build's output | the target cannot be built; the error says what differs and how to update |
| has a current entry, and the same generator wrote other bytes before | an error: a bug of Morello | the same |

`LOCK` is `morello.lock` in the source directory where that file exists, or `-DMORELLO_LOCK=ON`, or
`LOCKED` asks for one. A build never writes to it.
]=]

# -> lock_file (or ""), locked
function(_morello_check_lock)
  set(locked OFF)
  if("LOCKED" IN_LIST given OR MORELLO_LOCKED)
    set(locked ON)
  endif()
  set(lock_file "")
  set(standard "${CMAKE_CURRENT_SOURCE_DIR}/morello.lock")
  if("LOCK" IN_LIST given)
    cmake_path(ABSOLUTE_PATH arg_LOCK BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE
               OUTPUT_VARIABLE lock_file)
    if(IS_DIRECTORY "${lock_file}")
      set(problem "LOCK \"${arg_LOCK}\" is a directory" PARENT_SCOPE)
    endif()
  elseif(EXISTS "${standard}" OR MORELLO_LOCK OR (locked AND NOT "VENDOR_DIR" IN_LIST given))
    set(lock_file "${standard}")
  endif()
  set(locked "${locked}" PARENT_SCOPE)
  set(lock_file "${lock_file}" PARENT_SCOPE)
endfunction()

# -> vendor_dir (or "")
function(_morello_check_vendor)
  set(vendor_dir "")
  if("VENDOR_DIR" IN_LIST given)
    cmake_path(ABSOLUTE_PATH arg_VENDOR_DIR BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE
               OUTPUT_VARIABLE vendor_dir)
    if(EXISTS "${vendor_dir}" AND NOT IS_DIRECTORY "${vendor_dir}")
      set(problem "VENDOR_DIR \"${arg_VENDOR_DIR}\" is not a directory" PARENT_SCOPE)
    endif()
    foreach(word IN ITEMS OUTPUT_DIR SCHEDULE_VAR STATS)
      if("${word}" IN_LIST given)
        set(problem "${word} is about what a build generates, but with VENDOR_DIR it generates nothing" PARENT_SCOPE)
      endif()
    endforeach()
  endif()
  set(vendor_dir "${vendor_dir}" PARENT_SCOPE)
endfunction()

# As _morello_check_generator(), but a header that is checked in needs none.
function(_morello_check_program)
  _morello_check_generator()
  if(vendor_dir AND NOT problem STREQUAL "")
    set(generator "")
    set(generator_path "")
    if(EXISTS "${header_path}")
      set(problem "")
    else()
      set(problem "${header_path} is not there yet, and ${problem}")
    endif()
  endif()
  foreach(name IN ITEMS generator generator_path problem)
    set(${name} "${${name}}" PARENT_SCOPE)
  endforeach()
endfunction()

# --- digests ------------------------------------------------------------------------------------

# -> inputs_digest: of everything in the call that the header depends on, as it is written. Every
# field is preceded by its length, so that none can be taken for a part of another.
function(_morello_inputs_digest)
  set(specs "${specs_text}")
  if("SPEC_FILE" IN_LIST given)
    _morello_read(specs "${spec_file}")
    # A module of HLO without a name is called like its file.
    if(spec_file MATCHES "\\.(mlir|stablehlo|hlo)$")
      cmake_path(GET spec_file FILENAME name)
      string(PREPEND specs "${name}\n")
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${spec_file}")
  endif()
  set(machine_text "${machine}")
  if(machine_file)
    _morello_read(machine_text "${machine_input}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${machine_input}")
  endif()
  set(text "")
  foreach(name IN ITEMS specs spec_arguments machine_text arg_TYPE namespace header isa_arguments
          arg_THREADS)
    string(LENGTH "${${name}}" length)
    string(APPEND text "${name} ${length}\n${${name}}\n")
  endforeach()
  string(SHA256 digest "${text}")
  set(inputs_digest "${digest}" PARENT_SCOPE)
endfunction()

# The text of a file with plain ends of lines.
function(_morello_read result file)
  file(READ "${file}" text)
  string(REPLACE "\r\n" "\n" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# What is wrong with a checked-in file, or "".
function(_morello_vendored_problem result file)
  set(${result} "" PARENT_SCOPE)
  if(NOT EXISTS "${file}")
    set(${result} "is not there yet" PARENT_SCOPE)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  _morello_read(text "${file}")
  set(digit "[0-9a-f]")
  string(REPEAT "${digit}" 64 digest)
  if(NOT "${text}" MATCHES "^[^\n]*\n[^\n]*\n// inputs: sha256 (${digest})\n// body:   sha256 (${digest})\n")
    set(${result} "has no digests: it is not a file that this target wrote" PARENT_SCOPE)
    return()
  endif()
  set(inputs "${CMAKE_MATCH_1}")
  set(body "${CMAKE_MATCH_2}")
  string(FIND "${text}" "// body:   sha256 ${body}\n" begin)
  string(LENGTH "// body:   sha256 ${body}\n" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(SHA256 now "${text}")
  if(NOT now STREQUAL body)
    set(${result} "was changed by hand since it was generated" PARENT_SCOPE)
  elseif(NOT inputs STREQUAL inputs_digest)
    set(${result} "was made from another spec, machine or option" PARENT_SCOPE)
  endif()
endfunction()

# --- targets ------------------------------------------------------------------------------------

# -> update_text: what a user types; marker: watched by CMake, touched by every update, because a
# file that did not exist when the build was configured is not.
function(_morello_update_text)
  set(update_text "cmake --build ${CMAKE_BINARY_DIR} --target ${target}.update" PARENT_SCOPE)
  set(marker "${CMAKE_BINARY_DIR}/morello/updated/${target}")
  if(NOT EXISTS "${marker}")
    file(WRITE "${marker}" "")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${marker}")
  set(marker "${marker}" PARENT_SCOPE)
endfunction()

# <target>.update where there is something checked in to update.
function(_morello_update_target)
  set(lock_mode "")
  if(lock_file)
    set(lock_mode --update-lock)
  endif()
  _morello_generate_arguments(update "${work}/update/${header}" "${work}/update/${target}.cc"
                              "${lock_mode}")
  set(copies "")
  if(vendor_dir)
    _morello_stub()
    cmake_path(GET header_path PARENT_PATH header_dir)
    set(copies COMMAND "${CMAKE_COMMAND}" -E make_directory "${header_dir}"
      COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${work}/update/${header}" "${header_path}"
      COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${work}/${target}.cmake" "${vendor_dir}")
    if(source_path)
      list(APPEND copies COMMAND "${CMAKE_COMMAND}" -E copy_if_different
        "${work}/update/${target}.cc" "${source_path}")
    endif()
  endif()
  add_custom_target(${target}.update COMMAND ${generator} ${update} ${copies}
    COMMAND "${CMAKE_COMMAND}" -E touch "${marker}"
    DEPENDS ${machine_file} ${pool} VERBATIM COMMENT "Morello: updating ${target}")
  _morello_needs_machine(${target}.update)
endfunction()

# The target in plain CMake, for projects that do not have this module.
function(_morello_stub)
  set(dir "\"\${CMAKE_CURRENT_LIST_DIR}\"")
  set(lines "# Written by the target ${target}.update of the project that generates these kernels.\n")
  set(scope PUBLIC)
  if(source_path)
    string(APPEND lines "add_library(${target} ${arg_TYPE} \"\${CMAKE_CURRENT_LIST_DIR}/${target}.cc\")\n")
    string(APPEND lines "set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)\n")
    string(APPEND lines "target_compile_options(${target} PRIVATE -fno-exceptions $<$<OR:$<CONFIG:Debug>,$<CONFIG:>>:-O2>)\n")
  else()
    set(scope INTERFACE)
    string(APPEND lines "add_library(${target} INTERFACE)\n")
  endif()
  string(APPEND lines "target_include_directories(${target} ${scope} ${dir})\n")
  string(APPEND lines "target_compile_features(${target} ${scope} cxx_std_17)")
  file(CONFIGURE OUTPUT "${work}/${target}.cmake" CONTENT "@lines@" @ONLY NEWLINE_STYLE UNIX)
endfunction()

# The library of what is checked in; -> nothing generated.
function(_morello_vendored)
  set(problems "")
  set(missing OFF)
  foreach(file IN ITEMS "${header_path}" ${source_path})
    if(NOT EXISTS "${file}")
      set(missing ON)
      set_source_files_properties("${file}" PROPERTIES GENERATED ON)  # CMake would not go on
    endif()
    _morello_vendored_problem(wrong "${file}")
    if(wrong)
      list(APPEND problems "${file} ${wrong}")
    endif()
  endforeach()
  if(generator)
    _morello_update_target()
    _morello_up_to_date_tests()
  else()
    add_custom_target(${target}.update VERBATIM COMMENT "Morello: updating ${target}"
      COMMAND "${CMAKE_COMMAND}" -E echo "${CMAKE_CURRENT_LIST_FILE}: error: ${target}.update needs a Morello generator, and none was found"
      COMMAND "${CMAKE_COMMAND}" -E false)
  endif()
  _morello_library()
  if(problems)
    _morello_stale()
  endif()
endfunction()

# An error of the build: one of the configure run would leave no build system to update with.
function(_morello_stale)
  list(JOIN problems "\n  " text)
  if(locked OR missing)
    list(JOIN problems ", " line)
    add_custom_target(${target}.check VERBATIM COMMENT "Morello: what is checked in for ${target}"
      COMMAND "${CMAKE_COMMAND}" -E echo "${CMAKE_CURRENT_LIST_FILE}: error: target ${target}: ${line}. To update: ${update_text}"
      COMMAND "${CMAKE_COMMAND}" -E false)
    add_dependencies(${target} ${target}.check)
  else()
    message(AUTHOR_WARNING " morello_add_kernel(${target}): out of date:\n   ${text}\n To update:\n   ${update_text}\n In ${CMAKE_CURRENT_LIST_FILE}")
  endif()
endfunction()

# ctest: what is checked in is what would be generated today.
function(_morello_up_to_date_tests)
  set(lock_mode "")
  if(locked AND lock_file)
    set(lock_mode --locked)
  endif()
  _morello_generate_arguments(regenerate "${work}/today/${header}" "${work}/today/${target}.cc"
                              "${lock_mode}")
  add_custom_target(${target}.regenerate COMMAND ${generator} ${regenerate}
    DEPENDS ${machine_file} ${pool} VERBATIM COMMENT "Morello: ${target} as it would be today")
  _morello_needs_machine(${target}.regenerate)
  set(names "${header}")
  if(source_path)
    list(APPEND names "${target}.cc")
  endif()
  get_property(script GLOBAL PROPERTY _MORELLO_SCRIPT)
  add_test(NAME ${target}.up_to_date.generate
    COMMAND "${CMAKE_COMMAND}" --build "${CMAKE_BINARY_DIR}" --target ${target}.regenerate --config $<CONFIG>)
  add_test(NAME ${target}.up_to_date
    COMMAND "${CMAKE_COMMAND}" -DDO=compare "-DNAMES=${names}" "-DGENERATED=${work}/today"
            "-DVENDORED=${vendor_dir}" "-DUPDATE=${update_text}" -P "${script}")
  set_tests_properties(${target}.up_to_date.generate PROPERTIES
    LABELS morello FIXTURES_SETUP ${target}.up_to_date RESOURCE_LOCK morello_build)
  set_tests_properties(${target}.up_to_date PROPERTIES
    LABELS morello FIXTURES_REQUIRED ${target}.up_to_date)
endfunction()
