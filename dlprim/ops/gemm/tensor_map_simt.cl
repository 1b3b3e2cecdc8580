// Tensor maps (Hopper): what its copy engine reads to bring boxes of a tensor to local memory, float32 rounded to TF32,
// zeros where a box reaches beyond. An instruction each sets a field; what they make goes to global memory so that the
// engine sees it.
#include "core/common.cl"
#include "ops/gemm/tensor_map_shared.h"

#define SET(field, type, operand)                                                             \
  asm volatile("//@90a tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], %1;" \
               :                                                                              \
               : "r"(map), operand                                                            \
               : "memory")
#define SET_KIND(field, kind) \
  asm volatile("//@90a tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], " kind ";" : : "r"(map) : "memory")
#define SET_OF(field, i, type, operand)                                                               \
  asm volatile("//@90a tensormap.replace.tile." field ".shared::cta.b1024." type " [%0], " #i ", %1;" \
               :                                                                                      \
               : "r"(map), operand                                                                    \
               : "memory")
#define SET_DIMENSION(i)                          \
  SET_OF("box_dim", i, "b32", "r"(s.box[i]));     \
  SET_OF("global_dim", i, "b32", "r"(s.size[i])); \
  SET_OF("element_stride", i, "b32", "r"(1))

inline void describe(const uint map, __global const uchar *tensor, const TensorMapShape s) {
  SET("global_address", "b64", "l"((ulong)tensor));
  SET_KIND("rank", "3");  // less 1
  SET_DIMENSION(0);
  SET_DIMENSION(1);
  SET_DIMENSION(2);
  SET_DIMENSION(3);
  SET_OF("global_stride", 0, "b64", "l"(s.bytes[0]));
  SET_OF("global_stride", 1, "b64", "l"(s.bytes[1]));
  SET_OF("global_stride", 2, "b64", "l"(s.bytes[2]));
  if (s.element_bytes == 4)
    SET_KIND("elemtype", "11");  // TF32, to which float32 is rounded
  else
    SET_KIND("elemtype", "1");  // as numbers of 16 bits
  SET_KIND("interleave_layout", "0");
  // Vectors are swapped as wgmma takes them, among 128 bytes or 64.
  if (s.box[0] * s.element_bytes == 128)
    SET_KIND("swizzle_mode", "3");
  else
    SET_KIND("swizzle_mode", "2");
  SET_KIND("fill_mode", "0");  // zeros
}

// A group makes a map: the first the left operand's.
#define WORDS (TENSOR_MAP_BYTES / 4)
__attribute__((reqd_work_group_size(WORDS, 1, 1))) __kernel void describe_operands(BUFFER(const uchar, left),
                                                                                   BUFFER(const uchar, right),
                                                                                   BUFFER(uint, maps),
                                                                                   const TensorMapShape left_shape,
                                                                                   const TensorMapShape right_shape) {
  __local uint words[WORDS] __attribute__((aligned(TENSOR_MAP_BYTES)));
  const int item = get_local_id(0), map = get_group_id(0);
  words[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0)
    describe((uint)(size_t)words,
             map == 0 ? left_buffer + left_start * left_shape.element_bytes
                      : right_buffer + right_start * right_shape.element_bytes,
             map == 0 ? left_shape : right_shape);
  barrier(CLK_LOCAL_MEM_FENCE);
  asm volatile(
      "//@90a tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
      :
      : "l"((ulong)(maps_buffer + maps_start + map * WORDS)), "r"((uint)(size_t)words)
      : "memory");
}
