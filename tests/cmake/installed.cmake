# Shared by the tests of the package.

# The files below `prefix` are those of the golden list and the machine files, and one that is named
# after the build type.
function(expect_installed prefix)
  file(GLOB_RECURSE files RELATIVE "${prefix}" "${prefix}/*")
  list(FILTER files EXCLUDE REGEX "MorelloTargets-[a-z]+\\.cmake$")
  list(SORT files)
  file(STRINGS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/installed.txt" expected)
  file(GLOB machines RELATIVE "${SOURCE}/generator/target"
       "${SOURCE}/generator/target/machines/*.toml")
  list(TRANSFORM machines PREPEND "share/morello/")
  list(APPEND expected ${machines})
  list(SORT expected)
  if(NOT files STREQUAL expected)
    list(JOIN files "\n" files)
    list(JOIN expected "\n" expected)
    fail("installed\n${files}\nexpected\n${expected}")
  endif()
endfunction()
