# A runner for given programs alone: cmake -DTAPECL_OPERATORS="a.ocl;b.ocl" keeps the primitives that these files call.
# The other rows of dlprim/export/primitives.def lose their functions, and the linker drops whatever nothing calls then.
# tapecl_embed_named_kernels embeds the kernel files that the rest names.
set(TAPECL_OPERATORS "" CACHE FILEPATH "Exported programs (.ocl): build the runner for these alone")

if(TAPECL_OPERATORS)
  set(TAPECL_IS_SELECTIVE ON)
  add_compile_options(-ffunction-sections -fdata-sections)
  add_link_options(-Wl,--gc-sections)
  if(NOT DEFINED CMAKE_INTERPROCEDURAL_OPTIMIZATION)  # a tenth smaller
    include(CheckIPOSupported)
    check_ipo_supported(RESULT is_supported OUTPUT reason)
    set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ${is_supported})
  endif()
else()
  set(TAPECL_IS_SELECTIVE OFF)
endif()

# tapecl_read_metadata(RESULT FILE): the JSON of the program in a file of ocl.export (program_file.h): a safetensors file
# begins with the size of its header, in 8 bytes, the lowest first.
function(tapecl_read_metadata result file)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "TAPECL_OPERATORS: there is no file ${file}")
  endif()
  file(READ ${file} digits LIMIT 8 HEX)
  string(REGEX REPLACE "(..)(..)(..)(..)0*$" "0x\\4\\3\\2\\1" size "${digits}")
  if(size MATCHES "^0x[0-9a-f]+$")
    math(EXPR size "${size}")
    file(READ ${file} header OFFSET 8 LIMIT ${size})
    string(JSON program ERROR_VARIABLE error GET "${header}" __metadata__ tapecl_program)
  endif()
  if(NOT program MATCHES "^{")
    message(FATAL_ERROR "TAPECL_OPERATORS: ${file} is no exported program")
  endif()
  set(${result} "${program}" PARENT_SCOPE)
endfunction()

# tapecl_selected_primitives(RESULT): the names of the primitives that the programs of TAPECL_OPERATORS call.
function(tapecl_selected_primitives result)
  set(rows ${PROJECT_SOURCE_DIR}/dlprim/export/primitives.def)
  file(STRINGS ${rows} known REGEX "^PRIMITIVE\\(")
  list(TRANSFORM known REPLACE "^PRIMITIVE\\(([a-z0-9_]+),.*" "\\1")
  set(names "")
  foreach(file IN LISTS TAPECL_OPERATORS)
    tapecl_read_metadata(program ${file})
    string(REGEX MATCHALL "\"primitive\":\"[a-z0-9_]+\"" calls "${program}")
    list(TRANSFORM calls REPLACE "\"primitive\":\"([a-z0-9_]+)\"" "\\1")
    list(REMOVE_DUPLICATES calls)
    foreach(name IN LISTS calls)
      if(NOT name IN_LIST known)
        message(FATAL_ERROR "TAPECL_OPERATORS: ${file} calls ${name}, which is no primitive of this version")
      endif()
    endforeach()
    list(APPEND names ${calls})
  endforeach()
  list(REMOVE_DUPLICATES names)
  list(SORT names)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TAPECL_OPERATORS} ${rows})
  list(LENGTH names count)
  list(JOIN names " " text)
  message(STATUS "A runner with ${count} primitives: ${text}")
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# tapecl_write_kernel_table(TABLE [NAMED_IN FILE]): the C++ file TABLE with the kernel sources below dlprim; with NAMED_IN
# those whose names stand in that binary, and the files that they include.
function(tapecl_write_kernel_table table)
  cmake_parse_arguments(PARSE_ARGV 1 kernels "" "NAMED_IN" "")
  set(root ${PROJECT_SOURCE_DIR}/dlprim)
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedKernels.cmake)
  # Every .cl file, and every header that kernels share with the host.
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${root}/*.cl ${root}/*shared.h)
  add_custom_command(OUTPUT ${table}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${table} -DROOT=${root} "-DFILES=${files}" "-DNAMED_IN=${kernels_NAMED_IN}"
            -P ${script}
    DEPENDS ${files} ${kernels_NAMED_IN} ${script}
    VERBATIM COMMENT "Embedding OpenCL kernels")
endfunction()

# tapecl_embed_named_kernels(TARGET): in a selective build, gives TARGET the kernel sources that its code names. A first
# link of the same sources, without kernels, tells which: literals of functions that nothing calls are not in it.
function(tapecl_embed_named_kernels target)
  if(NOT TAPECL_IS_SELECTIVE)
    return()
  endif()
  set(none ${CMAKE_CURRENT_BINARY_DIR}/${target}_no_kernels.cpp)
  file(CONFIGURE OUTPUT ${none} CONTENT [[
#include "dlprim/runtime/kernel_sources.h"

namespace dlprim {
const std::map<std::string, const char*>& kernel_sources() {
  static const std::map<std::string, const char*> none;
  return none;
}
}  // namespace dlprim
]])
  get_target_property(type ${target} TYPE)
  get_target_property(sources ${target} SOURCES)
  set(probe ${target}_names)
  if(type STREQUAL EXECUTABLE)
    add_executable(${probe} ${sources} ${none})
  else()
    add_library(${probe} SHARED ${sources} ${none})
  endif()
  foreach(property IN ITEMS LINK_LIBRARIES LINK_OPTIONS COMPILE_OPTIONS CXX_VISIBILITY_PRESET)
    get_target_property(value ${target} ${property})
    if(value)
      set_target_properties(${probe} PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  set(table ${CMAKE_CURRENT_BINARY_DIR}/${target}_kernel_sources.cpp)
  tapecl_write_kernel_table(${table} NAMED_IN $<TARGET_FILE:${probe}>)
  target_sources(${target} PRIVATE ${table})
endfunction()
