// The place that an element of an index names: Places p and CHECK_ARGS are in scope.

// The place that is named, or -1 where there is none.
#define PLACE(result, given)                               \
  long result = (given);                                   \
  if (p.wraps && result < 0) result += p.bound;            \
  if (result < 0 || result >= p.bound) {                   \
    FAIL(given);                                           \
    result = -1;                                           \
  }

#define AT(strides, o, along, i) ((o) * p.strides[0] + (along) * p.strides[1] + (i) * p.strides[2])
