// The passes of sort.cl in shape simt. A work group sorts its block by the digit in local memory, so that neighbours in
// the row's order are written together. It sorts by a digit's lower nibble, then by its higher one.

// ---- counts

enum { COPIES = 4 };  // of a block's counts: items that meet the same digit wait for each other

__kernel void count_digits(BUFFER(const key_t, keys), BUFFER(int, counts), const int n, const long parts,
                           const int blocks, const int shift) {
  BIND(const key_t, keys);
  BIND(int, counts);
  __local int count[COPIES * DIGITS];
  const int item = get_local_id(0), group = get_local_size(0), block_size = group * SIMT_STRETCH;
  const long part = get_group_id(0), row = part / blocks;
  const int block = part - row * blocks;
  const int first = block * block_size, end = min(n, first + block_size);
  for (int d = item; d < COPIES * DIGITS; d += group) count[d] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = first + item; i < end; i += group) atomic_inc(&count[item % COPIES * DIGITS + DIGIT(keys[row * n + i])]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = item; d < DIGITS; d += group) {
    int sum = 0;
    for (int copy = 0; copy < COPIES; ++copy) sum += count[copy * DIGITS + d];
    counts[(row * DIGITS + d) * blocks + block] = sum;
  }
}

// ---- a block's order

#define NIBBLE_BITS (DIGIT_BITS / 2)
#define NIBBLES (1 << NIBBLE_BITS)
// A word of a block: digit and position. Words lie so that items that walk through stretches meet different banks.
#define WORD(digit, position) ((uint)(digit) << 16 | (uint)(position))
#define DIGIT_OF(word) ((int)((word) >> 16))
#define POSITION_OF(word) ((int)((word) & 0xffff))
#define AT(i) ((i) + (i) / SIMT_STRETCH)
#define UNROLL _Pragma("unroll")  // so that private arrays are registers

// Counts of a nibble's sixteen values. Those of an item's stretch have four bits each in one word; those of the group
// have sixteen each in four words.
#define PER_WORD 4
#define WORDS (NIBBLES / PER_WORD)
#define ALL_FIELDS 0x0001000100010001UL
#define OWN_COUNT(counts, nibble) ((int)((counts) >> 4 * (nibble) & 15))

// The four counts of a word from a quarter of an item's.
inline ulong spread(const ulong own, const int word) {
  ulong fields = own >> 16 * word & 0xffff;
  fields = (fields | fields << 24) & 0x000000ff000000ffUL;
  return (fields | fields << 12) & 0x000f000f000f000fUL;
}

// Sorts the group's words by NIBBLE_BITS of them from `shift` on; they stay in order where those are the same.
inline void sort_by_nibble(__local uint *words, __local ulong *sums, const int shift) {
  const int item = get_local_id(0), group = get_local_size(0);
  uint own[SIMT_STRETCH];
  ulong own_counts = 0, before[WORDS];
  UNROLL for (int i = 0; i < SIMT_STRETCH; ++i) {
    own[i] = words[AT(item * SIMT_STRETCH + i)];
    own_counts += (ulong)1 << 4 * (own[i] >> shift & (NIBBLES - 1));
  }
  // Counts of this item and those before it.
  UNROLL for (int w = 0; w < WORDS; ++w) sums[w * group + item] = before[w] = spread(own_counts, w);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 1; step < group; step *= 2) {
    if (item >= step)
      UNROLL for (int w = 0; w < WORDS; ++w) before[w] += sums[w * group + item - step];
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL for (int w = 0; w < WORDS; ++w) sums[w * group + item] = before[w];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  // And all of lower values: sums within a word by one product, and what the words before it hold.
  ulong lower = 0;
  UNROLL for (int w = 0; w < WORDS; ++w) {
    const ulong up_to = sums[w * group + group - 1] * ALL_FIELDS;
    before[w] += (up_to << 16) + lower * ALL_FIELDS - spread(own_counts, w);
    lower += up_to >> 48;
  }
  ulong met = 0;
  UNROLL for (int i = 0; i < SIMT_STRETCH; ++i) {
    const int nibble = own[i] >> shift & (NIBBLES - 1), word = nibble / PER_WORD;
    const ulong fields = word < 2 ? word ? before[1] : before[0] : word == 2 ? before[2] : before[3];
    const int place = (int)(fields >> 16 * (nibble % PER_WORD) & 0xffff) + OWN_COUNT(met, nibble);
    met += (ulong)1 << 4 * nibble;
    words[AT(place)] = own[i];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// `counts` and `totals`: for each digit, how many of it stand in the blocks before this one, and in all of the row;
// null where a row is one block. bits: of the digit, at most DIGIT_BITS.
__kernel void move_pairs(BUFFER(const key_t, keys), BUFFER(const int, order), BUFFER(const int, counts),
                         BUFFER(const int, totals), BUFFER(key_t, moved_keys), BUFFER(int, moved_order), const int n,
                         const long parts, const int blocks, const int shift, const int bits, __local uint *words,
                         __local ulong *sums) {
  BIND(const key_t, keys);
  BIND(const int, order);
  BIND(key_t, moved_keys);
  BIND(int, moved_order);
  __local int offsets[DIGITS];  // from a place in the block's order to one in the row's
  const int item = get_local_id(0), group = get_local_size(0), block_size = group * SIMT_STRETCH;
  const long part = get_group_id(0), row = part / blocks;
  const int block = part - row * blocks;
  const int first = block * block_size, count = min(n - first, block_size);
  const int mask = (1 << bits) - 1;
  for (int i = item; i < block_size; i += group)  // what is not there comes last
    words[AT(i)] = WORD(i < count ? DIGIT(keys[row * n + first + i]) & mask : DIGITS - 1, i);
  if (counts_buffer) {
    const int digits = DIGITS / min(DIGITS, group);  // of an item
    const __global int *row_totals = totals_buffer + totals_start + row * DIGITS;
    int own = 0;
    for (int k = 0; k < digits; ++k) own += item * digits + k < DIGITS ? row_totals[item * digits + k] : 0;
    int start = sum_before((__local int *)sums, own);
    for (int k = 0; k < digits; ++k) {
      const int d = item * digits + k;
      if (d >= DIGITS) break;
      offsets[d] = start + counts_buffer[counts_start + (row * DIGITS + d) * blocks + block];
      start += row_totals[d];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int nibble = 0; nibble < bits; nibble += NIBBLE_BITS) sort_by_nibble(words, sums, 16 + nibble);
  if (counts_buffer) {
    for (int i = item; i < count; i += group) {
      const int digit = DIGIT_OF(words[AT(i)]);
      if (i == 0 || DIGIT_OF(words[AT(i - 1)]) != digit) offsets[digit] -= i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = item; i < count; i += group) {
    const uint word = words[AT(i)];
    const long from = row * n + first + POSITION_OF(word);
    const long to = row * n + (counts_buffer ? offsets[DIGIT_OF(word)] : 0) + i;
    moved_keys[to] = keys[from];
    moved_order[to] = order_buffer ? order[from] : first + POSITION_OF(word);
  }
}
