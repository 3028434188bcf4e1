# T18: the Debian package: its files are those of the golden list, what it depends on, a project
# builds with what it unpacks to; and, where this is root with debootstrap, it installs, works and
# can be removed in a minimal Debian. Given besides: DEBOOTSTRAP, maybe empty.
include("${CMAKE_CURRENT_LIST_DIR}/support.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/installed.cmake")

must("${CMAKE_CPACK_COMMAND}" -G DEB --config "${BUILD}/CPackConfig.cmake" -B "${WORK}/package")
file(GLOB package "${WORK}/package/*.deb")
must(dpkg-deb -x "${package}" "${WORK}/root")
expect_installed("${WORK}/root/usr")
file(GLOB others RELATIVE "${WORK}/root" "${WORK}/root/*")
if(NOT others STREQUAL "usr")
  fail("files outside /usr: ${others}")
endif()

must(dpkg-deb -f "${package}" Package Version Depends)
foreach(expected IN ITEMS "Package: morello\n" "Version: [0-9.]+\n" "libc6 \\(" "libfmt9 \\("
        "libhwloc15 \\(" "libstdc\\+\\+6 \\(")
  expect_match("${package}" "${expected}")
endforeach()

configure("${CMAKE_CURRENT_LIST_DIR}/consumer" "${WORK}/consumer"
          "-DCMAKE_PREFIX_PATH=${WORK}/root/usr")
build("${WORK}/consumer")
must("${WORK}/consumer/app/app")

run(id -u)
if(DEBOOTSTRAP AND output STREQUAL "0\n")
  must("${SOURCE}/scripts/deb_root.sh" "${package}" "${WORK}/debian")
  expect_match("in a minimal Debian" "all kernels right\n.*All passed")
else()
  message(STATUS "Not tried in a minimal Debian: that needs root and debootstrap")
endif()
