#pragma once

#include <cstddef>

namespace dlprim {

/** Memory of fewer bytes has no whole page of them. */
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/**
 * Asks Linux for pages of 2 MiB under `bytes` of the host's memory that nothing was written to yet. Linux
 * gives them to those who ask where /sys/kernel/mm/transparent_hugepage/enabled is "madvise", the default. A
 * wish: without such pages all runs the same, but slower. Elsewhere it does nothing.
 */
void ask_for_huge_pages(void* memory, std::size_t bytes);

}  // namespace dlprim
