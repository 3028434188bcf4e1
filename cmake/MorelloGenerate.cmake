# morello_add_kernel(): from a kernel's spec to an ordinary CMake target. Reference: docs/cmake.md
#
# How it fits together. One custom command runs the generator. Its OUTPUT is a stamp and the header
# is a byproduct: the generator leaves an unchanged header's time alone, so that nothing is
# recompiled, and writes the stamp last. The custom target <target>.generate makes that stamp, and
# <target> depends on it: without that, a consumer in another directory would compile before the
# header exists. Specs reach the generator in a file, never on a command line or in a CMake list.
# What is checked in (MorelloVendor.cmake) is written by <target>.update alone.
#
# The comments that begin with #[=[.md are docs/cmake.md; after a change
#   MORELLO_UPDATE_DOCS=1 ctest --test-dir build -R T20
#[=[.md
# morello_add_kernel

```cmake
find_package(Morello REQUIRED)          # or add_subdirectory(morello)

morello_add_kernel(ffw
  SPEC    "(x: bf16[1,2048], w: bf16[2048,16384] packed): f32 = matmul(x, w)"
  THREADS 4)
target_link_libraries(app PRIVATE ffw)  # #include "ffw.h"
```

The function makes an ordinary CMake target. While the project builds, the generator searches for
the cheapest program for the spec on the machine and writes a header; whoever links the target can
include it. CMake 3.25 or newer has to run; the project's own `cmake_minimum_required` may be lower.

## Signature

```cmake
morello_add_kernel(<target>
  SPEC <spec> | SPECS <name>=<spec>... | SPEC_FILE <file>
  [TYPE INTERFACE|STATIC|OBJECT]
  [NAME <function>]
  [NAMESPACE <a::b>]
  [HEADER <file.h>]
  [MACHINE <name>|<file.toml>|native]
  [ISA <isa>...]
  [DISPATCH runtime|none]
  [THREADS <count>]
  [MAX_SPECS <count>]
  [LOCK <file>]
  [LOCKED]
  [VENDOR_DIR <dir>]
  [REPORT_VAR <variable>]
  [SCHEDULE_VAR <variable>]
  [OUTPUT_DIR <dir>]
  [EXCLUDE_FROM_ALL]
  [STATS])
```

| Keyword | Meaning | Default |
|---|---|---|
| `SPEC` | One kernel, as one quoted argument: `"(x: f32[4,8], w: f32[8,2]): f32 = matmul(x, w)"`. | one of `SPEC`, `SPECS`, `SPEC_FILE` is needed |
| `SPECS` | Several kernels in one header, each a quoted `"<name>=<spec>"`. | |
| `SPEC_FILE` | A file of kernels, each `name(params): dtype = expr`, with `#` comments; or StableHLO or HLO text, as jax prints it, if its name ends in `.mlir`, `.stablehlo` or `.hlo` ([hlo.md](hlo.md)). Relative to the source directory. Errors carry its name and line. | |
| `TYPE` | `INTERFACE`: all code is in the header, with internal linkage. `STATIC`, `OBJECT`: the header declares, one generated source is compiled once. | `INTERFACE` |
| `NAME` | The C++ function's name. Goes with `SPEC` only. | the target's name |
| `NAMESPACE` | The C++ namespace, such as `my::kernels`. | `morello` |
| `HEADER` | What the consumer writes in `#include`; may contain directories. | `<target>.h` |
| `MACHINE` | The machine to search for: a name from `morello machine list` or of `morello_add_machine`, a machine file (`.toml`, relative to the source directory), or `native`, the machine that builds. | `${MORELLO_MACHINE}` if set, else `native` |
| `ISA` | Instruction sets, any of `avx512_bf16 avx512_vnni avx512 avx2_vnni avx2 scalar`. The header picks the widest the CPU has; `scalar` must be among them, so that there always is one. | what the machine has, `avx512` if it has that, `avx2` and `scalar` |
| `DISPATCH` | `runtime`: the CPU is asked. `none`: the one `ISA` that is named is called without asking; every CPU that runs the program must have it. | `runtime` |
| `THREADS` | How many threads the kernel may use, 1 to 1024. More than one adds a last parameter, a `morello::Parallel`. | `1` |
| `MAX_SPECS` | Give up (the build fails) after as many sub-problems per family of programs. A budget in seconds would make builds irreproducible, so there is none. | no limit |
| `LOCK` | A file that keeps the programs that were found, see [lock files](#lock-files). Relative to the source directory. | `morello.lock`, if that file is there |
| `LOCKED` | What is not in the lock file, or is checked in and out of date, is an error, never a search. | `${MORELLO_LOCKED}` |
| `VENDOR_DIR` | Use the header that is checked in there; generate nothing, see [checked-in headers](#checked-in-headers). Relative to the source directory. | |
| `REPORT_VAR` | A variable that gets the path of the report, which `<target>.report` makes. | |
| `SCHEDULE_VAR` | A variable that gets the path of the programs found, as text. | |
| `OUTPUT_DIR` | The include directory to write the header to, relative to the build directory. Never inside the source tree. | `<build>/morello/<target>/include` |
| `EXCLUDE_FROM_ALL` | Generate only when something that is built needs it. | off |
| `STATS` | Print the search's statistics (JSON) in the build's output. They are in the property `MORELLO_STATS`'s file in any case. | off |

No character of a spec needs escaping in CMake, but the spec must be one quoted argument. To wrap
the call, use a `function()`, not a `macro()`, and pass each spec quoted.

## What it makes

| Name | Is |
|---|---|
| `<target>` | The library. Its header is in a file set: `install(TARGETS <target> FILE_SET HEADERS)` installs it. |
| `<target>.generate` | Generates, compiles nothing. Not with `VENDOR_DIR`. |
| `<target>.update` | Writes what is checked in, with `VENDOR_DIR` and `LOCK`; else the same as `<target>.generate`. |
| `<target>.report` | A page with the programs found, what each part costs by the model and what lost. |
| `morello_codegen`, `morello_update`, `morello_reports` | All targets `.generate`, `.update`, `.report` of the build, also those with `EXCLUDE_FROM_ALL`. |
| `morello_machine` | Looks at this machine, once per build tree (`MACHINE native`). |

The library is in the `FOLDER` of your targets, all others are in the folder `Morello`, for IDEs that show folders.

Properties of `<target>`: `MORELLO_KERNELS` (the functions; empty with `SPEC_FILE`), `MORELLO_HEADER`,
`MORELLO_SOURCE` (empty for `INTERFACE`), `MORELLO_SPECS` (the file that the generator reads),
`MORELLO_SCHEDULE` (the programs that were found, as text), `MORELLO_STATS` (what the search did, as
JSON), `MORELLO_REPORT`, `MORELLO_LOCK` (empty without one): paths; `MORELLO_INCLUDE`,
`MORELLO_NAMESPACE`, `MORELLO_THREADS`, `MORELLO_NAMED`: what the call said.

## When it generates again

When the spec (in CMake or in the file), the machine file, the lock file or the generator itself
changes. A header whose text stays the same keeps its time, so a changed comment recompiles nothing. A
build without changes has no work to do.

## Reproducible builds

A header is a function of the spec, the machine file, the options and the generator: not of the
directory, the locale, the time, the compiler, the number of threads of the search, or what was
searched for before. `MACHINE native` depends on the machine that builds. With `SOURCE_DATE_EPOCH` set in
the environment, with `LOCKED` and with `VENDOR_DIR` it is refused; check in a machine file instead:

```sh
morello machine detect --output machine.toml
```
```cmake
morello_add_kernel(ffw SPEC "..." MACHINE machine.toml)
```

`-DMORELLO_MACHINE=<name or file>` sets the default for a whole build. Nothing ever uses the network.

## Variables

| Variable | Meaning |
|---|---|
| `MORELLO_EXECUTABLE` | The generator to run; wins over the package's. For cross builds: a `morello` that runs on the host. |
| `MORELLO_NATIVE_BUILD` | Whether a cross build from Morello's sources may build a generator for its host first: `ON`. |
| `MORELLO_NATIVE_ARGS` | Further arguments of CMake for that, such as its compiler. |
| `MORELLO_MACHINE` | Default of `MACHINE`. |
| `MORELLO_LOCK` | Kernels without `LOCK` use `morello.lock` in their source directory, which an update makes: `OFF`. |
| `MORELLO_LOCKED` | `LOCKED` for all kernels, for continuous integration. Its first value is that of the environment variable of the same name. |
| `MORELLO_PROGRESS` | What a long search shows: `auto` (a line where the build's output is a terminal), `terminal` (the same, and Ninja lets it through while the search runs, holding back all other output), `log` (a line every ten seconds), `off`. |
| `MORELLO_PARALLEL_JOBS` | How many generators run at once under Ninja (each uses all cores): 1. |
| `MORELLO_CACHE_DIR` | Where solved sub-problems are kept, see below: empty (`<build>/morello/memo`), a directory, or `OFF`. Its first value is that of the environment variable of the same name. |
| `Morello_INSTALL_CMAKEDIR` | Where the package's CMake files are installed. |

The generator is looked for in this order: `MORELLO_EXECUTABLE`; the target `Morello::morello`, from
`find_package(Morello)` if it runs on this host or, in a build that is not a cross build, from Morello's
own source tree; in a cross build with Morello's sources, one that is built for the host first
([cross builds](recipes.md#cross-builds)).

## Solved sub-problems are shared

Kernels of one machine have many sub-problems in common. The generator keeps what it has solved in a
directory of the build tree, so that the next kernel, and the next build, need not solve it again.
Several build trees, users or CI jobs may share one directory, at the same time and by any number of
processes:

```sh
cmake -S . -B build -DMORELLO_CACHE_DIR=/var/cache/morello
```

What is in the directory changes how long a search takes and nothing else. Every byte that is
generated is the same with a full, an empty, a damaged or no directory. A table is signed with what
it depends on, the machine and the generator's sources among it, so that nothing stale is ever used;
a directory that cannot be written to is read only. It grows to a GiB (the environment variable
`MORELLO_CACHE_BUDGET`, in MiB), then the tables that were not used for longest go. You may delete
it at any time. [cli.md](cli.md#memo-what-is-kept-between-runs) says how to look into it.

Measured on f32 matrix products of 512 to 1024 by 2048 to 4096 by 2048: keeping what it solves costs
a first search about 40 % more CPU time. A kernel that was solved before takes 20 ms in place of one
or two seconds. One with one other size has 16 to 43 % fewer sub-problems to solve, but looking them
up and keeping the new ones costs more than that: 30 to 40 % more time than without. So the
directory is for builds that come again; `OFF` is right for a build tree that is thrown away.

Who can write to the directory decides what the generator believes, as with the build tree itself.

]=]

if(CMAKE_VERSION VERSION_LESS 3.25)
  message(FATAL_ERROR " Morello needs CMake 3.25 or newer; this is CMake ${CMAKE_VERSION}.")
endif()

# Functions are global in CMake, include_guard() works by path: a second copy of this file (say,
# fetched and installed) would silently replace the functions of the first.
get_property(_morello_loaded GLOBAL PROPERTY _MORELLO_MODULE)
if(_morello_loaded)
  get_property(_morello_version GLOBAL PROPERTY _MORELLO_VERSION)
  if(NOT "${_morello_version}" STREQUAL "${Morello_VERSION}")
    message(FATAL_ERROR " Morello ${Morello_VERSION} is loaded after Morello ${_morello_version}:\n"
      "   ${CMAKE_CURRENT_LIST_FILE}\n   ${_morello_loaded}\n One build can use one of them.")
  endif()
  return()
endif()
set_property(GLOBAL PROPERTY _MORELLO_MODULE "${CMAKE_CURRENT_LIST_FILE}")
set_property(GLOBAL PROPERTY _MORELLO_VERSION "${Morello_VERSION}")
set_property(GLOBAL PROPERTY _MORELLO_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/MorelloScript.cmake")

# The names of the machine files that come with the generator: the package says where they are; in
# the source tree they are beside the code that reads them.
if(NOT DEFINED MORELLO_MACHINES_DIR)
  set(MORELLO_MACHINES_DIR "${CMAKE_CURRENT_LIST_DIR}/../generator/target/machines")
endif()
file(GLOB _morello_machines RELATIVE "${MORELLO_MACHINES_DIR}" "${MORELLO_MACHINES_DIR}/*.toml")
list(TRANSFORM _morello_machines REPLACE "\\.toml$" "")
list(SORT _morello_machines COMPARE NATURAL)
set_property(GLOBAL PROPERTY _MORELLO_MACHINES "${_morello_machines}")

# Not cmake_minimum_required(), which would overwrite the consumer's own. Functions keep the
# policies in force where they are defined, so a consumer may ask for CMake 3.11.
cmake_policy(VERSION 3.25...4.0)

include("${CMAKE_CURRENT_LIST_DIR}/MorelloCheck.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/MorelloGenerator.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/MorelloVendor.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/MorelloCompanions.cmake")

set(MORELLO_EXECUTABLE "" CACHE FILEPATH "The Morello generator; empty: the one of the package")
set(MORELLO_PARALLEL_JOBS 1 CACHE STRING "Generators that run at once (each uses all cores)")
# Not a PATH: CMake would make a path of OFF too.
set(MORELLO_CACHE_DIR "$ENV{MORELLO_CACHE_DIR}" CACHE STRING
    "Where solved sub-problems are kept; empty: in the build tree; OFF: nowhere")
option(MORELLO_LOCK "Kernels without LOCK use morello.lock in their source directory" OFF)
set(MORELLO_LOCKED "$ENV{MORELLO_LOCKED}" CACHE BOOL
    "What is not in a lock file, or is checked in and out of date, is an error")
set(MORELLO_PROGRESS auto CACHE STRING "What searches show: auto, terminal, log or off")
set_property(CACHE MORELLO_PROGRESS PROPERTY STRINGS auto terminal log off)
mark_as_advanced(MORELLO_EXECUTABLE MORELLO_PARALLEL_JOBS MORELLO_CACHE_DIR MORELLO_LOCK
                 MORELLO_LOCKED MORELLO_PROGRESS)

foreach(_morello_property IN ITEMS KERNELS HEADER SOURCE SCHEDULE STATS REPORT LOCK SPECS INCLUDE
        NAMESPACE THREADS NAMED)
  define_property(TARGET PROPERTY MORELLO_${_morello_property})
endforeach()

macro(_morello_vocabulary)
  set(flags LOCKED EXCLUDE_FROM_ALL STATS)
  set(singles SPEC SPEC_FILE TYPE NAME NAMESPACE HEADER MACHINE DISPATCH THREADS MAX_SPECS LOCK
              VENDOR_DIR REPORT_VAR SCHEDULE_VAR OUTPUT_DIR)
  set(lists SPECS ISA)
  set(keywords SPEC SPECS SPEC_FILE TYPE NAME NAMESPACE HEADER MACHINE ISA DISPATCH THREADS
               MAX_SPECS LOCK LOCKED VENDOR_DIR REPORT_VAR SCHEDULE_VAR OUTPUT_DIR
               EXCLUDE_FROM_ALL STATS)
  set(types INTERFACE STATIC OBJECT)
  set(isas avx512_bf16 avx512_vnni avx512 avx2_vnni avx2 scalar)  # widest first: the order in which the header tries them
  set(max_threads 1024)
  set(dispatches runtime none)
  foreach(word IN LISTS singles lists)
    unset(arg_${word})  # the caller may have variables of these names
  endforeach()
endmacro()

function(morello_add_kernel)
  _morello_vocabulary()
  set(target "${ARGV0}")
  set(problem "")
  set(given "")
  set(key "")
  set(key_values 1)
  set(spec_count 0)
  math(EXPR last "${ARGC} - 1")
  if(last GREATER 0)
    foreach(i RANGE 1 ${last})
      set(value "${ARGV${i}}")
      if(problem STREQUAL "")
        _morello_take()
      endif()
    endforeach()
  endif()
  foreach(step IN ITEMS call target specs names header lock vendor output machine isa threads
                        budget progress variables program language)
    if(problem STREQUAL "")
      cmake_language(CALL _morello_check_${step})
    endif()
  endforeach()
  if(NOT problem STREQUAL "")
    # A line that begins with a space is printed as it is: no wrapping of paths and commands.
    string(REPLACE "\n" "\n " problem "${problem}")
    message(FATAL_ERROR " morello_add_kernel(${target}): ${problem}\n In ${CMAKE_CURRENT_LIST_FILE}")
  endif()
  # The folder of what is made from here on; the library goes where the project puts its targets.
  set(folder_of_project "${CMAKE_FOLDER}")
  set(CMAKE_FOLDER Morello)
  _morello_global_setup()
  if(vendor_dir OR lock_file)
    _morello_update_text()
  endif()
  if(vendor_dir)
    _morello_inputs_digest()
    _morello_vendored()
  else()
    _morello_generated()
  endif()
  add_dependencies(morello_update ${target}.update)
  if(generator)
    _morello_report()
  endif()
  foreach(what IN ITEMS REPORT SCHEDULE)
    if("${what}_VAR" IN_LIST given)
      get_target_property(path ${target} MORELLO_${what})
      set(${arg_${what}_VAR} "${path}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# A target whose files the build makes.
function(_morello_generated)
  _morello_command()
  if(lock_file)
    _morello_update_target()
  else()
    add_custom_target(${target}.update)
    add_dependencies(${target}.update ${target}.generate)
  endif()
  _morello_library()
  add_dependencies(${target} ${target}.generate)
endfunction()

# What exists once in a build: the umbrella targets, the job pool, the summary.
function(_morello_global_setup)
  get_property(others GLOBAL PROPERTY _MORELLO_TARGETS)
  if(NOT others)
    foreach(umbrella IN ITEMS codegen update reports)
      add_custom_target(morello_${umbrella})
    endforeach()
    cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL _morello_finish)
  endif()
  _morello_pool()
  if(machine_target STREQUAL "morello_machine" AND NOT TARGET morello_machine)
    _morello_detect(morello_machine "${machine_file}" "")
  endif()
  set_property(GLOBAL APPEND PROPERTY _MORELLO_TARGETS "${target}")
  if(vendor_dir)
    set_property(GLOBAL APPEND PROPERTY _MORELLO_VENDORED "${target}")
  endif()
  if(lock_file)
    set_property(GLOBAL APPEND PROPERTY _MORELLO_LOCKING "${target}")
  endif()
  set_property(GLOBAL PROPERTY "_MORELLO_OWNER_${header_path}" "${target}")
  foreach(kernel IN LISTS kernels)
    set_property(GLOBAL PROPERTY "_MORELLO_OWNER_${namespace}::${kernel}" "${target}")
  endforeach()
endfunction()

# Searches use all cores, so they run one by one, beside the other jobs. Ninja rejects a build with
# an undeclared pool, and the property hides the variable CMAKE_JOB_POOLS: hence the copy.
function(_morello_pool)
  if(NOT CMAKE_GENERATOR MATCHES "Ninja")
    return()
  endif()
  get_property(pools GLOBAL PROPERTY JOB_POOLS)
  if(NOT pools AND DEFINED CMAKE_JOB_POOLS)
    set(pools "${CMAKE_JOB_POOLS}")
  endif()
  if(NOT ";${pools}" MATCHES ";morello=")
    list(APPEND pools "morello=${MORELLO_PARALLEL_JOBS}")
  endif()
  set_property(GLOBAL PROPERTY JOB_POOLS "${pools}")
endfunction()

# The summary, at the end of the configure run.
function(_morello_finish)
  _morello_pool()  # again: the project may have set the property after the first kernel
  get_property(targets GLOBAL PROPERTY _MORELLO_TARGETS)
  list(JOIN targets ", " names)
  message(STATUS "Morello: kernels in ${names}")
  foreach(what IN ITEMS "VENDORED/checked in" "LOCKING/with a lock file")
    string(REGEX MATCH "^([A-Z]+)/(.*)$" what "${what}")
    get_property(targets GLOBAL PROPERTY _MORELLO_${CMAKE_MATCH_1})
    if(targets)
      list(JOIN targets ", " names)
      message(STATUS "Morello: ${CMAKE_MATCH_2}: ${names}")
    endif()
  endforeach()
endfunction()

# A machine file made by the generator: of this machine, looked at once per build tree (and when the
# generator changes), or of a description by hwloc.
function(_morello_detect name file description)
  set(CMAKE_FOLDER Morello)
  set(stamp "${file}.stamp")
  set(environment "")
  set(comment "Morello: looking at this machine")
  if(description)
    set(environment "${CMAKE_COMMAND}" -E env "HWLOC_XMLFILE=${description}" HWLOC_THISSYSTEM=0)
    set(comment "Morello: a machine file of ${description}")
  endif()
  cmake_path(GET file PARENT_PATH directory)
  file(MAKE_DIRECTORY "${directory}")
  add_custom_command(OUTPUT "${stamp}" BYPRODUCTS "${file}"
    COMMAND ${environment} ${generator} machine detect --output "${file}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS ${generator} ${description} VERBATIM COMMENT "${comment}")
  add_custom_target(${name} DEPENDS "${stamp}")
  _morello_guard(${name} "${stamp}" "${file}")
endfunction()

# Other directories do not see the rule for a generated machine file: its target orders them.
function(_morello_needs_machine name)
  if(machine_target)
    add_dependencies(${name} ${machine_target})
  endif()
endfunction()

function(_morello_guard name stamp)
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    get_property(script GLOBAL PROPERTY _MORELLO_SCRIPT)
    add_custom_target(${name}.guard VERBATIM
      COMMAND "${CMAKE_COMMAND}" -DDO=guard "-DSTAMP=${stamp}" "-DFILES=${ARGN}" -P "${script}")
    add_dependencies(${name} ${name}.guard)
  endif()
endfunction()

# -> memo_arguments. The directory is neither an input nor an output: what it holds changes how long
# a search takes, never a byte of what is generated.
function(_morello_memo)
  string(TOUPPER "${MORELLO_CACHE_DIR}" word)
  if(word MATCHES "^(OFF|NO|N|FALSE|0)$")
    set(memo_arguments --no-memo PARENT_SCOPE)
    return()
  endif()
  set(directory "${CMAKE_BINARY_DIR}/morello/memo")
  if(NOT word STREQUAL "")
    cmake_path(ABSOLUTE_PATH MORELLO_CACHE_DIR BASE_DIRECTORY "${CMAKE_BINARY_DIR}" NORMALIZE
               OUTPUT_VARIABLE directory)
  endif()
  set(memo_arguments --memo "${directory}" PARENT_SCOPE)
endfunction()

# -> `result`: the generator's arguments for these files, and more options.
function(_morello_generate_arguments result header_file source_file)
  set(arguments generate --spec-file "${spec_file}" ${spec_arguments} --machine "${machine}"
    ${isa_arguments} --threads "${arg_THREADS}" ${budget_arguments} --progress "${progress}"
    --namespace "${namespace}" --header "${header_file}" --header-name "${header}")
  if(source_path)
    list(APPEND arguments --source "${source_file}")
  endif()
  if(vendor_dir)
    list(APPEND arguments --inputs-digest "${inputs_digest}")
  endif()
  if(lock_file)
    list(APPEND arguments --lock "${lock_file}" --lock-target "${target}"
         --update-command "${update_text}")
  endif()
  _morello_memo()
  set(${result} ${arguments} ${memo_arguments} ${ARGN} PARENT_SCOPE)
endfunction()

# The custom command and <target>.generate
function(_morello_command)
  set(stamp "${work}/${target}.stamp")
  set(files "${header_path}" ${source_path} "${impl_path}" "${stats_path}")
  foreach(file IN LISTS files)  # Make does not create the directories of outputs
    cmake_path(GET file PARENT_PATH directory)
    file(MAKE_DIRECTORY "${directory}")
  endforeach()
  set(show "")
  if("STATS" IN_LIST given)
    set(show COMMAND "${CMAKE_COMMAND}" -E cat "${stats_path}")
  endif()
  set(what "${kernels}")
  if("SPEC_FILE" IN_LIST given)
    cmake_path(GET spec_file FILENAME what)
  endif()
  list(JOIN what ", " what)
  set(lock_mode "")
  if(lock_file AND locked)
    set(lock_mode --locked)
  endif()
  set(lock_input "")
  if(lock_file AND EXISTS "${lock_file}")  # else the first update configures the build again
    set(lock_input "${lock_file}")
  endif()
  _morello_generate_arguments(arguments "${header_path}" "${source_path}" --impl "${impl_path}"
    --stats "${stats_path}" --stamp "${stamp}" ${lock_mode})
  add_custom_command(OUTPUT "${stamp}" BYPRODUCTS ${files}
    COMMAND ${generator} ${arguments} ${show}
    DEPENDS ${generator} "${spec_file}" ${machine_file} ${lock_input}
    ${pool} VERBATIM COMMENT "Morello: ${target} (${what})")
  set(all ALL)
  if("EXCLUDE_FROM_ALL" IN_LIST given)
    set(all "")
  endif()
  add_custom_target(${target}.generate ${all} DEPENDS "${stamp}")
  add_dependencies(morello_codegen ${target}.generate)
  _morello_needs_machine(${target}.generate)
  _morello_guard(${target}.generate "${stamp}" ${files})
endfunction()

# <target>.report: the programs with what they cost, as a page.
function(_morello_report)
  _morello_memo()
  add_custom_command(OUTPUT "${report_path}"
    COMMAND ${generator} explain --spec-file "${spec_file}" ${spec_arguments} --machine "${machine}"
            ${isa_arguments} --threads "${arg_THREADS}" ${budget_arguments}
            --progress "${progress}" --html "${report_path}" ${memo_arguments}
    DEPENDS ${generator} "${spec_file}" ${machine_file}
    ${pool} VERBATIM COMMENT "Morello: report of ${target}")
  add_custom_target(${target}.report DEPENDS "${report_path}")
  add_dependencies(morello_reports ${target}.report)
  _morello_needs_machine(${target}.report)
endfunction()

function(_morello_library)
  set(CMAKE_FOLDER "${folder_of_project}")
  set(scope PUBLIC)
  set(named "")  # the kernel has its name from the call, not from its text
  if("SPEC" IN_LIST given)
    set(named "${kernels}")
  endif()
  if(arg_TYPE STREQUAL "INTERFACE")
    set(scope INTERFACE)
    add_library(${target} INTERFACE)
  else()
    add_library(${target} ${arg_TYPE} "${source_path}")
    _morello_compile_settings()
  endif()
  target_sources(${target} ${scope}
    FILE_SET HEADERS BASE_DIRS "${include_dir}" FILES "${header_path}")
  target_compile_features(${target} ${scope} cxx_std_17)
  set_target_properties(${target} PROPERTIES
    MORELLO_KERNELS "${kernels}" MORELLO_HEADER "${header_path}" MORELLO_SOURCE "${source_path}"
    MORELLO_SCHEDULE "${impl_path}" MORELLO_STATS "${stats_path}" MORELLO_REPORT "${report_path}"
    MORELLO_LOCK "${lock_file}" MORELLO_SPECS "${spec_file}" MORELLO_INCLUDE "${header}"
    MORELLO_NAMESPACE "${namespace}" MORELLO_THREADS "${arg_THREADS}" MORELLO_NAMED "${named}")
  if("EXCLUDE_FROM_ALL" IN_LIST given)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# The generated source of TYPE STATIC and OBJECT.
function(_morello_compile_settings)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF CXX_VISIBILITY_PRESET hidden
    DISABLE_PRECOMPILE_HEADERS ON CXX_CLANG_TIDY "" CXX_CPPCHECK "" CXX_INCLUDE_WHAT_YOU_USE "")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "MSVC")
    # No exceptions: intrinsics are not nothrow, so that noexcept would need the C++ runtime.
    # An unoptimised kernel is about six times slower and nobody steps through it.
    target_compile_options(${target} PRIVATE -fno-exceptions
      $<$<OR:$<CONFIG:Debug>,$<CONFIG:>>:-O2>)
  endif()
endfunction()
