#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dlprim {

/** SHA-256 (FIPS 180-4) of a message given in pieces. */
class Sha256 {
 public:
  /** Appends `piece` to the message. */
  void update(std::string_view piece);

  /** The digest as 64 lower-case hex digits. Ends the message: call once. */
  std::string hex();

 private:
  static constexpr std::size_t kBlockBytes = 64;

  void compress(const unsigned char* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, kBlockBytes> pending_{};
  std::size_t pending_bytes_ = 0;
  std::uint64_t message_bytes_ = 0;
};

/** SHA-256 of `message` as 64 lower-case hex digits. */
std::string sha256_hex(std::string_view message);

}  // namespace dlprim
