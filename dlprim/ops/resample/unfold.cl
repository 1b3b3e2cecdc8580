// Sliding blocks as columns, and their sum back. Needs ops/resample/rows.cl.

// Blocks [planes, KH, KW, OH, OW] of planes [planes, H, W]; a row is one of OW elements.
__kernel void unfold(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), const long rows, const KernelBlocks b) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  const int taps = b.kernel_size[0] * b.kernel_size[1];
  FOR_ROWS(row, rows) {
    const row_t at = row_of(row, taps, b.blocks[0]);
    const int kh = at.d / b.kernel_size[1], kw = at.d - kh * b.kernel_size[1];
    const int h = at.h * b.stride[0] - b.padding[0] + kh * b.dilation[0];
    const int from = kw * b.dilation[1] - b.padding[1];
    const int inside = h >= 0 && h < b.size[0];
    const __global STORAGE *source = x + (at.plane * b.size[0] + (inside ? h : 0)) * b.size[1];
    FOR_COLUMNS(column, b.blocks[1]) {
      const int w = column * b.stride[1] + from;
      REAL value = 0;
      if (inside && w >= 0 && w < b.size[1]) value = LOAD(source, w);
      STORE(y, row * b.blocks[1] + column, value);
    }
  }
}

// The block whose tap `tap` lies on position `at` along one axis, or -1.
inline int block_on(const KernelBlocks *b, int axis, int at, int tap) {
  const int start = at + b->padding[axis] - tap * b->dilation[axis];
  if (start < 0) return -1;
  const int block = start / b->stride[axis];
  return block < b->blocks[axis] && block * b->stride[axis] == start ? block : -1;
}

__kernel void fold(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), const long rows, const KernelBlocks b) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  const long block_count = (long)b.blocks[0] * b.blocks[1];
  FOR_ROWS(row, rows) {
    const row_t at = row_of(row, 1, b.size[0]);
    const __global STORAGE *plane = x + at.plane * b.kernel_size[0] * b.kernel_size[1] * block_count;
    FOR_COLUMNS(column, b.size[1]) {
      REAL sum = 0;
      for (int kh = 0; kh < b.kernel_size[0]; ++kh) {
        const int oh = block_on(&b, 0, at.h, kh);
        if (oh < 0) continue;
        REAL row_sum = 0;
        for (int kw = 0; kw < b.kernel_size[1]; ++kw) {
          const int ow = block_on(&b, 1, column, kw);
          if (ow >= 0) row_sum += LOAD(plane, (kh * b.kernel_size[1] + kw) * block_count + (long)oh * b.blocks[1] + ow);
        }
        sum += row_sum;
      }
      STORE(y, row * b.size[1] + column, sum);
    }
  }
}
