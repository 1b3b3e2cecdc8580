// Sums of products of a lane's numbers, which CPUs have instructions for. Include it after int8.cl.
//   NEIGHBOURS                             4: bytes, those of `numbers` without a sign; 2: int16
//   ADD_PRODUCTS(sums, numbers, weights)   adds the products of the lanes' numbers to int16
// On two Zen 4 cores with PoCL 3.1 a tile of products makes 230 billion multiply-adds a second of bytes. Pairs of
// int16 reach 164, float32 reaches 58, and plain int 37. The compiler knows such processors as Skylake, which has no
// vpdpbusd: as a builtin it is refused, and in asm it is taken.
#if defined(__AVX512BW__)
typedef short Shorts32 __attribute__((vector_size(64)));
#define PAIR_SUMS(pairs, weights) \
  as_int16(__builtin_ia32_pmaddwd512(__builtin_astype(pairs, Shorts32), __builtin_astype(weights, Shorts32)))
#elif defined(__AVX2__)
typedef short Shorts16 __attribute__((vector_size(32)));
inline int8 half_pair_sums(const int8 pairs, const int8 weights) {
  return as_int8(__builtin_ia32_pmaddwd256(__builtin_astype(pairs, Shorts16), __builtin_astype(weights, Shorts16)));
}
inline int16 PAIR_SUMS(const int16 pairs, const int16 weights) {
  return (int16)(half_pair_sums(pairs.lo, weights.lo), half_pair_sums(pairs.hi, weights.hi));
}
#else
inline int16 PAIR_SUMS(const int16 pairs, const int16 weights) {
  return (pairs << 16 >> 16) * (weights << 16 >> 16) + (pairs >> 16) * (weights >> 16);
}
#endif

#if NEIGHBOURS == 4 && defined(__AVX512F__)
#define ADD_PRODUCTS(sums, numbers, weights) __asm__("vpdpbusd %1, %2, %0" : "+v"(sums) : "v"(weights), "v"(numbers))
#elif NEIGHBOURS == 4  // the processor has the instruction, and the compiler builds for another one
#define BYTE_PRODUCTS(numbers, weights, i) \
  (((numbers) >> (8 * (i)) & 255) * ((weights) << (24 - 8 * (i)) >> 24))
#define ADD_PRODUCTS(sums, numbers, weights)                                                 \
  sums += BYTE_PRODUCTS(numbers, weights, 0) + BYTE_PRODUCTS(numbers, weights, 1) +          \
          BYTE_PRODUCTS(numbers, weights, 2) + BYTE_PRODUCTS(numbers, weights, 3)
#else
#define ADD_PRODUCTS(sums, numbers, weights) sums += PAIR_SUMS(numbers, weights)
#endif

inline int pair_of(const int low, const int high) { return (low & 0xffff) | (high << 16); }
