// Elements that go from global to local memory by themselves (NVIDIA, compute capability 8.0 and up), TILE_STAGES - 1
// panels ahead.
inline void copy_element(__local float *to, __global const float *from, const bool inside) {
  const uint bytes = inside ? 4 : 0;  // the others are set to 0
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :
               : "r"((uint)(size_t)to), "l"((ulong)from), "r"(bytes)
               : "memory");
}
inline void copy_vector(__local float *to, __global const float *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"((uint)(size_t)to), "l"((ulong)from) : "memory");
}
inline void close_copies(void) { asm volatile("cp.async.commit_group;" : : : "memory"); }
#define STRING_(text) #text
#define STRING(text) STRING_(text)
// Until the copies of the oldest panels are there.
inline void await_copies(void) { asm volatile("cp.async.wait_group " STRING(TILE_STAGES_AHEAD) ";" : : : "memory"); }

inline void round_to_tf32(uint *values, const int count) {
  UNROLL for (int e = 0; e < count; ++e) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(values[e]) : "f"(as_float(values[e])));
}
