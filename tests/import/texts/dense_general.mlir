module @jit_dense_general {
  func.func public @main(%arg0: tensor<2x5x10xf32>, %arg1: tensor<10x3x4xf32>, %arg2: tensor<10x3x4xf32>, %arg3: tensor<10x3x4xf32>, %arg4: tensor<3x4x10xf32>, %arg5: tensor<3x4xf32>) -> (tensor<2x5x10xf32> {jax.result_info = ""}) {
    %q0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [0] : (tensor<2x5x10xf32>, tensor<10x3x4xf32>) -> tensor<2x5x3x4xf32>
    %qb = stablehlo.broadcast_in_dim %arg5, dims = [2, 3] : (tensor<3x4xf32>) -> tensor<2x5x3x4xf32>
    %q1 = stablehlo.add %q0, %qb : tensor<2x5x3x4xf32>
    %q = stablehlo.optimization_barrier %q1 : tensor<2x5x3x4xf32>
    %k0 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [2] x [0] : (tensor<2x5x10xf32>, tensor<10x3x4xf32>) -> tensor<2x5x3x4xf32>
    %k = stablehlo.optimization_barrier %k0 : tensor<2x5x3x4xf32>
    %v0 = stablehlo.dot_general %arg0, %arg3, contracting_dims = [2] x [0] : (tensor<2x5x10xf32>, tensor<10x3x4xf32>) -> tensor<2x5x3x4xf32>
    %v = stablehlo.optimization_barrier %v0 : tensor<2x5x3x4xf32>
    %l = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>) -> tensor<2x3x5x5xf32>
    %c = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %cb = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<2x3x5x5xf32>
    %ls = stablehlo.multiply %l, %cb : tensor<2x3x5x5xf32>
    %ninf0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %m0 = stablehlo.reduce(%ls init: %ninf0) applies stablehlo.maximum across dimensions = [3] : (tensor<2x3x5x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
    %mb0 = stablehlo.broadcast_in_dim %m0, dims = [0, 1, 2] : (tensor<2x3x5xf32>) -> tensor<2x3x5x1xf32>
    %mc0 = stablehlo.broadcast_in_dim %mb0, dims = [0, 1, 2, 3] : (tensor<2x3x5x1xf32>) -> tensor<2x3x5x5xf32>
    %d0 = stablehlo.subtract %ls, %mc0 : tensor<2x3x5x5xf32>
    %e0 = stablehlo.exponential %d0 : tensor<2x3x5x5xf32>
    %z0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %s0 = stablehlo.reduce(%e0 init: %z0) applies stablehlo.add across dimensions = [3] : (tensor<2x3x5x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
    %sb0 = stablehlo.broadcast_in_dim %s0, dims = [0, 1, 2] : (tensor<2x3x5xf32>) -> tensor<2x3x5x1xf32>
    %sc0 = stablehlo.broadcast_in_dim %sb0, dims = [0, 1, 2, 3] : (tensor<2x3x5x1xf32>) -> tensor<2x3x5x5xf32>
    %p0 = stablehlo.divide %e0, %sc0 : tensor<2x3x5x5xf32>
    %o = stablehlo.dot_general %v, %p0, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x5x3x4xf32>, tensor<2x3x5x5xf32>) -> tensor<2x3x4x5xf32>
    %ot = stablehlo.transpose %o, dims = [0, 3, 1, 2] : (tensor<2x3x4x5xf32>) -> tensor<2x5x3x4xf32>
    %y = stablehlo.dot_general %ot, %arg4, contracting_dims = [2, 3] x [0, 1] : (tensor<2x5x3x4xf32>, tensor<3x4x10xf32>) -> tensor<2x5x10xf32>
    return %y : tensor<2x5x10xf32>
  }
}
