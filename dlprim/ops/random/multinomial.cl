// Draws from discrete distributions, by binary trees of sums (multinomial.h); part of random.cl.
// A row's tree has `leaves` leaves, a power of 2, in 2 * leaves elements: the root is element 1, the children of k are
// 2k and 2k + 1, leaf i is element leaves + i. A leaf of -1 is a category that is drawn already.

inline REAL positive(REAL weight) { return weight > 0 ? weight : (REAL)0; }

// One work item a leaf of each row.
__kernel void multinomial_leaves(BUFFER(const STORAGE, weights), BUFFER(REAL, trees), const ulong categories,
                                 const ulong leaves, CHECK_ARGS) {
  BIND(const STORAGE, weights);
  BIND(REAL, trees);
  const ulong i = get_global_id(0), row = get_global_id(1);
  if (i >= leaves) return;
  REAL weight = 0;
  if (i < categories) {
    weight = LOAD(weights, row * categories + i);
    if (!(weight >= 0) || isinf(weight)) {
      FAIL(i);
      weight = 0;
    }
  }
  trees[row * 2 * leaves + leaves + i] = weight;
}

// One work item a node of a level of `nodes` nodes, in each row.
__kernel void multinomial_level(BUFFER(REAL, trees), const ulong leaves, const ulong nodes) {
  BIND(REAL, trees);
  const ulong i = get_global_id(0);
  if (i >= nodes) return;
  __global REAL *tree = trees + get_global_id(1) * 2 * leaves;
  const ulong k = nodes + i;
  tree[k] = tree[2 * k] + tree[2 * k + 1];
}

// The leaf where the running sum passes `target`; one of weight above 0 if the root's is.
inline ulong leaf_at(const __global REAL *tree, ulong leaves, REAL target) {
  ulong k = 1;
  while (k < leaves) {
    const REAL left = positive(tree[2 * k]), right = positive(tree[2 * k + 1]);
    k = 2 * k;
    if (target >= left && right > 0) {
      target -= left;
      ++k;
    }
  }
  return k - leaves;
}

// A number in [0, 1) for draw `i` of the call.
inline REAL unit_draw(ulong seed, ulong offset, ulong i) {
  const uint4 words = random_words(seed, offset + i / 2);
#if DOUBLE
  return (REAL)(upsample(i % 2 ? words.s3 : words.s1, i % 2 ? words.s2 : words.s0) >> 11) * 0x1p-53;
#else
  return fmin((REAL)(i % 2 ? words.s2 : words.s0) * 0x1p-32f, 1.0f - 0x1p-24f);
#endif
}

#define DRAW_ARGS BUFFER(REAL, trees), BUFFER(long, out), const ulong leaves, const ulong samples, const ulong seed, \
                  const ulong offset, CHECK_ARGS

// One work item a sample of each row.
__kernel void multinomial_draw(DRAW_ARGS) {
  BIND(REAL, trees);
  BIND(long, out);
  const ulong sample = get_global_id(0), row = get_global_id(1);
  if (sample >= samples) return;
  const __global REAL *tree = trees + row * 2 * leaves;
  const ulong i = row * samples + sample;
  if (!(tree[1] > 0)) FAIL(row);
  out[i] = tree[1] > 0 ? (long)leaf_at(tree, leaves, unit_draw(seed, offset, i) * tree[1]) : 0;
}

// One work item a row. Categories of weight 0 come last, in order.
__kernel void multinomial_draw_without_replacement(DRAW_ARGS) {
  BIND(REAL, trees);
  BIND(long, out);
  const ulong row = get_global_id(0);
  __global REAL *tree = trees + row * 2 * leaves;
  if (!(tree[1] > 0)) FAIL(row);
  ulong next_unlikely = 0;
  for (ulong sample = 0; sample < samples; ++sample) {
    const ulong i = row * samples + sample;
    ulong leaf;
    if (tree[1] > 0) {
      leaf = leaf_at(tree, leaves, unit_draw(seed, offset, i) * tree[1]);
    } else {
      while (tree[leaves + next_unlikely] < 0) ++next_unlikely;
      leaf = next_unlikely;
    }
    out[i] = leaf;
    tree[leaves + leaf] = -1;
    for (ulong k = (leaves + leaf) / 2; k > 0; k /= 2) tree[k] = positive(tree[2 * k]) + positive(tree[2 * k + 1]);
  }
}
