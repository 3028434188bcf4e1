# What is compared: `products`, as a list for morello_bench_kernels, and of these `byte_products`;
# `seven_bit_products` for AVX2 alone.
# A name is a type, m x k x n or what all three are, and what is special; all is in row order but:
#   packed       b may be rearranged ahead of time
#   columns      b has the weights of each output together
#   strided      the same in rows of a caller's matrix: n and their distance are arguments
#   any_mkn      these sizes are arguments, and typical
#   2_threads    by two threads and by one

# Sets m, k and n.
macro(morello_mkn shape)
  string(REPLACE "x" ";" mkn ${shape})
  list(GET mkn 0 m)
  list(GET mkn 1 k)
  list(GET mkn 2 n)
endmacro()

set(products "")
foreach(n IN ITEMS 8 16 32 64 128 256 512 1024 2048 127 401)
  list(APPEND products "f32_${n}|1|(a: f32[${n},${n}], b: f32[${n},${n}]): f32 = matmul(a, b)")
endforeach()
foreach(shape IN ITEMS 6x256x16 16x2048x2048 100x77x300 1000x1x1000 35x700x2048)
  morello_mkn(${shape})
  list(APPEND products "f32_${shape}|1|(a: f32[${m},${k}], b: f32[${k},${n}]): f32 = matmul(a, b)")
endforeach()
# Few rows, and weights in row order.
foreach(shape IN ITEMS 1x512x2048 1x5000x300 4x421x2445 8x1024x1024)
  morello_mkn(${shape})
  list(APPEND products "f32_${shape}|1|(a: f32[${m},${k}], b: f32[${k},${n}]): f32 = matmul(a, b)")
endforeach()
# The same, and those of a layer whose weights are by columns, larger than caches.
foreach(shape IN ITEMS 2x4096x4096 4x4096x4096 8x4096x4096)
  morello_mkn(${shape})
  list(APPEND products
    "f32_${shape}_columns|1|(a: f32[${m},${k}], b: f32[${k},${n}] col): f32 = matmul(a, b)"
    "bf16_${shape}_columns|1|(a: bf16[${m},${k}], b: bf16[${k},${n}] col): f32 = matmul(a, b)")
endforeach()
list(APPEND products
  "f32_512_packed|1|(a: f32[512,512], b: f32[512,512] packed): f32 = matmul(a, b)"
  "f32_16x2048x2048_packed|1|(a: f32[16,2048], b: f32[2048,2048] packed): f32 = matmul(a, b)"
  "f32_512_any_n|1|(a: f32[512,512], b: f32[512,n near 512]): f32 = matmul(a, b)|512, 512, 512|f32_512"
  "f32_512_any_mkn|1|(a: f32[m near 512,k near 512], b: f32[k,n near 512]): f32 = matmul(a, b)|512, 512, 512|f32_512"
  "f32_16x2048x2048_packed_any_m|1|(a: f32[m to 16,2048], b: f32[2048,2048] packed): f32 = matmul(a, b)|16, 2048, 2048|f32_16x2048x2048_packed")
foreach(shape IN ITEMS 4x2304x9216 16x2048x2048 512x2048x2048 256x256x256)
  morello_mkn(${shape})
  list(APPEND products
    "bf16_${shape}_packed|1|(a: bf16[${m},${k}], b: bf16[${k},${n}] packed): f32 = matmul(a, b)")
endforeach()

# What language models decode with: one row, and the weights of a layer (k x n).
set(strided "")
foreach(shape IN ITEMS 1x640x512 1x640x1024 1x1152x512 1x640x2048 1x2048x640 1x1152x1024
                       1x1024x1152 1x2304x2048 1x2048x2304 1x1152x6912 1x6912x1152 1x2304x9216
                       1x9216x2304 1x2560x10240 1x10240x2560 1x2048x16384 1x16384x2048)
  morello_mkn(${shape})
  set(known "")
  if(shape MATCHES "^1x(640x1024|2304x2048|2048x16384)$")
    set(known bf16_${shape}_columns)
    list(APPEND products
      "${known}|1|(a: bf16[1,${k}], b: bf16[${k},${n}] col): f32 = matmul(a, b)")
  endif()
  list(APPEND products
    "bf16_${shape}_packed|1|(a: bf16[1,${k}], b: bf16[${k},${n}] packed): f32 = matmul(a, b)")
  list(APPEND strided
    "bf16_${shape}_strided|1|(a: bf16[1,${k}], b: bf16[${k},n%16 near ${n}] col strided): f32 = matmul(a, b)|1, ${k}, ${n}|${known}")
endforeach()
list(APPEND products ${strided})

foreach(shape IN ITEMS 512x512x512 1024x1024x1024 2048x2048x2048 8192x256x128 128x256x8192)
  morello_mkn(${shape})
  list(APPEND products
    "f32_${shape}_2_threads|2|(a: f32[${m},${k}], b: f32[${k},${n}]): f32 = matmul(a, b)")
endforeach()
list(APPEND products
  "bf16_512x2048x2048_packed_2_threads|2|(a: bf16[512,2048], b: bf16[2048,2048] packed): f32 = matmul(a, b)")

# What the weights of "u8i8" are too, for oneDNN's sake; here by the spec's word.
foreach(n IN ITEMS 64 256 1024)
  list(APPEND seven_bit_products
    "u8i7_${n}_packed|1|(a: u8[${n},${n}], b: i7[${n},${n}] packed): i32 = matmul(a, b)")
endforeach()

set(byte_products "")
foreach(n IN ITEMS 64 256 1024)
  list(APPEND byte_products
    "u8i8_${n}_packed|1|(a: u8[${n},${n}], b: i8[${n},${n}] packed): i32 = matmul(a, b)")
endforeach()
list(APPEND products ${byte_products})
