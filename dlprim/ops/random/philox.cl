// Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.

inline uint4 philox_round(uint4 counter, uint2 key) {
  const ulong first = (ulong)0xD2511F53u * counter.x, second = (ulong)0xCD9E8D57u * counter.z;
  return (uint4)((uint)(second >> 32) ^ counter.y ^ key.x, (uint)second, (uint)(first >> 32) ^ counter.w ^ key.y,
                 (uint)first);
}

inline uint4 philox4x32_10(uint4 counter, uint2 key) {
#pragma unroll
  for (int round = 0; round < 9; ++round) {
    counter = philox_round(counter, key);
    key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
  }
  return philox_round(counter, key);
}

// The four words of counter `index` of the stream `seed`.
inline uint4 random_words(ulong seed, ulong index) {
  return philox4x32_10((uint4)((uint)index, (uint)(index >> 32), 0u, 0u), (uint2)((uint)seed, (uint)(seed >> 32)));
}
