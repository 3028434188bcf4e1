# What one build of a consumer's project does, and what the following builds do not do.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

set(source "${WORK}/source")
set(build "${WORK}/build")
set(generator "${WORK}/morello")  # a copy, whose time we may change
file(COPY "${CMAKE_CURRENT_LIST_DIR}/consumer/" DESTINATION "${source}")
file(COPY_FILE "${MORELLO}" "${generator}")
set(spec "${source}/kernels/kernels.spec")

function(expect_idle what)
  build("${build}")
  expect_count("${what}: kernels generated" "Morello: " 0)
  expect_count("${what}: files compiled" "Building CXX" 0)
  if(GENERATOR STREQUAL "Ninja")
    expect_match("${what}" "ninja: no work to do")
  endif()
endfunction()

configure("${source}" "${build}" "-DMORELLO_MODULE=${MODULE}" "-DMORELLO_EXECUTABLE=${generator}")
expect_match("summary" "Morello: kernels in square, square_static, square_object, squares, unused")
build("${build}")
expect_count("first build: kernels generated" "Morello: [a-z_]+ \\(" 4)
expect_count("first build: machine" "Morello: looking at this machine" 1)
expect_count("first build: statistics shown" "\"kernels\": \\[" 1)
must("${build}/app/app")
expect_match("program" "all kernels right")

file(STRINGS "${build}/properties.txt" files)
foreach(file IN LISTS files)
  if(NOT EXISTS "${file}")
    fail("the property names ${file}, which does not exist")
  endif()
endforeach()
if(NOT EXISTS "${build}/generated/squares.hpp")
  fail("OUTPUT_DIR was not used")
endif()
expect_idle("second build")

# A new configure run alone changes nothing.
configure("${source}" "${build}")
expect_idle("build after configure")

# A rebuilt generator runs again for each kernel; equal headers are not touched.
tick()
file(TOUCH "${generator}")
build("${build}")
expect_count("new generator: kernels generated" "Morello: [a-z_]+ \\(" 4)
expect_count("new generator: files compiled" "Building CXX" 0)
expect_idle("build after the new generator")

# A comment in a spec file.
tick()
file(APPEND "${spec}" "# another comment\n")
build("${build}")
expect_count("comment: kernels generated" "Morello: square_object \\(kernels.spec\\)" 1)
expect_count("comment: files compiled" "Building CXX" 0)
expect_idle("build after the comment")

# A real change: the kernel's source and the consumer's one file that includes the header.
tick()
file(APPEND "${spec}" "third(a: f32[2,2], b: f32[2,2]): f32 = matmul(a, b)\n")
build("${build}")
expect_count("new kernel: kernels generated" "Morello: square_object \\(kernels.spec\\)" 1)
expect_count("new kernel: kernel compiled" "Building CXX object kernels/" 1)
expect_count("new kernel: consumer compiled" "Building CXX object app/" 1)
must("${build}/app/app")
expect_idle("build after the new kernel")

# A header that went missing comes back.
file(REMOVE "${build}/generated/squares.hpp")
build("${build}")
expect_count("deleted header: kernels generated" "Morello: squares" 1)
must("${build}/app/app")

# EXCLUDE_FROM_ALL: only on request; the umbrella target makes everything.
set(header "${build}/kernels/morello/unused/include/unused.h")
if(EXISTS "${header}")
  fail("EXCLUDE_FROM_ALL: ${header} exists")
endif()
build("${build}" --target morello_codegen)
if(NOT EXISTS "${header}")
  fail("target morello_codegen did not make ${header}")
endif()

# A spec that is wrong stops the build with the user's file and line, and leaves no header.
file(WRITE "${spec}" "square(a: f32[2,2], b: f32[2,2]): f32 = matmul(a, c)\n")
run("${CMAKE_COMMAND}" --build "${build}")
if(result EQUAL 0)
  fail("a wrong spec file built:\n${output}")
endif()
expect_match("wrong spec file" "kernels\\.spec:1:51: error: ")
