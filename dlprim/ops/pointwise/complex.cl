// Complex numbers for the pointwise table's expressions: C is two of T, the real part and the imaginary one.
// Include it behind functions.cl. The ways of computing are Kahan's ("Branch Cuts for Complex Elementary Functions",
// 1987) where nothing else is said.

typedef JOIN(T, 2) C;

INLINED C C_MAKE(T re, T im) { return (C)(re, im); }
INLINED C C_REAL(T re) { return (C)(re, (T)0); }

INLINED int C_EQUAL(C a, C b) { return (a.x == b.x) & (a.y == b.y); }
INLINED int C_TRUTH(C a) { return (a.x != 0) | (a.y != 0); }
INLINED int C_ISNAN(C a) { return isnan(a.x) | isnan(a.y); }
INLINED int C_ISINF(C a) { return isinf(a.x) | isinf(a.y); }
INLINED int C_ISFINITE(C a) { return isfinite(a.x) & isfinite(a.y); }

// Times i, and times -i.
INLINED C C_TURN(C a) { return C_MAKE(-a.y, a.x); }
INLINED C C_TURN_BACK(C a) { return C_MAKE(a.y, -a.x); }
INLINED C C_CONJ(C a) { return C_MAKE(a.x, -a.y); }

INLINED C C_MUL(C a, C b) { return C_MAKE(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// By the divisor's larger part, so that no square overflows (Smith 1962). A divisor of 0 divides both parts.
INLINED C C_DIV(C a, C b) {
  if (fabs(b.x) >= fabs(b.y)) {
    if (b.x == 0 && b.y == 0) return C_MAKE(a.x / fabs(b.x), a.y / fabs(b.y));
    const T ratio = b.y / b.x, scale = 1 / (b.x + b.y * ratio);
    return C_MAKE((a.x + a.y * ratio) * scale, (a.y - a.x * ratio) * scale);
  }
  const T ratio = b.x / b.y, scale = 1 / (b.y + b.x * ratio);
  return C_MAKE((a.x * ratio + a.y) * scale, (a.y * ratio - a.x) * scale);
}

INLINED C C_EXP(C a) {
  const T size = EXP(a.x);
  if (a.y == 0) return C_MAKE(size, a.y);
  if (a.x == -INFINITY && !isfinite(a.y)) return C_REAL(0);
  return C_MAKE(size * COS(a.y), size * SIN(a.y));
}
INLINED C C_EXPM1(C a) {
  const T s = SIN(a.y / 2);
  return C_MAKE(EXPM1(a.x) * COS(a.y) - 2 * s * s, EXP(a.x) * SIN(a.y));
}
INLINED C C_EXP2(C a) { return C_EXP(a * (T)0.693147180559945309); }

// Near the unit circle the logarithm of the size is what its square differs from 1 by.
INLINED T C_LOG_OF_SIZE(C a) {
  const T larger = fmax(fabs(a.x), fabs(a.y)), smaller = fmin(fabs(a.x), fabs(a.y));
  if (larger > (T)0.5 && larger < 2) return (T)0.5 * LOG1P((larger - 1) * (larger + 1) + smaller * smaller);
  return LOG(hypot(a.x, a.y));
}
INLINED C C_LOG(C a) { return C_MAKE(C_LOG_OF_SIZE(a), ATAN2(a.y, a.x)); }
INLINED C C_LOG1P(C a) {
  const T size = fmax(fabs(a.x), fabs(a.y));
  if (size < (T)0.5) return C_MAKE((T)0.5 * LOG1P(a.x * (2 + a.x) + a.y * a.y), ATAN2(a.y, 1 + a.x));
  return C_LOG(C_MAKE(1 + a.x, a.y));
}
INLINED C C_LOG2(C a) { return C_LOG(a) * (T)1.442695040888963407; }
INLINED C C_LOG10(C a) { return C_LOG(a) * (T)0.434294481903251828; }

INLINED C C_sqrt(C a) {
  if (isinf(a.y)) return C_MAKE((T)INFINITY, a.y);
  if (a.x == 0 && a.y == 0) return C_MAKE((T)0, a.y);
  // An eighth, so that the size does not overflow.
  const T root = 2 * sqrt(fabs(a.x) / 8 + hypot(a.x / 8, a.y / 8));
  const T other = fabs(a.y) / (2 * root);
  return a.x >= 0 ? C_MAKE(root, a.y / (2 * root)) : C_MAKE(isnan(a.x) ? a.x : other, copysign(root, a.y));
}

INLINED C C_SINH(C a) {
  return C_MAKE(a.x == 0 ? a.x : SINH(a.x) * COS(a.y), a.y == 0 ? a.y : COSH(a.x) * SIN(a.y));
}
INLINED C C_COSH(C a) {
  return C_MAKE(COSH(a.x) * COS(a.y), a.x == 0 || a.y == 0 ? a.x * a.y : SINH(a.x) * SIN(a.y));
}
INLINED C C_SIN(C a) { return C_TURN_BACK(C_SINH(C_TURN(a))); }
INLINED C C_COS(C a) { return C_COSH(C_TURN(a)); }

INLINED C C_TANH(C a) {
  if (fabs(a.x) > (sizeof(T) == 8 ? 22 : 11))
    return C_MAKE(copysign((T)1, a.x),
                  isinf(a.x) ? copysign((T)0, a.y) : 4 * SIN(a.y) * COS(a.y) * EXP(-2 * fabs(a.x)));
  const T tangent = TAN(a.y), slope = 1 + tangent * tangent, s = SINH(a.x), c = sqrt(1 + s * s);
  if (isinf(tangent)) return C_MAKE(c / s, 1 / tangent);
  const T scale = 1 / (1 + slope * s * s);
  return C_MAKE(slope * c * s * scale, tangent * scale);
}
INLINED C C_TAN(C a) { return C_TURN_BACK(C_TANH(C_TURN(a))); }

INLINED C C_ASIN(C a) {
  const C less = C_sqrt(C_MAKE(1 - a.x, -a.y)), more = C_sqrt(C_MAKE(1 + a.x, a.y));
  return C_MAKE(ATAN2(a.x, less.x * more.x - less.y * more.y), ASINH(less.x * more.y - less.y * more.x));
}
INLINED C C_ACOS(C a) {
  const C less = C_sqrt(C_MAKE(1 - a.x, -a.y)), more = C_sqrt(C_MAKE(1 + a.x, a.y));
  return C_MAKE(2 * ATAN2(less.x, more.x), ASINH(more.x * less.y - more.y * less.x));
}
INLINED C C_ACOSH(C a) {
  const C less = C_sqrt(C_MAKE(a.x - 1, a.y)), more = C_sqrt(C_MAKE(a.x + 1, a.y));
  return C_MAKE(ASINH(less.x * more.x + less.y * more.y), 2 * ATAN2(less.y, more.x));
}
INLINED C C_ASINH(C a) { return C_TURN_BACK(C_ASIN(C_TURN(a))); }

INLINED C C_ATANH(C a) {
  const T large = sizeof(T) == 8 ? (T)1e150 : (T)1e18, quarter_turn = (T)1.570796326794896619;
  if (fabs(a.x) > large || fabs(a.y) > large) {
    const C inverse = C_DIV(C_REAL(1), a);
    return C_MAKE(isnan(inverse.x) ? copysign((T)0, a.x) : inverse.x, copysign(quarter_turn, a.y));
  }
  const T size = fabs(a.x), apart = 1 - size, square = a.y * a.y;
  return C_MAKE(copysign((T)0.25 * LOG1P(4 * size / (apart * apart + square)), a.x),
                (T)0.5 * ATAN2(2 * a.y, apart * (1 + size) - square));
}
INLINED C C_ATAN(C a) { return C_TURN_BACK(C_ATANH(C_TURN(a))); }

INLINED C C_SIGMOID(C a) { return C_DIV(C_REAL(1), C_REAL(1) + C_EXP(-a)); }
INLINED C C_POW(C a, C b) {
  if (!C_TRUTH(b)) return C_REAL(1);
  if (!C_TRUTH(a)) return b.x > 0 || isnan(b.x) ? C_REAL(0) : C_MAKE((T)NAN, (T)NAN);
  return C_EXP(C_MUL(b, C_LOG(a)));
}
INLINED C C_LERP(C a, C b, C weight) {
  return weight.x * weight.x + weight.y * weight.y < (T)0.25 ? a + C_MUL(weight, b - a)
                                                            : b - C_MUL(b - a, C_REAL(1) - weight);
}
