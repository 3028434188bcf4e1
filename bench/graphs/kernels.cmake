# What is compared: `graphs`, rows "<name>|<threads>|<spec>[|<result>: <spec>...]". The first word of
# a name says what is computed (graph.h), "2_threads" that two threads may be used. What follows the
# spec does the same in steps, each a kernel whose result has the name before it and is an operand
# of the next ones; the last one is `out`.

set(graphs "")

# By one thread, and by two.
function(morello_graph name spec)
  set(rows "")
  foreach(threads IN ITEMS 1 2)
    set(full ${name})
    if(threads GREATER 1)
      string(APPEND full "_${threads}_threads")
    endif()
    list(JOIN ARGN "|" steps)
    string(JOIN "|" row ${full} ${threads} "${spec}" ${steps})
    list(APPEND rows "${row}")
  endforeach()
  set(graphs ${graphs} ${rows} PARENT_SCOPE)
endfunction()

foreach(batch IN ITEMS 1 8 32)
  foreach(power RANGE 9 19)
    math(EXPR n "1 << ${power}")
    set(steps "")
    if(power EQUAL 9 OR power EQUAL 14 OR power EQUAL 19)
      set(steps
        "top: (x: f32[${batch},${n}]): f32 = reduce_max(x, axis=1)"
        "e: (x: f32[${batch},${n}], top: f32[${batch}]): f32 = exp(x - broadcast(top, axis=1))"
        "sum: (e: f32[${batch},${n}]): f32 = reduce_sum(e, axis=1)"
        "out: (e: f32[${batch},${n}], sum: f32[${batch}]): f32 = e / broadcast(sum, axis=1)")
    endif()
    morello_graph(softmax_${batch}x${n} "(x: f32[${batch},${n}]): f32 = softmax(x, axis=1)" ${steps})
  endforeach()
endforeach()

foreach(m IN ITEMS 1 64)
  set(w "bf16[2304,9216] packed")
  morello_graph(ffn_${m}
    "(x: bf16[${m},2304], w1: ${w}, w2: ${w}): f32 = gelu(matmul(x, w1)) * matmul(x, w2)"
    "gate: (x: bf16[${m},2304], w1: ${w}): f32 = matmul(x, w1)"
    "up: (x: bf16[${m},2304], w2: ${w}): f32 = matmul(x, w2)"
    "out: (gate: f32[${m},9216], up: f32[${m},9216]): f32 = gelu(gate) * up")
endforeach()

foreach(n IN ITEMS 128 1024 4096)
  foreach(head IN ITEMS 64 128)
    set(tensor "f32[${n},${head}]")
    set(scores "f32[${n},${n}]")
    morello_graph(attention_${n}x${head}
      "(q: ${tensor}, k: ${tensor}, v: ${tensor}): f32 = matmul(softmax(matmul(q, transpose(k)) * 0.125, axis=1), v)"
      "s: (q: ${tensor}, k: ${tensor}): f32 = matmul(q, transpose(k)) * 0.125"
      "p: (s: ${scores}): f32 = softmax(s, axis=1)"
      "out: (p: ${scores}, v: ${tensor}): f32 = matmul(p, v)")
  endforeach()
endforeach()

foreach(n IN ITEMS 64 128 256 512 1024)
  set(matrix "f32[${n},${n}]")
  morello_graph(chain_${n}
    "(a: ${matrix}, b: ${matrix}, c: ${matrix}): f32 = matmul(matmul(a, b), c)"
    "ab: (a: ${matrix}, b: ${matrix}): f32 = matmul(a, b)"
    "out: (ab: ${matrix}, c: ${matrix}): f32 = matmul(ab, c)")
endforeach()

# As many bytes as one layer's activations, and more than the second-level cache.
foreach(shape IN ITEMS 64x2304 4096x4096)
  string(REPLACE "x" "," extents ${shape})
  foreach(norm IN ITEMS rms layer)
    morello_graph(${norm}_${shape} "(x: f32[${extents}]): f32 = ${norm}_norm(x, 0.00001, axis=1)")
  endforeach()
endforeach()

foreach(n IN ITEMS 256 512 1024)
  set(matrix "f32[${n},${n}]")
  morello_graph(gelu_${n}
    "(a: ${matrix}, b: ${matrix}, bias: f32[${n}]): f32 = gelu(matmul(a, b) + bias)"
    "u: (a: ${matrix}, b: ${matrix}): f32 = matmul(a, b)"
    "out: (u: ${matrix}, bias: f32[${n}]): f32 = gelu(u + bias)")
endforeach()

# Pictures of `extent` x `extent` pixels with the channels last and first in memory. "pad": the kernel
# adds the border of zeros; otherwise x comes with it.
function(morello_convolution name extent channels filters pad attributes)
  math(EXPR wide "${extent} + 2 * ${pad}")
  foreach(order IN ITEMS nhwc nchw)
    set(layout "")
    if(order STREQUAL nchw)
      set(layout " order(0, 3, 1, 2)")
    endif()
    set(rest "k: f32[${filters}] packed): f32${layout}")
    morello_graph(conv_${name}_${order}
      "(x: f32[1,${wide},${wide},${channels}]${layout}, ${rest} = conv2d(x, k${attributes})")
    if(pad GREATER 0)
      morello_graph(conv_${name}_${order}_pad
        "(x: f32[1,${extent},${extent},${channels}]${layout}, ${rest} = conv2d(pad(pad(x, axis=1, low=${pad}, high=${pad}), axis=2, low=${pad}, high=${pad}), k${attributes})")
    endif()
  endforeach()
  set(graphs ${graphs} PARENT_SCOPE)
endfunction()

morello_convolution(3x3 56 64 3,3,64,64 1 "")
morello_convolution(1x1 56 64 1,1,64,256 0 "")
morello_convolution(7x7 224 3 7,7,3,64 3 ", stride=2")
morello_convolution(depthwise 112 64 3,3,1,64 1 ", groups=64")
