# Writes OUTPUT, a C++ file that holds the text of every file in FILES under its path relative to ROOT.
set(rows "")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"__KERNEL__(${text})__KERNEL__\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"dlprim/runtime/kernel_sources.h\"

namespace dlprim {
const std::map<std::string, const char*>& kernel_sources() {
  static const auto& sources = *new std::map<std::string, const char*>{
${rows}  };
  return sources;
}
}  // namespace dlprim
")
