// jax.jit(lambda ...): gelu(x @ w1 + b1) @ w2 + b2, as .lower(...).as_text() has it.
module @jit_mlp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x64xf32> {mhlo.layout_mode = "default"}, %arg1: tensor<64x96xf32> {mhlo.layout_mode = "default"}, %arg2: tensor<96xf32> {mhlo.layout_mode = "default"}, %arg3: tensor<96x64xf32> {mhlo.layout_mode = "default"}, %arg4: tensor<64xf32> {mhlo.layout_mode = "default"}) -> (tensor<8x64xf32> {jax.result_info = "", mhlo.layout_mode = "default"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x64xf32>, tensor<64x96xf32>) -> tensor<8x96xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<96xf32>) -> tensor<1x96xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x96xf32>) -> tensor<8x96xf32>
    %3 = stablehlo.add %0, %2 : tensor<8x96xf32>
    %4 = call @gelu(%3) : (tensor<8x96xf32>) -> tensor<8x96xf32>
    %5 = stablehlo.dot_general %4, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x96xf32>, tensor<96x64xf32>) -> tensor<8x64xf32>
    %6 = stablehlo.broadcast_in_dim %arg4, dims = [1] : (tensor<64xf32>) -> tensor<1x64xf32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x64xf32>) -> tensor<8x64xf32>
    %8 = stablehlo.add %5, %7 : tensor<8x64xf32>
    return %8 : tensor<8x64xf32>
  }
  func.func private @gelu(%arg0: tensor<8x96xf32>) -> tensor<8x96xf32> {
    %0 = stablehlo.multiply %arg0, %arg0 : tensor<8x96xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<8x96xf32>
    %cst = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x96xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<8x96xf32>
    %4 = stablehlo.add %arg0, %3 : tensor<8x96xf32>
    %cst_0 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x96xf32>
    %6 = stablehlo.multiply %5, %4 : tensor<8x96xf32>
    %7 = stablehlo.tanh %6 : tensor<8x96xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<8x96xf32>
    %9 = stablehlo.add %8, %7 : tensor<8x96xf32>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x96xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<8x96xf32>
    %12 = stablehlo.multiply %arg0, %11 : tensor<8x96xf32>
    return %12 : tensor<8x96xf32>
  }
}
