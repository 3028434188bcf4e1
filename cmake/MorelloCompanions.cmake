# morello_add_machine(), morello_add_test(), morello_add_benchmark(); included by
# MorelloGenerate.cmake.
#[=[.md
## morello_add_machine

```cmake
morello_add_machine(<name> FILE <file.toml> | XML <file.xml>)
```

Gives a name to a machine file, for `MACHINE` everywhere in the build. With `XML` the generator makes
the machine file from a description that hwloc wrote (`lstopo machine.xml` on the other machine): cores
and caches are those of the description, the rest is that of the nearest shipped machine.

## morello_add_test

```cmake
morello_add_test(<name> KERNELS <target>... [RUNS <n>] [SEED <n>] [LINK <library>...])
```

Makes a program and a test `<name>` (label `morello`) that calls every kernel of the targets and
compares it with a reference: integers exactly, floats with the bounds between which f32 arithmetic in any
order can lie. There are `RUNS` runs (4), with other numbers each time, from `SEED` (1) on, of these
kinds in turn:

| Run | Operands hold | and lie |
|---|---|---|
| 1 | random numbers: floats in [-1, 1), integers of the full range | before a page that nobody may touch |
| 2 | edge values: zeros of both signs, powers of two, ends of integer ranges | behind such a page |
| 3 | the same, with subnormal numbers and here and there NaN, infinities and the largest finite number | before such a page |
| 4 | random numbers | at addresses that are aligned to one element and to nothing more |

NaN and infinities have to come out exactly where
[the spec's arithmetic](spec.md#nan-infinities-and-small-numbers) has them. An output of which nothing
can be said, because f32 may have overflowed on the way, is not compared; of large results a sample is. Sizes that are
known at run time only are the nominal ones, and strided rows lie close.

Kernels of `TYPE INTERFACE` run a second time with the fallback for other CPUs. No test framework is
needed; `LINK` is for what else the program shall have, such as sanitizers. Without a generator, in a
project whose kernels are all checked in, there is no test, and a line says so; the same holds for
benchmarks.

## morello_add_benchmark

```cmake
morello_add_benchmark(<name> KERNELS <target>... [BASELINE <target>...] [ENGINE builtin|google]
                      [LINK <library>...])
```

Makes a program that checks every kernel once and times it, and the kernels of `BASELINE` as well.

- `ENGINE builtin`, the default, needs nothing. It prints a table: median and best time, operations and
  bytes per second, the cycles of the model, and the ratio to the kernels of `BASELINE`, which are in the
  same order. `--rounds N` is for more than 11 rounds of at least 5 ms, `--json FILE` for numbers that
  programs read.
- `ENGINE google` uses Google Benchmark 1.6 or newer: the target `benchmark::benchmark` if the project
  has it, or what `find_package(benchmark)` finds. Every kernel is a benchmark of its own name, those of
  `BASELINE` are called `baseline/<name>`; the library's options choose and print
  (`--benchmark_filter=...`, `--benchmark_format=json`). Counters are `flops` (`ops` for integers) and
  `bytes` per second, and `model_cycles`; the label is the instruction set. A kernel that is wrong is
  an error there, and the exit code is 1.

]=]

# Reads the arguments behind the name into arg_<word>; stops with what is wrong.
macro(_morello_read_call)
  set(known ${singles_of_call} ${lists_of_call})
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "${singles_of_call}" "${lists_of_call}")
  set(problem "")
  if("${call}" STREQUAL "" OR "${call}" IN_LIST known)
    set(problem "the first argument is a name")
  elseif(arg_UNPARSED_ARGUMENTS)
    list(GET arg_UNPARSED_ARGUMENTS 0 word)
    _morello_nearest(hint "${word}" ${known})
    list(JOIN known " " allowed)
    set(problem "unknown argument \"${word}\"${hint}\nAllowed: ${allowed}")
  elseif(arg_KEYWORDS_MISSING_VALUES)
    list(GET arg_KEYWORDS_MISSING_VALUES 0 word)
    set(problem "${word} wants a value, nothing was given")
  endif()
endmacro()

# -> generator; "" where there is none: who only uses what is checked in has to come this far.
function(_morello_find_or_none target)
  set(problem "")
  _morello_check_generator()
  if(NOT problem STREQUAL "")
    set(generator "")
  endif()
  set(generator "${generator}" PARENT_SCOPE)
endfunction()

macro(_morello_stop function)
  if(NOT problem STREQUAL "")
    string(REPLACE "\n" "\n " problem "${problem}")
    message(FATAL_ERROR " ${function}(${call}): ${problem}\n In ${CMAKE_CURRENT_LIST_FILE}")
  endif()
endmacro()

function(morello_add_machine)
  set(singles_of_call FILE XML)
  set(lists_of_call "")
  set(call "${ARGV0}")
  _morello_read_call()
  get_property(known GLOBAL PROPERTY _MORELLO_MACHINES)
  set(input "${arg_FILE}${arg_XML}")
  if(NOT problem STREQUAL "")
  elseif(NOT call MATCHES "^[A-Za-z0-9][A-Za-z0-9_.-]*$" OR call MATCHES "\\.toml$")
    set(problem "\"${call}\" cannot be the name of a machine: letters, digits and _ . - only")
  elseif(call STREQUAL "native" OR call IN_LIST known)
    set(problem "there is a machine of this name already")
  elseif((arg_FILE AND arg_XML) OR NOT (arg_FILE OR arg_XML))
    set(problem "give one of FILE and XML")
  else()
    cmake_path(ABSOLUTE_PATH input BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    if(NOT EXISTS "${input}" OR IS_DIRECTORY "${input}")
      set(problem "\"${arg_FILE}${arg_XML}\" is not a file\nLooked for ${input}")
    endif()
  endif()
  set(file "${input}")
  set(generator "")
  if(problem STREQUAL "" AND arg_XML)
    _morello_find_or_none("${call}")
    set(file "${CMAKE_BINARY_DIR}/morello/machines/${call}.toml")
  endif()
  _morello_stop(morello_add_machine)
  if(generator)
    _morello_detect(morello_machine_${call} "${file}" "${input}")
    set_property(GLOBAL PROPERTY "_MORELLO_MACHINE_TARGET_${call}" morello_machine_${call})
  endif()
  set_property(GLOBAL PROPERTY "_MORELLO_MACHINE_${call}" "${file}")
  set_property(GLOBAL PROPERTY "_MORELLO_MACHINE_INPUT_${call}" "${input}")
  set_property(GLOBAL APPEND PROPERTY _MORELLO_MACHINES "${call}")
endfunction()

function(morello_add_test)
  set(singles_of_call RUNS SEED)
  set(lists_of_call KERNELS LINK)
  set(call "${ARGV0}")
  _morello_read_call()
  set(arguments "")
  foreach(word IN ITEMS RUNS SEED)
    if(problem STREQUAL "" AND DEFINED arg_${word})
      if(NOT arg_${word} MATCHES "^[1-9][0-9]?[0-9]?[0-9]?[0-9]?[0-9]?$")
        set(problem "${word} \"${arg_${word}}\" is not a whole number from 1 to 999999")
      endif()
      string(TOLOWER "--${word}" option)
      list(APPEND arguments ${option} ${arg_${word}})
    endif()
  endforeach()
  _morello_check_testbench()
  _morello_stop(morello_add_test)
  if(NOT generator)
    message(STATUS "Morello: the test ${call} is left out: there is no generator")
    return()
  endif()
  _morello_testbench(program.h Program "" ${arg_KERNELS})
  # What asks for a variant by name is in the header itself only.
  set(forced ON)
  foreach(kernel IN LISTS arg_KERNELS)
    get_target_property(type ${kernel} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      set(forced OFF)
    endif()
  endforeach()
  if(forced)
    target_compile_definitions(${call} PRIVATE MORELLO_TESTING)
  endif()
  add_test(NAME ${call} COMMAND ${call} ${arguments})
  set_tests_properties(${call} PROPERTIES LABELS morello)
endfunction()

function(morello_add_benchmark)
  set(singles_of_call ENGINE)
  set(lists_of_call KERNELS BASELINE LINK)
  set(call "${ARGV0}")
  _morello_read_call()
  _morello_check_testbench()
  _morello_check_engine()
  _morello_stop(morello_add_benchmark)
  if(NOT generator)
    message(STATUS "Morello: the benchmark ${call} is left out: there is no generator")
    return()
  endif()
  if(arg_ENGINE STREQUAL "google")
    _morello_testbench(google_program.h GoogleProgram "" ${arg_KERNELS} ${arg_BASELINE})
    target_link_libraries(${call} PRIVATE benchmark::benchmark)
  else()
    _morello_testbench(program.h Program "  program.bench();\n" ${arg_KERNELS} ${arg_BASELINE})
  endif()
endfunction()

# ENGINE is one that there is, and its library too; where there is no generator nothing is built.
macro(_morello_check_engine)
  set(engines builtin google)
  if(problem STREQUAL "" AND DEFINED arg_ENGINE AND NOT arg_ENGINE IN_LIST engines)
    _morello_nearest(hint "${arg_ENGINE}" ${engines})
    list(JOIN engines " " allowed)
    set(problem "ENGINE \"${arg_ENGINE}\" is not known${hint}\nAllowed: ${allowed}")
  elseif(problem STREQUAL "" AND generator AND arg_ENGINE STREQUAL "google")
    if(NOT TARGET benchmark::benchmark)
      find_package(benchmark 1.6 QUIET)
    endif()
    if(NOT TARGET benchmark::benchmark)
      set(problem "ENGINE google needs Google Benchmark 1.6 or newer, and find_package(benchmark) does not find it\nInstall it (in Debian: apt-get install libbenchmark-dev), or say where it is\n  -Dbenchmark_DIR=<the directory of benchmarkConfig.cmake>\nor leave ENGINE out: the builtin one needs nothing")
    endif()
  endif()
endmacro()

# KERNELS and BASELINE name kernel targets, and there is a generator to describe them.
macro(_morello_check_testbench)
  if(problem STREQUAL "")
    if(TARGET "${call}")
      set(problem "a target of this name exists already")
    elseif(NOT call MATCHES "^[A-Za-z0-9_.+-]+$")
      set(problem "\"${call}\" cannot be the name of a target: letters, digits and _ . + - only")
    elseif(NOT arg_KERNELS)
      set(problem "KERNELS is missing: the targets of morello_add_kernel()")
    endif()
    get_property(targets GLOBAL PROPERTY _MORELLO_TARGETS)
    foreach(kernel IN LISTS arg_KERNELS arg_BASELINE)
      if(problem STREQUAL "" AND NOT kernel IN_LIST targets)
        _morello_nearest(hint "${kernel}" ${targets})
        list(JOIN targets " " allowed)
        set(problem "\"${kernel}\" is not a target of morello_add_kernel()${hint}\nKnown so far: ${allowed}")
      endif()
    endforeach()
  endif()
  if(problem STREQUAL "")
    _morello_find_or_none("${call}")
    set(target "${call}")
  endif()
endmacro()

# The program: a description of every target's kernels, written by the generator, and a main() that
# hands them to an object of `class`.
function(_morello_testbench class_header class first)
  set(work "${CMAKE_CURRENT_BINARY_DIR}/morello/${target}")
  set(includes "")
  set(calls "${first}")
  set(described "")
  foreach(kernel IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "of_${kernel}" suite)
    if("${kernel}" IN_LIST arg_BASELINE AND NOT calls MATCHES "baseline")
      string(APPEND calls "  program.baseline();\n")
    endif()
    string(APPEND includes "#include \"${kernel}/subjects.h\"\n")
    string(APPEND calls "  morello::testbench::subjects::each_${suite}(program);\n")
    _morello_describe("${kernel}" "${suite}")
    list(APPEND described "${work}/${kernel}/subjects.h")
  endforeach()
  set(text "${includes}#include \"${class_header}\"\n\nint main(int argc, char** argv) {\n  morello::testbench::${class} program(argc, argv);\n${calls}  return program.finish();\n}")
  file(CONFIGURE OUTPUT "${work}/main.cc" CONTENT "@text@" @ONLY NEWLINE_STYLE UNIX)
  add_executable(${target} "${work}/main.cc" ${described})
  list(GET ARGN 0 kernel)
  target_include_directories(${target} PRIVATE "${work}" "${work}/${kernel}")
  find_package(Threads REQUIRED)
  target_link_libraries(${target} PRIVATE ${ARGN} ${arg_LINK} Threads::Threads)
endfunction()

function(_morello_describe kernel suite)
  foreach(name IN ITEMS SPECS INCLUDE NAMESPACE THREADS KERNELS NAMED)
    get_target_property(${name} ${kernel} MORELLO_${name})
  endforeach()
  set(named "")
  if(NAMED)
    set(named --name "${NAMED}")
  endif()
  set(output "${work}/${kernel}")
  add_custom_command(OUTPUT "${output}/subjects.h"
    COMMAND ${generator} testbench --spec-file "${SPECS}" ${named} --namespace "${NAMESPACE}"
            --header-name "${INCLUDE}" --threads "${THREADS}" --suite "${suite}"
            --output "${output}"
    DEPENDS ${generator} "${SPECS}" VERBATIM COMMENT "Morello: what ${kernel} has to compute")
endfunction()
