include(GNUInstallDirs)
set(TAPECL_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR}/tapecl)
set(TAPECL_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/TapeCL)
include(CMakePackageConfigHelpers)

if(WIN32)
  set(TAPECL_OTHER_PLATFORM posix)
else()
  set(TAPECL_OTHER_PLATFORM windows)
endif()

# tapecl_add_library(NAME DEPENDENCIES...): a layer of the library, made of every .cpp below its folder, and the component
# of that name of the installed package.
function(tapecl_add_library name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/platform/${TAPECL_OTHER_PLATFORM}/")
  add_library(${name} STATIC ${sources})
  add_library(TapeCL::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                            $<INSTALL_INTERFACE:${TAPECL_INCLUDE_DIR}>)
  target_compile_features(${name} PUBLIC cxx_std_17)
  set_target_properties(${name} PROPERTIES OUTPUT_NAME tapecl_${name})
  target_link_libraries(${name} PUBLIC ${ARGN})
  tapecl_compile_options(${name})
  if(TAPECL_IS_SELECTIVE)
    return()  # it has no kernels
  endif()
  install(TARGETS ${name} EXPORT TapeCL_${name} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} DESTINATION ${TAPECL_INCLUDE_DIR}
          FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
  install(EXPORT TapeCL_${name} NAMESPACE TapeCL:: DESTINATION ${TAPECL_CONFIG_DIR})
  set_property(GLOBAL APPEND PROPERTY TAPECL_COMPONENTS ${name})
endfunction()

# GCC spends a tenth of a build on collecting its garbage, which it need not do where each compiler has 3 GiB of memory.
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)  # in MiB
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR memory_of_a_compiler "${memory} / (${cores} + 2)")
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND memory_of_a_compiler GREATER 3072)
  set(TAPECL_RARE_COLLECTION "SHELL:--param ggc-min-expand=400" "SHELL:--param ggc-min-heapsize=1000000")
endif()

# Devices compute, and the host calls them: -O3 makes those calls no faster than -O2, and a build a tenth longer.
function(tapecl_compile_options target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2> ${TAPECL_RARE_COLLECTION})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow
    $<$<CXX_COMPILER_ID:GNU>:-Wno-dangling-reference>  # false for a temporary that a function only reads
    $<$<BOOL:${TAPECL_WARNINGS_AS_ERRORS}>:-Werror>)
  # GCC guesses these after it has inlined. Each release guesses wrong elsewhere: GCC 13 about pybind11's vectors.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-free-nonheap-object)
  endif()
  if(TAPECL_SANITIZE)
    if(TAPECL_SANITIZE STREQUAL "thread")
      set(sanitizers thread)
    else()
      set(sanitizers address,undefined)
    endif()
    target_compile_options(${target} PUBLIC -fsanitize=${sanitizers} -fno-omit-frame-pointer)
    # GCC 13 takes parts of its own std::regex for uninitialized where they are checked.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_link_options(${target} PUBLIC -fsanitize=${sanitizers})
  endif()
endfunction()

# tapecl_add_program(NAME LAYER SOURCES...): an executable on the public API of a layer.
function(tapecl_add_program name layer)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE ${layer})
  tapecl_compile_options(${name})
endfunction()

function(tapecl_install_package)
  get_property(TAPECL_COMPONENTS GLOBAL PROPERTY TAPECL_COMPONENTS)
  if(TAPECL_USE_CLBLAST)
    set(TAPECL_CLBLAST_PACKAGE CLBlast)
  endif()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TapeCLConfig.cmake.in
    ${PROJECT_BINARY_DIR}/TapeCLConfig.cmake INSTALL_DESTINATION ${TAPECL_CONFIG_DIR})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/TapeCLConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/TapeCLConfig.cmake ${PROJECT_BINARY_DIR}/TapeCLConfigVersion.cmake
    DESTINATION ${TAPECL_CONFIG_DIR})
  install(FILES ${PROJECT_BINARY_DIR}/TapeCLConfig.cmake ${PROJECT_BINARY_DIR}/TapeCLConfigVersion.cmake
    DESTINATION ${TAPECL_CONFIG_DIR} COMPONENT runtime)
endfunction()
