// Work on CPUs in which several elements of an index may name one place. An item owns places, and meets the elements
// that name them in the order of the index. No order is left to chance, nothing is sorted, and nothing is atomic.

#define OWN_PLACE(o, j, i, BODY)                                                                            \
  {                                                                                                         \
    const long given = index[AT(index, o, j, i)];                                                           \
    PLACE(place, given)                                                                                     \
    if (place >= first_place && place < last_place) BODY                                                    \
  }

// Runs ELEMENT(o, j, i, place) over the elements of the index whose places the work item owns. These are some of the
// lines (o, i). Where there are more items than lines, they are a stretch of the places of one line, and each of the
// items that share it reads all of its index.
#define FOR_MY_PLACES(ELEMENT)                                                                               \
  const long lines = p.size[0] * p.size[2], items = get_global_size(0);                                     \
  const long sharers = lines < items ? items / lines : 1, owners = items / sharers;                         \
  const long owner = get_global_id(0) / sharers, share = get_global_id(0) % sharers;                        \
  const long first_line = lines * owner / owners;                                                           \
  const long last_line = owner < owners ? lines * (owner + 1) / owners : first_line;                        \
  const long first_place = p.bound * share / sharers, last_place = p.bound * (share + 1) / sharers;         \
  for (long o = first_line / p.size[2]; o * p.size[2] < last_line; ++o) {                                   \
    const long begin = max(first_line - o * p.size[2], 0L), end = min(last_line - o * p.size[2], p.size[2]); \
    if (p.size[2] == 1)                                                                                     \
      for (long j = 0; j < p.size[1]; ++j) OWN_PLACE(o, j, 0L, ELEMENT(o, j, 0L, place))                    \
    else if (p.index[2] == 0) /* an entry of the index names whole rows */                                  \
      for (long j = 0; j < p.size[1]; ++j)                                                                  \
        OWN_PLACE(o, j, 0L, for (long i = begin; i < end; ++i) ELEMENT(o, j, i, place))                     \
    else                                                                                                    \
      for (long j = 0; j < p.size[1]; ++j)                                                                  \
        for (long i = begin; i < end; ++i) OWN_PLACE(o, j, i, ELEMENT(o, j, i, place))                      \
  }
