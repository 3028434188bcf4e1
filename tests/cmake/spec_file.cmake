# T4: a mistake in a file of specs is said as compilers say it, with the place and a caret; and a
# file that was mended builds. The same of StableHLO text.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

set(source "${WORK}/source")
file(WRITE "${source}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)
project(specs LANGUAGES CXX)
include(\"${MODULE}\")
morello_add_kernel(k SPEC_FILE in/k.spec MACHINE x86-64-v3 ISA scalar)
morello_add_kernel(h SPEC_FILE in/h.mlir MACHINE x86-64-v3 ISA scalar)
")
set(good "one(a: f32[2,2], b: f32[2,2]): f32 = matmul(a, b)\n")
file(WRITE "${source}/in/k.spec" "${good}")
set(module "func.func @half(%a: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.5> : tensor<4xf32>
  %0 = stablehlo.OPERATOR %a, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}
")
string(REPLACE OPERATOR multiply good_module "${module}")
file(WRITE "${source}/in/h.mlir" "${good_module}")
configure("${source}" "${WORK}/build" "-DMORELLO_EXECUTABLE=${MORELLO}")

# The build fails with a message that begins so, about a line of the file; the caret is below the place.
function(refused file text place said)
  run("${CMAKE_COMMAND}" --build "${WORK}/build")
  if(result EQUAL 0)
    fail("this was built: ${text}")
  endif()
  string(REGEX REPLACE "^.*:" "" column "${place}")
  math(EXPR column "${column} + 1")  # the line is shown two columns further in
  string(REPEAT " " ${column} indent)
  foreach(part IN ITEMS "${source}/in/${file}:${place}: error: ${said}" "\n  ${text}\n${indent}^")
    string(FIND "${output}" "${part}" at)
    if(at EQUAL -1)
      fail("expected\n${part}\nin\n${output}")
    endif()
  endforeach()
endfunction()
# <text behind the good kernel>, <line:column>, <how the message begins>
function(row text place said)
  file(WRITE "${source}/in/k.spec" "# Two kernels.\n${good}${text}\n")
  refused(k.spec "${text}" "${place}" "${said}")
endfunction()
row("two(a: f32[2,2]): f32 = matmul(a, c)" "3:35" "unknown parameter `c`; the parameters are: a")
row("two(a: f33[2,2]): f32 = add(a, a)" "3:8" "unknown element type `f33`; allowed: f32, bf16, f16, i32, i16, u8, i8, i7; did you mean `f32`?")
row("two(a: f32[2,2]): f32 = matmull(a, a)" "3:25" "unknown operator `matmull`; allowed: ")
row("two(a: f32[2,2]): f32 = add(a, a" "3:33" "expected `,` or `)` after an operand; got the end of the text")
row("one(a: f32[2,2]): f32 = add(a, a)" "3:1" "kernel `one` exists already, on line 2")

file(WRITE "${source}/in/k.spec" "${good}")
build("${WORK}/build")

string(REPLACE OPERATOR sine bad_module "${module}")
file(WRITE "${source}/in/h.mlir" "${bad_module}")
refused(h.mlir "  %0 = stablehlo.sine %a, %c : tensor<4xf32>" "3:8" "`sine` has no counterpart in the spec language; allowed: add, ")
file(WRITE "${source}/in/h.mlir" "${good_module}")
build("${WORK}/build")
file(GLOB_RECURSE path "${WORK}/build/*/h.h")
file(READ "${path}" output)
expect_match("the kernel of h.mlir" "void half\\(const float\\* a, float\\* out\\)")
