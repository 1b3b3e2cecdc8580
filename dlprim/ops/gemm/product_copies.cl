// The contents of tensor cores' panels, and how they come there.
#define STRING_(text) #text
#define STRING(text) STRING_(text)

// Words that go from global to local memory by themselves (NVIDIA, compute capability 8.0 and up), TILE_STAGES - 1
// panels ahead.
// Nothing outside is read: zeros take its place.
inline void copy_piece(const int width, __local float *to, __global const float *from, const bool inside) {
  const uint bytes = inside ? 4 * width : 0;
  if (width == 4)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"((uint)(size_t)to), "l"((ulong)from), "r"(bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"((uint)(size_t)to), "l"((ulong)from), "r"(bytes)
                 : "memory");
}
inline void copy_vector(__local float *to, __global const float *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"((uint)(size_t)to), "l"((ulong)from) : "memory");
}
inline void close_copies(void) { asm volatile("cp.async.commit_group;" : : : "memory"); }
// Until the copies of the oldest panels are there.
inline void await_copies(void) { asm volatile("cp.async.wait_group " STRING(TILE_STAGES_AHEAD) ";" : : : "memory"); }

inline void round_to_tf32(uint *values, const int count) {
  UNROLL for (int e = 0; e < count; ++e) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(values[e]) : "f"(as_float(values[e])));
}

// A word of a panel: a number rounded to TF32, or two that follow each other along the depth, rounded to NUMBERS (f16,
// bf16).
inline float word_of(const float *numbers) {
  uint word = as_uint(numbers[0]);
#if NUMBERS_IN_WORD == 2
  asm("cvt.rn." STRING(NUMBERS) "x2.f32 %0, %1, %2;" : "=r"(word) : "f"(numbers[1]), "f"(numbers[0]));
#else
  round_to_tf32(&word, 1);
#endif
  return as_float(word);
}
