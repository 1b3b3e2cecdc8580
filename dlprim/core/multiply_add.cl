// MAD(a, b, c): a * b + c, for any type; rounded once where the device has an instruction for that.
//
// Not mad() on CPUs: PoCL 3.1's multiplies and adds (polynomials took twice as long). It knows FMA hardware but does
// not say so with FP_FAST_FMAF; without the hardware fma() is a slow call.
#if SHAPE_CPU && (defined(FP_FAST_FMAF) || defined(__FMA__) || defined(__FP_FAST_FMAF) || defined(__ARM_FEATURE_FMA))
#define MAD(a, b, c) fma(a, b, c)
#else
#define MAD(a, b, c) mad(a, b, c)
#endif
