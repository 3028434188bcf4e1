# Written by the target layer.update of the project that generates these kernels.
add_library(layer INTERFACE)
target_include_directories(layer INTERFACE "${CMAKE_CURRENT_LIST_DIR}")
target_compile_features(layer INTERFACE cxx_std_17)
