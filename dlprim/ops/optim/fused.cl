// Optimizer steps over many parameters at once; the formulas are torch.optim's, in its order of operations.
// Macros: STORAGE, REAL, LOAD, STORE (dtype_defines of the parameters, which their gradients and states share);
// MOMENTUM (sgd, rmsprop), NESTEROV (sgd), AMSGRAD, STEP_ON_DEVICE (adam), CENTERED (rmsprop): 1 where the optimizer
// has it, with the state that it needs; ONLY_name_step: the kernel wanted. Each update is a loop over one chunk that
// the compiler vectorises on a CPU.
#include "core/common.cl"
#include "ops/optim/parameter_pack.cl"

#define TENSOR __global STORAGE *restrict
#define GRADIENT const __global STORAGE *restrict

#define COEFFICIENT(index, name) const REAL name = c.of[index]

// torch.lerp
inline REAL moved_towards(REAL from, REAL to, REAL weight) {
  return weight < (REAL)0.5 ? from + weight * (to - from) : to - (to - from) * (1 - weight);
}
// torch.maximum: NaN stays.
inline REAL larger(REAL a, REAL b) { return a > b || isnan(a) ? a : b; }

// There is no step where `found_inf`, if it is given, is not 0.
#define FOUND_INF BUFFER(const float, found_inf)
#define IS_SKIPPED (found_inf_buffer && found_inf_buffer[found_inf_start] != 0)

// The kernel of an update, which takes the parameter, its gradient and up to three states (those that are not there are
// never touched).
#define STEP(name)                                                                                                \
  __kernel void name##_step(PACK_ARGS, const Coefficients c, FOUND_INF) {                                         \
    if (IS_SKIPPED) return;                                                                                       \
    BIND_CHUNK;                                                                                                   \
    name##_update(CHUNK_TENSOR(0), CHUNK_TENSOR(1), CHUNK_TENSOR(2), CHUNK_TENSOR(3), CHUNK_TENSOR(4), count, c); \
  }
#define UPDATE(name, state0, state1, state2)                                                                       \
  inline void name##_update(TENSOR p, GRADIENT g, TENSOR state0, TENSOR state1, TENSOR state2, int count,         \
                            Coefficients c)

#ifdef ONLY_sgd_step
UPDATE(sgd, buffer, unused1, unused2) {
  COEFFICIENT(0, lr);
  COEFFICIENT(1, momentum);
  COEFFICIENT(2, undamped);
  COEFFICIENT(3, weight_decay);
  COEFFICIENT(4, sign);
  COEFFICIENT(5, first_step);
  FOR_EACH_ELEMENT(i) {
    REAL step = sign * LOAD(g, i) + weight_decay * LOAD(p, i);
#if MOMENTUM
    const REAL moved = first_step != 0 ? step : momentum * LOAD(buffer, i) + undamped * step;
    STORE(buffer, i, moved);
#if NESTEROV
    step += momentum * moved;
#else
    step = moved;
#endif
#endif
    STORE(p, i, LOAD(p, i) - lr * step);
  }
}
STEP(sgd)
#endif

// The running averages of gradients and of their squares that Adam and its kin keep.
#define ADAM_MOMENTS(first_average, second_average)                                          \
  const REAL value = LOAD(p, i) * shrink;                                                    \
  const REAL gradient = sign * LOAD(g, i) + weight_decay * value;                            \
  const REAL first = moved_towards(LOAD(first_average, i), gradient, first_weight);          \
  const REAL second = LOAD(second_average, i) * beta2 + second_weight * gradient * gradient; \
  STORE(first_average, i, first);                                                            \
  STORE(second_average, i, second)
#define ADAM_COEFFICIENTS        \
  COEFFICIENT(0, sign);          \
  COEFFICIENT(1, weight_decay);  \
  COEFFICIENT(2, shrink);        \
  COEFFICIENT(3, first_weight);  \
  COEFFICIENT(4, beta2);         \
  COEFFICIENT(5, second_weight); \
  COEFFICIENT(6, eps)

#ifdef ONLY_adam_step
UPDATE(adam, average, square, top) {
  ADAM_COEFFICIENTS;
  COEFFICIENT(7, step_size);
  COEFFICIENT(8, root_correction);
  FOR_EACH_ELEMENT(i) {
    ADAM_MOMENTS(average, square);
#if AMSGRAD
    const REAL largest = larger(LOAD(top, i), second);
    STORE(top, i, largest);
#else
    const REAL largest = second;
#endif
    STORE(p, i, value - step_size * (first / (sqrt(largest) / root_correction + eps)));
  }
}
#if STEP_ON_DEVICE
// Coefficients 7 to 9 are the learning rate and the logarithms of the betas: 1 - beta^step keeps its digits so.
__kernel void adam_step(PACK_ARGS, const Coefficients given, FOUND_INF) {
  if (IS_SKIPPED) return;
  BIND_CHUNK;
  Coefficients c = given;
  const REAL step = CHUNK_NUMBER(4 + AMSGRAD);
  c.of[7] = given.of[7] / -expm1(step * given.of[8]);
  c.of[8] = sqrt(-expm1(step * given.of[9]));
  adam_update(CHUNK_TENSOR(0), CHUNK_TENSOR(1), CHUNK_TENSOR(2), CHUNK_TENSOR(3), CHUNK_TENSOR(4), count, c);
}
#else
STEP(adam)
#endif
#endif

#ifdef ONLY_nadam_step
UPDATE(nadam, average, square, unused) {
  ADAM_COEFFICIENTS;
  COEFFICIENT(7, correction);
  COEFFICIENT(8, gradient_size);
  COEFFICIENT(9, average_size);
  FOR_EACH_ELEMENT(i) {
    ADAM_MOMENTS(average, square);
    const REAL root = sqrt(second / correction) + eps;
    STORE(p, i, value - gradient_size * (gradient / root) - average_size * (first / root));
  }
}
STEP(nadam)
#endif

#ifdef ONLY_radam_step
UPDATE(radam, average, square, unused) {
  ADAM_COEFFICIENTS;
  COEFFICIENT(7, correction);
  COEFFICIENT(8, lr);
  COEFFICIENT(9, root_correction);
  COEFFICIENT(10, rectified);  // 0: the squares' average is not to be trusted yet
  FOR_EACH_ELEMENT(i) {
    ADAM_MOMENTS(average, square);
    const REAL step = first / correction * lr;
    STORE(p, i, value - (rectified != 0 ? step * (root_correction / (sqrt(second) + eps)) * rectified : step));
  }
}
STEP(radam)
#endif

#ifdef ONLY_adamax_step
UPDATE(adamax, average, norm, unused) {
  COEFFICIENT(0, sign);
  COEFFICIENT(1, weight_decay);
  COEFFICIENT(2, first_weight);
  COEFFICIENT(3, beta2);
  COEFFICIENT(4, eps);
  COEFFICIENT(5, step_size);
  FOR_EACH_ELEMENT(i) {
    const REAL gradient = sign * LOAD(g, i) + weight_decay * LOAD(p, i);
    const REAL first = moved_towards(LOAD(average, i), gradient, first_weight);
    const REAL largest = larger(LOAD(norm, i) * beta2, fabs(gradient) + eps);
    STORE(average, i, first);
    STORE(norm, i, largest);
    STORE(p, i, LOAD(p, i) - step_size * (first / largest));
  }
}
STEP(adamax)
#endif

#ifdef ONLY_rmsprop_step
UPDATE(rmsprop, square, buffer_or_average, average_after_buffer) {
  COEFFICIENT(0, lr);
  COEFFICIENT(1, alpha);
  COEFFICIENT(2, rest);
  COEFFICIENT(3, eps);
  COEFFICIENT(4, weight_decay);
  COEFFICIENT(5, momentum);
  COEFFICIENT(6, sign);
  FOR_EACH_ELEMENT(i) {
    const REAL gradient = sign * LOAD(g, i) + weight_decay * LOAD(p, i);
    REAL mean_square = LOAD(square, i) * alpha + rest * gradient * gradient;
    STORE(square, i, mean_square);
#if CENTERED
    TENSOR average = MOMENTUM ? average_after_buffer : buffer_or_average;
    const REAL mean = moved_towards(LOAD(average, i), gradient, rest);
    STORE(average, i, mean);
    mean_square -= mean * mean;
#endif
    REAL step = gradient / (sqrt(mean_square) + eps);
#if MOMENTUM
    step += momentum * LOAD(buffer_or_average, i);
    STORE(buffer_or_average, i, step);
#endif
    STORE(p, i, LOAD(p, i) - lr * step);
  }
}
STEP(rmsprop)
#endif

#ifdef ONLY_adagrad_step
UPDATE(adagrad, sum, unused1, unused2) {
  COEFFICIENT(0, lr);
  COEFFICIENT(1, eps);
  COEFFICIENT(2, weight_decay);
  COEFFICIENT(3, sign);
  FOR_EACH_ELEMENT(i) {
    const REAL gradient = sign * LOAD(g, i) + weight_decay * LOAD(p, i);
    const REAL squares = LOAD(sum, i) + gradient * gradient;
    STORE(sum, i, squares);
    STORE(p, i, LOAD(p, i) - lr * (gradient / (sqrt(squares) + eps)));
  }
}
STEP(adagrad)
#endif

#ifdef ONLY_adadelta_step
UPDATE(adadelta, square, steps, unused) {
  COEFFICIENT(0, lr);
  COEFFICIENT(1, rho);
  COEFFICIENT(2, rest);
  COEFFICIENT(3, eps);
  COEFFICIENT(4, weight_decay);
  COEFFICIENT(5, sign);
  FOR_EACH_ELEMENT(i) {
    const REAL gradient = sign * LOAD(g, i) + weight_decay * LOAD(p, i);
    const REAL mean_square = LOAD(square, i) * rho + rest * gradient * gradient;
    const REAL step = sqrt(LOAD(steps, i) + eps) / sqrt(mean_square + eps) * gradient;
    STORE(square, i, mean_square);
    STORE(steps, i, LOAD(steps, i) * rho + rest * step * step);
    STORE(p, i, LOAD(p, i) - lr * step);
  }
}
STEP(adadelta)
#endif

#ifdef ONLY_rprop_step
UPDATE(rprop, previous, step_size, unused) {
  COEFFICIENT(0, shrink);
  COEFFICIENT(1, grow);
  COEFFICIENT(2, least);
  COEFFICIENT(3, most);
  COEFFICIENT(4, sign_of_g);
  FOR_EACH_ELEMENT(i) {
    const REAL gradient = sign_of_g * LOAD(g, i);
    const REAL agreement = gradient * LOAD(previous, i);
    const REAL factor = agreement > 0 ? grow : agreement < 0 ? shrink : agreement == 0 ? (REAL)1 : agreement;
    const REAL wanted = LOAD(step_size, i) * factor;
    const REAL held = wanted < least ? least : wanted, size = held > most ? most : held;
    const REAL taken = agreement < 0 ? (REAL)0 : gradient;
    STORE(step_size, i, size);
    STORE(previous, i, taken);
    STORE(p, i, LOAD(p, i) - (taken > 0 ? (REAL)1 : taken < 0 ? (REAL)-1 : taken) * size);
  }
}
STEP(rprop)
#endif

#ifdef ONLY_asgd_step
UPDATE(asgd, mean, unused1, unused2) {
  COEFFICIENT(0, shrink);
  COEFFICIENT(1, eta);
  COEFFICIENT(2, part);  // of the new value in the mean
  COEFFICIENT(3, weight_decay);
  COEFFICIENT(4, sign);
  FOR_EACH_ELEMENT(i) {
    const REAL gradient = sign * LOAD(g, i) + weight_decay * LOAD(p, i);
    const REAL value = LOAD(p, i) * shrink - eta * gradient;
    STORE(mean, i, part == 1 ? value : LOAD(mean, i) + part * (value - LOAD(mean, i)));
    STORE(p, i, value);
  }
}
STEP(asgd)
#endif
