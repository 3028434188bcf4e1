# cmake -DROOT=<generator/> -DOUTPUT=<file.cc> [-DNAME=<library> -DFOLDERS=<folders>] -P sources.cmake
# Writes the digest of everything that the answer of a search can depend on, or of other folders. Not
# the binary's own: compilers differ in that, but not in the answer, and a changed command line makes
# no table wrong.
if(NOT DEFINED NAME)
  set(NAME search)
  set(FOLDERS support spec target impl search)
endif()
set(patterns "")
foreach(folder IN LISTS FOLDERS)
  foreach(name IN ITEMS *.h *.cc CMakeLists.txt)
    list(APPEND patterns "${ROOT}/${folder}/${name}")
  endforeach()
endforeach()
file(GLOB_RECURSE files RELATIVE "${ROOT}" ${patterns})
list(SORT files)
set(sums "")
foreach(file IN LISTS files)
  file(SHA256 "${ROOT}/${file}" sum)
  string(APPEND sums "${sum} ${file}\n")
endforeach()
string(SHA256 digest "${sums}")
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [=[
#include "@NAME@/sources.h"

namespace morello {

std::string_view @NAME@_sources() { return "@digest@"; }

}  // namespace morello
]=])
