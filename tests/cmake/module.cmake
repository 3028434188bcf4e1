# The module among other things in a build: job pools of the project, texts that CMake would change,
# a second copy of the module.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")

set(spec "(a: f32[2,2], b: f32[2,2]): f32 = matmul(a, b)")

# project_of(<name> <text>): a project whose CMakeLists.txt ends with the text.
function(project_of name text)
  file(WRITE "${WORK}/${name}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\n"
    "project(${name} LANGUAGES CXX)\n${text}")
endfunction()

# A job pool of the project, made known before or after the first kernel: both pools must exist, or
# Ninja rejects the build.
set(kernel "morello_add_kernel(one SPEC \"${spec}\" MACHINE x86-64-v3)\n")
set(user_pool "add_custom_target(mine ALL COMMAND \"\${CMAKE_COMMAND}\" -E echo mine JOB_POOL user)\n")
set(module "include(\"${MODULE}\")\n")
project_of(pool_variable "${module}set(CMAKE_JOB_POOLS user=2)\n${kernel}${user_pool}")
project_of(pool_before
  "${module}set_property(GLOBAL PROPERTY JOB_POOLS user=2)\n${kernel}${user_pool}")
project_of(pool_after
  "${module}${kernel}set_property(GLOBAL PROPERTY JOB_POOLS user=2)\n${user_pool}")
foreach(name IN ITEMS pool_variable pool_before pool_after)
  configure("${WORK}/${name}" "${WORK}/${name}/build" "-DMORELLO_EXECUTABLE=${MORELLO}")
  build("${WORK}/${name}/build")
  file(READ "${WORK}/${name}/build/build.ninja" ninja)
  if(NOT ninja MATCHES "pool = morello")
    fail("${name}: the kernel is in no pool")
  endif()
endforeach()

# What lists, variables, generator expressions and Make would change reaches the file as it is. The
# generator is a target here, so that nothing reads the text yet.
set(text [==[(a: [0,1) ; $(HOME) $<CONFIG> @PATH@ ${PATH} "quoted" \ ]==])
project_of(texts "${module}add_executable(tool tool.cc)\nadd_executable(Morello::morello ALIAS tool)
morello_add_kernel(odd MACHINE x86-64-v3 SPECS [==[one=${text}]==] [==[two=(b]]==])\n")
file(WRITE "${WORK}/texts/tool.cc" "int main() {}\n")
configure("${WORK}/texts" "${WORK}/texts/build")
file(READ "${WORK}/texts/build/morello/odd/odd.spec" written)
if(NOT "${written}" STREQUAL "one${text}\ntwo(b]\n")
  fail("the texts were changed:\n${written}")
endif()

# Two versions of the module in one build.
get_filename_component(directory "${MODULE}" DIRECTORY)
file(COPY "${directory}/" DESTINATION "${WORK}/copy")
set(copy "include(\"${WORK}/copy/MorelloGenerate.cmake\")\n")
project_of(copies "set(Morello_VERSION 1.2.3)\n${module}${copy}")
configure("${WORK}/copies" "${WORK}/copies/build")
project_of(copies "set(Morello_VERSION 1.2.3)\n${module}set(Morello_VERSION 1.3.0)\n${copy}")
run("${CMAKE_COMMAND}" -S "${WORK}/copies" -B "${WORK}/copies/build")
expect_match("two versions" "Morello 1\\.3\\.0 is loaded after Morello 1\\.2\\.3:")
