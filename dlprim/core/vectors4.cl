// Four neighbours, of which the first stands at a multiple of four elements in its buffer. Include it after
// core/common.cl.
//   REAL4                        four values of REAL
//   LOAD4(p, i), STORE4(p, i, v)     p[4 * i] … p[4 * i + 3], in any floating storage, at once
#define REAL4 JOIN(REAL, 4)
#define LOAD4 JOIN(LOAD, _4)
#define STORE4 JOIN(STORE, _4)

// vload_half4 and vstore_half4, which ask for no alignment, may go through global memory element by element.
inline float4 from_halves(const ushort4 halves) { return vload_half4(0, (const half *)&halves); }
inline ushort4 to_halves(const float4 values) {
  ushort4 halves;
  vstore_half4_rte(values, 0, (half *)&halves);
  return halves;
}
VECTORS_TO_BFLOAT16(4)

#define LOAD_float32_4(p, i) ((__global const float4 *)(p))[i]
#define LOAD_float64_4(p, i) ((__global const double4 *)(p))[i]
#define LOAD_float16_4(p, i) from_halves(((__global const ushort4 *)(p))[i])
#define LOAD_bfloat16_4(p, i) as_float4(convert_uint4(((__global const ushort4 *)(p))[i]) << 16)

#define STORE_float32_4(p, i, v) ((__global float4 *)(p))[i] = (v)
#define STORE_float64_4(p, i, v) ((__global double4 *)(p))[i] = (v)
#define STORE_float16_4(p, i, v) ((__global ushort4 *)(p))[i] = to_halves(v)
#define STORE_bfloat16_4(p, i, v) ((__global ushort4 *)(p))[i] = to_bfloat16_4(v)
