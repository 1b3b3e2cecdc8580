#include "dlprim/io/safetensors.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "dlprim/core/error.h"

namespace dlprim::io {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t length_bytes = 8;
constexpr std::size_t max_header_bytes = 100'000'000;
constexpr int max_header_depth = 3;  // header { tensor { shape [ ] } }
constexpr auto max_bytes = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());
const std::string metadata_key = "__metadata__";

/** Bytes of one element; 0 for a dtype the format does not know. */
std::size_t element_bytes(const std::string& dtype) {
  static const std::map<std::string, std::size_t> sizes{
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},   {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"U16", 2},
      {"I16", 2},  {"F16", 2}, {"BF16", 2}, {"U32", 4},     {"I32", 4},     {"F32", 4},
      {"U64", 8},  {"I64", 8}, {"F64", 8},  {"C64", 8},     {"C128", 16}};
  const auto found = sizes.find(dtype);
  return found == sizes.end() ? 0 : found->second;
}

std::string tensor_text(const std::string& name) {
  return concat("tensor \"", name, "\"");
}

/** Bytes of a tensor. Throws ValueError without the file's or tensor's name, which the caller adds. */
std::size_t tensor_bytes(const SafetensorsEntry& entry) {
  std::uint64_t bytes = element_bytes(entry.dtype);
  require(bytes != 0, "unknown dtype \"", entry.dtype, "\"");
  for (auto size : entry.shape) {
    require(size >= 0, "negative dimension ", size);
    const auto factor = static_cast<std::uint64_t>(size);
    require(factor == 0 || bytes <= max_bytes / factor, "shape overflows");
    bytes *= factor;
  }
  return static_cast<std::size_t>(bytes);
}

/** Refuses, while the header is parsed, what nlohmann-json accepts in silence: repeated keys and endless
 * nesting. */
class StructureCheck {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start)
      require(depth < max_header_depth, "header nested too deep");
    if (event == Event::object_start) open_keys_.emplace_back();
    if (event == Event::object_end) open_keys_.pop_back();
    if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      require(open_keys_.back().insert(key).second, "key \"", key, "\" occurs twice");
      if (open_keys_.size() == 1) keys_.push_back(key);
    }
    return true;
  }
  /** The keys of the outermost object, in the order of the text, which Json sorts. */
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  std::vector<std::string> keys_;
  std::vector<std::set<std::string>> open_keys_;
};

/** The header, and its keys in the order of the text. */
std::pair<Json, std::vector<std::string>> parse_header(const std::string& text) {
  require(!text.empty() && text.front() == '{', "header does not start with '{'");
  // The parser takes a zero byte for the end of its input and would overlook what follows.
  require(text.find('\0') == std::string::npos, "zero byte in the header");
  StructureCheck check;
  try {
    Json header = Json::parse(text, std::ref(check));
    return {std::move(header), check.keys()};
  } catch (const Json::parse_error& error) {
    // Its text quotes the bytes of the file, which need not be valid in any encoding.
    throw ValueError(concat("header is not JSON at byte ", error.byte));
  } catch (const Json::out_of_range&) {
    throw ValueError("header holds a number out of range");
  }
}

std::size_t to_size(const Json& value, const char* what) {
  require(value.is_number_unsigned() && value.get<std::uint64_t>() <= max_bytes, what,
          " must hold non-negative integers");
  return value.get<std::size_t>();
}

const Json& member(const Json& object, const char* key) {
  require(object.is_object() && object.contains(key), "\"", key, "\" is missing");
  return object.at(key);
}

SafetensorsEntry to_entry(const std::string& name, const Json& description) {
  SafetensorsEntry entry;
  entry.name = name;
  const auto& dtype = member(description, "dtype");
  require(dtype.is_string(), "\"dtype\" must be a string");
  entry.dtype = dtype.get<std::string>();

  const auto& shape = member(description, "shape");
  require(shape.is_array(), "\"shape\" must be a list");
  for (const auto& size : shape) entry.shape.push_back(static_cast<std::int64_t>(to_size(size, "\"shape\"")));

  const auto& offsets = member(description, "data_offsets");
  require(offsets.is_array() && offsets.size() == 2, "\"data_offsets\" must be a list of two");
  entry.begin = to_size(offsets[0], "\"data_offsets\"");
  entry.end = to_size(offsets[1], "\"data_offsets\"");
  return entry;
}

std::map<std::string, std::string> to_metadata(const Json& object) {
  require(object.is_object(), "\"", metadata_key, "\" must be an object");
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : object.items()) {
    require(value.is_string(), "\"", metadata_key, "\" must map strings to strings");
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

/** Sorts by position, tensors without elements as the header has them, and checks that the tensors fill the
 * data section exactly. */
void check_ranges(std::vector<SafetensorsEntry>& entries, std::size_t data_bytes) {
  std::stable_sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::size_t position = 0;
  for (const auto& entry : entries) {
    require(entry.begin == position && entry.end >= entry.begin, tensor_text(entry.name),
            ": its bytes do not start where the tensor before ends");
    const auto bytes = at_place([&] { return tensor_text(entry.name); }, [&] { return tensor_bytes(entry); });
    require(bytes == entry.end - entry.begin, tensor_text(entry.name), ": its dtype and shape need ", bytes,
            " bytes, its range has ", entry.end - entry.begin);
    position = entry.end;
  }
  require(position == data_bytes, "the tensors need ", position, " bytes of data, the file holds ",
          data_bytes);
}

std::string read_header(const InputFile& file) {
  require(file.size() >= length_bytes, "too short for a safetensors file");
  std::array<unsigned char, length_bytes> bytes{};
  require(file.read(0, bytes.data(), length_bytes) == length_bytes, "truncated while it was read");
  require(std::memcmp(bytes.data(), "PK\3\4", 4) != 0,
          "it is a zip archive, as torch.save writes them; in Python ocl.load reads it, and ocl.save writes "
          "safetensors");
  std::uint64_t length = 0;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) length = length << 8 | *byte;
  require(length <= max_header_bytes, "header length ", length, " is over the limit of ", max_header_bytes);
  require(length <= file.size() - length_bytes, "truncated: header of ", length, " bytes in a file of ",
          file.size());
  std::string header(static_cast<std::size_t>(length), '\0');
  require(file.read(length_bytes, header.data(), header.size()) == header.size(),
          "truncated while it was read");
  return header;
}

std::vector<SafetensorsEntry> with_ranges(std::vector<SafetensorsEntry> entries) {
  std::set<std::string> names;
  std::size_t position = 0;
  for (auto& entry : entries) {
    require(entry.name != metadata_key && names.insert(entry.name).second, "safetensors: the name \"",
            entry.name, "\" is reserved or occurs twice");
    at_place([&] { return "safetensors: " + tensor_text(entry.name); },
             [&] {
               const auto bytes = tensor_bytes(entry);
               require(bytes <= max_bytes - position, "the tensors overflow");
               entry.begin = position;
               entry.end = position += bytes;
             });
  }
  return entries;
}

/** The header text in the order of the entries, with its length in front, padded so that the data section
 * starts at a multiple of 8. */
std::string make_header(const std::vector<SafetensorsEntry>& entries,
                        const std::map<std::string, std::string>& metadata) {
  std::string text;
  const auto add = [&text](const std::string& name, const Json& value) {
    text += concat(text.empty() ? '{' : ',', Json(name).dump(), ':', value.dump());
  };
  try {
    if (!metadata.empty()) add(metadata_key, metadata);
    for (const auto& entry : entries)
      add(entry.name,
          {{"dtype", entry.dtype}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}});
  } catch (const Json::exception&) {
    throw ValueError("safetensors: a name or the metadata is not valid UTF-8");
  }
  text += text.empty() ? "{}" : "}";
  text.resize((text.size() + length_bytes - 1) / length_bytes * length_bytes, ' ');
  require(text.size() <= max_header_bytes, "safetensors: header of ", text.size(),
          " bytes is over the limit of ", max_header_bytes);
  std::string prefix;
  for (std::size_t i = 0; i < length_bytes; ++i) prefix += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return prefix + text;
}

}  // namespace

DType dtype_of_safetensors(const std::string& name) {
  for (int i = 0; i < dtype_count; ++i)
    if (name == info(static_cast<DType>(i)).safetensors_name) return static_cast<DType>(i);
  throw ValueError(concat("tensors of type ", name, " are not supported"));
}

SafetensorsFile::SafetensorsFile(const fs::path& path) : file_(path) {
  try {
    const auto header = read_header(file_);
    data_start_ = length_bytes + header.size();
    data_bytes_ = file_.size() - data_start_;
    const auto [tensors, names] = parse_header(header);
    for (const std::string& name : names) {
      if (name == metadata_key)
        metadata_ = to_metadata(tensors.at(name));
      else
        entries_.push_back(
            at_place([&] { return tensor_text(name); }, [&] { return to_entry(name, tensors.at(name)); }));
    }
    check_ranges(entries_, data_bytes_);
  } catch (const ValueError& error) {
    throw FileError(concat(path.u8string(), ": not a valid safetensors file: ", error.what()));
  }
}

void SafetensorsFile::read(const SafetensorsEntry& entry, void* destination) const {
  require(entry.begin <= entry.end && entry.end <= data_bytes_, "safetensors: tensor \"", entry.name,
          "\" is not of ", file_.path().u8string());
  const std::size_t count = entry.end - entry.begin;
  require<FileError>(file_.read(data_start_ + entry.begin, destination, count) == count,
                     file_.path().u8string(), ": truncated while tensor \"", entry.name, "\" was read");
}

SafetensorsWriter::SafetensorsWriter(const fs::path& path, std::vector<SafetensorsEntry> entries,
                                     const std::map<std::string, std::string>& metadata)
    : entries_(with_ranges(std::move(entries))), file_(path) {
  const auto header = make_header(entries_, metadata);
  file_.write(header.data(), header.size());
}

void SafetensorsWriter::write(const void* bytes, std::size_t count) {
  require(!file_.is_finished() && written_entries_ < entries_.size(), "safetensors: all ", entries_.size(),
          " tensors are written");
  const auto& entry = entries_[written_entries_];
  require(count == entry.end - entry.begin, "safetensors: tensor \"", entry.name, "\" has ",
          entry.end - entry.begin, " bytes, given ", count);
  file_.write(bytes, count);
  ++written_entries_;
}

void SafetensorsWriter::finish() {
  require(!file_.is_finished(), "safetensors: finish() comes once");
  require(written_entries_ == entries_.size(), "safetensors: ", written_entries_, " of ", entries_.size(),
          " tensors written");
  file_.finish();
}

}  // namespace dlprim::io
