#include "dlprim/export/program_file.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "dlprim/core/error.h"
#include "dlprim/export/program_sizes.h"
#include "dlprim/export/program_tensors.h"
#include "dlprim/io/safetensors.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

using Json = nlohmann::ordered_json;
using Kind = ProgramBuffer::Kind;

constexpr int static_version = 1, dynamic_version = 2;  // version 2 has symbols and formulas
constexpr const char *format_key = "tapecl_format", *program_key = "tapecl_program";
constexpr const char *binaries_key = "tapecl_binaries", *bytes_dtype = "U8";
constexpr const char *tensor_key = "$tensor", *number_key = "$number";
constexpr const char *size_key = "$size", *real_key = "$real";  // formulas
constexpr const char* single_name = "float32";
constexpr int deepest_value = 16;
constexpr std::size_t most_symbols = 64;
constexpr const char* kind_names[] = {"temporary", "input", "constant", "state"};

bool has_contents(const ProgramBuffer& buffer) {
  return buffer.kind == Kind::constant || buffer.kind == Kind::state;
}

// ---- writing

class JsonWriter {
 public:
  explicit JsonWriter(const ExportedProgram& program) : symbols_(program.symbols) {
    for (const ProgramBuffer& buffer : program.buffers)
      indices_.emplace(buffer.storage.get(), indices_.size());
  }

  Json named(const ProgramTensor& each) {
    begin(each.varying);
    return {{"name", each.name}, {"tensor", tensor(each.tensor)}};
  }

  Json arguments(const ProgramCall& call) {
    begin(call.varying);
    return list(call.arguments);
  }

 private:
  void begin(const std::vector<VaryingNumber>& varying) {
    varying_ = &varying;
    place_ = next_ = 0;
  }

  /** The formula of the next number, or null. */
  const NumberFormula* formula() {
    const bool is_here = next_ < varying_->size() && (*varying_)[next_].place == place_;
    ++place_;
    return is_here ? &(*varying_)[next_++].formula : nullptr;
  }

  /** A number of a tensor: a formula is its text. */
  Json geometry(std::int64_t number) {
    if (const NumberFormula* found = formula()) return found->numerator.text(symbols_);
    return number;
  }

  Json geometry(const Dims& dims) {
    Json json = Json::array();
    for (const std::int64_t number : dims) json.push_back(geometry(number));
    return json;
  }

  Json tensor(const Tensor& t) {
    Json json{indices_.at(t.storage.get()), name(t.dtype)};
    json.push_back(geometry(t.shape));
    json.push_back(geometry(t.strides));
    json.push_back(geometry(t.offset));
    return json;
  }

  Json list(const std::vector<Argument>& arguments) {
    const bool is_struct = !arguments.empty() && !arguments.front().name.empty();
    Json json = is_struct ? Json::object() : Json::array();
    for (const Argument& argument : arguments) {
      if (is_struct)
        json[argument.name] = value(argument.value);
      else
        json.push_back(value(argument.value));
    }
    return json;
  }

  Json value(const ArgumentValue& value) {
    if (std::holds_alternative<std::monostate>(value)) return nullptr;
    if (const auto* flag = std::get_if<bool>(&value)) return *flag;
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      if (const NumberFormula* found = formula()) return {{size_key, found->numerator.text(symbols_)}};
      return *whole;
    }
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* t = std::get_if<Tensor>(&value)) return {{tensor_key, tensor(*t)}};
    if (const auto* number = std::get_if<double>(&value)) {
      if (const NumberFormula* found = formula()) return real(*found);
      if (std::isfinite(*number)) return *number;
      return {{number_key, std::isnan(*number) ? "nan" : *number > 0 ? "inf" : "-inf"}};
    }
    return list(std::get<std::vector<Argument>>(value));
  }

  Json real(const NumberFormula& formula) const {
    Json parts = Json::array({formula.numerator.text(symbols_)});
    parts.push_back(formula.denominator ? formula.denominator->text(symbols_) : "1");
    if (formula.is_single) parts.push_back(single_name);
    return {{real_key, parts}};
  }

  const std::vector<ProgramSymbol>& symbols_;
  std::unordered_map<const Storage*, std::size_t> indices_;
  const std::vector<VaryingNumber>* varying_ = nullptr;  // of what is written
  std::size_t place_ = 0, next_ = 0;
};

Json named_tensors(const std::vector<ProgramTensor>& tensors, JsonWriter& writer) {
  Json json = Json::array();
  for (const ProgramTensor& each : tensors) json.push_back(writer.named(each));
  return json;
}

Json json_of(const ExportedProgram& program) {
  JsonWriter writer(program);
  Json buffers = Json::array(), calls = Json::array();
  for (const ProgramBuffer& buffer : program.buffers) {
    Json json{{"kind", kind_names[static_cast<int>(buffer.kind)]}, {"bytes", buffer.bytes}};
    if (has_contents(buffer)) json["name"] = buffer.name;
    buffers.push_back(std::move(json));
  }
  for (const ProgramCall& call : program.calls) {
    Json json{{"primitive", call.primitive}, {"arguments", writer.arguments(call)}};
    if (!call.operation.empty()) json["operation"] = call.operation;
    if (!call.module.empty()) json["module"] = call.module;
    calls.push_back(std::move(json));
  }
  Json json{{"buffers", buffers},
            {"inputs", named_tensors(program.inputs, writer)},
            {"outputs", named_tensors(program.outputs, writer)},
            {"random_advance", program.random_advance},
            {"calls", calls}};
  if (program.is_dynamic()) {
    Json symbols = Json::array();
    for (const ProgramSymbol& symbol : program.symbols)
      symbols.push_back({{"name", symbol.name}, {"min", symbol.min}, {"max", symbol.max}});
    json["symbols"] = std::move(symbols);
    json["random_advance"] = program.random_formula.text(program.symbols);
  }
  return json;
}

std::string name_of_binary(std::size_t i) {
  return concat("tapecl_binary.", i);
}

Json json_of(const std::vector<ProgramBinary>& binaries) {
  Json json = Json::array();
  for (std::size_t i = 0; i < binaries.size(); ++i) {
    const ProgramBinary& binary = binaries[i];
    json.push_back({{"tensor", name_of_binary(i)},
                    {"key", binary.key},
                    {"label", binary.label},
                    {"device", binary.device},
                    {"driver", binary.driver},
                    {"variants", binary.variants}});
  }
  return json;
}

// ---- reading

const Json& member(const Json& object, const char* key) {
  require(object.is_object() && object.contains(key), "\"", key, "\" is missing");
  return object.at(key);
}

const Json& list_member(const Json& object, const char* key) {
  const Json& list = member(object, key);
  require(list.is_array(), "\"", key, "\" must be a list");
  return list;
}

std::string text(const Json& json, const char* what) {
  require(json.is_string(), what, " must be a text");
  return json.get<std::string>();
}

std::uint64_t natural(const Json& json, const char* what) {
  require(json.is_number_unsigned(), what, " must be a whole number that is not negative");
  return json.get<std::uint64_t>();
}

std::string text_or_nothing(const Json& object, const char* key) {
  return object.contains(key) ? text(object.at(key), key) : std::string();
}

std::int64_t whole(const Json& json, const char* what) {
  require(json.is_number_integer() && !(json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX),
          what, " must hold whole numbers");
  return json.get<std::int64_t>();
}

class JsonReader {
 public:
  explicit JsonReader(const ExportedProgram& program) : program_(program), sizes_(greatest_sizes(program)) {}

  ProgramTensor named_tensor(const Json& json) {
    begin();
    const Tensor read = tensor(member(json, "tensor"));
    return {text(member(json, "name"), "a name"), read, std::move(varying_)};
  }

  ProgramCall call(const Json& json) {
    begin();
    ProgramCall call{text(member(json, "primitive"), "a primitive's name"),
                     {},
                     text_or_nothing(json, "operation"),
                     text_or_nothing(json, "module")};
    const Json& arguments = member(json, "arguments");
    require(arguments.is_object(), "the arguments of ", call.primitive, " must be an object");
    call.arguments = list(arguments);
    call.varying = std::move(varying_);
    return call;
  }

  SizeFormula formula(const Json& json, const char* what) const {
    return SizeFormula::parsed(text(json, what), program_.symbols);
  }

 private:
  void begin() {
    varying_.clear();
    place_ = 0;
  }

  /** A number of a tensor, or the text of its formula. */
  std::int64_t geometry(const Json& json, const char* what) {
    if (!json.is_string()) {
      ++place_;
      return whole(json, what);
    }
    return varies({formula(json, what)}).numerator.value(sizes_);
  }

  const NumberFormula& varies(NumberFormula formula) {
    require(program_.is_dynamic(), "a formula stands in a program without symbols");
    varying_.push_back({place_++, std::move(formula)});
    return varying_.back().formula;
  }

  Dims dims(const Json& json, const char* what) {
    require(json.is_array() && json.size() <= static_cast<std::size_t>(max_rank), what,
            " must be a list of at most ", max_rank, " numbers");
    Dims dims;
    for (const Json& number : json) dims.push_back(geometry(number, what));
    return dims;
  }

  Tensor tensor(const Json& json) {
    require(json.is_array() && json.size() == 5, "a tensor must be a list of five");
    const std::uint64_t buffer = natural(json[0], "a tensor's buffer");
    require(buffer < program_.buffers.size(), "a tensor lies on buffer ", buffer, " of ",
            program_.buffers.size());
    Tensor tensor{program_.buffers[buffer].storage, dtype_from_name(text(json[1], "a tensor's dtype")),
                  dims(json[2], "a tensor's sizes"), dims(json[3], "a tensor's strides"),
                  geometry(json[4], "a tensor's offset")};
    bytes_reached(tensor);  // throws for what lies in no memory
    return tensor;
  }

  std::vector<Argument> list(const Json& json, int depth = 0) {
    require(depth < deepest_value, "arguments are nested too deep");
    std::vector<Argument> arguments;
    for (const auto& [key, element] : json.items())
      arguments.push_back({json.is_object() ? key : std::string(), value(element, depth + 1)});
    return arguments;
  }

  ArgumentValue value(const Json& json, int depth) {
    if (json.is_null()) return {};
    if (json.is_boolean()) return json.get<bool>();
    place_ += json.is_number() ? 1 : 0;
    if (json.is_number_integer()) return whole(json, "arguments");
    if (json.is_number()) return json.get<double>();
    if (json.is_string()) return json.get<std::string>();
    if (json.is_object() && json.size() == 1) {
      if (json.contains(tensor_key)) return tensor(json.at(tensor_key));
      if (json.contains(size_key))
        return varies({formula(json.at(size_key), "a formula")}).numerator.value(sizes_);
      if (json.contains(real_key)) return varies(real_formula(json.at(real_key))).real(sizes_);
      if (json.contains(number_key)) {
        ++place_;
        return special_number(text(json.at(number_key), "a number"));
      }
    }
    return list(json, depth);
  }

  static double special_number(const std::string& text) {
    if (text == "nan") return std::nan("");
    require(text == "inf" || text == "-inf", "a number cannot be \"", text, "\"");
    return text == "inf" ? HUGE_VAL : -HUGE_VAL;
  }

  NumberFormula real_formula(const Json& json) const {
    require(json.is_array() && (json.size() == 2 || json.size() == 3), "a quotient must be a list of two");
    require(json.size() == 2 || json[2] == single_name, "a quotient is rounded to ", single_name,
            " or to nothing");
    return {formula(json[0], "a numerator"), formula(json[1], "a denominator"), json.size() == 3};
  }

  const ExportedProgram& program_;
  std::vector<std::int64_t> sizes_;     // the greatest
  std::vector<VaryingNumber> varying_;  // of what is read
  std::size_t place_ = 0;
};

/** The elements of a list, each read by `read`; an error says which it was: "call 3". */
template <class Read>
auto read_each(const Json& list, const char* what, const Read& read) {
  std::vector<decltype(read(list))> elements;
  for (std::size_t i = 0; i < list.size(); ++i)
    elements.push_back(at_place([&] { return concat(what, " ", i); }, [&] { return read(list[i]); }));
  return elements;
}

std::vector<ProgramSymbol> read_symbols(const Json& json) {
  require(!json.empty() && json.size() <= most_symbols, "a dynamic program has from 1 to ", most_symbols,
          " symbols");
  return read_each(json, "symbol", [](const Json& each) -> ProgramSymbol {
    return {text(member(each, "name"), "a symbol's name"), whole(member(each, "min"), "bounds"),
            whole(member(each, "max"), "bounds")};
  });
}

Kind kind_named(const std::string& name) {
  for (std::size_t i = 0; i < std::size(kind_names); ++i)
    if (name == kind_names[i]) return static_cast<Kind>(i);
  throw ValueError(concat("there is no kind of buffer named \"", name, "\""));
}

const io::SafetensorsEntry& entry_named(const io::SafetensorsFile& file, const std::string& name) {
  for (const io::SafetensorsEntry& entry : file.entries())
    if (entry.name == name) return entry;
  throw ValueError(concat("the tensor ", name, " is missing"));
}

template <class Byte>
std::shared_ptr<const std::vector<Byte>> contents_of(const io::SafetensorsFile& file,
                                                     const io::SafetensorsEntry& entry) {
  std::vector<Byte> contents(entry.end - entry.begin);
  file.read(entry, contents.data());
  return std::make_shared<const std::vector<Byte>>(std::move(contents));
}

Json parsed(const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw ValueError(concat("the program is not JSON at byte ", error.byte, " of its text"));
  } catch (const Json::exception&) {
    throw ValueError("the program holds a number out of range");
  }
}

ProgramBuffer read_buffer(const Json& json, const io::SafetensorsFile& file, Device& device) {
  ProgramBuffer buffer;
  buffer.kind = kind_named(text(member(json, "kind"), "a buffer's kind"));
  buffer.bytes = natural(member(json, "bytes"), "a buffer's size");
  require(buffer.bytes <= static_cast<std::size_t>(INT64_MAX) / 2, "a buffer has ", buffer.bytes, " bytes");
  buffer.storage = std::make_shared<Storage>(device, buffer.bytes);
  if (!has_contents(buffer)) return buffer;
  buffer.name = text(member(json, "name"), "a buffer's name");
  const io::SafetensorsEntry& entry = entry_named(file, buffer.name);
  buffer.dtype = io::dtype_of_safetensors(entry.dtype);
  buffer.shape = Dims(entry.shape);
  require(entry.end - entry.begin == buffer.bytes, "buffer ", buffer.name, " has ", buffer.bytes,
          " bytes, and its tensor ", entry.end - entry.begin);
  buffer.contents = contents_of<char>(file, entry);
  return buffer;
}

std::vector<ProgramBinary> read_binaries(const io::SafetensorsFile& file) {
  const auto found = file.metadata().find(binaries_key);
  if (found == file.metadata().end()) return {};
  const Json json = parsed(found->second);
  require(json.is_array(), "\"", binaries_key, "\" must be a list");
  return read_each(json, "binary", [&](const Json& each) -> ProgramBinary {
    const auto of = [&](const char* key) { return text(member(each, key), key); };
    const io::SafetensorsEntry& entry = entry_named(file, of("tensor"));
    require(entry.dtype == bytes_dtype, "the binary ", entry.name, " must have the dtype ", bytes_dtype);
    return {of("key"),    of("label"),    of("device"),
            of("driver"), of("variants"), contents_of<unsigned char>(file, entry)};
  });
}

ExportedProgram read_program(const io::SafetensorsFile& file, Device& device) {
  const auto format = file.metadata().find(format_key), found = file.metadata().find(program_key);
  require(format != file.metadata().end() && found != file.metadata().end(),
          "the file holds tensors, and no exported program");
  const bool is_dynamic = format->second == std::to_string(dynamic_version);
  require(is_dynamic || format->second == std::to_string(static_version), "the program has version ",
          format->second, " of the format, and this library reads versions ", static_version, " to ",
          dynamic_version);
  const Json json = parsed(found->second);
  ExportedProgram program;
  program.buffers = read_each(list_member(json, "buffers"), "buffer",
                              [&](const Json& each) { return read_buffer(each, file, device); });
  if (is_dynamic) program.symbols = read_symbols(list_member(json, "symbols"));
  JsonReader reader(program);
  const auto named = [&](const Json& each) { return reader.named_tensor(each); };
  program.inputs = read_each(list_member(json, "inputs"), "input", named);
  program.outputs = read_each(list_member(json, "outputs"), "output", named);
  const Json& advance = member(json, "random_advance");
  if (is_dynamic) {
    program.random_formula = reader.formula(advance, "\"random_advance\"");
    program.random_advance =
        static_cast<std::uint64_t>(program.random_formula.value(greatest_sizes(program)));
  } else {
    program.random_advance = natural(advance, "\"random_advance\"");
  }
  program.calls =
      read_each(list_member(json, "calls"), "call", [&](const Json& each) { return reader.call(each); });
  program.binaries = read_binaries(file);
  check_program(program);
  return program;
}

}  // namespace

void save_program(const ExportedProgram& program, const std::filesystem::path& path) {
  std::vector<io::SafetensorsEntry> entries;
  for (const ProgramBuffer& buffer : program.buffers)
    if (has_contents(buffer))
      entries.push_back({buffer.name, info(buffer.dtype).safetensors_name, buffer.shape.vector(), 0, 0});
  std::map<std::string, std::string> metadata{
      {format_key, std::to_string(program.is_dynamic() ? dynamic_version : static_version)},
      {program_key, json_of(program).dump()}};
  for (std::size_t i = 0; i < program.binaries.size(); ++i)
    entries.push_back({name_of_binary(i),
                       bytes_dtype,
                       {static_cast<std::int64_t>(program.binaries[i].bytes->size())},
                       0,
                       0});
  if (!program.binaries.empty()) metadata.emplace(binaries_key, json_of(program.binaries).dump());
  io::SafetensorsWriter writer(path, std::move(entries), metadata);
  for (const ProgramBuffer& buffer : program.buffers)
    if (has_contents(buffer)) writer.write(buffer.contents->data(), buffer.contents->size());
  for (const ProgramBinary& binary : program.binaries)
    writer.write(binary.bytes->data(), binary.bytes->size());
  writer.finish();
}

ExportedProgram load_program(const std::filesystem::path& path, Device& device) {
  const io::SafetensorsFile file(path);
  try {
    return read_program(file, device);
  } catch (const FileError&) {
    throw;
  } catch (const ValueError& error) {
    throw FileError(concat(path.u8string(), ": ", error.what()));
  } catch (const MissingPrimitiveError& error) {
    throw MissingPrimitiveError(concat(path.u8string(), ": ", error.what()));
  } catch (const TypeError& error) {
    throw FileError(concat(path.u8string(), ": ", error.what()));
  } catch (const IndexError& error) {
    throw FileError(concat(path.u8string(), ": ", error.what()));
  }
}

}  // namespace dlprim
