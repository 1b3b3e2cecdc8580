// Non-maximum suppression. Boxes stand in the order of their scores; row i of `marks` says in words of NMS_WORD bits
// which of the later boxes overlap with box i by more than the threshold. Rows are made a stretch at a time, and a
// single work group then walks them in order and keeps what no kept box has marked. Macros: STORAGE, REAL, LOAD
// (dtype_defines).
#include "core/common.cl"
#include "ops/box/box_shared.h"
#include "ops/sort/work.cl"

// Overlaps that lie on the threshold must not depend on how products are rounded.
#pragma OPENCL FP_CONTRACT OFF

// Boxes [n, 4] and, where given, their categories in order.
__kernel void order_boxes(BUFFER(const STORAGE, boxes), BUFFER(const long, categories), BUFFER(const int, order),
                          BUFFER(REAL, ordered), BUFFER(long, ordered_categories), const long n) {
  BIND(const STORAGE, boxes);
  BIND(const long, categories);
  BIND(const int, order);
  BIND(REAL, ordered);
  BIND(long, ordered_categories);
  FOR_MY(i, n) {
    const long from = order[i];
    for (int c = 0; c < 4; ++c) ordered[4 * i + c] = LOAD(boxes, 4 * from + c);
    if (categories_buffer) ordered_categories[i] = categories[from];
  }
}

// The intersection over the union. Comparisons as torchvision's, which decide what NaN does.
inline REAL overlap(const __global REAL *a, const __global REAL *b) {
  const REAL left = a[0] < b[0] ? b[0] : a[0], top = a[1] < b[1] ? b[1] : a[1];
  const REAL right = b[2] < a[2] ? b[2] : a[2], bottom = b[3] < a[3] ? b[3] : a[3];
  const REAL width = 0 < right - left ? right - left : 0, height = 0 < bottom - top ? bottom - top : 0;
  const REAL both = width * height;
  return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both);
}

// Words of the rows from `first` on; those that stand for earlier boxes alone are never read, and not written.
__kernel void mark_overlaps(BUFFER(const REAL, boxes), BUFFER(const long, categories), BUFFER(uint, marks), const int n,
                            const int words, const int first, const long parts, const REAL threshold) {
  BIND(const REAL, boxes);
  BIND(const long, categories);
  BIND(uint, marks);
  FOR_MY(part, parts) {
    const long row_of_stretch = part / words;
    const int row = first + (int)row_of_stretch, word = (int)(part - row_of_stretch * words);
    const int end = min(n, (word + 1) * NMS_WORD);
    if (end <= row) continue;
    uint bits = 0;
    for (int other = max(word * NMS_WORD, row + 1); other < end; ++other) {
      const int may = !categories_buffer || categories[row] == categories[other];
      if (may && overlap(boxes + 4l * row, boxes + 4l * other) > threshold) bits |= 1u << (other - word * NMS_WORD);
    }
    marks[part] = bits;
  }
}

// One work group, of one item on CPUs. It goes on where the stretch before `first` ended: `removed` holds what has been
// marked so far, `count` how many boxes are kept.
__kernel void keep_boxes(BUFFER(const uint, marks), BUFFER(const int, order), BUFFER(uint, removed), BUFFER(long, kept),
                         BUFFER(int, count), const int n, const int words, const int first, const int rows) {
  BIND(const uint, marks);
  BIND(const int, order);
  BIND(uint, removed);
  BIND(long, kept);
  BIND(int, count);
  const int item = get_local_id(0), group = get_local_size(0);
  int found = count[0];
  for (int word = first / NMS_WORD; word * NMS_WORD < first + rows; ++word) {
    barrier(CLK_GLOBAL_MEM_FENCE);
    const int base = word * NMS_WORD, end = min(first + rows, base + NMS_WORD);
    uint gone = removed[word], alive = 0;
    for (int row = base; row < end; ++row) {  // every item does the same
      if (gone >> (row - base) & 1) continue;
      alive |= 1u << (row - base);
      gone |= marks[(long)(row - first) * words + word];
      if (item == 0) kept[found] = order[row];
      ++found;
    }
    for (int later = word + 1 + item; later < words; later += group) {
      uint marked = 0;
      for (uint left = alive; left; left &= left - 1)
        marked |= marks[(long)(base - first + 31 - clz(left & -left)) * words + later];
      removed[later] |= marked;
    }
  }
  if (item == 0) count[0] = found;
}
