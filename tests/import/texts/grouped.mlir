module @jit_grouped {
  func.func public @main(%arg0: tensor<2x5x6x4xf32>, %arg1: tensor<2x7x2x4xf32>, %arg2: tensor<2x7x2x4xf32>, %arg3: tensor<2x1x5x7xi1>) -> (tensor<2x5x6x4xf32> {jax.result_info = ""}) {
    %q = stablehlo.reshape %arg0 : (tensor<2x5x6x4xf32>) -> tensor<2x5x2x3x4xf32>
    %l0 = stablehlo.dot_general %q, %arg1, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3] : (tensor<2x5x2x3x4xf32>, tensor<2x7x2x4xf32>) -> tensor<2x2x5x3x7xf32>
    %l1 = stablehlo.transpose %l0, dims = [0, 1, 3, 2, 4] : (tensor<2x2x5x3x7xf32>) -> tensor<2x2x3x5x7xf32>
    %c = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %cb = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<2x2x3x5x7xf32>
    %l2 = stablehlo.multiply %l1, %cb : tensor<2x2x3x5x7xf32>
    %mg = stablehlo.broadcast_in_dim %arg3, dims = [0, 1, 3, 4] : (tensor<2x1x5x7xi1>) -> tensor<2x1x3x5x7xi1>
    %mk = stablehlo.broadcast_in_dim %mg, dims = [0, 1, 2, 3, 4] : (tensor<2x1x3x5x7xi1>) -> tensor<2x2x3x5x7xi1>
    %neg = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %nb = stablehlo.broadcast_in_dim %neg, dims = [] : (tensor<f32>) -> tensor<2x2x3x5x7xf32>
    %l3 = stablehlo.select %mk, %l2, %nb : tensor<2x2x3x5x7xi1>, tensor<2x2x3x5x7xf32>
    %ninf0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %m0 = stablehlo.reduce(%l3 init: %ninf0) applies stablehlo.maximum across dimensions = [4] : (tensor<2x2x3x5x7xf32>, tensor<f32>) -> tensor<2x2x3x5xf32>
    %mb0 = stablehlo.broadcast_in_dim %m0, dims = [0, 1, 2, 3] : (tensor<2x2x3x5xf32>) -> tensor<2x2x3x5x1xf32>
    %mc0 = stablehlo.broadcast_in_dim %mb0, dims = [0, 1, 2, 3, 4] : (tensor<2x2x3x5x1xf32>) -> tensor<2x2x3x5x7xf32>
    %d0 = stablehlo.subtract %l3, %mc0 : tensor<2x2x3x5x7xf32>
    %e0 = stablehlo.exponential %d0 : tensor<2x2x3x5x7xf32>
    %z0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %s0 = stablehlo.reduce(%e0 init: %z0) applies stablehlo.add across dimensions = [4] : (tensor<2x2x3x5x7xf32>, tensor<f32>) -> tensor<2x2x3x5xf32>
    %sb0 = stablehlo.broadcast_in_dim %s0, dims = [0, 1, 2, 3] : (tensor<2x2x3x5xf32>) -> tensor<2x2x3x5x1xf32>
    %sc0 = stablehlo.broadcast_in_dim %sb0, dims = [0, 1, 2, 3, 4] : (tensor<2x2x3x5x1xf32>) -> tensor<2x2x3x5x7xf32>
    %p0 = stablehlo.divide %e0, %sc0 : tensor<2x2x3x5x7xf32>
    %o = stablehlo.dot_general %arg2, %p0, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [4] : (tensor<2x7x2x4xf32>, tensor<2x2x3x5x7xf32>) -> tensor<2x2x4x3x5xf32>
    %ot = stablehlo.transpose %o, dims = [0, 4, 1, 3, 2] : (tensor<2x2x4x3x5xf32>) -> tensor<2x5x2x3x4xf32>
    %y = stablehlo.reshape %ot : (tensor<2x5x2x3x4xf32>) -> tensor<2x5x6x4xf32>
    return %y : tensor<2x5x6x4xf32>
  }
}
