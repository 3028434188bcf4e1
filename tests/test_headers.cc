// The owner of what every test includes (CMakeLists.txt).
