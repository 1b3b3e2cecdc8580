// Losses over class scores [batch, classes, positions]: nll_loss and cross_entropy. A row is one (batch, position).
// Macros: STORAGE, REAL, LOAD, STORE (dtype_defines of the scores); WIDE_LOSS: whether the loss is of type REAL.
//
// Forward: a *_rows kernel leaves every row's loss and weight (a work item a row, or on simt with many classes and one
// position a work group a row), then class_loss_reduce sums them, in one step or two. Backward: cross_entropy_factors
// and then one elementwise kernel. Both kernel shapes share the code; on shape cpu a work item takes a range of rows.
#include "core/common.cl"
#include "core/group.cl"
#include "core/vectors.cl"
#include "ops/loss/class_loss_shared.h"

#define CHAIN 256  // terms of one chain of additions
#define OPTIONAL(name) (name##_buffer ? name##_buffer + name##_start : 0)

#if WIDE_LOSS
#define LOSS REAL
#define LOAD_LOSS(losses, i) (losses)[i]
#define STORE_LOSS(losses, i, value) (losses)[i] = (value)
#else
#define LOSS STORAGE
#define LOAD_LOSS LOAD
#define STORE_LOSS STORE
#endif

#if SHAPE_CPU
#define FOR_MY_ROWS(row, count)                                                  \
  for (long row = (count) * get_global_id(0) / get_global_size(0),               \
            row##_end = (count) * (get_global_id(0) + 1) / get_global_size(0);   \
       row < row##_end; ++row)
#else
#define FOR_MY_ROWS(row, count)                                                  \
  for (long row = get_global_id(0), row##_once = 1;                              \
       row##_once && row < (count); row##_once = 0)
#endif

// The quotient of n >= 0, in 32 bits where that does, which takes a fifth of the time.
inline long quotient(long n, int divisor) {
  return divisor == 1 ? n : n <= INT_MAX ? (long)((int)n / divisor) : n / divisor;
}

// Element of class 0 of a row; class c is c * positions further.
inline long row_start(long row, LossRows r) {
  const long batch = quotient(row, r.positions);
  return batch * r.classes * r.positions + (row - batch * r.positions);
}

// The class a row is for, or -1 when it is to be left out.
#define ROW_CLASS(result, value)                                        \
  {                                                                     \
    const long given = (value);                                         \
    result = given;                                                     \
    if (given == r.ignore_index) {                                      \
      result = -1;                                                      \
    } else if (given < 0 || given >= r.classes) {                       \
      FAIL(given);                                                      \
      result = -1;                                                      \
    }                                                                   \
  }

// ---- forward: losses of rows ----

// Rows' losses go to `losses` when nothing is to be reduced, else with their weights to `terms` [rows, 2].
#define ROW_RESULT_ARGS BUFFER(LOSS, losses), BUFFER(REAL, terms)
#define STORE_ROW(row, loss, row_weight)              \
  if (terms_buffer) {                                 \
    (terms_buffer + terms_start)[2 * (row)] = (loss); \
    (terms_buffer + terms_start)[2 * (row) + 1] = (row_weight); \
  } else {                                            \
    STORE_LOSS(losses_buffer + losses_start, row, loss); \
  }

__kernel void nll_loss_rows(BUFFER(const STORAGE, x), BUFFER(const long, target), BUFFER(const STORAGE, weight),
                            const LossRows r, ROW_RESULT_ARGS, CHECK_ARGS) {
  BIND(const STORAGE, x);
  BIND(const long, target);
  __global const STORAGE *weight = OPTIONAL(weight);
  FOR_MY_ROWS(row, r.rows) {
    long t;
    ROW_CLASS(t, target[row]);
    REAL loss = 0, row_weight = 0;
    if (t >= 0) {
      row_weight = weight ? (REAL)LOAD(weight, t) : (REAL)1;
      loss = -row_weight * LOAD(x, row_start(row, r) + t * r.positions);
    }
    STORE_ROW(row, loss, row_weight);
  }
}

#define LABEL_ARGS BUFFER(const long, target), BUFFER(const STORAGE, probabilities), BUFFER(const STORAGE, weight)
#define BIND_LABELS                                          \
  __global const long *target = OPTIONAL(target);            \
  __global const STORAGE *probabilities = OPTIONAL(probabilities); \
  __global const STORAGE *weight = OPTIONAL(weight)

// weight[c] times the label of class c, the given class apart: what smoothing adds, or the smoothed probability.
inline REAL class_mass(int c, long at, LossRows r, LossLabels labels, __global const STORAGE *probabilities,
                       __global const STORAGE *weight) {
  const REAL spread = labels.smoothing / r.classes;
  const REAL label =
      probabilities ? LOAD(probabilities, at + (long)c * r.positions) * (1 - labels.smoothing) + spread : spread;
  return weight ? label * LOAD(weight, c) : label;
}

inline int has_spread_labels(LossLabels labels) { return labels.has_probabilities || labels.smoothing != 0; }

// Sum of MASS(c) over classes first, first + step, … in chains of CHAIN.
#define SUM_CLASSES(total, first, step, TERM)                              \
  for (int block = first; block < r.classes; block += CHAIN * (step)) {    \
    REAL sum = 0;                                                          \
    for (int c = block; c < min(r.classes, block + CHAIN * (step)); c += (step)) sum += TERM; \
    total += sum;                                                          \
  }

#define LOGIT(c) LOAD(x, at + (long)(c)*r.positions)
#define MASS(c) class_mass(c, at, r, labels, probabilities, weight)

// A row's normalizer: its largest logit and the logarithm of the sum of exponentials less it. The two stay apart and
// the largest logit goes first, since their sum would lose the digits that differ between large logits.
#define NEGATED_LOG_SOFTMAX(logit, normalizer) ((normalizer).y - ((logit) - (normalizer).x))
#define SOFTMAX(logit, normalizer) exp((logit) - (normalizer).x - (normalizer).y)

#if SHAPE_CPU
#include "core/log_sum.cl"

// The normalizer of consecutive logits, sixteen at a time.
inline REAL2 row_normalizer(const __global STORAGE *x, int n) {
  const int whole = n & ~15;
  REAL16 tops = -INFINITY, total = 0;
  for (int i = 0; i < whole; i += 16) tops = fmax(tops, LOAD16(x, i));
  REAL16 tail = -INFINITY;
  if (whole < n) tail = LOAD_UP_TO16(x, whole, n - whole, -INFINITY);
  const REAL top = max16(fmax(tops, tail));
  for (int start = 0; start < whole; start += 16 * CHAIN) {
    REAL16 sum = 0;
    for (int i = start; i < min(whole, start + 16 * CHAIN); i += 16) sum += EXP16(LOAD16(x, i) - top);
    total += sum;
  }
  if (whole < n) total += EXP16(tail - top);
  return (REAL2)(top, LOG1(sum16(total)));
}
#endif

__kernel void cross_entropy_rows(BUFFER(const STORAGE, x), LABEL_ARGS, const LossRows r, const LossLabels labels,
                                 BUFFER(REAL, normalizers), ROW_RESULT_ARGS, CHECK_ARGS) {
  BIND(const STORAGE, x);
  BIND(REAL, normalizers);
  BIND_LABELS;
  FOR_MY_ROWS(row, r.rows) {
    const long at = row_start(row, r);
    REAL2 normalizer;
#if SHAPE_CPU
    if (r.positions == 1) {
      normalizer = row_normalizer(x + at, r.classes);
    } else
#endif
    {
      REAL top = -INFINITY, total = 0;
      for (int c = 0; c < r.classes; ++c) top = fmax(top, (REAL)LOGIT(c));
      SUM_CLASSES(total, 0, 1, exp(LOGIT(c) - top));
      normalizer = (REAL2)(top, log(total));
    }
    vstore2(normalizer, row, normalizers);
    long t = 0;
    if (target) ROW_CLASS(t, target[row]);
    REAL loss = 0, row_weight = 0;
    if (t >= 0) {
      if (has_spread_labels(labels)) SUM_CLASSES(loss, 0, 1, MASS(c) * NEGATED_LOG_SOFTMAX(LOGIT(c), normalizer));
      row_weight = target && weight ? (REAL)LOAD(weight, t) : (REAL)1;
      if (target) loss += (1 - labels.smoothing) * row_weight * NEGATED_LOG_SOFTMAX(LOGIT(t), normalizer);
    }
    STORE_ROW(row, loss, row_weight);
  }
}

#if SHAPE_SIMT

__kernel void cross_entropy_rows_groups(BUFFER(const STORAGE, x), LABEL_ARGS, const LossRows r, const LossLabels labels,
                                        BUFFER(REAL, normalizers), ROW_RESULT_ARGS, CHECK_ARGS) {
  BIND(const STORAGE, x);
  BIND(REAL, normalizers);
  BIND_LABELS;
  __local REAL tops[MAX_GROUP], sums[MAX_GROUP], masses[MAX_GROUP];
  const int lid = get_local_id(0), size = get_local_size(0);
  const long row = get_group_id(0), at = row_start(row, r);
  REAL mine = -INFINITY;
  for (int c = lid; c < r.classes; c += size) mine = fmax(mine, (REAL)LOGIT(c));
  tops[lid] = mine;
  JOIN_GROUP(tops, fmax);
  const REAL top = tops[0];
  REAL total = 0;
  SUM_CLASSES(total, lid, size, exp(LOGIT(c) - top));
  sums[lid] = total;
  JOIN_GROUP(sums, ADD);
  const REAL2 normalizer = (REAL2)(top, log(sums[0]));
  REAL spread = 0;
  if (has_spread_labels(labels)) SUM_CLASSES(spread, lid, size, MASS(c) * NEGATED_LOG_SOFTMAX(LOGIT(c), normalizer));
  masses[lid] = spread;
  JOIN_GROUP(masses, ADD);
  if (lid != 0) return;
  vstore2(normalizer, row, normalizers);
  long t = 0;
  if (target) ROW_CLASS(t, target[row]);
  REAL loss = 0, row_weight = 0;
  if (t >= 0) {
    loss = masses[0];
    row_weight = target && weight ? (REAL)LOAD(weight, t) : (REAL)1;
    if (target) loss += (1 - labels.smoothing) * row_weight * NEGATED_LOG_SOFTMAX(LOGIT(t), normalizer);
  }
  STORE_ROW(row, loss, row_weight);
}

#endif

// ---- forward: sum over rows ----

// Sums pairs of `terms` [count, 2]; each group leaves its pair in `partials`, a lone group the loss and total weight.
__kernel void class_loss_reduce(BUFFER(const REAL, terms), const long count, const int reduction,
                                BUFFER(REAL, partials), BUFFER(STORAGE, loss), BUFFER(REAL, total_weight)) {
  BIND(const REAL, terms);
  BIND(REAL, partials);
  const long first = count * get_group_id(0) / get_num_groups(0),
             end = count * (get_group_id(0) + 1) / get_num_groups(0);
  const int lid = get_local_id(0), size = get_local_size(0);
  REAL2 all = 0;
  for (long block = first + lid; block < end; block += (long)CHAIN * size) {
    REAL2 sum = 0;
    for (long i = block; i < min(end, block + (long)CHAIN * size); i += size) sum += vload2(i, terms);
    all += sum;
  }
#if SHAPE_SIMT
  __local REAL2 shared[MAX_GROUP];
  shared[lid] = all;
  JOIN_GROUP(shared, ADD);
  if (lid != 0) return;
  all = shared[0];
#endif
  if (get_num_groups(0) > 1) {
    vstore2(all, get_group_id(0), partials);
    return;
  }
  const REAL result = reduction == REDUCE_MEAN ? all.x / all.y : all.x;
  STORE(loss_buffer + loss_start, 0, result);
  total_weight_buffer[total_weight_start] = all.y;
}

// ---- backward ----

// The gradient that arrives at a row, with the mean's divisor.
inline REAL row_gradient(long row, int reduction, __global const LOSS *grad, __global const REAL *total_weight) {
  const REAL g = LOAD_LOSS(grad, reduction == REDUCE_NONE ? row : 0);
  return reduction == REDUCE_MEAN ? g / total_weight[0] : g;
}

__kernel void nll_loss_backward(BUFFER(const LOSS, grad), BUFFER(const long, target), BUFFER(const STORAGE, weight),
                                const LossRows r, const int reduction, BUFFER(const REAL, total_weight),
                                BUFFER(STORAGE, dx), const int is_zero, CHECK_ARGS) {
  BIND(const LOSS, grad);
  BIND(const long, target);
  BIND(const REAL, total_weight);
  BIND(STORAGE, dx);
  __global const STORAGE *weight = OPTIONAL(weight);
  FOR_MY_ROWS(row, r.rows) {
    const long at = row_start(row, r);
    long t;
    ROW_CLASS(t, target[row]);
    if (!is_zero)
      for (int c = 0; c < r.classes; ++c) STORE(dx, at + (long)c * r.positions, (REAL)0);
    if (t >= 0) {
      const REAL g = row_gradient(row, reduction, grad, total_weight);
      STORE(dx, at + t * r.positions, weight ? -g * LOAD(weight, t) : -g);
    }
  }
}

// Per row the arriving gradient and the sum of all label masses; a negative target marks a row that is left out.
// factors [rows, 2]
__kernel void cross_entropy_factors(BUFFER(const LOSS, grad), LABEL_ARGS, const LossRows r, const LossLabels labels,
                                    const int reduction, BUFFER(const REAL, total_weight), BUFFER(REAL, factors),
                                    CHECK_ARGS) {
  BIND(const LOSS, grad);
  BIND(const REAL, total_weight);
  BIND(REAL, factors);
  BIND_LABELS;
  FOR_MY_ROWS(row, r.rows) {
    const long at = row_start(row, r);
    long t = 0;
    if (target) ROW_CLASS(t, target[row]);
    REAL mass = 0;
    if (t >= 0) {
      if (has_spread_labels(labels)) SUM_CLASSES(mass, 0, 1, MASS(c));
      if (target) mass += (1 - labels.smoothing) * (weight ? (REAL)LOAD(weight, t) : (REAL)1);
    }
    factors[2 * row] = t >= 0 ? row_gradient(row, reduction, grad, total_weight) : (REAL)0;
    factors[2 * row + 1] = mass;
  }
}

// dx = g (softmax(x) * sum of masses - mass of the class)
inline REAL logit_gradient(int c, long t, REAL2 factor, REAL probability, REAL spread_mass, REAL smoothing,
                           __global const STORAGE *weight) {
  REAL mass = spread_mass;
  if (c == t) mass += (1 - smoothing) * (weight ? (REAL)LOAD(weight, c) : (REAL)1);
  return factor.x * (probability * factor.y - mass);
}

__kernel void cross_entropy_backward(BUFFER(const REAL, factors), BUFFER(const STORAGE, x), LABEL_ARGS,
                                     const LossRows r, const LossLabels labels, BUFFER(const REAL, normalizers),
                                     BUFFER(STORAGE, dx), const int has_long_rows) {
  BIND(const REAL, factors);
  BIND(const STORAGE, x);
  BIND(const REAL, normalizers);
  BIND(STORAGE, dx);
  BIND_LABELS;
#if SHAPE_CPU
  FOR_MY_ROWS(row, r.rows) {
    const long at = row_start(row, r);
    const long t = target ? target[row] : -1;
    const int left_out = target && (t == r.ignore_index || t < 0 || t >= r.classes);
    const REAL2 factor = vload2(row, factors);
    const REAL2 normalizer = vload2(row, normalizers);
    if (left_out) {
      for (int c = 0; c < r.classes; ++c) STORE(dx, at + (long)c * r.positions, (REAL)0);
    } else if (r.positions == 1 && target && labels.smoothing == 0) {
      const int whole = r.classes & ~15;
      for (int c = 0; c < whole; c += 16)
        STORE16(dx, at + c, factor.x * (SOFTMAX(LOAD16(x, at + c), normalizer) * factor.y));
      if (whole < r.classes) {
        const REAL16 p = SOFTMAX(LOAD_UP_TO16(x, at + whole, r.classes - whole, normalizer.x), normalizer);
        STORE_UP_TO16(dx, at + whole, r.classes - whole, factor.x * (p * factor.y));
      }
      STORE(dx, at + t, logit_gradient(t, t, factor, SOFTMAX(LOGIT(t), normalizer), 0, 0, weight));
    } else {
      for (int c = 0; c < r.classes; ++c)
        STORE(dx, at + (long)c * r.positions,
              logit_gradient(c, t, factor, SOFTMAX(LOGIT(c), normalizer), has_spread_labels(labels) ? MASS(c) : (REAL)0,
                             labels.smoothing, weight));
    }
  }
#else
  const int step = get_local_size(0);
#define PUT_GRADIENT(row, at, c)                                                                                   \
  {                                                                                                                \
    const long t = target ? target[row] : -1;                                                                      \
    const int left_out = target && (t == r.ignore_index || t < 0 || t >= r.classes);                               \
    const REAL probability = SOFTMAX(LOGIT(c), vload2(row, normalizers));                                          \
    const REAL gradient = logit_gradient(c, t, vload2(row, factors), probability,                                  \
                                         has_spread_labels(labels) ? MASS(c) : (REAL)0, labels.smoothing, weight); \
    STORE(dx, at + (long)(c)*r.positions, left_out ? (REAL)0 : gradient);                                          \
  }
  if (has_long_rows) {  // whose classes are consecutive: some groups for each
    const int groups = (r.classes + CLASSES_OF_ITEM * step - 1) / (CLASSES_OF_ITEM * step);
    const long row = quotient(get_group_id(0), groups), at = row * r.classes;
    const int first = (int)(get_group_id(0) - row * groups) * (CLASSES_OF_ITEM * step) + get_local_id(0);
    for (int e = 0; e < CLASSES_OF_ITEM && first + e * step < r.classes; ++e) PUT_GRADIENT(row, at, first + e * step);
    return;
  }
  const long first = (long)get_group_id(0) * (CLASSES_OF_ITEM * step) + get_local_id(0);
  for (int e = 0; e < CLASSES_OF_ITEM; ++e) {
    const long id = first + e * step;
    if (id >= r.rows * r.classes) return;
    const long plane = quotient(id, r.positions), position = id - plane * r.positions;
    const long batch = quotient(plane, r.classes);
    const int c = plane - batch * r.classes;
    const long row = batch * r.positions + position, at = row_start(row, r);
    PUT_GRADIENT(row, at, c);
  }
#endif
}

// The gradient of class probabilities: dt = -g (1 - smoothing) weight log_softmax(x)
__kernel void cross_entropy_target_gradient(BUFFER(const LOSS, grad), BUFFER(const STORAGE, x),
                                            BUFFER(const STORAGE, weight), const LossRows r, const LossLabels labels,
                                            const int reduction, BUFFER(const REAL, total_weight),
                                            BUFFER(const REAL, normalizers), BUFFER(STORAGE, dt)) {
  BIND(const LOSS, grad);
  BIND(const STORAGE, x);
  BIND(const REAL, total_weight);
  BIND(const REAL, normalizers);
  BIND(STORAGE, dt);
  __global const STORAGE *weight = OPTIONAL(weight);
  FOR_MY_ROWS(row, r.rows) {
    const long at = row_start(row, r);
    const REAL g = row_gradient(row, reduction, grad, total_weight) * (1 - labels.smoothing);
    const REAL2 normalizer = vload2(row, normalizers);
    for (int c = 0; c < r.classes; ++c) {
      const REAL factor = weight ? g * LOAD(weight, c) : g;
      STORE(dt, at + (long)c * r.positions, factor * NEGATED_LOG_SOFTMAX(LOGIT(c), normalizer));
    }
  }
}
