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

// Sixteen counters at a time, first, first + 1, …: words[k][lane].
inline void random_words16(ulong seed, ulong first, uint words[4][16]) {
  const uint16 lane = (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  uint16 a = (uint)first + lane, c = 0, d = 0;
  uint16 b = (uint)(first >> 32) + select((uint16)0, (uint16)1, a < (uint)first);
  uint key_a = (uint)seed, key_b = (uint)(seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const ulong16 p = convert_ulong16(a) * 0xD2511F53UL, q = convert_ulong16(c) * 0xCD9E8D57UL;
    a = convert_uint16(q >> 32) ^ b ^ key_a;
    b = convert_uint16(q);
    c = convert_uint16(p >> 32) ^ d ^ key_b;
    d = convert_uint16(p);
    key_a += 0x9E3779B9u;
    key_b += 0xBB67AE85u;
  }
  vstore16(a, 0, words[0]);
  vstore16(b, 0, words[1]);
  vstore16(c, 0, words[2]);
  vstore16(d, 0, words[3]);
}
