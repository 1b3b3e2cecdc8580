// Optimizer steps over many parameters at once; the formulas are torch.optim's, in its order of operations.
// Macros: REAL (of the parameters); MOMENTUM (sgd, rmsprop), AMSGRAD (adam), CENTERED (rmsprop): 0 or 1, whether the state
// that it needs is there. Each update is a loop over one chunk that the compiler vectorises on a CPU.
#include "core/common.cl"
#include "ops/optim/parameter_pack.cl"

#define TENSOR __global REAL *restrict
#define GRADIENT const __global REAL *restrict

// torch.lerp
inline REAL moved_towards(REAL from, REAL to, REAL weight) {
  return weight < (REAL)0.5 ? from + weight * (to - from) : to - (to - from) * (1 - weight);
}

typedef struct {
  REAL lr, momentum, undamped, weight_decay, sign;
  int nesterov, first_step;
} sgd_t;

inline void sgd_update(TENSOR p, GRADIENT g, TENSOR buffer, int count, sgd_t o) {
  FOR_EACH_ELEMENT(i) {
    REAL step = o.sign * g[i] + o.weight_decay * p[i];
#if MOMENTUM
    const REAL moved = o.first_step ? step : o.momentum * buffer[i] + o.undamped * step;
    buffer[i] = moved;
    step = o.nesterov ? step + o.momentum * moved : moved;
#endif
    p[i] -= o.lr * step;
  }
}

__kernel void sgd_step(PACK_ARGS, const sgd_t o) {
  BIND_CHUNK;
#if MOMENTUM
  sgd_update(CHUNK_TENSOR(0), CHUNK_TENSOR(1), CHUNK_TENSOR(2), count, o);
#else
  sgd_update(CHUNK_TENSOR(0), CHUNK_TENSOR(1), 0, count, o);
#endif
}

typedef struct {
  REAL step_size, first_weight, beta2, second_weight, eps, weight_decay, shrink, root_correction, sign;
} adam_t;

inline void adam_update(TENSOR p, GRADIENT g, TENSOR average, TENSOR square, TENSOR top, int count, adam_t o) {
  FOR_EACH_ELEMENT(i) {
    const REAL value = p[i] * o.shrink;
    const REAL gradient = o.sign * g[i] + o.weight_decay * value;
    const REAL first = moved_towards(average[i], gradient, o.first_weight);
    const REAL second = square[i] * o.beta2 + o.second_weight * gradient * gradient;
    average[i] = first;
    square[i] = second;
#if AMSGRAD
    const REAL largest = fmax(top[i], second);
    top[i] = largest;
#else
    const REAL largest = second;
#endif
    p[i] = value - o.step_size * (first / (sqrt(largest) / o.root_correction + o.eps));
  }
}

__kernel void adam_step(PACK_ARGS, const adam_t o) {
  BIND_CHUNK;
#if AMSGRAD
  adam_update(CHUNK_TENSOR(0), CHUNK_TENSOR(1), CHUNK_TENSOR(2), CHUNK_TENSOR(3), CHUNK_TENSOR(4), count, o);
#else
  adam_update(CHUNK_TENSOR(0), CHUNK_TENSOR(1), CHUNK_TENSOR(2), CHUNK_TENSOR(3), 0, count, o);
#endif
}

typedef struct {
  REAL lr, alpha, rest, eps, weight_decay, momentum, sign;
} rmsprop_t;

inline void rmsprop_update(TENSOR p, GRADIENT g, TENSOR square, TENSOR buffer, TENSOR average, int count, rmsprop_t o) {
  FOR_EACH_ELEMENT(i) {
    const REAL gradient = o.sign * g[i] + o.weight_decay * p[i];
    const REAL mean_square = square[i] * o.alpha + o.rest * gradient * gradient;
    square[i] = mean_square;
#if CENTERED
    const REAL mean = moved_towards(average[i], gradient, o.rest);
    average[i] = mean;
    const REAL root = sqrt(mean_square - mean * mean) + o.eps;
#else
    const REAL root = sqrt(mean_square) + o.eps;
#endif
#if MOMENTUM
    const REAL step = o.momentum * buffer[i] + gradient / root;
    buffer[i] = step;
#else
    const REAL step = gradient / root;
#endif
    p[i] -= o.lr * step;
  }
}

__kernel void rmsprop_step(PACK_ARGS, const rmsprop_t o) {
  BIND_CHUNK;
#if MOMENTUM && CENTERED
  rmsprop_update(CHUNK_TENSOR(0), CHUNK_TENSOR(1), CHUNK_TENSOR(2), CHUNK_TENSOR(3), CHUNK_TENSOR(4), count, o);
#elif MOMENTUM
  rmsprop_update(CHUNK_TENSOR(0), CHUNK_TENSOR(1), CHUNK_TENSOR(2), CHUNK_TENSOR(3), 0, count, o);
#elif CENTERED
  rmsprop_update(CHUNK_TENSOR(0), CHUNK_TENSOR(1), CHUNK_TENSOR(2), 0, CHUNK_TENSOR(3), count, o);
#else
  rmsprop_update(CHUNK_TENSOR(0), CHUNK_TENSOR(1), CHUNK_TENSOR(2), 0, 0, count, o);
#endif
}

typedef struct {
  REAL lr, eps, weight_decay, sign;
} adagrad_t;

inline void adagrad_update(TENSOR p, GRADIENT g, TENSOR sum, int count, adagrad_t o) {
  FOR_EACH_ELEMENT(i) {
    const REAL gradient = o.sign * g[i] + o.weight_decay * p[i];
    const REAL squares = sum[i] + gradient * gradient;
    sum[i] = squares;
    p[i] -= o.lr * (gradient / (sqrt(squares) + o.eps));
  }
}

__kernel void adagrad_step(PACK_ARGS, const adagrad_t o) {
  BIND_CHUNK;
  adagrad_update(CHUNK_TENSOR(0), CHUNK_TENSOR(1), CHUNK_TENSOR(2), count, o);
}
