// IN_VECTORS(lanes): before a loop that a CPU's compiler is to run so many elements at once, in whole registers: left
// alone it takes half of one, or none. Where it cannot, it is not to complain.
#if SHAPE_CPU && defined(__clang__) && !defined(__SPIR32__) && \
    !defined(__SPIR64__)  // Oclgrind computes some vectors wrongly
#pragma clang diagnostic ignored "-Wpass-failed"
#define IN_VECTORS_(text) _Pragma(#text)
#define IN_VECTORS(lanes) IN_VECTORS_(clang loop vectorize_width(lanes))
#else
#define IN_VECTORS(lanes)
#endif
