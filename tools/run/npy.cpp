#include "npy.h"

#include <cstdint>
#include <cstring>
#include <regex>

#include "dlprim/core/error.h"
#include "dlprim/io/file.h"

namespace {

using dlprim::concat;
using dlprim::DType;
using dlprim::FileError;

constexpr char magic[] = "\x93NUMPY";
constexpr std::size_t magic_bytes = 6, prefix_bytes = 10, alignment = 64, longest_header = 1 << 16;

struct DTypeName {
  DType dtype;
  const char* name;
};
constexpr DTypeName names[] = {{DType::float32, "<f4"}, {DType::float64, "<f8"}, {DType::float16, "<f2"},
                               {DType::int64, "<i8"},   {DType::int32, "<i4"},   {DType::int16, "<i2"},
                               {DType::int8, "|i1"},    {DType::uint8, "|u1"},   {DType::boolean, "|b1"}};

std::size_t bytes_of(const std::filesystem::path& path, const dlprim::Dims& shape, DType dtype) {
  std::size_t bytes = size_of(dtype);
  for (const std::int64_t size : shape) {
    const auto factor = static_cast<std::size_t>(size);
    if (factor != 0 && bytes > SIZE_MAX / 2 / factor)
      throw FileError(concat(path.u8string(), ": too many elements"));
    bytes *= factor;
  }
  return bytes;
}

}  // namespace

NpyArray read_npy(const std::filesystem::path& path) {
  const dlprim::io::InputFile file(path);
  const auto fail = [&](const auto&... what) { throw FileError(concat(path.u8string(), ": ", what...)); };
  unsigned char prefix[prefix_bytes + 2] = {};
  file.read(0, prefix, sizeof prefix);
  if (std::memcmp(prefix, magic, magic_bytes) != 0) fail("is no file of NumPy's format");
  const bool is_long = prefix[magic_bytes] > 1;  // a header of more than 64 KiB
  const std::size_t start = is_long ? prefix_bytes + 2 : prefix_bytes;
  std::size_t length = prefix[8] | std::size_t{prefix[9]} << 8;
  if (is_long) length |= std::size_t{prefix[10]} << 16 | std::size_t{prefix[11]} << 24;
  if (length > longest_header) fail("has a header of ", length, " bytes");
  std::string header(length, '\0');
  if (file.read(start, header.data(), length) != length) fail("ends within its header");

  std::smatch descr, order, shape;
  static const std::regex descr_pattern("'descr': *'([^']*)'"),
      order_pattern("'fortran_order': *(True|False)"), shape_pattern("'shape': *\\(([0-9, ]*)\\)");
  if (!std::regex_search(header, descr, descr_pattern) || !std::regex_search(header, order, order_pattern) ||
      !std::regex_search(header, shape, shape_pattern))
    fail("has a header that is not NumPy's");
  if (order[1] == "True") fail("is in column-major order");

  NpyArray array{DType::float32, {}, {}};
  const std::string name = descr[1];
  bool is_known = false;
  for (const DTypeName& each : names)
    if (name == each.name) array.dtype = each.dtype, is_known = true;
  if (!is_known) fail("has elements of type ", name, ", which tensors do not have");
  const std::string sizes = shape[1];
  static const std::regex number("[0-9]+");
  for (std::sregex_iterator match(sizes.begin(), sizes.end(), number), end; match != end; ++match) {
    if (match->length() > 18) fail("has a size of ", match->str());
    array.shape.push_back(std::stoll(match->str()));
  }
  const std::size_t bytes = bytes_of(path, array.shape, array.dtype);
  if (file.size() - start - length != bytes)
    fail("has ", file.size() - start - length, " bytes of elements, and its shape ", array.shape, " needs ",
         bytes);
  array.bytes.resize(bytes);
  file.read(start + length, array.bytes.data(), bytes);
  return array;
}

void write_npy(dlprim::io::OutputFile& file, const NpyArray& array) {
  DType dtype = array.dtype;
  std::vector<char> bytes = array.bytes;
  if (dtype == DType::bfloat16) {
    dtype = DType::float32;
    bytes.assign(array.bytes.size() * 2, 0);
    for (std::size_t i = 0; i * 2 < array.bytes.size(); ++i)  // the upper halves of floats
      std::memcpy(&bytes[i * 4 + 2], &array.bytes[i * 2], 2);
  }
  std::string sizes;
  for (const std::int64_t size : array.shape) sizes += std::to_string(size) + ",";
  std::string descr;
  for (const DTypeName& each : names)
    if (each.dtype == dtype) descr = each.name;
  std::string header = concat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (", sizes, "), }");
  header.append((2 * alignment - (prefix_bytes + header.size() + 1) % alignment) % alignment, ' ');
  header += '\n';
  const char prefix[prefix_bytes] = {magic[0],
                                     magic[1],
                                     magic[2],
                                     magic[3],
                                     magic[4],
                                     magic[5],
                                     1,
                                     0,
                                     static_cast<char>(header.size() & 0xff),
                                     static_cast<char>(header.size() >> 8 & 0xff)};
  file.write(prefix, sizeof prefix);
  file.write(header.data(), header.size());
  file.write(bytes.data(), bytes.size());
  file.finish();
}
