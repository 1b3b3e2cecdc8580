// Which input elements a pooling window covers, and which windows cover an input element. Axis 0 is the height.
// Needs core/common.cl.

typedef struct {
  int size[2], out[2];
  int kernel_size[2], stride[2], padding[2], dilation[2];
  int adaptive;  // windows are spread evenly over the input; the four lines above do not matter
} window_t;

typedef struct {
  int first, end, step;
} span_t;

// Input positions of window `out` that lie inside the input.
inline span_t window_span(const window_t *w, int axis, int out) {
  span_t span;
  if (w->adaptive) {
    const long size = w->size[axis], count = w->out[axis];
    span.first = (int)(out * size / count);
    span.end = (int)(((out + 1) * size + count - 1) / count);
    span.step = 1;
    return span;
  }
  const int dilation = w->dilation[axis];
  const int start = out * w->stride[axis] - w->padding[axis];
  span.first = start < 0 ? start + (-start + dilation - 1) / dilation * dilation : start;
  span.end = min(start + (w->kernel_size[axis] - 1) * dilation + 1, w->size[axis]);
  span.step = dilation;
  return span;
}

// Windows that may cover input position `in` (with dilation not all of them do).
inline span_t covering_windows(const window_t *w, int axis, int in) {
  span_t span;
  span.step = 1;
  if (w->adaptive) {
    const long size = w->size[axis], count = w->out[axis];
    span.first = (int)(in * count / size);
    span.end = (int)(((in + 1) * count + size - 1) / size);
    return span;
  }
  const int padded = in + w->padding[axis];
  const int reach = (w->kernel_size[axis] - 1) * w->dilation[axis];
  span.first = padded > reach ? (padded - reach + w->stride[axis] - 1) / w->stride[axis] : 0;
  span.end = min(padded / w->stride[axis] + 1, w->out[axis]);
  return span;
}

// Work item `id` of a cpu launch of `items` takes these planes.
inline span_t planes_of(int id, int items, int planes) {
  span_t span;
  span.first = (int)((long)planes * id / items);
  span.end = (int)((long)planes * (id + 1) / items);
  span.step = 1;
  return span;
}
