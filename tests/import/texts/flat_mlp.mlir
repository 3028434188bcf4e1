module @jit_flat_mlp {
  func.func public @main(%arg0: tensor<2x5x16xbf16>, %arg1: tensor<16x24xbf16>, %arg2: tensor<24xbf16>, %arg3: tensor<24x16xbf16>) -> (tensor<2x5x16xbf16> {jax.result_info = ""}) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x5x16xbf16>) -> tensor<10x16xbf16>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0] : (tensor<10x16xbf16>, tensor<16x24xbf16>) -> tensor<10x24xbf16>
    %2 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<24xbf16>) -> tensor<1x24xbf16>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x24xbf16>) -> tensor<10x24xbf16>
    %4 = stablehlo.add %1, %3 : tensor<10x24xbf16>
    %5 = stablehlo.logistic %4 : tensor<10x24xbf16>
    %6 = stablehlo.multiply %4, %5 : tensor<10x24xbf16>
    %7 = stablehlo.dot_general %6, %arg3, contracting_dims = [1] x [0] : (tensor<10x24xbf16>, tensor<24x16xbf16>) -> tensor<10x16xbf16>
    %8 = stablehlo.reshape %7 : (tensor<10x16xbf16>) -> tensor<2x5x16xbf16>
    %9 = stablehlo.add %8, %arg0 : tensor<2x5x16xbf16>
    return %9 : tensor<2x5x16xbf16>
  }
}
