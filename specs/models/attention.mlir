// A causal attention of four heads behind an embedding: StableHLO, as JAX prints it.
module @attention {
  func.func public @main(%arg0: tensor<4x128x256xf32>, %arg1: tensor<256x768xf32>, %arg2: tensor<768xf32>, %arg3: tensor<50257x256xf32>, %arg4: tensor<4x128xi32>) -> tensor<4x128x256xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %0 = call @_take(%arg3, %arg4) : (tensor<50257x256xf32>, tensor<4x128xi32>) -> tensor<4x128x256xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<4x128x256xf32>
    %2 = stablehlo.reduce(%1 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<4x128x256xf32>, tensor<f32>) -> tensor<4x128xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x1xf32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x128x1xf32>
    %5 = stablehlo.divide %3, %4 : tensor<4x128x1xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1, 2] : (tensor<4x128x1xf32>) -> tensor<4x128x256xf32>
    %7 = stablehlo.subtract %1, %6 : tensor<4x128x256xf32>
    %8 = stablehlo.dot_general %7, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x128x256xf32>, tensor<256x768xf32>) -> tensor<4x128x768xf32>
    %9 = stablehlo.broadcast_in_dim %arg2, dims = [2] : (tensor<768xf32>) -> tensor<1x1x768xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<1x1x768xf32>) -> tensor<4x128x768xf32>
    %11 = stablehlo.add %8, %10 : tensor<4x128x768xf32>
    %12 = stablehlo.slice %11 [0:4, 0:128, 0:256] : (tensor<4x128x768xf32>) -> tensor<4x128x256xf32>
    %13 = stablehlo.slice %11 [0:4, 0:128, 256:512] : (tensor<4x128x768xf32>) -> tensor<4x128x256xf32>
    %14 = stablehlo.slice %11 [0:4, 0:128, 512:768] : (tensor<4x128x768xf32>) -> tensor<4x128x256xf32>
    %15 = stablehlo.reshape %12 : (tensor<4x128x256xf32>) -> tensor<4x128x4x64xf32>
    %16 = stablehlo.reshape %13 : (tensor<4x128x256xf32>) -> tensor<4x128x4x64xf32>
    %17 = stablehlo.reshape %14 : (tensor<4x128x256xf32>) -> tensor<4x128x4x64xf32>
    %18 = stablehlo.dot_general %15, %16, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<4x128x4x64xf32>, tensor<4x128x4x64xf32>) -> tensor<4x4x128x128xf32>
    %19 = stablehlo.iota dim = 0 : tensor<128x128xi32>
    %20 = stablehlo.iota dim = 1 : tensor<128x128xi32>
    %21 = stablehlo.compare  GE, %19, %20,  SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %22 = stablehlo.broadcast_in_dim %21, dims = [2, 3] : (tensor<128x128xi1>) -> tensor<4x4x128x128xi1>
    %23 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4x128x128xf32>
    %24 = stablehlo.select %22, %18, %23 : tensor<4x4x128x128xi1>, tensor<4x4x128x128xf32>
    %25 = stablehlo.reduce(%24 init: %cst) applies stablehlo.maximum across dimensions = [3] : (tensor<4x4x128x128xf32>, tensor<f32>) -> tensor<4x4x128xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<4x4x128xf32>) -> tensor<4x4x128x128xf32>
    %27 = stablehlo.subtract %24, %26 : tensor<4x4x128x128xf32>
    %28 = stablehlo.exponential %27 : tensor<4x4x128x128xf32>
    %29 = "stablehlo.reduce"(%28, %cst_0) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {dimensions = array<i64: 3>} : (tensor<4x4x128x128xf32>, tensor<f32>) -> tensor<4x4x128xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<4x4x128xf32>) -> tensor<4x4x128x128xf32>
    %31 = stablehlo.divide %28, %30 : tensor<4x4x128x128xf32>
    %32 = stablehlo.dot_general %31, %17, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<4x4x128x128xf32>, tensor<4x128x4x64xf32>) -> tensor<4x4x128x64xf32>
    %33 = stablehlo.transpose %32, dims = [0, 2, 1, 3] : (tensor<4x4x128x64xf32>) -> tensor<4x128x4x64xf32>
    %34 = stablehlo.reshape %33 : (tensor<4x128x4x64xf32>) -> tensor<4x128x256xf32>
    %36 = stablehlo.tanh %34 : tensor<4x128x256xf32>
    return %36 : tensor<4x128x256xf32>
  }
  func.func private @_take(%arg0: tensor<50257x256xf32>, %arg1: tensor<4x128xi32>) -> tensor<4x128x256xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x128xi32>
    %1 = stablehlo.compare  LT, %arg1, %0,  SIGNED : (tensor<4x128xi32>, tensor<4x128xi32>) -> tensor<4x128xi1>
    %c_0 = stablehlo.constant dense<50257> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x128xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x128xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x128xi1>, tensor<4x128xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x128xi32>) -> tensor<4x128x1xi32>
    %6 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 256>}> : (tensor<50257x256xf32>, tensor<4x128x1xi32>) -> tensor<4x128x256xf32>
    return %6 : tensor<4x128x256xf32>
  }
}
