// A gated feed-forward layer with its norm, in bf16, for one position.
module @jit_gated attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x64xbf16>, %arg1: tensor<64xbf16>, %arg2: tensor<64x80xbf16>, %arg3: tensor<64x80xbf16>, %arg4: tensor<80x64xbf16>) -> (tensor<1x64xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<1x64xbf16>) -> tensor<1x64xf32>
    %1 = stablehlo.multiply %0, %0 : tensor<1x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<1x64xf32>, tensor<f32>) -> tensor<1xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<1xf32>) -> tensor<1x1xf32>
    %cst_0 = stablehlo.constant dense<6.400000e+01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %5 = stablehlo.divide %3, %4 : tensor<1x1xf32>
    %cst_1 = stablehlo.constant dense<9.99999997E-7> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %7 = stablehlo.add %5, %6 : tensor<1x1xf32>
    %8 = stablehlo.rsqrt %7 : tensor<1x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<1x64xf32>
    %10 = stablehlo.multiply %0, %9 : tensor<1x64xf32>
    %11 = stablehlo.convert %10 : (tensor<1x64xf32>) -> tensor<1x64xbf16>
    %12 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<64xbf16>) -> tensor<1x64xbf16>
    %13 = stablehlo.multiply %11, %12 : tensor<1x64xbf16>
    %14 = stablehlo.dot_general %13, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64xbf16>, tensor<64x80xbf16>) -> tensor<1x80xbf16>
    %15 = call @silu(%14) : (tensor<1x80xbf16>) -> tensor<1x80xbf16>
    %16 = stablehlo.dot_general %13, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x64xbf16>, tensor<64x80xbf16>) -> tensor<1x80xbf16>
    %17 = stablehlo.multiply %15, %16 : tensor<1x80xbf16>
    %18 = stablehlo.dot_general %17, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x80xbf16>, tensor<80x64xbf16>) -> tensor<1x64xbf16>
    %19 = stablehlo.add %arg0, %18 : tensor<1x64xbf16>
    return %19 : tensor<1x64xbf16>
  }
  func.func private @silu(%arg0: tensor<1x80xbf16>) -> tensor<1x80xbf16> {
    %0 = stablehlo.logistic %arg0 : tensor<1x80xbf16>
    %1 = stablehlo.multiply %arg0, %0 : tensor<1x80xbf16>
    return %1 : tensor<1x80xbf16>
  }
}
