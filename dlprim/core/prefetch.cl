// PREFETCH(address): asks for its cache line in the level-2 cache, PREFETCH_FOR_WRITE(address) to be written, where the
// compiler can (for SPIR, as of Oclgrind, it cannot). OpenCL's own prefetch() does nothing on PoCL.
#ifdef __has_builtin
#if __has_builtin(__builtin_prefetch) && !defined(__SPIR32__) && !defined(__SPIR64__)
#define PREFETCH(address) __builtin_prefetch((const void *)(size_t)(address), 0, 2)
#define PREFETCH_FOR_WRITE(address) __builtin_prefetch((const void *)(size_t)(address), 1, 2)
#endif
#endif
#ifndef PREFETCH
#define PREFETCH(address)
#define PREFETCH_FOR_WRITE(address)
#endif
