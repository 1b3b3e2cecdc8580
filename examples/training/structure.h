#pragma once

#include <nlohmann/json.hpp>

/**
 * \file The metadata in which ocl.save of Python keeps what is no tensor: steps that rebuild a structure of
 * dicts, lists and tuples (python/ocl/serialization/structure.py). Here a structure is JSON, and a tensor in
 * it the text of its name.
 */

constexpr const char* structure_key = "tapecl.structure";

/** The steps of a structure. */
class StructureSteps {
 public:
  StructureSteps& value(const nlohmann::json& value) { return add("value", value); }
  StructureSteps& tensor(const std::string& name) { return add("tensor", name); }
  /** The values of as many steps before as it has items. */
  StructureSteps& list(std::size_t size) { return add("list", size); }
  StructureSteps& tuple(std::size_t size) { return add("tuple", size); }
  StructureSteps& dict(const std::vector<std::string>& keys) { return add("dict", keys); }
  std::string dump() const { return steps_.dump(); }

 private:
  StructureSteps& add(const char* kind, const nlohmann::json& content);

  nlohmann::json steps_ = nlohmann::json::array();
};

/** The structure again. Throws nlohmann::json::exception and std::out_of_range for text that has none. */
nlohmann::json rebuilt_structure(const std::string& steps);
