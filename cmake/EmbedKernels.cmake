# Writes OUTPUT, a C++ file that holds the text of every file in FILES under its path relative to ROOT, without lines
# of comment and indentation, which are a fifth. With NAMED_IN, a binary, only of those that it names, and of the files that
# these include.
set(names "")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name ${ROOT} ${file})
  list(APPEND names ${name})
endforeach()

if(NAMED_IN)
  file(STRINGS ${NAMED_IN} texts REGEX "\\.cl")
  set(left "")
  foreach(name IN LISTS names)
    string(FIND "${texts}" "${name}" place)
    if(NOT place EQUAL -1)
      list(APPEND left ${name})
    endif()
  endforeach()
  set(names "")
  while(left)
    list(POP_FRONT left name)
    list(APPEND names ${name})
    file(STRINGS ${ROOT}/${name} includes REGEX "^#include \"")
    list(TRANSFORM includes REPLACE "^#include \"(dlprim/)?([^\"]*)\".*" "\\2")
    list(APPEND left ${includes})
    list(REMOVE_ITEM left ${names})
  endwhile()
  list(SORT names)
endif()

set(rows "")
foreach(name IN LISTS names)
  file(READ ${ROOT}/${name} text)
  string(REGEX REPLACE "\n[ \n]*(//[^\n]*\n[ \n]*)*" "\n" text "\n${text}")
  string(REGEX REPLACE "  +([\\]\n)" " \\1" text "${text}")
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
