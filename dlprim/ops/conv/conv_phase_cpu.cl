// Makes the phased input of conv_cpu.cl in memory. One item a stretch of planes.
#include "ops/conv/conv_phased_planes_cpu.cl"

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void make_phases(BUFFER(const STORAGE, x), BUFFER(REAL, phased), const long planes, const Phases shape) {
  BIND(const STORAGE, x);
  BIND(REAL, phased);
  const Phases s = shape;
  const long items = get_num_groups(0), item = get_group_id(0);
  const long begin = first_job(planes, item, items), end = first_job(planes, item + 1, items);
  lay_out_planes(&s, x, begin, end, planes, item == items - 1, phased + begin * phased_plane(&s));
}
