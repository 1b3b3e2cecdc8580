# Not by default where the linker shall drop what nothing calls: it keeps what initializes the objects of a bundle.
include(CMakeDependentOption)
cmake_dependent_option(TAPECL_BUNDLE_SOURCES
  "Compile the sources of a folder together: a first build takes a third, one after an edit longer" ON
  "NOT TAPECL_IS_SELECTIVE" OFF)

# tapecl_bundle_sources(TARGET [INLINES_VARIANTS] [MOST COUNT] [APART PATTERN...] [HEADERS HEADER...]): compiles the
# sources of each folder together, up to COUNT (12) at a time, so that templates are instantiated once for all of them,
# and reads HEADERS, which most of them include, once for the target. Names of the anonymous namespace are those of one
# file no longer: where two files of a folder have the same, one is renamed, or they are compiled apart, as is what
# matches a pattern. INLINES_VARIANTS: GCC takes the strings of a std::variant that holds none for uninitialized where
# it inlines much, as it does in large bundles.
function(tapecl_bundle_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 bundle "INLINES_VARIANTS" "MOST" "APART;HEADERS")
  if(NOT TAPECL_BUNDLE_SOURCES)
    return()
  endif()
  if(NOT bundle_MOST)
    set(bundle_MOST 12)
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    set(is_apart FALSE)
    foreach(pattern IN LISTS bundle_APART)
      if(source MATCHES "${pattern}")
        set(is_apart TRUE)
      endif()
    endforeach()
    if(is_apart)
      continue()
    endif()
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR number "${count_${folder}} / ${bundle_MOST}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${number})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(bundle_HEADERS)
    cmake_path(GET CMAKE_CURRENT_FUNCTION_LIST_DIR PARENT_PATH root)
    list(TRANSFORM bundle_HEADERS PREPEND ${root}/)
    target_precompile_headers(${target} PRIVATE ${bundle_HEADERS})
  endif()
  # What these warn of is no fault of a file that is compiled with others.
  target_compile_options(${target} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  if(bundle_INLINES_VARIANTS)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  endif()
endfunction()
