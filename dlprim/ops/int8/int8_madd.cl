// Sums of products of pairs of int16, which CPUs have an instruction for. Include it after int8.cl.
//   PAIR_SUMS(pairs, weights)   int16 of the lanes' products: low halves' and high halves', added up
// A lane holds two neighbours along the depth. int8 does not pay alone: with AVX-512 a tile of products takes 164
// billion multiply-adds a second this way, 58 as float32, and 37 as plain int (PoCL 3.1, 2 Zen 4 cores). The compiler
// of PoCL 3.1 knows those processors as Skylake, and has no vpdpbusd.
typedef short Shorts16 __attribute__((vector_size(32)));
typedef short Shorts32 __attribute__((vector_size(64)));

#if defined(__AVX512BW__)
#define PAIR_SUMS(pairs, weights) \
  as_int16(__builtin_ia32_pmaddwd512(__builtin_astype(pairs, Shorts32), __builtin_astype(weights, Shorts32)))
#elif defined(__AVX2__)
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

inline int pair_of(const int low, const int high) { return (low & 0xffff) | (high << 16); }
