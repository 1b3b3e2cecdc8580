// Panels that Hopper's copy engine brings by itself, a box of a tensor map each (tensor_map_simt.cl): one item asks for
// them, a barrier in local memory counts the bytes that have arrived.

// Before and behind a barrier of the group.
inline void open_arrivals(__local ulong *arrived) {
  if (get_local_id(0) == 0) {
    for (int stage = 0; stage < TILE_STAGES; ++stage)
      asm volatile("//@90a mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"((uint)(size_t)(arrived + stage)) : "memory");
    asm volatile("//@90a fence.mbarrier_init.release.cluster;" : : : "memory");
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}
inline void expect_bytes(__local ulong *arrived, const int bytes) {
  asm volatile("//@90a mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"((uint)(size_t)arrived), "r"(bytes)
               : "memory");
}
// Until all bytes of the panels are there that an even (0) or odd (1) use of this stage expects.
inline void await_bytes(__local ulong *arrived, const int use) {
  asm volatile("//@90a { .reg .pred p; WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra WAIT; }"
               :
               : "r"((uint)(size_t)arrived), "r"(use & 1)
               : "memory");
}
// Another launch's writes into the map count.
inline void open_map(__global const uint *map) {
  asm volatile("//@90a fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" : : "l"((ulong)map) : "memory");
}
inline void bring_box(__local float *to, __global const uint *map, const int x, const int y, const int z, const int w,
                      __local ulong *arrived) {
  asm volatile(
      "//@90a cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6];"
      :
      : "r"((uint)(size_t)to), "l"((ulong)map), "r"(x), "r"(y), "r"(z), "r"(w), "r"((uint)(size_t)arrived)
      : "memory");
}

// A panel of matrices: lines from `line` on at depth k, in blocks of 64 lines where those lie across it.
inline void bring_lines(const int across, const int lines, __local float *to, __global const uint *map, const int k,
                        const int line, const int matrix, __local ulong *arrived) {
  if (across)
    for (int block = 0; block < lines; block += 64)
      bring_box(to + block * TILE_DEPTH, map, line + block, k, matrix, 0, arrived);
  else
    bring_box(to, map, k, line, matrix, 0, arrived);
}

// ---- what PRODUCT is made of then

#define ARRIVALS __local ulong arrived[TILE_STAGES]
#define BEGIN_COPIES open_arrivals(arrived)
#define IS_BRINGER (get_local_id(0) == 0)
#define EXPECT_PANELS(step)                                          \
  __local ulong *has_arrived = arrived + (step) % TILE_STAGES;       \
  expect_bytes(has_arrived, (LEFT_SIZE + RIGHT_SIZE) * sizeof(REAL))
#define CLOSE_COPIES
#define AWAIT_COPIES(step) await_bytes(arrived + (step) % TILE_STAGES, (step) / TILE_STAGES)
// Nothing stands between arrival and the tensor cores: a step's products go on while the next one's begin.
#define MULTIPLY_STEP(step, steps, FETCH)                   \
  BEGIN_MULTIPLY(LEFT_OF_STEP(step), RIGHT_OF_STEP(step));  \
  await_products_before();                                  \
  barrier(CLK_LOCAL_MEM_FENCE);                             \
  ADVANCE((step) + TILE_STAGES - 1, steps, FETCH)
#define LAST_MULTIPLY END_MULTIPLY
