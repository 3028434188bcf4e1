# T14: kernels in builds that are not plain: sanitizers, unity, precompiled headers, link-time
# optimisation, a shared library around TYPE STATIC and OBJECT, no exceptions and no RTTI.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

# build_program(<name> <type> [<argument of cmake>...]): with the text `extra`.
function(build_program name type)
  file(WRITE "${WORK}/${name}.cmake" "${extra}")
  configure("${CMAKE_CURRENT_LIST_DIR}/program" "${WORK}/${name}" -DTYPE=${type}
    "-DMORELLO_MODULE=${MODULE}" "-DMORELLO_EXECUTABLE=${MORELLO}"
    "-DEXTRA=${WORK}/${name}.cmake" "-DMORELLO_CACHE_DIR=${WORK}/memo" ${ARGN})
  build("${WORK}/${name}" -v)
  set(built "${output}")
  must("${WORK}/${name}/program")
  expect_match("${name}" "all kernels right")
  set(output "${built}")
  foreach(sign IN LISTS signs)
    expect_match("${name}" "${sign}")
  endforeach()
endfunction()

set(plain [[
add_executable(program ${sources})
target_link_libraries(program PRIVATE kernels)
target_compile_options(program PRIVATE ${warnings})
]])

set(extra "${plain}")
set(signs "-fsanitize=address,undefined")
build_program(sanitized INTERFACE "-DCMAKE_CXX_FLAGS=-O1 -fsanitize=address,undefined -fno-sanitize-recover=all")
build_program(sanitized_static STATIC "-DCMAKE_CXX_FLAGS=-O1 -fsanitize=address,undefined -fno-sanitize-recover=all")

set(signs "unity_0_cxx")
build_program(unity INTERFACE -DCMAKE_UNITY_BUILD=ON)
set(signs "kernels\\.cc\\.o;unity_0_cxx")
build_program(unity_static STATIC -DCMAKE_UNITY_BUILD=ON)

set(extra "${plain}target_precompile_headers(program PRIVATE <cstdio> \"$<TARGET_PROPERTY:kernels,MORELLO_HEADER>\")\n")
set(signs "cmake_pch")
build_program(precompiled INTERFACE)
set(extra "${plain}target_precompile_headers(kernels PUBLIC <cstdio>)\n")
build_program(precompiled_static STATIC)

set(extra "${plain}")
set(signs "-flto")
build_program(lto INTERFACE -DCMAKE_BUILD_TYPE=Release -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON)
build_program(lto_static STATIC -DCMAKE_BUILD_TYPE=Release -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON)

set(signs "-fno-rtti")
build_program(bare STATIC "-DCMAKE_CXX_FLAGS=-fno-exceptions -fno-rtti")

set(extra [[
add_library(around SHARED "${CMAKE_CURRENT_SOURCE_DIR}/elsewhere.cc")
target_link_libraries(around PUBLIC kernels)
target_link_options(around PRIVATE -Wl,--no-undefined)
add_executable(program "${CMAKE_CURRENT_SOURCE_DIR}/main.cc")
target_link_libraries(program PRIVATE around kernels)  # the copy inside is not visible
]])
set(signs "libaround\\.so")
foreach(type IN ITEMS STATIC OBJECT INTERFACE)
  build_program(shared_${type} ${type})
endforeach()
