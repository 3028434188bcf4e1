# T11: instruction sets stay inside their own functions, and no code can be exchanged between
# translation units. Compiled for the plain x86-64. Given besides: NM, OBJDUMP.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/disassembly.cmake")

file(WRITE "${WORK}/extra.cmake" [[
add_library(including STATIC ${sources})
target_link_libraries(including PRIVATE kernels)
]])
foreach(type IN ITEMS STATIC OBJECT INTERFACE)
  configure("${CMAKE_CURRENT_LIST_DIR}/program" "${WORK}/${type}" -DTYPE=${type}
    "-DMORELLO_MODULE=${MODULE}" "-DMORELLO_EXECUTABLE=${MORELLO}" "-DEXTRA=${WORK}/extra.cmake"
    "-DCMAKE_CXX_FLAGS=-O3 -march=x86-64")
  build("${WORK}/${type}")
endforeach()

# Every symbol of a file as `symbols`: lines "<class> <demangled name>".
function(symbols_of file)
  must("${NM}" -C "${file}")
  string(REGEX MATCHALL "[ 0-9a-f]+ [A-Za-z] [^\n]+" lines "${output}")
  list(TRANSFORM lines REPLACE "^[ 0-9a-f]* ([A-Za-z]) " "\\1 ")
  set(symbols "${lines}" PARENT_SCOPE)
endfunction()

# The compiled kernels: their functions, and what a compiler may call on its own.
file(GLOB_RECURSE objects "${WORK}/OBJECT/*kernels.cc.o")
set(allowed "memcpy|memset|memmove|__cpu_model|_GLOBAL_OFFSET_TABLE_")
foreach(file IN ITEMS "${WORK}/STATIC/libkernels.a" ${objects})
  symbols_of("${file}")
  set(functions 0)
  foreach(symbol IN LISTS symbols)
    if(symbol MATCHES "^[WVu] ")
      fail("${file} has a symbol that the linker may take from elsewhere: ${symbol}")
    elseif(symbol MATCHES "^U " AND NOT symbol MATCHES "^U (${allowed})$")
      fail("${file} needs something: ${symbol}")
    elseif(symbol MATCHES "^T morello::(floats|halves|bytes|sums)\\(")
      math(EXPR functions "${functions} + 1")
    endif()
  endforeach()
  if(NOT functions EQUAL 4)
    fail("${file} has ${functions} of the 4 kernels:\n${symbols}")
  endif()
  expect_vectors_apart("${file}")
endforeach()

# Header only: each translation unit has its own copies.
symbols_of("${WORK}/INTERFACE/libincluding.a")
list(FILTER symbols INCLUDE REGEX "morello::")
set(outside ${symbols})
list(FILTER outside EXCLUDE REGEX "^[tbdr] ")
if(outside OR NOT symbols)
  fail("header-only kernels are visible outside: ${outside}")
endif()
expect_vectors_apart("${WORK}/INTERFACE/libincluding.a")
